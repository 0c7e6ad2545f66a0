# SPDX-License-Identifier: Apache-2.0


"""Is the resize of an autoscaled node group what its user asked for?"""

import dataclasses

from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import node_groups
from magnum_capi.driver import failures
from magnum_capi.driver.helm import helm_errors
from magnum_capi.driver import monitor
from tests.unit.driver import base
from tests.unit.driver import small_world


GROUP = names.node_group(small_world.WORKERS)


class ResizeTest(base.TestCase):

    def setUp(self):
        super().setUp()
        labels = {'auto_scaling_enabled': 'true'}
        self.w.rows.groups[small_world.WORKERS].update(
            min_node_count=1, max_node_count=5, labels=labels)
        self.w.rows.clusters[small_world.CLUSTER]['labels'] = labels
        self.created()

    def asked(self):
        return self.w.helm.replicas(small_world.RELEASE, GROUP)

    def machines(self, count):
        self.w.helm.machines(small_world.RELEASE, GROUP, count)

    def test_it_gets_so_many_machines_and_waits_for_them(self):
        # It was UPDATE_COMPLETE, and nothing had happened.
        self.resize(4)
        self.assertEqual(4, self.asked())
        self.check_status()
        self.assertEqual('UPDATE_IN_PROGRESS', self.w.cluster.status)

        self.machines(4)
        self.check_status()

        self.assertEqual(('UPDATE_COMPLETE', 4), (
            self.w.cluster.status, self.w.group().node_count))

    def test_size_of_another_group_is_its_own(self):
        self.machines(3)
        self.add_group(labels={'auto_scaling_enabled': 'false'})

        self.resize(2, small_world.OTHERS)

        other = names.node_group(small_world.OTHERS)
        self.assertEqual((3, 2), (self.asked(), self.w.helm.replicas(
            small_world.RELEASE, other)))
        # Nothing is left to be set later.
        self.assertEqual({}, dict(self.reconciler().secrets.state().sizes))

    def test_the_autoscaler_goes_on_from_there(self):
        self.resize(4)
        # Before the resize is over, too.
        self.machines(3)
        self.check_status(2)
        self.assertEqual(('UPDATE_COMPLETE', 3, 3), (
            self.w.cluster.status, self.w.group().node_count, self.asked()))
        self.machines(2)

        self.add_group()

        self.assertEqual(2, self.asked())

    def test_request_that_is_lost_is_found(self):
        for error in (SystemExit, helm_errors.HelmDisturbed(
                'no', reason='no answer')):
            def die(error=error):
                raise error
            self.w.helm.before = die
            try:
                self.resize(3)
            except SystemExit:
                # As the conductor would have had it.
                self.w.rows.clusters[small_world.CLUSTER]['status'] = (
                    'UPDATE_IN_PROGRESS')
            self.w.helm.before = lambda: None
            self.check_status(2)
            self.assertEqual(3, self.asked())
            self.machines(1)

    def test_request_that_finds_the_lock_busy_is_found(self):
        with self.reconciler().locked(0):
            self.resize(4)
        self.check_status()
        self.assertEqual(4, self.asked())
        self.machines(4)
        self.check_status()
        self.assertEqual(('UPDATE_COMPLETE', 4), (
            self.w.cluster.status, self.w.group().node_count))

    def test_request_after_one_that_was_refused_is_found(self):
        with self.w.helm.refusing():
            self.assertRaises(failures.Failed, self.resize, 2)
        for table, uuid in ((self.w.rows.clusters, small_world.CLUSTER),
                            (self.w.rows.groups, small_world.WORKERS)):
            table[uuid]['status'] = 'UPDATE_FAILED'
        with self.reconciler().locked(0):
            self.resize(4)
        self.check_status()
        self.assertEqual(4, self.asked())

    def test_who_keeps_the_lock_does_not_put_back_the_size(self):
        # The health job may have read the row before the request.
        with self.reconciler().locked(0):
            group = self.w.row(small_world.WORKERS)
            group.node_count, group.status = 4, 'UPDATE_IN_PROGRESS'
            self.w.store.save(group)
            self.w.rows.groups[small_world.WORKERS]['node_count'] = 1
            self.operations().change(group=group, resize=True)
        self.check_status()
        self.assertEqual(4, self.asked())

    def poll(self):
        monitor.Monitor(lambda: self.w.runtime, self.w.store,
                        self.w.row()).poll_health_status()

    def test_request_whose_conductor_died_before_the_driver_is_found(self):
        self.w.runtime = dataclasses.replace(
            self.w.runtime, clock=self.api.clock)
        self.w.rows.groups[small_world.WORKERS].update(
            node_count=4, status='UPDATE_IN_PROGRESS')
        self.poll()
        # It may be on its way to the driver.
        self.assertEqual(('CREATE_COMPLETE', 4), (
            self.w.cluster.status, self.w.group().node_count))
        self.api.clock.sleep(self.w.runtime.options.lost_after)
        self.poll()
        self.check_status()
        self.assertEqual(4, self.asked())

    def test_lost_change_of_bounds_is_no_resize(self):
        self.machines(3)
        self.w.rows.groups[small_world.WORKERS].update(
            max_node_count=7, status='UPDATE_IN_PROGRESS')
        self.w.rows.clusters[small_world.CLUSTER][
            'status'] = 'UPDATE_IN_PROGRESS'
        self.check_status()
        self.assertEqual(3, self.asked())
        self.check_status(2)
        self.assertEqual(('UPDATE_COMPLETE', 3), (
            self.w.cluster.status, self.w.group().node_count))

    def test_size_of_the_autoscaler_meanwhile_does_not_win(self):
        # The health job may write the row before the lock is had.
        for asked, written in ((4, 1), (2, 5)):
            group = self.w.row(small_world.WORKERS)
            group.node_count, group.status = asked, 'UPDATE_IN_PROGRESS'
            self.w.store.save(group)
            self.w.rows.groups[small_world.WORKERS][
                'node_count'] = written

            self.operations().change(group=group, resize=True)

            self.assertEqual((asked, asked), (
                self.asked(), self.w.group().node_count))

    def test_other_autoscaled_groups_keep_their_sizes(self):
        self.add_group(
            min_node_count=1, max_node_count=5,
            labels={'auto_scaling_enabled': 'true'})
        groups = self.w.store.groups
        # In whatever order Magnum reads them.
        for order, sizes in ((1, (2, 3)), (-1, (4, 5))):
            self.w.store.groups = lambda row, order=order: groups(row)[::order]
            for resized, other, size in (
                    (small_world.WORKERS, small_world.OTHERS, sizes[0]),
                    (small_world.OTHERS, small_world.WORKERS, sizes[1])):
                before = self.w.group(other).node_count
                self.resize(size, resized)
                self.assertEqual((size, before), (
                    self.w.group(resized).node_count,
                    self.w.group(other).node_count))

    def test_size_out_of_bounds_is_refused(self):
        for count, text in ((6, 'more than max_node_count 5'),
                            (0, 'less than min_node_count 1')):
            e = self.assertRaises(failures.Failed, self.resize, count)
            self.assertIn(text, str(e))
            self.assertEqual(1, self.asked())

    def test_size_that_was_refused_does_not_come_later(self):
        with self.w.helm.refusing():
            self.assertRaises(failures.Failed, self.resize, 4)
        self.add_group()

        self.assertEqual(1, self.asked())

    def test_nodes_that_go_first_go_with_the_new_size(self):
        self.machines(2)
        for name in ('m1', 'm2'):
            self.w.helm.put('machines', {
                'metadata': {'name': name, 'labels': {
                    names.CAPI_CLUSTER_NAME: small_world.RELEASE,
                    'cluster.x-k8s.io/deployment-name':
                    names.machine_deployment(small_world.RELEASE, GROUP)}}})
        marked, scale = [], self.w.runtime.kube.scale

        def meanwhile(*args):
            marked.extend(
                path.rpartition('/')[2] for path, obj in
                self.api.objects.items() if '/machines/' in path
                and obj['metadata'].get('annotations'))
            scale(*args)
        self.w.runtime.kube.scale = meanwhile

        self.resize(1, remove=('m2',))

        self.assertEqual((['m2'], 1), (marked, self.asked()))

    def test_bounds_that_exclude_the_present_size(self):
        # The autoscaler neither adds nodes to reach the minimum nor removes
        # used ones for the maximum. Magnum compares bounds with the row, which
        # follows the autoscaler only once a minute.
        for there, told, bounds, expected in (
                (1, 3, {'min_node_count': 3}, 3),
                (4, 2, {'min_node_count': 1, 'max_node_count': 2}, 2)):
            self.machines(there)
            row = self.w.row(small_world.WORKERS)
            row.node_count = told
            self.w.store.save(row)
            for name, count in bounds.items():
                setattr(row, name, count)
            row.status = 'UPDATE_IN_PROGRESS'

            self.operations().change(row, group=row)

            self.assertEqual(expected, self.asked())
            self.machines(expected)
            self.check_status(2)
            self.assertEqual(('UPDATE_COMPLETE', expected), (
                self.w.cluster.status, self.w.group().node_count))

    def test_change_of_bounds_is_no_resize(self):
        self.machines(3)
        group = self.w.row(small_world.WORKERS)
        group.max_node_count = 7

        self.operations().change(group, group=group)

        self.assertEqual(3, self.asked())


