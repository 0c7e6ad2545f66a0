# SPDX-License-Identifier: Apache-2.0


"""Which machines a resize marks to go first, and whether marks outlive it."""

import fixtures

from magnum_capi.driver.cloud import services
from magnum_capi.driver.desired import names
from magnum_capi.driver import failures
from magnum_capi.driver.helm import helm_errors
from tests.unit.driver import base
from tests.unit.driver import small_world


GROUP = names.machine_deployment(
    small_world.RELEASE, names.node_group(small_world.WORKERS))


class NamedNodesTest(base.TestCase):

    def setUp(self):
        super().setUp()
        self.w.rows.groups[small_world.WORKERS]['node_count'] = 3
        # These are the machines, whatever the chart says later.
        self.patch(self.w.helm, 'join', lambda *args: None)
        for name in ('m1', 'm2', 'm3'):
            self.w.helm.put('machines', {
                'metadata': {'name': name, 'labels': {
                    names.CAPI_CLUSTER_NAME: small_world.RELEASE,
                    'cluster.x-k8s.io/deployment-name': GROUP}},
                'spec': {'providerID': f'openstack:///server-{name}'},
                'status': {'nodeRef': {'name': f'node-{name}'}}})
        self.created()

    def marked(self):
        return [obj['metadata']['name']
                for path, obj in sorted(self.api.objects.items())
                if '/machines/' in path
                and 'cluster.x-k8s.io/delete-machine' in obj[
                    'metadata'].get('annotations', {})]

    def refuse(self):
        raise helm_errors.HelmFailed('no', reason='too many')

    def fail(self):
        raise helm_errors.HelmDisturbed('no', reason='no answer')

    def gone(self, name):
        """Cluster API has taken a machine away."""
        path, = [path for path in self.api.objects
                 if path.endswith(f'/machines/{name}')]
        del self.api.objects[path]

    def test_resize_that_is_refused_marks_none(self):
        # A later, smaller size would have taken that node.
        self.w.rows.groups[small_world.WORKERS]['node_labels'] = {
            'not a key': ''}

        self.assertRaises(failures.Failed, self.resize, 2,
                          remove=('node-m2',))

        self.assertEqual([], self.marked())
        self.assertEqual(1, len(self.w.helm.upgrades))

    def test_resize_that_the_chart_refuses_leaves_no_mark(self):
        self.w.helm.before = self.refuse

        self.assertRaises(failures.Failed, self.resize, 2,
                          remove=('node-m2',))

        self.assertEqual([], self.marked())

    def test_resize_that_is_tried_again_takes_the_same_nodes(self):
        self.w.helm.before = self.fail
        self.resize(2, remove=('node-m2',))
        seen = []
        self.w.helm.before = lambda: seen.extend(self.marked())

        self.check_status(2)

        self.assertEqual(['m2'], seen)

    def test_so_does_one_that_could_not_be_checked(self):
        with fixtures.MockPatchObject(
                services.Services, 'identity_url',
                side_effect=services.CloudUnreachable('No answer')):
            self.resize(2, remove=('node-m2',))
        seen = []
        self.w.helm.before = lambda: seen.extend(self.marked())

        self.check_status(2)

        self.assertEqual(['m2'], seen)

    def test_nodes_that_nobody_could_write_down_are_not_forgotten(self):
        # The status would go on with the size, and take any nodes.
        with self.reconciler().locked(0):
            e = self.assertRaises(failures.Failed, self.resize, 2,
                                  remove=('node-m2',))

        self.assertIn('nodes to remove', str(e))
        self.assertNotEqual('UPDATE_IN_PROGRESS', self.w.cluster.status)

    def test_resize_that_is_refused_when_it_is_tried_again(self):
        self.w.helm.before = self.fail
        self.resize(2, remove=('node-m2',))
        self.w.helm.before = self.refuse

        self.check_status(2)

        self.assertEqual('UPDATE_FAILED', self.w.cluster.status)
        self.assertEqual([], self.marked())

    def test_larger_size_that_overtakes_it_takes_the_mark_off(self):
        self.w.helm.before = self.fail
        self.resize(2, remove=('node-m2',))
        self.w.helm.before = lambda: None

        self.resize(3)

        self.assertEqual([], self.marked())

    def test_smaller_size_that_overtakes_it_takes_both(self):
        self.w.helm.before = self.fail
        self.resize(2, remove=('node-m2',))
        self.w.helm.before = lambda: None
        unmarked = []
        self.patch(self.w.runtime.kube, 'unmark_for_deletion',
                   lambda namespace, name: unmarked.append(name))

        self.resize(1, remove=('node-m3',))

        # Not for a moment: Cluster API would take another one.
        self.assertEqual((['m2', 'm3'], []), (self.marked(), unmarked))

    def test_node_that_was_kept_after_all_is_not_marked_for_good(self):
        # Another one went before the mark was there.
        self.resize(2, remove=('node-m2',))
        self.gone('m1')

        self.check_status()

        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)
        self.assertEqual([], self.marked())
