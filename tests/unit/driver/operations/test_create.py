# SPDX-License-Identifier: Apache-2.0

"""What a creation makes, and what becomes of one that fails."""

from magnum_capi.driver.desired import names
from magnum_capi.driver import failures
from magnum_capi.driver.helm import helm_errors
from magnum_capi.driver.keys import cluster_secrets
from tests.unit.driver import base
from tests.unit.driver import small_world


class CreateTest(base.TestCase):

    def test_everything_is_there(self):
        row = self.create()
        self.assertEqual(small_world.RELEASE, row.stack_id)
        self.assertEqual(row.ca_cert_ref, self.w.cluster.ca_cert_ref)
        self.assertEqual(['ca', 'cloud-credentials', 'etcd', 'magnum',
                          'proxy', 'sa'], self.w.secrets())
        self.assertEqual(1, len(self.w.helm.upgrades))
        self.assertEqual(1, len(self.w.cloud.credentials))

    def test_credential_never_has_the_role_admin(self):
        self.create()
        self.assertEqual([('member',)], [
            made.roles for made in self.w.cloud.made])

    def test_no_certificate_authorities_where_none_are_checked(self):
        path = (f'/api/v1/namespaces/{small_world.NAMESPACE}/secrets/'
                f'{names.credentials(small_world.RELEASE)}')
        self.w.trust(None)
        self.create()
        self.assertEqual(
            {cluster_secrets.CLOUDS}, set(self.api.objects[path]['data']))

    def test_key_of_service_accounts_is_the_clusters_own_and_stays(self):
        # E8: not the key of Magnum's client certificate.
        self.create()
        path = (f'/api/v1/namespaces/{small_world.NAMESPACE}/secrets/'
                f'{names.certificate(small_world.RELEASE, "sa")}')
        first = self.api.objects[path]['data']
        self.operations().create(60)
        self.assertEqual(first, self.api.objects[path]['data'])
        self.assertEqual('cluster.x-k8s.io/secret',
                         self.api.objects[path]['type'])

    def test_twice_is_once(self):
        self.create()
        self.operations().create(60)
        self.assertEqual(1, len(self.w.cloud.credentials))

    def test_failure_fails_the_node_groups_with_the_reason(self):
        self.w.rows.groups[small_world.WORKERS]['flavor_id'] = 'tiny'
        row = self.w.row()
        e = self.assertRaises(failures.Failed, self.operations(row).create)
        self.assertIn('tiny is too small', e.what)
        self.assertEqual('CREATE_FAILED', self.w.group().status)
        self.assertIn('too small', self.w.group().status_reason)
        # It is no bug.
        self.assertNotIn('Traceback', self.logger.output)

    def test_failure_leaves_groups_alone_that_are_not_in_progress(self):
        self.w.rows.groups[small_world.WORKERS]['flavor_id'] = 'tiny'
        self.w.add_group(status='CREATE_COMPLETE')
        self.assertRaises(failures.Failed, self.create)
        self.assertEqual(
            ['CREATE_FAILED', 'CREATE_FAILED', 'CREATE_COMPLETE'],
            [group['status'] for group in self.w.rows.groups.values()])
        self.assertIsNone(self.w.group(small_world.OTHERS).status_reason)

    def test_timeout_of_the_request_is_kept(self):
        self.w.rows.make_certificates(
            self.w.rows.clusters[small_world.CLUSTER])
        self.operations().create(90)
        self.assertEqual(90, self.w.cluster.create_timeout)
        self.operations().create(0)
        self.assertEqual(0, self.w.cluster.create_timeout)
        self.operations().create()
        self.assertEqual(0, self.w.cluster.create_timeout)

    def test_what_is_refused_leaves_nothing(self):
        self.w.rows.templates[small_world.TEMPLATE]['network_driver'] = (
            'flannel')
        e = self.assertRaises(failures.Failed, self.create)
        # B.4.8
        self.assertIn("'flannel' is not supported", e.what)
        self.assertEqual([], self.w.left())
        self.assertEqual({}, self.w.cloud.credentials)

    def test_refusal_of_the_chart_is_the_reason(self):
        def refuse():
            raise helm_errors.HelmFailed(
                'helm upgrade failed', reason='nodeGroups: too many',
                where='/etc/magnum/kubeconfig')
        self.w.helm.before = refuse
        e = self.assertRaises(failures.Failed, self.create)
        self.assertEqual('nodeGroups: too many', str(e))

    def test_address_of_the_management_cluster_is_not_reported(self):
        self.api.faults = [(403, {}, {'message': 'no'})] * 9
        e = self.assertRaises(failures.Failed, self.create)
        self.assertNotIn('127.0.0.1', str(e))

    def test_unexpected_error_is_logged_and_not_shown(self):
        self.w.helm.before = lambda: {}['secret thing']
        e = self.assertRaises(failures.Failed, self.create)
        self.assertNotIn('secret thing', str(e))
        self.assertIn('secret thing', self.logger.output)
        self.assertIn('Traceback', self.logger.output)

    def test_no_secret_in_the_log(self):
        self.create()
        self.check_status()
        self.assertNotIn(self.w.cloud.made[0].secret, self.logger.output)

    def test_deletion_that_was_asked_for_meanwhile_wins(self):
        # B.4.7: delete right behind create.
        row = self.w.row()
        self.w.rows.clusters[small_world.CLUSTER]['status'] = (
            'DELETE_IN_PROGRESS')
        self.operations(row).create()
        self.assertEqual([], self.w.helm.upgrades)
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)

    def test_deletion_stops_a_creation_half_way(self):
        def delete():
            self.w.rows.clusters[small_world.CLUSTER]['status'] = (
                'DELETE_IN_PROGRESS')
        self.fail_at('meanwhile', 'POST /identity', act=delete)
        self.create()
        self.assertEqual([], self.w.helm.upgrades)
        self.check_status()
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)
        self.assertEqual({}, self.w.cloud.credentials)

    def test_failure_does_not_overwrite_a_deletion(self):
        def fail():
            self.w.rows.clusters[small_world.CLUSTER]['status'] = (
                'DELETE_IN_PROGRESS')
            raise helm_errors.HelmFailed('no', reason='no')
        self.w.helm.before = fail
        self.create()
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)

    def test_row_that_is_gone_is_no_failure(self):
        row = self.w.row()
        self.w.rows.clusters.clear()
        self.operations(row).create()
        self.assertEqual([], self.w.left())

    def test_what_passes_is_left_to_the_status_once_a_credential_is_there(
            self):
        def fail():
            raise kinds.pop()('no', reason='no answer')
        kinds = [helm_errors.HelmDisturbed, helm_errors.HelmDisturbed]
        self.w.helm.before = fail
        self.create()
        self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)
        self.check_status()
        self.assertEqual([], kinds)
        self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)
        self.assertIn('Will be tried again', self.w.cluster.status_reason)
        self.w.helm.before = lambda: None
        self.check_status(2)
        self.assertEqual('CREATE_COMPLETE', self.w.cluster.status)
        self.assertEqual(1, len(self.w.cloud.credentials))
