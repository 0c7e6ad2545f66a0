# SPDX-License-Identifier: Apache-2.0

"""What tests of operations share."""

import dataclasses

import fixtures
from oslo_config import cfg
from oslo_config import fixture as config_fixture
import testtools

from magnum_capi.driver import config
from magnum_capi.driver.desired import names
from magnum_capi.driver.keys import cluster_secrets
from magnum_capi.driver import loop
from magnum_capi.driver import operations
from magnum_capi.driver import poll_cache
from magnum_capi.driver import reconcile
from magnum_capi.driver import upgrading
from magnum_capi.kube import cache
from tests.lib import doors
from tests.lib import kube_server
from tests.unit.driver import small_world


class TestCase(testtools.TestCase):
    """Operations on a cluster, with a small API server and a fake cloud."""

    server = kube_server.ApiServer

    def setUp(self):
        super().setUp()
        self.logger = self.useFixture(fixtures.FakeLogger())
        self.api = self.useFixture(self.server())
        conf = cfg.ConfigOpts()
        conf.register_opts(config.OPTIONS, group='k8s_capi')
        self.useFixture(config_fixture.Config(conf)).config(
            group='k8s_capi', chart_name='/charts/sandbox-cluster',
            lock_timeout=0, failure_patience=0, retry_time=0,
            credential_settle=0, credential_bound=60)
        self.w = self.useFixture(small_world.World(
            self.api, config.Options.read(conf)))
        poll_cache.forget(small_world.CLUSTER)
        # A new one takes longer than all the rest of a test.
        self.useFixture(fixtures.MockPatchObject(
            cluster_secrets, 'key_pair', small_world.key_pair))

    def configure(self, chart=None, **options):
        """Restart Magnum with other options of the driver.

        :param chart: charts.Chart, the default one.
        """
        if chart:
            options |= {'chart_name': chart.name,
                        'chart_repository': chart.repository,
                        'chart_version': chart.version}
        self.w.runtime = dataclasses.replace(
            self.w.runtime, options=dataclasses.replace(
                self.w.runtime.options, **options))

    def fail_at(self, kind, text, times=1000, **kwargs):
        """Requests to the cloud meet a fault, until its doors are cleared.

        :param kind, text: see doors.Fault.
        """
        self.w.doors.faults.append(doors.Fault(
            doors.CLOUD, kind, times=times, text=text, **kwargs))

    def remember(self):
        """Have reads of informers, whose watches last three seconds."""
        self.patch(cache, '_WATCH', (3.0, 3.0))
        self.cached = cache.CachedKube(
            self.api.kube(), names.CLUSTER_UUID)
        self.addCleanup(self.cached.stop)
        self.w.runtime = dataclasses.replace(
            self.w.runtime, cached=self.cached)

    def operations(self, cluster=None):
        return operations.Operations(self.reconciler(cluster))

    def reconciler(self, cluster=None):
        return reconcile.Reconciler(
            self.w.runtime, self.w.store, cluster or self.w.row())

    def create(self, **cluster):
        """As the conductor does, with what it does after that."""
        self.w.rows.clusters[small_world.CLUSTER].update(cluster)
        row = self.w.row()
        self.w.rows.make_certificates(row)
        self.operations(row).create(60)
        return row

    def check_status(self, times=1):
        """The periodic status, as Magnum itself."""
        store = self.w.store
        self.w.ask_as()
        try:
            for _time in range(times):
                if small_world.CLUSTER in self.w.rows.clusters:
                    self.new_loop().poll()
        finally:
            self.w.store = store

    def new_loop(self):
        """The loop, for one poll."""
        return loop.Loop(self.reconciler())

    def created(self):
        self.create()
        self.check_status()
        self.assertEqual('CREATE_COMPLETE', self.w.cluster.status,
                         self.w.cluster.status_reason)

    def resize(self, count, uuid=small_world.WORKERS, **kwargs):
        """As the conductor does; what it does after a failure, too."""
        group = self.w.row(uuid)
        group.node_count = count
        group.status = 'UPDATE_IN_PROGRESS'
        self.w.store.save(group)
        self.operations().change(group=group, resize=True, **kwargs)

    def request_upgrade(self, template=small_world.NEWER,
                        group=small_world.WORKERS, **kwargs):
        """As the conductor does; the status applies it."""
        upgrading.Upgrade(
            self.reconciler(), self.w.store.template(template),
            self.w.row(group), **kwargs).run()

    def upgrade(self, **kwargs):
        """Request an upgrade, and have the status apply it."""
        self.request_upgrade(**kwargs)
        self.check_status()

    def rotate_without_an_end(self):
        """Rotate; Keystone does not delete the old credential."""
        self.operations().rotate('u1')
        self.w.later(seconds=61)
        self.fail_at('denied', 'DELETE /identity')
        self.check_status(3)
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)

    def add_group(self, **fields):
        """Add a node group, as the conductor does; returns its row."""
        self.w.add_group(**fields)
        group = self.w.row(small_world.OTHERS)
        self.operations().change(group, group=group)
        return group

    def make_busy(self):
        """Have the Cluster be one whose change is not seen yet."""
        path = next(p for p in self.api.objects if '/clusters/' in p)
        self.api.objects[path]['status']['observedGeneration'] = 0
        return path
