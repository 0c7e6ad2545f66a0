# SPDX-License-Identifier: Apache-2.0
"""Operations that take longer than planned, in real time.

With the driver k8s_capi_v1: an upgrade that outlives every time limit, a
deletion while the API server of the management cluster is away, and clusters
that live on while an operator changes what new ones are made of.
"""

import time
import unittest

import yaml

from magnum_capi import progress
from magnum_capi import waiting
from magnum_capi_tempest import resources
from magnum_capi_tempest.tests.common.management import capi_objects
from magnum_capi_tempest.tests.common.management import upgrade_order
from magnum_capi_tempest.tests.common import observations
from tests.functional import chart_repository
from tests.robustness import base
from tests.robustness import figures

TABLE = figures.Table(
    'operations that take longer than planned',
    'operation', 'limit/s', 'away/s', 'took/s', 'machines', 'stayed', 'came',
    'left', 'statuses, with seconds')

#: Nodes that the upgrade replaces, one at a time; each takes 20 s.
WORKERS = 15

#: Minutes: create_timeout, and progress_timeout of the driver.
LIMIT = 3

#: Seconds for which the API server is away: the driver repeats a request for
#: 30 s (retry_time), then the operation has to be taken up again.
AWAY = 45

CLUSTERS = 5

#: Versions of the chart.
OLD, NEW = '0.1.0', '0.2.0'

PATIENCE = 2400

_PACE = waiting.Pace(0.5, 1, 0.5)


def _label_nodes(chart):
    """Part of what nodes are made from: the newer chart makes others."""
    path = chart / 'values.yaml'
    values = yaml.safe_load(path.read_text())
    for machines in 'controlPlane', 'nodeGroupDefaults':
        values[machines]['nodeLabels']['newer-chart'] = 'true'
    path.write_text(yaml.safe_dump(values))


CHARTS = {OLD: None, NEW: _label_nodes}


def setUpModule():
    unittest.addModuleCleanup(TABLE.show)


