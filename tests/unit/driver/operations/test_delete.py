# SPDX-License-Identifier: Apache-2.0

"""What goes with a cluster, in which order."""

import fixtures
import testtools

from magnum_capi.driver.cloud import loadbalancers
from magnum_capi.driver.cloud import services
from magnum_capi.driver.cloud import volumes
from magnum_capi.driver.desired import names
from magnum_capi.driver import failures
from magnum_capi.driver.helm import helm_errors
from magnum_capi.driver.keys import app_credentials
from magnum_capi.driver import poll_cache
from magnum_capi.driver import reconcile
from magnum_capi.kube import lease
from tests.lib import doors
from tests.unit.driver import base
from tests.unit.driver import objects
from tests.unit.driver import small_world


#: Of a load balancer in Octavia.
PATH = '/lbaas/loadbalancers/web'


class DeleteTest(base.TestCase):

    def test_rows_say_it_and_nothing_is_left(self):
        self.created()
        self.operations().delete()
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)
        self.assertEqual('DELETE_IN_PROGRESS', self.w.group().status)
        self.check_status()
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)
        self.assertEqual([], self.w.left())
        self.assertEqual({}, self.w.cloud.credentials)
        # Magnum itself deletes two of its four certificates.
        self.assertEqual(
            {self.w.cluster.ca_cert_ref, self.w.cluster.magnum_cert_ref},
            set(self.w.rows.certificates))

    def test_role_that_the_user_lacked_before_is_for_the_deletion(self):
        # Without it the provider could make no load balancer, and can look
        # for none.
        self.created()
        self.w.ask_as('u1', 'Member', 'load-balancer_member')
        self.operations().delete()
        self.assertEqual(
            [('member',), ('Member', 'load-balancer_member')],
            [made.roles for made in self.w.cloud.made])
        for same in (('Member', 'load-balancer_member'),
                     ('member', 'creator')):
            self.w.ask_as('u2', *same)
            self.operations().delete()
        self.assertEqual(2, len(self.w.cloud.made))
        self.check_status(2)
        self.assertEqual({}, self.w.cloud.credentials)

    def test_deletion_goes_on_if_roles_are_not_known(self):
        def away(*args):
            raise services.CloudUnreachable('No answer about a credential')
        self.created()
        self.patch(app_credentials, 'get', away)
        self.operations().delete()
        self.assertEqual((1, 1), (
            len(self.w.cloud.made), self.w.helm.uninstalls))

    def kept(self, *owners):
        """What Helm keeps of a worker that never was; returns its path."""
        path = (f'/apis/infrastructure.cluster.x-k8s.io/v1beta1/namespaces/'
                f'{small_world.NAMESPACE}/openstackmachinetemplates/t')
        self.api.put(path, {'metadata': {
            'labels': {'capi.stackhpc.com/cluster': small_world.RELEASE},
            'ownerReferences': [
                {'kind': 'Cluster', 'name': owner, 'uid': owner}
                for owner in owners]}})
        return path

    def test_template_that_nobody_owns_goes_with_the_cluster(self):
        # Deleted before Cluster API had adopted it, it stayed for ever.
        self.created()
        self.operations().delete()
        path = self.kept()
        self.check_status()
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)
        self.assertIn(('DELETE', path), self.api.calls())
        self.check_status(3)
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)
        self.assertEqual([], self.w.left())
        # There is no release any more for a helm to remove.
        self.assertEqual(1, self.w.helm.uninstalls)

    def test_template_with_an_owner_is_waited_for(self):
        self.created()
        self.operations().delete()
        path = self.kept(small_world.RELEASE)
        self.check_status(3)
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)
        self.assertNotIn(('DELETE', path), self.api.calls())
        del self.api.objects[path]
        self.check_status(3)
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)

    def test_record_of_the_credential_outlives_keystones_fault(self):
        # B.4.14: the id was gone before the credential.
        self.created()
        self.operations().delete()
        self.fail_at('busy', 'DELETE /identity')
        self.check_status()
        self.w.later(days=61)
        self.check_status()
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)
        self.assertIn('application credential', self.w.cluster.status_reason)
        self.assertIn('magnum', self.w.secrets())
        self.w.doors.clear()
        self.check_status()
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)
        self.assertEqual({}, self.w.cloud.credentials)

    def test_reasons_of_before_are_gone(self):
        self.created()
        for table in (self.w.rows.clusters, self.w.rows.groups):
            for row in table.values():
                row['status_reason'] = 'of before'
        self.operations().delete()
        for row in (self.w.cluster, self.w.group(small_world.MASTERS),
                    self.w.group()):
            self.assertNotIn('of before', row.status_reason or '')

    def test_helm_that_does_not_say_why_it_failed_is_retried(self):
        # helm 3.20, when the API server ends while it deletes.
        self.created()
        uninstall = self.w.helm.uninstall

        def fail(*args):
            raise helm_errors.HelmFailed(
                'helm uninstall failed',
                reason='failed to delete release: c1')
        self.w.helm.uninstall = fail
        self.operations().delete()
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)
        self.assertIn(
            'Will be tried again: failed to delete release: c1. Waiting for',
            self.w.cluster.status_reason)
        self.w.helm.uninstall = uninstall
        self.check_status(2)
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)

    def overwritten(self):
        """As Magnum does when a resize ends after the deletion began."""
        self.w.rows.clusters[small_world.CLUSTER]['status'] = (
            'UPDATE_IN_PROGRESS')

    def test_resize_that_ends_late_does_not_lose_it(self):
        self.created()
        self.operations().delete()
        self.overwritten()
        self.check_status()
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)
        self.assertEqual([], self.w.left())

    def test_resize_that_begins_late_changes_nothing(self):
        self.created()
        self.operations().delete()
        self.overwritten()
        self.resize(5)
        self.assertEqual(1, len(self.w.helm.upgrades))

    def test_one_that_ends_while_it_waits_for_the_lock_leaves_nothing(self):
        # Magnum 21: a deletion during the creation found the lock free when
        # the status had removed everything, and the row was still there.
        self.created()
        self.w.helm.uninstall(small_world.RELEASE, small_world.NAMESPACE)
        locked, waiting = reconcile.Reconciler.locked, [True]

        def late(reconciler, timeout):
            while waiting and waiting.pop():
                self.check_status(2)
                self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)
            return locked(reconciler, timeout)

        with fixtures.MonkeyPatch(
                'magnum_capi.driver.reconcile.Reconciler.locked', late):
            self.operations().delete()
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)
        self.assertEqual([], self.w.left())

    def test_a_second_one_after_its_end_leaves_nothing(self):
        self.created()
        self.operations().delete()
        self.check_status()
        self.operations().delete()
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)
        self.assertEqual([], self.w.left())

    def test_who_had_the_lock_does_not_lose_it(self):
        self.created()
        hold, said = lease.Lock.hold, []

        def overwriting(*args):
            self.overwritten()
            return hold(*args)
        self.patch(lease.Lock, 'hold', overwriting)
        self.patch(self.w.helm, 'uninstall', lambda *args: said.append(
            self.w.cluster.status))
        self.operations().delete()
        self.assertEqual(['DELETE_IN_PROGRESS'], said)

    def test_who_keeps_the_lock_does_not_lose_it(self):
        self.created()

        def busy(*args):
            self.overwritten()
            self.w.rows.groups[small_world.MASTERS]['status'] = (
                'UPDATE_IN_PROGRESS')
            raise lease.LockBusy('busy', holder='somebody')
        self.patch(lease.Lock, 'hold', busy)
        self.operations().delete()
        self.assertEqual(
            ('DELETE_IN_PROGRESS', 'DELETE_IN_PROGRESS'),
            (self.w.cluster.status,
             self.w.group(small_world.MASTERS).status))
        self.assertIn('tried again', self.w.cluster.status_reason)

    def deleting(self):
        """A cluster that waits for its parts; returns whose balancers go."""
        self.created()
        self.operations().delete()
        gone = objects.cluster()
        gone['metadata'].update(
            name=small_world.RELEASE, finalizers=['its controller'],
            deletionTimestamp='2026-11-21T14:59:00Z')
        self.w.helm.put('clusters', gone)
        asked = []
        self.patch(loadbalancers, 'delete',
                   lambda *args: asked.append(args[1:]))
        return asked

    def test_load_balancers_of_services_go_with_the_cluster(self):
        # B.4.21
        asked = self.deleting()
        self.check_status(poll_cache.CHANGING)
        self.assertEqual([(small_world.RELEASE, small_world.PROJECT)], asked)

    def test_load_balancers_stay_unless_the_deletion_was_asked_for(self):
        # Somebody deletes the Cluster by hand.
        asked = self.deleting()
        for status in ('CREATE_IN_PROGRESS', 'UPDATE_IN_PROGRESS'):
            for table in (self.w.rows.clusters, self.w.rows.groups):
                for row in table.values():
                    row['status'] = status
            self.check_status(2 * poll_cache.CHANGING)
        self.assertEqual([], asked)

    def test_load_balancers_wait_for_the_machines(self):
        asked = self.deleting()
        machine = objects.machine()
        machine['metadata']['labels'] = {
            names.CAPI_CLUSTER_NAME: small_world.RELEASE}
        self.w.helm.put('machines', machine)
        self.check_status(poll_cache.CHANGING)
        self.assertEqual([], asked)

    def test_cluster_that_never_was(self):
        self.operations().delete()
        # Magnum removes only rows whose end its own job has seen.
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)
        self.check_status()
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)
        self.assertEqual([], self.w.left())

    def test_credential_whose_id_nobody_knows_is_found(self):
        # A conductor that died between Keystone's answer and the record.
        self.fail_at('crash-after', 'POST /identity/v3/users')
        with testtools.ExpectedException(doors.Crash):
            with self.w.doors.called_by('a conductor'):
                self.create()
        self.w.doors.clear()
        self.assertEqual(1, len(self.w.cloud.credentials))
        self.operations().delete()
        self.check_status()
        self.assertEqual({}, self.w.cloud.credentials)


