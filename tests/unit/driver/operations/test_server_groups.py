# SPDX-License-Identifier: Apache-2.0

"""Server groups come and go with a cluster, and replace no node by chance."""

from magnum_capi.driver import failures
from tests.unit.driver.operations import test_desired_values
from tests.unit.driver import small_world

PLANE = f'{small_world.RELEASE}-control-plane'


class ServerGroupsBase(test_desired_values.Base):

    def setUp(self):
        super().setUp()
        self.configure(chart=test_desired_values.OLD)

    def labels(self, policy, where=small_world.CLUSTER):
        """Of the cluster or, as Magnum copies them, a node group."""
        for table in (self.w.rows.clusters, self.w.rows.groups):
            if where in table:
                table[where]['labels'] = {'server_group_policies': policy}

    def names(self):
        return sorted(
            name for name, *_ in self.w.cloud.server_groups.values())

    def groups_of_nodes(self):
        """In the last values: control plane, node groups."""
        values = self.w.helm.upgrades[-1]
        return [self.w.cloud.server_groups.get(part.get('serverGroupId'))
                for part in (values['controlPlane'], *values['nodeGroups'])]


class ServerGroupsTest(ServerGroupsBase):

    def test_control_plane_is_in_one(self):
        self.created()
        self.assertEqual([PLANE], self.names())
        self.assertEqual(
            [(PLANE, 'soft-anti-affinity', small_world.PROJECT), None],
            self.groups_of_nodes())

    def test_resize_keeps_it(self):
        self.created()
        before = self.groups_of_nodes()
        # Somebody else's quota, and no more of ours.
        self.w.cloud.quota = 0
        self.resize(2)
        self.assertEqual(before, self.groups_of_nodes())

    def test_more_nodes_than_nova_allows_are_refused_at_once(self):
        # Nova refused the last servers, and the resize took an hour to fail.
        self.labels('anti-affinity', small_world.WORKERS)
        self.w.cloud.members = 3
        self.created()
        before = dict(self.api.objects)

        e = self.assertRaises(failures.Failed, self.resize, 4)

        self.assertIn('4 nodes in a server group, and Nova allows 3 '
                      '(quota server_group_members)', str(e))
        self.assertEqual(before, self.api.objects)
        for members in (4, -1):
            self.w.cloud.members = members
            self.resize(4)
        self.assertEqual(3, len(self.w.helm.upgrades))

    def test_group_that_is_beyond_it_may_shrink(self):
        self.labels('anti-affinity', small_world.WORKERS)
        self.w.rows.groups[small_world.WORKERS]['node_count'] = 4
        self.created()
        self.w.cloud.members = 2
        self.resize(3)
        self.assertEqual(2, len(self.w.helm.upgrades))

    def test_quota_that_members_may_not_read_is_no_limit(self):
        self.labels('anti-affinity', small_world.WORKERS)
        self.fail_at('denied', 'GET /compute/v2.1/os-quota-sets')
        self.created()
        self.resize(20)
        self.assertEqual(2, len(self.w.helm.upgrades))

    def test_quota_that_is_used_up_is_no_reason_to_fail(self):
        self.w.cloud.quota = 0
        self.created()
        self.assertEqual([None, None], self.groups_of_nodes())
        self.assertIn('in no server group', self.logger.output)
        # Room later must not replace the control plane.
        self.w.cloud.quota = 10
        self.resize(2)
        self.assertEqual([None, None], self.groups_of_nodes())
        self.upgrade()
        self.assertEqual(PLANE, self.groups_of_nodes()[0][0])

    def test_nova_that_does_not_answer_is_no_reason_to_go_without(self):
        # The control plane would be in no group for good.
        self.fail_at('busy', 'POST /compute')
        e = self.assertRaises(failures.Failed, self.create)
        self.assertIn('No answer about the server group', str(e))
        self.assertEqual([], self.w.helm.upgrades)

    def test_one_that_was_asked_for_is_made_or_the_creation_fails(self):
        self.labels('anti-affinity')
        self.w.cloud.quota = 0
        e = self.assertRaises(failures.Failed, self.create)
        self.assertIn('too many server groups', str(e))
        self.assertEqual([], self.w.helm.upgrades)

    def test_node_group_has_its_own_and_takes_it_along(self):
        self.created()
        self.w.add_group()
        self.labels('affinity', small_world.OTHERS)
        self.operations().change(group=self.w.row(small_world.OTHERS))
        self.assertEqual(2, len(self.names()))
        self.check_status(3)
        row = self.w.row(small_world.OTHERS)
        row.status = 'DELETE_IN_PROGRESS'
        self.operations().change(row)
        self.assertEqual([PLANE], self.names())

    def test_refused_upgrade_has_changed_nothing(self):
        self.created()
        self.w.rows.templates[small_world.NEWER]['image_id'] = 'ubuntu-37'
        self.assertRaises(failures.NotViable, self.upgrade)
        self.assertEqual([PLANE], self.names())

    def test_upgrade_that_failed_leaves_that_of_the_nodes(self):
        # Nova makes no server in a server group that is gone.
        self.created()
        self.configure(default_labels={
            'server_group_policies': 'anti-affinity'})
        with self.w.helm.refusing():
            self.upgrade()
        self.resize(2)
        self.assertEqual(PLANE, self.groups_of_nodes()[0][0])

    def test_upgrade_replaces_that_of_another_policy(self):
        self.labels('affinity')
        self.created()
        self.labels('anti-affinity')
        self.upgrade()
        self.assertEqual(
            [(PLANE, 'anti-affinity', small_world.PROJECT)],
            [*self.w.cloud.server_groups.values()])

    def test_they_go_with_the_cluster_and_no_others(self):
        self.labels('anti-affinity')
        self.labels('anti-affinity', small_world.WORKERS)
        self.created()
        self.w.cloud.server_groups['other'] = (
            'c0-control-plane', 'affinity', small_world.PROJECT)
        self.assertEqual(3, len(self.names()))
        self.operations().delete()
        self.check_status(3)
        self.assertEqual(['c0-control-plane'], self.names())
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)

    def test_deletion_waits_for_nova(self):
        self.created()
        self.operations().delete()
        self.fail_at('busy', 'DELETE /compute')
        self.check_status(3)
        self.assertIn('server groups', self.w.cluster.status_reason)
        self.w.doors.clear()
        self.check_status(2)
        self.assertEqual([], self.names())
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)

    def test_deletion_goes_on_without_the_right_to_it(self):
        self.created()
        self.operations().delete()
        self.fail_at('denied', 'GET /compute/v2.1/os-server-groups')
        self.check_status(3)
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)
        self.assertIn('its server groups are still there',
                      self.logger.output)


