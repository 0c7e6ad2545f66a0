# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""What all tests against a cloud share: skips, clients, making, evidence."""

import os

import fixtures
from tempest.common import credentials_factory
from tempest import config
from tempest.lib.common import api_version_utils
from tempest import test

from magnum_capi_tempest.evidence import capi
from magnum_capi_tempest.tests import access
from magnum_capi_tempest.tests import details
from magnum_capi_tempest.tests import factories
from magnum_capi_tempest.tests import waiters

CONF = config.CONF

#: Options without which no cluster template can be made.
TEMPLATE_OPTIONS = ('image_id', 'flavor_id', 'external_network')


class BaseMagnumCapiTest(test.BaseTestCase):
    """A test of Magnum with a Cluster API driver.

    Class attributes of subclasses:

    * ``min_microversion``, ``max_microversion``: the class is skipped when
      [magnum_capi] allows none in between; requests are sent with the lowest
      one allowed.
    * ``required_options``: of [magnum_capi]; the class is skipped when one
      is not set. ``test_preflight`` fails then, so that a run with a bad
      tempest.conf is not green.
    """

    credentials = ['primary']
    min_microversion = '1.1'
    max_microversion = api_version_utils.LATEST_MICROVERSION
    required_options = TEMPLATE_OPTIONS

    @classmethod
    def skip_checks(cls):
        super().skip_checks()
        if not CONF.service_available.magnum_capi:
            raise cls.skipException(
                '[service_available] magnum_capi is false in tempest.conf')
        options = CONF.magnum_capi
        api_version_utils.check_skip_with_microversion(
            cls.min_microversion, cls.max_microversion,
            options.min_microversion, options.max_microversion)
        missing = [o for o in cls.required_options if not options[o]]
        if missing:
            raise cls.skipException(
                f'Not set in [magnum_capi] of tempest.conf: '
                f'{", ".join(missing)}')

    @classmethod
    def setup_credentials(cls):
        # Magnum's drivers make networks for clusters; tempest need not.
        cls.set_network_resources()
        super().setup_credentials()

    @classmethod
    def setup_clients(cls):
        super().setup_clients()
        cls.microversion = api_version_utils.select_request_microversion(
            cls.min_microversion, CONF.magnum_capi.min_microversion)
        cls.magnum = factories.Magnum(cls.os_primary, cls.microversion)
        if 'admin' in cls.credentials:
            cls.admin_magnum = factories.Magnum(
                cls.os_admin, cls.microversion)
        path = CONF.magnum_capi.management_kubeconfig
        cls.management = capi.ManagementCluster(path) if path else None

    def setUp(self):
        super().setUp()
        self._clusters = []
        self.waiter = self.new_waiter()
        self.addOnException(self._attach_evidence)
        self.addCleanup(self._attach_tolerated)

    @classmethod
    def new_waiter(cls):
        options = CONF.magnum_capi
        return waiters.ClusterWaiter(
            cls.magnum.clusters, cls.magnum.nodegroups,
            interval=options.build_interval, timeout=options.build_timeout,
            delete_timeout=options.delete_timeout,
            explain=cls.management and cls.management.conditions)

    @classmethod
    def is_admin_available(cls):
        return credentials_factory.is_admin_available(
            identity_version=cls.get_identity_version())

    @classmethod
    def rand_name(cls, kind):
        return factories.name(CONF, kind)

    def create_template(self, magnum=None, **changes):
        """Create a template for this cloud, with some fields changed."""
        return factories.create_template(
            magnum or self.magnum, self.addCleanup,
            factories.template_body(CONF, **changes))

    @classmethod
    def create_class_template(cls, **changes):
        """Create a template that all tests of the class share."""
        return factories.create_template(
            cls.magnum, cls.addClassResourceCleanup,
            factories.template_body(CONF, **changes))

    def create_keypair(self):
        """Upload a public key and return its name."""
        return factories.create_keypair(
            self.os_primary, self.addCleanup, CONF)

    def request_cluster(self, template, **changes):
        """Ask for a cluster and return its uuid, without waiting for it."""
        body = {
            'name': self.rand_name('cluster'),
            'cluster_template_id': template['uuid'],
            'master_count': CONF.magnum_capi.master_count,
            'node_count': CONF.magnum_capi.node_count,
            **changes,
        }
        uuid = factories.request_cluster(
            self.magnum, self.waiter, self.addCleanup, body)
        self._clusters.append(uuid)
        return uuid

    def create_cluster(self, template, **changes):
        """Create a cluster, wait for CREATE_COMPLETE and return it."""
        changes.setdefault('keypair', self.create_keypair())
        return self.waiter.until_created(
            self.request_cluster(template, **changes))

    def resize_cluster(self, cluster, node_count, nodegroup):
        """Resize a node group, wait for the end, and return the cluster."""
        before = self.waiter.before(cluster['uuid'], nodegroup)
        self.magnum.clusters.resize_cluster(
            cluster['uuid'], node_count=node_count, nodegroup=nodegroup)
        return self.waiter.until_updated(cluster['uuid'], before, node_count)

    def delete_cluster(self, cluster):
        """Delete a cluster and wait until Magnum no longer knows it."""
        factories.delete_cluster(self.magnum, self.waiter, cluster['uuid'])

    def assert_usable(self, cluster, masters, workers):
        """Assert that the workload API shows these nodes, all ready.

        :param cluster: body of the cluster; api_address and coe_version
            must be set.
        """
        if not CONF.magnum_capi_feature_enabled.workload_api:
            return
        folder = self.useFixture(fixtures.TempDir()).path
        path = os.path.join(folder, 'kubeconfig')
        access.write_kubeconfig(self.magnum.certificates, cluster, path)
        access.wait_for_nodes(
            path, masters=masters, workers=workers,
            version=cluster['coe_version'],
            timeout=CONF.magnum_capi.build_timeout,
            interval=CONF.magnum_capi.build_interval)

    def _attach_evidence(self, exc_info):
        explain = self.management and self.management.conditions
        for uuid in self._clusters:
            found = details.collect(
                self.magnum.clusters, self.magnum.nodegroups, uuid, explain)
            for name, value in found.items():
                self.addDetailUniqueName(name, details.text(value))

    def _attach_tolerated(self):
        if self.waiter.tolerated.seen:
            self.addDetail('errors of Magnum that were tolerated',
                           details.text(str(self.waiter.tolerated)))