class FromZeroTest(base.TestCase):
    """The autoscaler is told what a node would have."""

    def setUp(self):
        super().setUp()
        self.configure(scale_from_zero=True)
        self.w.rows.groups[small_world.WORKERS].update(
            node_count=0, max_node_count=5,
            labels={'auto_scaling_enabled': 'true'})

    def annotations(self, uuid=small_world.WORKERS):
        name = names.machine_deployment(
            small_world.RELEASE, names.node_group(uuid))
        return next(
            obj['metadata'].get('annotations') or {}
            for path, obj in self.api.objects.items()
            if path.endswith(f'/machinedeployments/{name}'))

    def told(self, uuid=small_world.WORKERS):
        prefix = f'{node_groups.CAPACITY}/'
        return {key.removeprefix(prefix): text
                for key, text in self.annotations(uuid).items()
                if key.startswith(prefix)}

    def test_by_annotations_of_the_machine_deployment(self):
        self.w.rows.groups[small_world.WORKERS]['node_taints'] = [
            {'key': 'example.org/gpu', 'effect': 'NoSchedule'}]
        self.created()
        told = self.told()
        self.assertEqual(
            ('2', '4096Mi', '20Gi', 'example.org/gpu=:NoSchedule'), tuple(
                told[name] for name in (
                    'cpu', 'memory', 'ephemeral-disk', 'taints')))
        self.assertIn(f'{names.NODE_GROUP_UUID}={small_world.WORKERS}',
                      told['labels'])
        self.assertEqual(0, self.w.helm.upgrades[-1]['nodeGroups'][0][
            'machineCountMin'])

    def test_size_of_the_root_volume_counts(self):
        self.w.cloud.types.add('block-storage')
        self.w.rows.groups[small_world.WORKERS]['labels'] = {
            'auto_scaling_enabled': 'true', 'boot_volume_size': '50'}
        self.created()
        self.assertEqual('50Gi', self.told()['ephemeral-disk'])

    def test_nothing_is_told_of_groups_of_a_fixed_size(self):
        self.w.rows.groups[small_world.WORKERS]['max_node_count'] = None
        self.created()
        self.assertEqual({}, self.told())

    def test_flavor_that_new_groups_cannot_have_does_not_refuse_a_resize(self):
        self.created()
        # Too small, and gone.
        for size, flavors in ((2, {'m1': (512, 1, 20)}), (3, {})):
            self.w.cloud.flavors = flavors
            self.resize(size)
            self.assertEqual('UPDATE_IN_PROGRESS', self.w.cluster.status)
            self.assertEqual(size, len(self.w.helm.upgrades))

    def test_flavor_that_is_gone_is_that_of_one_group(self):
        self.created()
        del self.w.cloud.flavors['m1']
        self.add_group(
            flavor_id='m2', max_node_count=5,
            labels={'auto_scaling_enabled': 'true'})
        self.assertEqual('2', self.told(small_world.OTHERS)['cpu'])