class ForeignClusterTest(base.TestCase):
    """Another driver has made it, and its template names ours by now."""

    FOREIGN = 'mine-abcdefghijkl'

    def setUp(self):
        super().setUp()
        self.w.rows.clusters[small_world.CLUSTER].update(
            stack_id=self.FOREIGN, status='CREATE_COMPLETE')

    def assert_refused(self, function, *args, **kwargs):
        e = self.assertRaises(failures.Failed, function, *args, **kwargs)
        self.assertIn('Another driver has made this cluster', str(e))

    def test_nothing_is_done_to_it(self):
        self.assert_refused(self.operations().delete)
        self.assert_refused(self.resize, 3)
        self.assert_refused(self.operations().rotate, 'user')
        self.assertEqual(self.FOREIGN, self.w.cluster.stack_id)
        self.assertNotEqual('DELETE_IN_PROGRESS', self.w.cluster.status)

    def test_it_is_not_taken_for_gone(self):
        self.w.rows.clusters[small_world.CLUSTER]['status'] = \
            'DELETE_IN_PROGRESS'
        self.check_status(3)
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)
        self.assertIn('Another driver', self.logger.output)


class VolumesTest(base.TestCase):

    def setUp(self):
        super().setUp()
        self.w.cloud.types.add('block-storage')
        self.claimed('available')

    def claimed(self, status):
        """A volume that a claim of the cluster made."""
        self.w.cloud.volumes['a'] = {
            'id': 'a', 'status': status,
            'metadata': {volumes.CLUSTER: small_world.RELEASE}}

    def deleted(self, policy=None, **options):
        self.configure(**options)
        if policy:
            self.w.rows.clusters[small_world.CLUSTER]['labels'] = {
                'csi_cinder_reclaim_policy': policy}
        self.created()
        self.operations().delete()
        self.check_status(3)
        return self.w.cluster.status, [*self.w.cloud.volumes]

    def test_those_of_claims_go_where_the_cluster_says_delete(self):
        self.assertEqual(('DELETE_COMPLETE', []), self.deleted('Delete'))

    def test_what_is_to_be_retained_is(self):
        self.assertEqual(('DELETE_COMPLETE', ['a']), self.deleted())

    def test_operator_may_keep_all(self):
        self.assertEqual(
            ('DELETE_COMPLETE', ['a']),
            self.deleted('Delete', delete_volumes=False))

    def test_default_of_the_operator_counts_as_it_was(self):
        self.configure(default_labels={
            'csi_cinder_reclaim_policy': 'Delete'})
        self.created()
        self.configure(default_labels={})
        self.operations().delete()
        self.check_status(3)
        self.assertEqual({}, self.w.cloud.volumes)

    def test_detaching_is_waited_for(self):
        self.claimed('detaching')
        status, _left = self.deleted('Delete')
        self.assertEqual('DELETE_IN_PROGRESS', status)
        self.assertIn('volumes that still exist: a',
                      self.w.cluster.status_reason)
        self.claimed('available')
        self.check_status(2)
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)
        self.assertEqual({}, self.w.cloud.volumes)

    def test_cinder_that_does_not_answer_is_waited_for(self):
        self.fail_at('busy', 'GET /block-storage/v3/volumes')
        status, _left = self.deleted('Delete')
        self.assertEqual('DELETE_IN_PROGRESS', status)
        self.assertIn('No answer about the volumes',
                      self.w.cluster.status_reason)
        self.w.doors.clear()
        self.check_status(2)
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)
        self.assertEqual({}, self.w.cloud.volumes)

    def test_neutron_that_does_not_answer_holds_up_no_volumes(self):
        self.w.cloud.types.add('network')
        self.fail_at('busy', 'GET /network/v2.0/security-groups')
        self.assertEqual(('DELETE_IN_PROGRESS', []), self.deleted('Delete'))
        self.assertIn('No answer about the security groups',
                      self.w.cluster.status_reason)


