# SPDX-License-Identifier: Apache-2.0

"""Upgrades by another template."""

import dataclasses
import pathlib

import fixtures

from magnum_capi.driver.desired import charts
from magnum_capi.driver import failures
from magnum_capi.driver.helm import helm_errors
from magnum_capi.driver import upgrading
from magnum_capi.kube import lease
from tests.unit.driver import base
from tests.unit.driver import small_world


class UpgradeTest(base.TestCase):

    def test_version_and_images_change(self):
        self.created()
        self.request_upgrade()
        # It is answered before helm is run.
        self.assertEqual(('UPDATE_IN_PROGRESS', small_world.NEWER, 1), (
            self.w.cluster.status, self.w.cluster.cluster_template_id,
            len(self.w.helm.upgrades)))
        self.check_status()
        self.assertEqual('1.35.0',
                         self.w.helm.upgrades[-1]['kubernetesVersion'])
        self.assertEqual('ubuntu-35', self.w.group().image_id)
        self.check_status(2)
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)
        self.assertEqual('v1.35.0', self.w.cluster.coe_version)

    def test_refusal_changes_nothing(self):
        self.created()
        before = dict(self.w.rows.clusters[small_world.CLUSTER])
        self.w.rows.templates[small_world.NEWER].update(
            image_id='ubuntu-37', network_driver='cilium')
        e = self.assertRaises(failures.NotViable, self.upgrade)
        self.assertIn('more than one minor version', str(e))
        self.assertIn('network_driver', str(e))
        self.assertEqual(before, self.w.rows.clusters[small_world.CLUSTER])
        self.assertEqual(1, len(self.w.helm.upgrades))

    def test_unexpected_error_is_a_refusal(self):
        # After any other error Magnum saves UPDATE_FAILED with its text.
        self.created()
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.configure(chart=charts.Chart(str(folder)))
        self.useFixture(fixtures.MockPatch(
            'pathlib.Path.rglob', side_effect=PermissionError))
        row = self.w.row()

        e = self.assertRaises(failures.NotViable, upgrading.Upgrade(
            self.reconciler(row), self.w.store.template(small_world.NEWER),
            self.w.row(small_world.WORKERS)).run)
        self.assertIn('see the log of magnum-conductor', str(e))
        self.assertIn('PermissionError', self.logger.output)
        self.w.store.save(row)

        self.assertEqual(small_world.TEMPLATE,
                         self.w.cluster.cluster_template_id)

    def test_group_that_was_never_made_stays_so(self):
        # What is wrong with it is in nobody's way.
        self.created()
        self.w.add_group(flavor_id='tiny', status='CREATE_FAILED')

        self.upgrade()
        self.check_status(3)

        self.assertEqual(('UPDATE_COMPLETE', 'CREATE_FAILED'), (
            self.w.cluster.status, self.w.group(small_world.OTHERS).status))

    def test_attributes_without_effect_may_differ(self):
        # Magnum wants master_lb_enabled for clusters of three masters.
        self.created()
        self.w.rows.templates[small_world.NEWER].update(
            master_lb_enabled=True, volume_driver='cinder')

        self.upgrade()

        self.assertEqual('1.35.0',
                         self.w.helm.upgrades[-1]['kubernetesVersion'])

    def test_version_that_the_control_plane_runs_counts(self):
        # Not that of the template, whose image may be another by now.
        self.created()
        path, = [path for path in self.api.objects
                 if '/kubeadmcontrolplanes/' in path]
        self.api.objects[path]['status']['version'] = 'v1.33.9'
        e = self.assertRaises(failures.NotViable, self.upgrade)
        self.assertIn('upgrade to 1.34 first', str(e))

    def test_template_that_names_no_driver(self):
        # Magnum has them since 23; what is used cannot be patched.
        self.created()
        for old, new in ((None, 'k8s_capi_v1'), ('k8s_capi_v1', None),
                         (None, None)):
            self.w.rows.clusters[small_world.CLUSTER][
                'cluster_template_id'] = small_world.TEMPLATE
            self.w.rows.templates[small_world.TEMPLATE]['driver'] = old
            self.w.rows.templates[small_world.NEWER]['driver'] = new
            self.upgrade()
            self.assertEqual(small_world.NEWER,
                             self.w.cluster.cluster_template_id)

    def test_template_for_which_another_driver_is_taken_is_refused(self):
        self.created()
        self.w.rows.templates[small_world.NEWER]['driver'] = None
        self.w.rows.driver = 'other'
        e = self.assertRaises(failures.NotViable, self.upgrade)
        self.assertIn('driver cannot change from "k8s_capi_v1" to "other"',
                      str(e))

    def test_deletion_is_no_failed_upgrade(self):
        # What Magnum saves after other errors would end the deletion.
        self.created()
        self.operations().delete()
        self.assertRaises(failures.NotViable, self.upgrade)

    def test_deletion_while_it_is_checked_wins(self):
        self.created()

        def delete():
            self.w.rows.clusters[small_world.CLUSTER]['status'] = (
                'DELETE_IN_PROGRESS')
        self.fail_at('meanwhile', 'GET /image', act=delete)
        self.assertRaises(failures.NotViable, self.upgrade)
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)
        self.assertEqual(1, len(self.w.helm.upgrades))

    def test_glance_that_is_down_is_no_failed_upgrade(self):
        self.created()
        self.fail_at('busy', 'GET /image')
        self.assertRaises(failures.NotViable, self.upgrade)
        self.assertEqual('CREATE_COMPLETE', self.w.cluster.status)

    def refused(self):
        """Helm refuses the upgrade when the status applies it."""
        def refuse():
            raise helm_errors.HelmFailed('no', reason='too many')
        self.w.helm.before = refuse
        self.request_upgrade()
        self.check_status()

    def test_failure_restores_template_and_groups(self):
        # B.4.6
        self.created()
        self.w.add_group(image_id='special', status='CREATE_COMPLETE')
        self.w.cloud.images['special'] = {'kube_version': 'v1.34.2'}
        self.refused()
        self.assertEqual(('UPDATE_FAILED', 'too many',
                          small_world.TEMPLATE), (
            self.w.cluster.status, self.w.cluster.status_reason,
            self.w.cluster.cluster_template_id))
        self.assertEqual(['ubuntu-34', 'ubuntu-34', 'special'], [
            self.w.group(uuid).image_id for uuid in (
                small_world.MASTERS, small_world.WORKERS,
                small_world.OTHERS)])
        self.assertEqual(['UPDATE_FAILED', 'UPDATE_FAILED',
                          'CREATE_COMPLETE'], [
            self.w.group(uuid).status for uuid in (
                small_world.MASTERS, small_world.WORKERS,
                small_world.OTHERS)])

    def test_cluster_whose_upgrade_was_refused_can_be_resized(self):
        self.created()
        before = self.w.helm.upgrades[-1]
        self.refused()
        self.w.helm.before = lambda: None
        self.resize(5)
        self.check_status(2)
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)
        before['nodeGroups'][0]['machineCount'] = 5
        self.assertEqual(before, self.w.helm.upgrades[-1])

    def test_failure_restores_only_what_was_changed(self):
        self.created()

        def refuse():
            # Another request, in the meantime.
            self.w.rows.clusters[small_world.CLUSTER]['labels'] = {'a': 'b'}
            raise helm_errors.HelmFailed('no', reason='too many')
        self.request_upgrade()
        self.w.helm.before = refuse
        self.check_status()
        self.assertEqual({'a': 'b'}, self.w.cluster.labels)

    def test_upgrade_that_helm_has_accepted_is_not_undone(self):
        self.created()
        self.upgrade()

        def refuse():
            raise helm_errors.HelmFailed('no', reason='too many')
        self.w.helm.before = refuse
        self.check_status(2)
        self.assertEqual(('UPDATE_FAILED', small_world.NEWER), (
            self.w.cluster.status, self.w.cluster.cluster_template_id))

    def test_database_that_fails_leaves_the_cluster_as_it_was(self):
        self.created()
        before = self.w.helm.upgrades[-1]
        save = self.w.store.save

        def fail(row):
            raise RuntimeError('no database')
        self.w.store.save = fail
        self.assertRaises(failures.NotViable, self.request_upgrade)
        self.w.store.save = save
        self.resize(5)
        self.check_status(4)
        self.assertEqual(('UPDATE_COMPLETE', 'v1.34.2'), (
            self.w.cluster.status, self.w.cluster.coe_version))
        self.assertEqual(before['kubernetesVersion'],
                         self.w.helm.upgrades[-1]['kubernetesVersion'])

    def test_label_that_contradicts_the_image_is_refused(self):
        self.created()
        self.w.rows.templates[small_world.NEWER]['labels'] = {
            'kube_tag': 'v1.34.9'}
        e = self.assertRaises(failures.NotViable, self.upgrade)
        self.assertIn('the label kube_tag of the template says v1.34.9',
                      str(e))

    def strategy(self):
        return self.w.helm.upgrades[-1]['nodeGroups'][0].get(
            'rolloutStrategy')

    def created(self):
        self.w.rows.groups[small_world.WORKERS]['node_count'] = 4
        super().created()

    def test_batches_are_those_of_the_request_until_it_is_over(self):
        self.created()
        self.assertIsNone(self.strategy())
        self.upgrade(batch=2)
        # It waits for the control plane.
        self.assertEqual({'type': 'OnDelete'}, self.strategy())
        self.check_status()
        batches = {'rollingUpdate': {'maxUnavailable': 2}}
        self.assertEqual(batches, self.strategy())
        # A resize meanwhile does not end them.
        self.resize(3)
        self.assertEqual(batches, self.strategy())
        self.check_status()
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)
        self.resize(2)
        self.assertIsNone(self.strategy())

    def test_batches_outlive_an_upgrade_that_is_lost(self):
        self.created()

        def fail():
            raise helm_errors.HelmDisturbed('no', reason='no answer')
        self.w.helm.before = fail
        self.upgrade(batch=2)
        self.w.helm.before = lambda: None
        self.check_status(2)
        self.assertEqual({'rollingUpdate': {'maxUnavailable': 2}},
                         self.strategy())

    def test_batches_of_no_node_are_refused(self):
        self.created()
        before = dict(self.w.rows.clusters[small_world.CLUSTER])
        e = self.assertRaises(failures.NotViable, self.upgrade, batch=0)
        self.assertIn('max_batch_size is 0', str(e))
        self.assertEqual(before, self.w.rows.clusters[small_world.CLUSTER])

    def test_transient_error_is_shown_and_retried(self):
        self.created()

        def fail():
            raise helm_errors.HelmDisturbed('no', reason='no answer')
        self.w.helm.before = fail
        self.upgrade()
        self.assertEqual(
            ('UPDATE_IN_PROGRESS', 'Will be tried again: no answer'),
            (self.w.cluster.status, self.w.cluster.status_reason))
        self.w.helm.before = lambda: None
        self.check_status(3)
        self.assertEqual(('UPDATE_COMPLETE', 'v1.35.0'), (
            self.w.cluster.status, self.w.cluster.coe_version))

    def test_deletion_that_follows_wins(self):
        self.created()
        self.request_upgrade()
        self.operations().delete()
        self.check_status(3)
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)
        self.assertEqual(1, len(self.w.helm.upgrades))

    def test_lock_that_is_busy_is_a_refusal_that_changes_nothing(self):
        self.created()
        before = dict(self.w.rows.clusters[small_world.CLUSTER])
        other = self.reconciler()
        with other.locked(0):
            e = self.assertRaises(failures.NotViable, self.upgrade)
        self.assertIn('it cannot be checked now: ', str(e))
        self.assertEqual(before, self.w.rows.clusters[small_world.CLUSTER])

    def test_lock_is_not_waited_for_longer_than_magnum_waits(self):
        self.created()
        waited = []

        def busy(_lock, timeout):
            waited.append(timeout)
            raise lease.LockBusy('busy', holder='somebody')
        self.patch(lease.Lock, 'hold', busy)
        for seconds in (60, 10):
            self.configure(lock_timeout=seconds)
            self.assertRaises(failures.NotViable, self.upgrade)
        self.assertEqual([15, 10], waited)

    def test_reasons_of_before_are_gone_while_it_goes_on(self):
        self.created()
        for table in (self.w.rows.clusters, self.w.rows.groups):
            for row in table.values():
                row['status_reason'] = 'of before'
        self.request_upgrade()
        self.assertEqual(
            [('UPDATE_IN_PROGRESS', None)] * 3,
            [(row.status, row.status_reason) for row in (
                self.w.cluster, self.w.group(small_world.MASTERS),
                self.w.group())])

    def test_slow_glance_is_a_refusal_that_changes_nothing(self):
        self.created()
        before = dict(self.w.rows.clusters[small_world.CLUSTER])
        clock = self.api.clock
        self.w.runtime = dataclasses.replace(self.w.runtime, clock=clock)
        self.fail_at('meanwhile', 'GET /image', act=lambda: clock.sleep(30))
        e = self.assertRaises(failures.NotViable, self.request_upgrade)
        self.assertIn('nothing was changed', str(e))
        self.assertEqual(before, self.w.rows.clusters[small_world.CLUSTER])
        self.check_status()
        self.assertEqual(1, len(self.w.helm.upgrades))

    def test_image_that_cannot_be_used_is_refused_and_says_why(self):
        self.created()
        images = self.w.cloud.images
        wanted = images.pop('ubuntu-35')
        for others, told in (
                ({}, 'There is no image ubuntu-35'),
                ({'ubuntu-35': {**wanted, 'status': 'queued'}},
                 'cannot be used: status queued'),
                (dict.fromkeys('ab', {**wanted, 'name': 'ubuntu-35'}),
                 'Several images are called ubuntu-35')):
            self.w.cloud.images = {**images, **others}
            e = self.assertRaises(failures.NotViable, self.upgrade)
            self.assertIn(told, str(e))
        self.assertEqual('CREATE_COMPLETE', self.w.cluster.status)

    def test_group_that_goes_is_not_upgraded(self):
        self.created()
        self.w.add_group(status='DELETE_IN_PROGRESS')
        self.upgrade()
        group = self.w.group(small_world.OTHERS)
        self.assertEqual(('ubuntu-34', 'DELETE_IN_PROGRESS'),
                         (group.image_id, group.status))

    def test_one_group_alone(self):
        self.created()
        self.w.cloud.images['other-34'] = {'kube_version': 'v1.34.2'}
        self.w.rows.templates[small_world.NEWER]['image_id'] = 'other-34'
        self.w.add_group(status='CREATE_COMPLETE')
        self.request_upgrade(group=small_world.OTHERS)
        self.assertEqual(['ubuntu-34', 'other-34'], [
            self.w.group(uuid).image_id
            for uuid in (small_world.WORKERS, small_world.OTHERS)])


