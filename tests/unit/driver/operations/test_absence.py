# SPDX-License-Identifier: Apache-2.0

"""What the management cluster does not serve now is not gone.

An API server that has just started, one of several behind a balancer, an
upgrade of Cluster API, a proxy that knows no path: for a while each answers
404, or discovery lacks kinds, though every cluster lives.
"""

import copy
import re

from magnum_capi.driver.desired import names
from magnum_capi.driver import failures
from magnum_capi.driver.helm import helm_errors
from magnum_capi.driver import monitor
from magnum_capi.driver.observed import health
from magnum_capi.driver import poll_cache
from tests.lib import kube_server
from tests.unit.driver import base
from tests.unit.driver import objects
from tests.unit.driver import small_world


class Base(base.TestCase):

    def later(self):
        """What was discovered is to be discovered again."""
        self.api.clock.now += 601

    def restart(self):
        """Magnum starts again: nothing is remembered."""
        poll_cache.forget(small_world.CLUSTER)
        self.w.restart()

    def deleting(self):
        """A cluster whose deletion waits for its controllers."""
        self.created()
        self.patch(self.w.helm, 'uninstall', self.uninstall)
        self.operations().delete()
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)

    def uninstall(self, release, namespace):
        """As helm does: controllers then take their time."""
        for path in list(self.api.objects):
            if 'sh.helm' in path:
                del self.api.objects[path]
            elif path.startswith('/apis/') and '/clusters/' in path:
                self.api.objects[path]['metadata']['deletionTimestamp'] = (
                    '2026-11-21T14:59:00Z')

    def remove_all(self):
        """What controllers do in the end."""
        for path in list(self.api.objects):
            if path.startswith('/apis/') and '/leases/' not in path:
                del self.api.objects[path]

    def assert_alive(self):
        """Nothing that a living cluster needs was taken away."""
        self.assertEqual([0], self.w.credentials())
        self.assertEqual(['ca', 'cloud-credentials', 'etcd', 'magnum',
                          'proxy', 'sa'], self.w.secrets())
        self.assertEqual([], self.w.rows.asked)

    def assert_all_gone(self):
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status,
                         self.w.cluster.status_reason)
        self.assertEqual({}, self.w.cloud.credentials)
        self.assertEqual([], self.w.left())

    def health(self):
        poller = monitor.Monitor(
            lambda: self.w.runtime, self.w.store, self.w.row())
        self.patch(poller, '_credential', lambda *args: None)
        poller.poll_health_status()
        return poller.data['health_status']


class _Unserved:
    """Each operation while kinds are not served, and after that."""

    def test_creation_is_neither_repeated_nor_failed(self):
        self.create()
        self.break_()
        self.check_status(3)
        self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)
        self.assertEqual(1, len(self.w.helm.upgrades))
        self.mend()
        self.check_status()
        self.assertEqual('CREATE_COMPLETE', self.w.cluster.status)

    def test_resize_is_neither_repeated_nor_failed(self):
        self.created()
        self.resize(3)
        self.break_()
        self.check_status(3)
        self.assertEqual('UPDATE_IN_PROGRESS', self.w.cluster.status)
        self.assertEqual(2, len(self.w.helm.upgrades))
        self.mend()
        self.check_status()
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)

    def test_node_to_remove_is_not_called_unknown(self):
        self.w.rows.groups[small_world.WORKERS]['node_count'] = 2
        self.created()
        group = names.node_group(small_world.WORKERS)
        self.w.helm.put('machines', {
            'metadata': {'name': 'm1', 'labels': {
                names.CAPI_CLUSTER_NAME: small_world.RELEASE,
                'cluster.x-k8s.io/deployment-name':
                f'{small_world.RELEASE}-{group}'}},
            'spec': {'providerID': 'openstack:///server-m1'},
            'status': {'nodeRef': {'name': 'node-m1'}}})
        self.break_()
        e = self.assertRaises(failures.Failed, self.resize, 1,
                              remove=('server-m1',))
        self.assertNotIn('is not in the node group', str(e))
        # Later nobody would know which node is meant.
        self.mend()
        self.check_status(3)
        self.assertEqual(1, len(self.w.helm.upgrades))

    def test_deletion_waits(self):
        self.deleting()
        self.break_()
        self.check_status(3)
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)
        self.mend()
        self.assert_alive()
        self.remove_all()
        self.check_status(3)
        self.assert_all_gone()

    def test_deletion_waits_after_a_restart_of_magnum(self):
        self.deleting()
        self.break_()
        self.restart()
        self.check_status(3)
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)
        self.mend()
        self.assert_alive()
        self.remove_all()
        self.check_status(3)
        self.assert_all_gone()

    def test_health_is_not_known(self):
        self.created()
        self.assertEqual(health.HEALTHY, self.health())
        self.break_()
        self.assertEqual(health.UNKNOWN, self.health())


