# SPDX-License-Identifier: Apache-2.0

"""Autoscaled node groups: their bounds, and sizes that Magnum must follow."""

from tempest import config
from tempest.lib import decorators
from tempest.lib import exceptions as lib_exc

from magnum_capi import errors
from magnum_capi_tempest import json_types
from magnum_capi_tempest.tests.common import autoscaler
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common.management import capi_objects
from magnum_capi_tempest.tests.common.management import remediation
from magnum_capi_tempest.tests.common import observations
from magnum_capi_tempest.tests.common import operations
from magnum_capi_tempest.tests.common import waiters

CONF = config.CONF

#: Bounds that are nobody's defaults.
LOW, HIGH = 1, 7


@flags.promise('autoscaling.count.follows')
class AutoscalingTest(operations.BaseOperationsTest):

    # Bounds of node groups came with 1.9, groups without nodes with 1.10.
    min_microversion = '1.10'
    needs = ('management_kubeconfig',)

    @classmethod
    def resource_setup(cls) -> None:
        super().resource_setup()
        # For the default group: some drivers do not support Magnum's own
        # minimum, 0, which test_no_minimum is about.
        workers = CONF.magnum_capi.node_count
        cls.cluster = cls.create_class_cluster(cls.create_class_template(
            labels={**CONF.magnum_capi.labels, 'min_node_count': str(workers),
                    'max_node_count': str(workers + 1),
                    'auto_scaling_enabled': 'true'}))

    def setUp(self) -> None:
        super().setUp()
        if flags.can_resize():
            self.addCleanup(self.restore_size)

    def create_autoscaled_group(self) -> json_types.Object:
        return self.create_group(
            self.cluster, node_count=LOW, min_node_count=LOW,
            max_node_count=HIGH)

    def wait_for_count(self, group: json_types.Object, count: int) -> None:
        waiters.until(
            lambda: self.magnum.nodegroups.show_nodegroup(
                self.cluster['uuid'], group['uuid'])['node_count'],
            lambda found: found == count,
            f'node_count of {group["name"]} to be {count}')

    def scaled(self) -> list[tuple[capi_objects.Found, autoscaler.Bounds]]:
        """Return the bounds of all groups that an autoscaler may change."""
        return autoscaler.groups(
            remediation.management(), observations.stack_id(self.cluster))

    def scale(self, count: int) -> None:
        """Do what the autoscaler does with the group of these tests."""
        scaled = self.scaled()
        groups = [found for found, bounds in scaled
                  if bounds == (str(LOW), str(HIGH))]
        self.assertEqual(
            1, len(groups), f'One group is to have the bounds {LOW} and '
            f'{HIGH}: {[(found.name, bounds) for found, bounds in scaled]}')
        autoscaler.scale(remediation.management(), groups[0], count)

    @decorators.idempotent_id('e7c43ab3-326d-4d97-8f68-0d73a2b792e6')
    def test_node_count_follows_the_autoscaler(self) -> None:
        group = self.create_autoscaled_group()

        for count in (LOW + 2, LOW):
            self.scale(count)

            self.wait_for_count(group, count)
            self.assert_usable(
                self.cluster, CONF.magnum_capi.node_count + count)
            cluster = self.magnum.clusters.show_cluster(self.cluster['uuid'])
            self.assertRegex(cluster['status'], '_COMPLETE$')

        self.delete_group(self.cluster, group)

    @flags.needs(flags.RESIZE)
    @flags.promise('autoscaling.resize.counts')
    @decorators.idempotent_id('63241034-cbca-4ebc-b2a7-958df828f7d6')
    def test_a_resize_counts_and_the_autoscaler_goes_on(self) -> None:
        group = self.create_autoscaled_group()

        cluster = self.resize_cluster(self.cluster, LOW + 2, group['uuid'])

        self.assert_usable(cluster, CONF.magnum_capi.node_count + LOW + 2)
        self.scale(LOW + 1)
        self.wait_for_count(group, LOW + 1)
        self.delete_group(self.cluster, group)

    @decorators.attr(type='negative')
    @flags.promise('autoscaling.count.bounded')
    @decorators.idempotent_id('d26c39bd-f5f0-4366-9c51-734bd7db8730')
    def test_a_size_out_of_bounds_is_refused(self) -> None:
        group = self.create_autoscaled_group()

        for count in (LOW - 1, HIGH + 1):
            self.assertRaises(
                lib_exc.BadRequest, self.magnum.clusters.resize_cluster,
                self.cluster['uuid'], node_count=count,
                nodegroup=group['uuid'])

        self.wait_for_count(group, LOW)
        self.delete_group(self.cluster, group)
        if flags.can_resize():
            self.assert_label_counts(CONF.magnum_capi.node_count)

    def assert_label_counts(self, workers: int) -> None:
        """Assert that a size out of the bounds of labels is refused, too.

        Magnum itself compares sizes with the bounds of node groups only
        (magnum/api/controllers/v1/cluster_actions.py, _resize).

        :param workers: the size of the default group, which stays.
        """
        before = self.waiter.before(self.cluster['uuid'], operations.WORKERS)
        self.assertRegex(before.status, '_COMPLETE$')
        try:
            self.magnum.clusters.resize_cluster(
                self.cluster['uuid'], node_count=workers + 2,
                nodegroup=operations.WORKERS)
            self.waiter.until_updated(
                self.cluster['uuid'], before, workers + 2)
        except lib_exc.BadRequest:
            pass
        except errors.WaitAborted as e:
            self.assertEqual('UPDATE_FAILED', e.state.status)
        else:
            self.fail(f'The default group has {workers + 2} nodes although '
                      f'the label max_node_count is {workers + 1}')
        self.wait_for_count(before.group, workers)

    @flags.promise('autoscaling.bounds.follow')
    @decorators.idempotent_id('e11b06dc-7536-4716-bee1-ebc91749b5b5')
    def test_bounds_follow_the_node_group(self) -> None:
        group = self.create_autoscaled_group()
        known = {found.name for found, bounds in self.scaled()
                 if bounds == (str(LOW), str(HIGH))}

        self.magnum.nodegroups.update_nodegroup(
            self.cluster['uuid'], group['uuid'], [
                {'op': 'replace', 'path': '/max_node_count',
                 'value': HIGH + 1}])

        # For some time: a driver may still be busy after it reports the
        # cluster as complete, which is not judged here, and a deletion would
        # then fail.
        waiters.until_steady(
            lambda: {found.name: bounds for found, bounds in self.scaled()},
            lambda bounds: (str(LOW), str(HIGH + 1)) in map(
                bounds.get, known),
            operations.STAYS_AWAY,
            f'{HIGH + 1} to be the most that the autoscaler may make')
        self.waiter.until_settled(self.cluster['uuid'], group['uuid'])
        self.wait_for_count(group, LOW)
        self.delete_group(self.cluster, group)

    @flags.promise('autoscaling.bounds.no-minimum')
    @decorators.idempotent_id('e4bb953b-7e1a-4f20-b273-2a726ec8a235')
    def test_no_minimum(self) -> None:
        # Magnum's own default is 0.
        group = self.create_group(
            self.cluster, node_count=1, max_node_count=HIGH)

        self.assertEqual((1, 'CREATE_COMPLETE'),
                         (group['node_count'], group['status']))
        self.delete_group(self.cluster, group)