class ChartVersionTest(base.TestCase):
    """A template names a version that the operator does not allow."""

    def setUp(self):
        super().setUp()
        self.configure(chart=charts.Chart(
            'openstack-cluster', 'https://charts', '1.2.3'))

    def labels(self, template):
        self.w.rows.templates[template]['labels'] = {
            'capi_helm_chart_version': '1.2.4-pr.1'}

    def test_creation_makes_nothing(self):
        self.labels(small_world.TEMPLATE)
        e = self.assertRaises(failures.Failed, self.create)
        self.assertIn('1.2.4-pr.1', str(e))
        self.assertIn('Allowed: 1.2.3', str(e))
        self.assertEqual(([], {}, []), (
            self.w.left(), self.w.cloud.credentials, self.w.helm.upgrades))

    def test_upgrade_changes_nothing(self):
        self.created()
        self.labels(small_world.NEWER)
        before = dict(self.w.rows.clusters[small_world.CLUSTER])
        e = self.assertRaises(failures.NotViable, self.request_upgrade)
        self.assertIn('Allowed: 1.2.3', str(e))
        self.assertEqual(before, self.w.rows.clusters[small_world.CLUSTER])
        self.assertEqual(1, len(self.w.helm.upgrades))

    def test_living_cluster_can_be_deleted(self):
        self.created()
        self.labels(small_world.TEMPLATE)
        self.operations().delete()
        self.check_status()
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)