class LoadBalancersTest(base.TestCase):
    """Those of a cluster that is gone before anybody looked thoroughly."""

    def setUp(self):
        super().setUp()
        self.w.cloud.types.add('load-balancer')
        self.balancer('ACTIVE')
        # Octavia takes its time.
        self.w.cloud.answers['DELETE', PATH] = 204, None

    def balancer(self, status):
        """A load balancer for a Service of the cluster."""
        self.w.cloud.balancers['web'] = {
            'id': 'web', 'project_id': small_world.PROJECT,
            'provisioning_status': status, 'tags': [],
            'name': f'kube_service_{small_world.RELEASE}_default_web',
            'description': 'Kubernetes external service default/web from '
                           f'cluster {small_world.RELEASE}'}

    def are_deleted(self):
        """Whether Octavia was asked to."""
        return ('DELETE', PATH) in [asked[:2] for asked in self.w.cloud.seen]

    def deleted(self):
        self.created()
        self.operations().delete()
        self.check_status(3)
        return self.w.cluster.status

    def test_they_are_deleted_and_waited_for(self):
        self.assertEqual('DELETE_IN_PROGRESS', self.deleted())
        self.assertTrue(self.are_deleted())
        self.assertIn('load balancers', self.w.cluster.status_reason)
        self.assertIn('default_web', self.w.cluster.status_reason)
        self.w.cloud.balancers.clear()
        self.check_status(2)
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)

    def test_one_that_cannot_be_changed_yet_is_deleted_later(self):
        self.balancer('PENDING_UPDATE')
        self.assertEqual('DELETE_IN_PROGRESS', self.deleted())
        self.assertFalse(self.are_deleted())
        self.balancer('ACTIVE')
        self.check_status(2)
        self.assertTrue(self.are_deleted())

    def test_deletion_goes_on_without_the_right_to_it(self):
        self.fail_at('denied', 'GET /load-balancer/v2/lbaas')
        self.assertEqual('DELETE_COMPLETE', self.deleted())
        self.assertIn('its load balancers are still there',
                      self.logger.output)

    def test_they_stay_when_the_operator_says_so(self):
        self.configure(delete_load_balancers=False)
        self.assertEqual('DELETE_COMPLETE', self.deleted())
        self.assertFalse(self.are_deleted())