class EmptyDiscoveryTest(_Unserved, Base):

    def break_(self):
        self.api.discovery = {'kind': 'APIGroupDiscoveryList', 'items': []}
        self.later()

    def mend(self):
        self.api.discovery = kube_server.DISCOVERY
        self.later()

    def test_owner_is_told_what_is_waited_for(self):
        self.deleting()
        self.break_()
        self.check_status()
        self.assertIn('management cluster does not serve Cluster',
                      self.w.cluster.status_reason)
        self.assertNotIn('127.0.0.1', self.w.cluster.status_reason)


class PartialDiscoveryTest(EmptyDiscoveryTest):
    """Of all kinds only the MachineSet is there."""

    def break_(self):
        self.api.discovery = copy.deepcopy(kube_server.DISCOVERY)
        for group in self.api.discovery['items']:
            for version in group['versions']:
                version['resources'] = [
                    r for r in version['resources']
                    if r['resource'] == 'machinesets']
        self.later()


class _UnknownPath:

    #: As a regular expression.
    PATHS = None

    def break_(self):
        self.api.fault_path = re.compile(self.PATHS)
        self.api.faults = [kube_server.UNKNOWN_PATH] * 1000

    def mend(self):
        self.api.faults = []
        self.later()


class UnknownPathTest(_UnknownPath, _Unserved, Base):
    """Discovery has the kinds, their paths are unknown."""

    PATHS = '/apis/[a-z.]*x-k8s.io/'


class UnknownServerTest(_UnknownPath, Base):
    """Something else answers, which knows no path at all."""

    PATHS = '/api'

    def test_requests_are_left_to_the_status(self):
        self.created()
        self.break_()
        self.resize(3)
        self.assertEqual('UPDATE_IN_PROGRESS', self.w.cluster.status)
        self.operations().delete()
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)
        self.mend()
        self.assert_alive()
        self.check_status(3)
        self.assert_all_gone()


class VersionGoneTest(Base):
    """The version that is known is no longer served; another one is."""

    def test_resize_goes_on(self):
        self.created()
        self.resize(3)
        self.api.withdraw('v1beta2')
        self.later_than_a_moment()
        self.check_status(3)
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)
        self.assertEqual(2, len(self.w.helm.upgrades))

    def test_deletion_waits_for_what_is_there(self):
        self.deleting()
        self.check_status()
        self.api.withdraw('v1beta2')
        self.later_than_a_moment()
        self.check_status(3)
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)
        self.assert_alive()
        self.remove_all()
        self.check_status(3)
        self.assert_all_gone()

    def test_health_goes_on(self):
        self.created()
        self.api.withdraw('v1beta2')
        self.later_than_a_moment()
        self.assertEqual(health.HEALTHY, self.health())

    def later_than_a_moment(self):
        self.api.clock.now += 5


