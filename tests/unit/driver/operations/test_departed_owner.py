# SPDX-License-Identifier: Apache-2.0


"""The owner of a cluster leaves the cloud; others of the project stay."""

from magnum_capi.driver.cloud import keypairs
from magnum_capi.driver.cloud import services
from magnum_capi.driver.desired import credentials
from magnum_capi.driver.desired import names
from magnum_capi.driver import failures
from magnum_capi.driver.helm import helm_errors
from magnum_capi.driver.keys import app_credentials
from magnum_capi.driver.keys import cluster_secrets
from tests.unit.driver import base
from tests.unit.driver import small_world


class DepartedOwnerTest(base.TestCase):

    def setUp(self):
        super().setUp()
        self.created()
        # Keystone removes the application credentials of a user with it.
        self.w.cloud.credentials.clear()
        del self.w.cloud.users['u1']
        self.w.ask_as('u2', 'member')

    def in_use(self):
        """Id of the credential that the cluster reads."""
        path = (f'/api/v1/namespaces/{small_world.NAMESPACE}/secrets/'
                f'{names.credentials(small_world.RELEASE)}')
        return cluster_secrets.applied_id(self.api.objects[path]['data'])

    def assert_works_for(self, user):
        self.assertEqual(user, self.w.cloud.credentials[self.in_use()].user)

    def test_deletion_by_another_member_has_a_credential_to_delete_with(self):
        self.operations().delete()
        self.assert_works_for('u2')
        self.check_status(2)
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)
        self.assertEqual({}, self.w.cloud.credentials)

    def test_deletion_waits_for_a_keystone_that_is_away(self):
        self.fail_at('busy', 'POST /identity/v3/users')
        self.operations().delete()
        self.assertEqual(('DELETE_IN_PROGRESS', 0), (
            self.w.cluster.status, self.w.helm.uninstalls))
        self.assertIn('Will be tried again: No answer',
                      self.w.cluster.status_reason)

    def test_resize_by_another_member_brings_in_a_credential(self):
        self.resize(2)
        self.assert_works_for('u2')
        self.assertEqual('u2', self.w.cluster.user_id)
        self.w.later(seconds=self.w.runtime.options.credential_bound)
        self.check_status(2)
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)
        self.assertEqual(1, len(self.w.cloud.credentials))

    def test_another_member_gets_the_key_pair_of_the_nodes(self):
        # Nova: "Invalid key_name provided", in the sandbox nobody asks.
        self.w.rows.clusters[small_world.CLUSTER]['keypair'] = 'key'
        for refused in (False, True):
            asked = []

            def copy(name, owner, cloud, admin):
                # Before there is a credential: it is not forgotten.
                asked.append((name, owner, list(self.w.cloud.credentials)))
                if refused:
                    raise services.NotThere('There is no keypair key')
            self.patch(keypairs, 'copy', copy)
            self.resize(2)
            self.assertEqual([('key', 'u1', [])], asked)
            self.assert_works_for('u2')
            self.w.cloud.credentials.clear()
            self.w.rows.clusters[small_world.CLUSTER]['user_id'] = 'u1'

    def test_next_request_gets_the_key_pair_if_nova_was_away(self):
        self.w.rows.clusters[small_world.CLUSTER]['keypair'] = 'key'

        def away(*args):
            raise services.CloudUnreachable('No answer about the keypair key')
        self.patch(keypairs, 'copy', away)
        self.resize(2)
        self.assertIn('No answer about the keypair',
                      self.w.cluster.status_reason)
        asked = []
        self.patch(keypairs, 'copy', lambda *args: asked.append(args[:2]))
        self.resize(2)
        self.assertEqual([('key', 'u1')], asked)
        self.assert_works_for('u2')

    def test_deletion_needs_no_key_pair(self):
        self.w.rows.clusters[small_world.CLUSTER]['keypair'] = 'key'
        self.patch(keypairs, 'copy', self.fail)
        self.operations().delete()
        self.assert_works_for('u2')

    def test_owner_and_clusters_without_a_key_need_none(self):
        self.patch(keypairs, 'copy', self.fail)
        self.resize(2)
        self.w.rows.clusters[small_world.CLUSTER]['keypair'] = 'key'
        self.operations().rotate('u2')
        self.assertEqual('u2', self.w.cluster.user_id)

    def test_upgrade_that_fails_keeps_the_credential_it_brought_in(self):
        def refuse():
            raise helm_errors.HelmFailed('no', reason='too many')
        self.w.helm.before = refuse
        self.request_upgrade()
        self.check_status()
        self.assertEqual('UPDATE_FAILED', self.w.cluster.status)
        self.assert_works_for('u2')
        state = self.reconciler().secrets.state()
        used = credentials.in_use(state.record)
        self.assertEqual((self.in_use(), True),
                         (used.id, used.name in state.secrets))

    def test_user_without_a_usable_role_can_still_delete(self):
        self.w.ask_as('u3', 'reader-of-nothing')
        self.operations().delete()
        self.check_status(2)
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)

    def test_resize_by_a_user_without_a_usable_role_says_why(self):
        self.w.ask_as('u3', 'reader-of-nothing')
        e = self.assertRaises(failures.Failed, self.resize, 2)
        self.assertIn('no role that a cluster may have', str(e))


class LivingOwnerTest(base.TestCase):

    def test_valid_credential_stays(self):
        self.created()
        before = dict(self.w.cloud.credentials)
        self.w.ask_as('u2', 'member')
        self.resize(2)
        self.operations().delete()
        self.assertEqual(before, self.w.cloud.credentials)
        self.assertEqual('u1', self.w.cluster.user_id)


class LostStateTest(base.TestCase):
    """Somebody deleted the Secret in which the driver keeps its record."""

    def test_deletion_finds_the_credential_by_its_name(self):
        self.created()
        app_credentials.create(
            self.w.store.cloud.services, 'u1', 'magnum-of-somebody-else', '',
            has=('member',), allowed=('member',))
        del self.api.objects[
            f'/api/v1/namespaces/{small_world.NAMESPACE}/secrets/'
            f'{small_world.RELEASE}-magnum']
        self.operations().delete()
        self.check_status(2)
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)
        self.assertEqual(['magnum-of-somebody-else'], [
            made.name for made in self.w.cloud.credentials.values()])