class OtherProjectTest(ServerGroupsBase):
    """Nova makes server groups in the project of the session."""

    def assert_here(self, number):
        self.assertEqual([small_world.PROJECT] * number, [
            project for *_, project in self.w.cloud.server_groups.values()])

    def test_request_that_magnum_resumes(self):
        self.created()
        self.w.add_group()
        self.labels('affinity', small_world.OTHERS)
        self.fail_at('busy', 'POST /compute')
        self.operations().change(group=self.w.row(small_world.OTHERS))
        self.w.doors.clear()
        # Requests come from another project from now on.
        self.w.ask_as()
        self.check_status(6)
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status,
                         self.w.cluster.status_reason)
        self.assert_here(2)

    def test_removed_node_group_takes_its_own_along(self):
        self.created()
        self.w.add_group()
        self.labels('affinity', small_world.OTHERS)
        self.operations().change(group=self.w.row(small_world.OTHERS))
        self.check_status(3)
        self.w.ask_as()
        row = self.w.row(small_world.OTHERS)
        row.status = 'DELETE_IN_PROGRESS'
        self.operations().change(row)
        self.assert_here(1)

    def test_cluster_that_has_no_credential_yet(self):
        self.w.ask_as()
        e = self.assertRaises(failures.Failed, self.create)
        self.assertIn('must request a new credential', str(e))