class RecordTest(Base):
    """The version that Helm has recorded is no longer served."""

    def setUp(self):
        super().setUp()
        self.created()
        self.api.withdraw('v1beta1')

    def test_newer_chart_is_applied(self):
        self.w.helm.version = 'v1beta2'
        self.resize(3)
        self.assertEqual('UPDATE_IN_PROGRESS', self.w.cluster.status)
        self.assertEqual(3, self.w.helm.upgrades[-1][
            'nodeGroups'][0]['machineCount'])

    def test_chart_of_that_version_is_refused(self):
        e = self.assertRaises(failures.Failed, self.resize, 3)
        self.assertIn('which the management cluster does not serve', str(e))

    def test_cluster_is_deleted(self):
        self.operations().delete()
        self.check_status(3)
        self.assert_all_gone()

    def test_deletion_that_is_retried_goes_on(self):
        uninstall = self.w.helm.uninstall

        def fail(*_args):
            self.w.helm.uninstall = uninstall
            raise helm_errors.HelmDisturbed('helm uninstall', reason='late')
        self.w.helm.uninstall = fail
        self.operations().delete()
        self.assertEqual(0, self.w.helm.uninstalls)
        self.check_status(3)
        self.assert_all_gone()


class LeftTest(Base):
    """The Cluster is gone and something else is not."""

    def left(self, path, **metadata):
        self.deleting()
        self.remove_all()
        self.api.put(path, {'metadata': {
            'labels': {'cluster.x-k8s.io/cluster-name': small_world.RELEASE,
                       'capi.stackhpc.com/cluster': small_world.RELEASE},
            'deletionTimestamp': '2026-11-21T14:59:00Z',
            'finalizers': ['its controller'], **metadata}})

    def hide(self, *plurals):
        """Have discovery lack these kinds."""
        self.api.discovery = kube_server.without(*plurals)
        self.later()

    def assert_waits(self, path, *plurals):
        self.left(path)
        self.hide(*plurals)
        self.restart()
        self.check_status(3)
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)
        self.assert_alive()
        self.api.discovery = kube_server.DISCOVERY
        self.later()
        del self.api.objects[path]
        self.check_status(3)
        self.assert_all_gone()

    def infrastructure(self, plural):
        return ('/apis/infrastructure.cluster.x-k8s.io/v1beta1/namespaces/'
                f'{small_world.NAMESPACE}/{plural}')

    def test_machines_whose_kind_is_not_seen(self):
        self.assert_waits(
            '/apis/cluster.x-k8s.io/v1beta2/namespaces/'
            f'{small_world.NAMESPACE}/machines/m', 'machines')

    def test_infrastructure_of_which_no_kind_is_seen(self):
        self.assert_waits(
            f'{self.infrastructure("openstackmachines")}/m',
            'openstackclusters', 'openstackmachines',
            'openstackmachinetemplates', 'devclusters',
            'devmachinetemplates')

    def test_infrastructure_of_which_one_kind_is_not_seen(self):
        self.assert_waits(
            f'{self.infrastructure("openstackmachines")}/m',
            'openstackmachines')

    def test_kind_that_was_seen_a_while_ago(self):
        path = self.infrastructure('devclusters').replace(
            'v1beta1', 'v1beta2') + f'/{small_world.RELEASE}'
        self.left(path)
        self.check_status()
        self.hide('devclusters', 'devmachinetemplates')
        self.check_status(3)
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)
        self.assert_alive()

    def test_provider_that_was_never_installed_is_not_waited_for(self):
        self.deleting()
        self.remove_all()
        self.hide('devclusters', 'devmachinetemplates')
        self.restart()
        self.check_status(3)
        self.assert_all_gone()

    def test_request_between_the_read_and_the_lock(self):
        # A creation that gave the lock back after the read.
        self.deleting()
        self.remove_all()
        poller = self.new_loop()
        locked = poller._reconciler.locked

        def create(timeout):
            cluster = objects.cluster()
            cluster['metadata']['name'] = small_world.RELEASE
            self.w.helm.put('clusters', cluster)
            return locked(timeout)
        poller._reconciler.locked = create
        poller.poll()
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)
        self.assert_alive()
