# SPDX-License-Identifier: Apache-2.0


"""Upgrades in order: the control plane, then one node group after the other.

In the small world a revision of Helm is carried out at once; a test that
needs the moments in between makes them.
"""

import dataclasses

from magnum_capi.driver.desired import charts
from magnum_capi.driver.desired import goal
from magnum_capi.driver.desired import names
from magnum_capi.driver import failures
from magnum_capi.driver.helm import helm_errors
from magnum_capi.driver import poll_cache
from tests.unit.driver import base
from tests.unit.driver import objects
from tests.unit.driver import small_world


OLD, NEW = ('1.34.2', 'ubuntu-34'), ('1.35.0', 'ubuntu-35')
WORKERS = names.node_group(small_world.WORKERS)
OTHERS = names.node_group(small_world.OTHERS)


class UpgradeOrderTest(base.TestCase):

    def setUp(self):
        super().setUp()
        self.w.add_group(node_count=2)
        self.created()
        self.w.helm.upgrades.clear()

    def versions(self):
        """Versions and images of each revision since the creation.

        :returns: list of dicts, pair by ``plane`` or name of node group.
        """
        found = []
        for values in self.w.helm.upgrades:
            plane = (values['kubernetesVersion'], values['machineImageId'])
            found.append({'plane': plane} | {
                group['name']: (group.get('kubernetesVersion', plane[0]),
                                group.get('machineImageId', plane[1]))
                for group in values['nodeGroups']})
        return found

    def replace(self, kind, name, **changes):
        """Change status of an object as Cluster API would."""
        path, = [path for path in self.api.objects
                 if path.endswith(f'/{kind}/{name}')]
        self.api.objects[path]['status'].update(changes)

    def test_control_plane_first_then_group_by_group_a_revision_each(self):
        self.upgrade()
        self.check_status(4)

        self.assertEqual([
            {'plane': NEW, WORKERS: OLD, OTHERS: OLD},
            {'plane': NEW, WORKERS: NEW, OTHERS: OLD},
            {'plane': NEW, WORKERS: NEW, OTHERS: NEW}], self.versions())
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)
        self.assertEqual({'UPDATE_COMPLETE'}, {
            self.w.group(uuid).status
            for uuid in (small_world.WORKERS, small_world.OTHERS)})

    def test_no_worker_goes_before_the_control_plane_is_ready(self):
        self.upgrade()
        plane = f'{small_world.RELEASE}-control-plane'
        self.replace('kubeadmcontrolplanes', plane, readyReplicas=0)
        self.check_status(4)
        self.assertEqual(1, len(self.w.helm.upgrades))
        self.assertEqual('UPDATE_IN_PROGRESS', self.w.cluster.status)
        self.assertIn('node group default-worker: waits for its turn',
                      self.w.cluster.status_reason)

    def test_nor_before_its_machines_are_seen_with_the_version(self):
        # Counts and conditions of the control plane may be of before.
        self.upgrade()
        name = f'{small_world.RELEASE}-control-plane-0'
        path, = [path for path in self.api.objects
                 if path.endswith(f'/machines/{name}')]
        self.api.objects[path]['spec']['version'] = 'v1.34.2'
        self.check_status(3)
        self.assertEqual(1, len(self.w.helm.upgrades))

        self.api.objects[path]['spec']['version'] = 'v1.35.0'
        self.check_status()

        self.assertEqual(NEW, self.versions()[1][WORKERS])

    def test_next_group_waits_for_the_one_before(self):
        self.upgrade()
        self.check_status()
        deployment = f'{small_world.RELEASE}-{WORKERS}'
        self.replace('machinedeployments', deployment, availableReplicas=0)
        self.check_status(3)
        self.assertEqual(2, len(self.w.helm.upgrades))

        self.replace('machinedeployments', deployment, availableReplicas=1)
        self.check_status(2)

        self.assertEqual(3, len(self.w.helm.upgrades))
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)

    def test_group_that_is_ill_does_not_keep_others_from_their_turn(self):
        # It may be ill of what the upgrade cures.
        self.replace('machinedeployments', f'{small_world.RELEASE}-{OTHERS}',
                     availableReplicas=0)
        self.upgrade()
        self.replace('machinedeployments', f'{small_world.RELEASE}-{OTHERS}',
                     availableReplicas=0)

        self.check_status(4)

        self.assertEqual(3, len(self.w.helm.upgrades))

    def test_conductors_that_die_do_not_change_the_order(self):
        def die():
            self.w.helm.before = lambda: None
            poll_cache.forget(small_world.CLUSTER)
            raise SystemExit
        self.w.helm.before = die
        self.assertRaises(SystemExit, self.upgrade)
        self.check_status()
        for _group in range(2):
            self.w.helm.before = die
            self.assertRaises(SystemExit, self.check_status, 3)
            self.check_status()
        self.check_status(3)

        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)
        self.assertEqual([
            {'plane': NEW, WORKERS: OLD, OTHERS: OLD},
            {'plane': NEW, WORKERS: NEW, OTHERS: OLD},
            {'plane': NEW, WORKERS: NEW, OTHERS: NEW}], self.versions())

    def test_resize_meanwhile_does_not_change_the_order(self):
        self.upgrade()
        self.resize(3, small_world.OTHERS)
        self.assertEqual({'plane': NEW, WORKERS: OLD, OTHERS: OLD},
                         self.versions()[-1])
        self.assertEqual(3, self.w.helm.upgrades[-1]['nodeGroups'][1][
            'machineCount'])

        self.check_status(4)

        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)
        self.assertEqual({'plane': NEW, WORKERS: NEW, OTHERS: NEW},
                         self.versions()[-1])

    def test_upgrade_that_failed_half_way_goes_on_in_order(self):
        self.upgrade()
        with self.w.helm.refusing():
            self.check_status(2)
        self.assertEqual('UPDATE_FAILED', self.w.cluster.status)

        self.resize(2, small_world.OTHERS)
        self.check_status(4)

        self.assertEqual([
            {'plane': NEW, WORKERS: OLD, OTHERS: OLD},
            {'plane': NEW, WORKERS: NEW, OTHERS: OLD},
            {'plane': NEW, WORKERS: NEW, OTHERS: NEW}],
            [found for n, found in enumerate(self.versions())
             if not n or found != self.versions()[n - 1]])
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)

    def test_upgrade_that_was_refused_leaves_nobody_waiting(self):
        with self.w.helm.refusing():
            self.upgrade()

        self.resize(2)
        self.check_status()

        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)
        self.assertEqual([{'plane': OLD, WORKERS: OLD, OTHERS: OLD}],
                         self.versions())

    def test_group_that_is_deleted_while_it_waits(self):
        self.upgrade()
        group = self.w.row(small_world.OTHERS)
        group.status = 'DELETE_IN_PROGRESS'
        self.operations().change(group)

        self.check_status(4)

        self.assertEqual(('UPDATE_COMPLETE', False), (
            self.w.cluster.status,
            small_world.OTHERS in self.w.rows.groups))
        self.assertEqual(NEW, self.versions()[-1][WORKERS])

    def test_group_that_has_an_image_of_its_own_keeps_it(self):
        self.w.cloud.images['special'] = {'kube_version': 'v1.34.1'}
        self.w.rows.groups[small_world.OTHERS]['image_id'] = 'special'
        self.operations().change(group=self.w.row(small_world.OTHERS))
        self.check_status(2)
        self.w.helm.upgrades.clear()
        own = ('1.34.1', 'special')
        self.upgrade()
        self.check_status(4)

        self.assertEqual([
            {'plane': NEW, WORKERS: OLD, OTHERS: own},
            {'plane': NEW, WORKERS: NEW, OTHERS: own}], self.versions())

    def test_machines_of_who_waits_are_not_replaced_for_another_reason(self):
        # Another chart or overlay makes other templates of all groups.
        self.upgrade()
        self.check_status(3)

        self.assertEqual(
            [['OnDelete', 'OnDelete'], [None, 'OnDelete'], [None, None]],
            [[group.get('rolloutStrategy', {}).get('type')
              for group in values['nodeGroups']]
             for values in self.w.helm.upgrades])

    def test_new_node_comes_before_the_only_one_goes(self):
        self.upgrade()
        self.check_status(3)

        one, two = self.w.helm.upgrades[-1]['nodeGroups']
        self.assertEqual(
            {'rollingUpdate': {'maxSurge': 1, 'maxUnavailable': '0%'}},
            one.get('rolloutStrategy'))
        self.assertNotIn('rolloutStrategy', two)

    def test_steps_are_of_the_chart_that_the_upgrade_began_with(self):
        self.w.helm.charts.clear()
        chart = charts.Chart('openstack-cluster', 'https://c', '0.27.0')
        self.configure(chart=chart)
        self.upgrade()
        self.configure(chart=dataclasses.replace(chart, version='0.28.0'))
        self.check_status(4)

        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)
        self.assertEqual([chart] * 3, self.w.helm.charts)

    def secrets(self):
        return self.reconciler().secrets

    def test_next_step_has_its_time_and_forgets_nothing_else(self):
        self.upgrade()
        began = dataclasses.replace(
            self.secrets().state(), failing={'machines/m': objects.NOW},
            progress=goal.Progress(objects.ago(hours=1), objects.NOW, {}))
        self.secrets().write_state(began)
        self.assertTrue(began.desired and began.secrets)

        self.reconciler().advance(self.secrets().state(), small_world.WORKERS)

        self.assertEqual(dataclasses.replace(
            began, progress=None,
            deferred={small_world.OTHERS: began.deferred[small_world.OTHERS]}),
            self.secrets().state())

    def test_step_that_is_refused_keeps_the_secrets_of_credentials(self):
        self.upgrade()
        began = self.secrets().state()

        def refuse():
            raise helm_errors.HelmFailed('no', reason='too many')
        self.w.helm.before = refuse
        self.check_status(2)

        self.assertEqual('UPDATE_FAILED', self.w.cluster.status)
        after = self.secrets().state()
        self.assertEqual((began.record, began.secrets),
                         (after.record, after.secrets))
        self.assertEqual(began.desired.template, after.desired.template)
        # Its turn has come all the same; only who is behind it waits.
        self.assertEqual({small_world.OTHERS}, set(after.deferred))

    def test_image_that_machines_are_made_of_needs_no_other_witness(self):
        self.secrets().write_state(
            dataclasses.replace(self.secrets().state(), desired=None))
        del self.w.cloud.images['ubuntu-34']
        self.upgrade()

        self.assertEqual(OLD, self.versions()[0][WORKERS])

    def test_group_that_would_be_too_old_for_the_control_plane_is_named(self):
        # A node may be three minor versions behind (Kubernetes, version
        # skew policy), and one with an image of its own stays where it is.
        self.w.cloud.images['special'] = {'kube_version': 'v1.31.1'}
        for role in ('worker', 'infra'):
            self.w.rows.groups[small_world.OTHERS].update(
                image_id='special', role=role)

            e = self.assertRaises(failures.NotViable, self.upgrade)

            self.assertIn('node group A_b: workers of 1.31.1 would be more '
                          'than 3 minor versions older', str(e))
            self.assertIn('upgrade or remove it first', str(e))
        self.assertEqual([], self.w.helm.upgrades)