class LongOperationsTest(base.SandboxTest):

    profile = 'full'
    driver = 'k8s_capi_v1'
    install = (str(resources.find(f'drivers/{driver}')),)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.management = capi_objects.Management(str(cls.kubeconfig))

    def set(self, *words):
        """Change options of the driver; Magnum is restarted."""
        self.box.set([f'k8s_capi.{word}' for word in words], True,
                     progress.Silent())

    def set_for_now(self, **options):
        self.addCleanup(self.set, *(f'{name}=' for name in options))
        self.set(*(f'{name}={value}' for name, value in options.items()))

    def follow(self, uuid, start, over, what, also=None):
        """Look at a cluster until an operation is over; no status may fail.

        :param start: time of its request.
        :param over: function of a looks.Look.
        :param also: called at each look.
        :returns: pairs of a status and the seconds until it was seen.
        """
        seen = []

        def poll():
            if also:
                also()
            look = self.cloud.look(uuid)
            status = look.trouble or look.status or 'gone'
            if [status] != [last for last, _ in seen[-1:]]:
                seen.append((status, time.monotonic() - start))
            return look

        waiting.wait_for(
            poll, done=over, what=what, timeout=PATIENCE, describe=str,
            failed=lambda look: (observations.is_failed(look.status)
                                 and str(look)),
            pace=_PACE)
        return seen

    def upgrade(self, uuid, template):
        """Ask for an upgrade, node by node."""
        # Magnum answers 500 without a size.
        self.cloud.magnum('POST', f'clusters/{uuid}/actions/upgrade', {
            'cluster_template': template, 'max_batch_size': 1,
        }).raise_for_status()

    def uids(self, stack_id):
        """UIDs of all Machines of a cluster, a set."""
        return {found.body['metadata']['uid'] for found
                in self.management.objects(stack_id, ('Machine',))}

    def assert_deleted(self, uuid, stack_id, credentials):
        self.delete(uuid, PATIENCE)
        self.assertEqual([], self.wait_nothing_left(
            [stack_id], uuid, credentials))

    def test_an_upgrade_outlives_the_time_limits(self):
        self.set_for_now(progress_timeout=LIMIT)
        credentials = self.cloud.credentials()
        old, new = (self.cloud.make_template(image, flavor_id='slow.node')
                    for image in ('ubuntu-capi', 'ubuntu-capi-1.35'))
        # given: a cluster with many workers that has little time
        with self.clusters({
                'name': 'many', 'create_timeout': LIMIT,
                'cluster_template_id': old}) as ((uuid, stack_id),):
            self.cloud.resize(uuid, WORKERS)()
            before, uids = self.management.machines(stack_id), self.uids(
                stack_id)
            self.assertEqual(1 + WORKERS, len(before))
            # when: it is upgraded node by node
            moments = []
            start = time.monotonic()
            self.upgrade(uuid, new)
            seen = self.follow(
                uuid, start, lambda look: look.status == 'UPDATE_COMPLETE',
                'the upgrade to be complete',
                lambda: moments.append(self.management.machines(stack_id)))
            took = time.monotonic() - start
            # then: it took longer than the limits, and went well, in order
            after = self.uids(stack_id)
            TABLE.add(f'upgrade of {WORKERS} workers', 60 * LIMIT, '-', took,
                      len(uids), len(uids & after), len(after - uids), '-',
                      _told(seen))
            self.assertGreater(took, 60 * LIMIT)
            self.assertLessEqual(
                {status for status, _ in seen},
                {'CREATE_COMPLETE', 'UPDATE_IN_PROGRESS', 'UPDATE_COMPLETE'})
            self.assertEqual((0, len(before)),
                             (len(uids & after), len(after)))
            self.assertEqual([], upgrade_order.disorder(before, moments))
            self.assertEqual([], upgrade_order.skew(moments))
            self.assertEqual(
                [WORKERS - 1], list(upgrade_order.fewest(moments).values()))
            self.assert_nodes(stack_id, 1 + WORKERS)
            self.assert_deleted(uuid, stack_id, credentials)

    def test_a_deletion_outlives_the_api_server(self):
        template = self.cloud.make_template(
            'ubuntu-capi', flavor_id='slow.delete')
        for moment, come in (('is taken up', self.cluster_goes),
                             ('waits for machines', self.machines_go)):
            for away in (0, AWAY):
                with self.subTest(moment=moment, away=away):
                    self.delete_without_api_server(
                        template, moment, come, away)

    def cluster_goes(self, stack_id):
        return all(cluster.going for cluster
                   in self.management.objects(stack_id, ('Cluster',)))

    def machines_go(self, stack_id):
        return all(machine.going for machine
                   in self.management.machines(stack_id)
                   if not machine.control_plane)

    def delete_without_api_server(self, template, moment, come, away):
        credentials = self.cloud.credentials()
        # given: a deletion that has come to this moment
        with self.clusters({
                'name': 'doomed', 'node_count': 2,
                'cluster_template_id': template}) as ((uuid, stack_id),):
            start = time.monotonic()
            self.cloud.magnum('DELETE', f'clusters/{uuid}').raise_for_status()
            waiting.wait_for(lambda: come(stack_id), done=bool, timeout=60,
                             what=moment, pace=waiting.Pace(0.05, 1, 0.05))
            # when: the API server is away for a while
            self.kill('kube-apiserver')
            dead = time.monotonic()
            seen = self.follow(
                uuid, start, lambda _look: time.monotonic() - dead >= away,
                'the API server to be missed')
            self.up()
            away = time.monotonic() - dead
            # then: it ends well, and nothing is left
            seen += self.follow(
                uuid, start,
                lambda look: not look.trouble and look.cluster is None,
                'the cluster to be gone')
            took = time.monotonic() - start
            left = self.wait_nothing_left([stack_id], uuid, credentials)
            TABLE.add(f'deletion: {moment}', '-', away, took, 3, '-', '-',
                      len(left) or 'nothing', _told(seen))
            self.assertEqual([], left)
            self.assertLessEqual({status for status, _ in seen},
                                 {'DELETE_IN_PROGRESS', 'gone'})

    def test_clusters_outlive_the_options_that_they_were_made_with(self):
        repository = self.enterContext(chart_repository.ChartRepository(
            CHARTS))
        self.set_for_now(
            chart_name=chart_repository.NAME, chart_repository=repository.url,
            chart_version=OLD)
        credentials = self.cloud.credentials()
        # One of them names its chart.
        named = self.cloud.make_template('ubuntu-capi', labels={
            'capi_helm_chart_version': OLD})
        with self.clusters(
                {'name': 'named', 'cluster_template_id': named},
                *({'name': f'living-{n}'} for n in range(1, CLUSTERS)),
        ) as clusters:
            before = {stack_id: self.uids(stack_id)
                      for _, stack_id in clusters}
            # when: all that new clusters are made of is another
            self.change_everything()
            for number, (uuid, stack_id) in enumerate(clusters, 1):
                self.assert_only_added(f'resize {number}', uuid,
                                       before[stack_id], stack_id)
            # then: an upgrade to the same version moves one, and no other
            uuid, stack_id = clusters[-1]
            self.assert_all_replaced(uuid, stack_id)
            for uuid, stack_id in clusters[:-1]:
                self.assertLess(before[stack_id], self.uids(stack_id))
            for uuid, stack_id in clusters:
                self.assert_deleted(uuid, stack_id, self.cloud.credentials())
        self.assertEqual(credentials, self.cloud.credentials())

    def change_everything(self):
        """Another chart, overlay and label of all new clusters."""
        path = self.box.directory / 'site.yaml'
        path.write_text(yaml.safe_dump({machines: {
            'nodeLabels': {'site': 'new'}} for machines in (
                'controlPlane', 'nodeGroupDefaults')}))
        conductor = self.processes('magnum-conductor')[0]
        self.set_for_now(
            chart_version=NEW,
            allowed_chart_versions=OLD,
            value_overlays=f'site:{path}', default_value_overlays='site',
            default_labels='boot_volume_size:33')
        self.assertFalse(conductor.is_running())

    def assert_only_added(self, what, uuid, before, stack_id):
        start = time.monotonic()
        self.cloud.resize(uuid, 2)()
        took, after = time.monotonic() - start, self.uids(stack_id)
        TABLE.add(f'{what} from 1 to 2 workers', '-', '-', took, len(before),
                  len(before & after), len(after - before), '-', '-')
        self.assertEqual((before, 1), (before & after, len(after - before)))
        self.assert_nodes(stack_id, 3)

    def assert_all_replaced(self, uuid, stack_id):
        """The control: what was changed does replace nodes."""
        before, start = self.uids(stack_id), time.monotonic()
        self.upgrade(uuid, self.cloud.make_template('ubuntu-capi'))
        began = []

        def over(look):
            began.append(look.status == 'UPDATE_IN_PROGRESS')
            return any(began) and observations.is_complete(look.status)

        seen = self.follow(uuid, start, over, 'the upgrade to be complete')
        took, after = time.monotonic() - start, self.uids(stack_id)
        TABLE.add('upgrade to the same version', '-', '-', took, len(before),
                  len(before & after), len(after - before), '-', _told(seen))
        self.assertEqual((set(), len(before)),
                         (before & after, len(after)))


def _told(seen):
    """Statuses as one text, each once until another one comes."""
    seen = [(status, seconds) for (status, seconds), (last, _) in zip(
        seen, [('', 0), *seen]) if status != last]
    return ' '.join(f'{status}@{seconds:.0f}' for status, seconds in seen)
