# SPDX-License-Identifier: Apache-2.0

"""What an operation on a cluster must leave alone."""

import copy

import testtools

from magnum_capi_tempest.tests.common import bystanders

AUTOSCALED = 'cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size'


def an_object(name, replicas=1, annotations=None, **spec):
    return {'metadata': {'name': name, 'annotations': annotations or {}},
            'spec': {'replicas': replicas, **spec}}


def a_group(name, role='worker', **fields):
    return {'name': name, 'role': role, 'node_count': 1, 'image_id': 'i',
            'min_node_count': 1, 'max_node_count': None, **fields}


def a_view(**labels):
    groups = [a_group('default-master', 'master'), a_group('default-worker'),
              a_group('more', node_count=2, max_node_count=5)]
    return bystanders.View(
        {'name': 'c', 'cluster_template_id': 't', 'coe_version': 'v1.34.2',
         'labels': labels, 'node_count': 3},
        {f'id-{group["name"]}': group for group in groups},
        {('KubeadmControlPlane', 'c-1'): an_object('c-1', version='v1.34.2'),
         ('OpenStackCluster', 'c-1'): an_object('c-1', apiServer={'port': 1}),
         ('MachineDeployment', 'c-1-default-worker'): an_object(
             'c-1-default-worker'),
         ('MachineDeployment', 'c-1-more'): an_object('c-1-more', 2)})


class FaultsTest(testtools.TestCase):

    def faults(self, change, *named, before=None, **how):
        """The faults after a function has changed a view."""
        before = before or a_view()
        after = copy.deepcopy(before)
        change(after)
        return bystanders.faults(before, after, named, **how)

    def resize(self, name, count=4):
        """A function that resizes a group, in Magnum and in Cluster API."""
        def change(view):
            view.groups[f'id-{name}']['node_count'] = count
            view.objects['MachineDeployment', f'c-1-{name}']['spec'][
                'replicas'] = count
        return change

    def test_what_is_named_may_change(self):
        self.assertEqual([], self.faults(lambda view: None))
        for named in ('more', 'id-more'):
            self.assertEqual([], self.faults(self.resize('more'), named))

    def test_version_that_is_shown_late(self):
        def change(view):
            view.cluster['coe_version'] = 'v1.35.0'

        self.assertEqual(["coe_version of it was 'v1.34.2' and is 'v1.35.0'"],
                         self.faults(change, 'more'))
        self.assertEqual([], self.faults(change, 'more', late_version=True))

    def test_another_group_is_resized(self):
        def change(view):
            self.resize('more')(view)
            self.resize('default-worker')(view)

        self.assertEqual(
            ['node_count of node group default-worker was 1 and is 4',
             'MachineDeployment c-1-default-worker has changed: replicas'],
            self.faults(change, 'more'))

    def test_another_object_than_that_of_the_group(self):
        def change(view):
            view.objects['MachineDeployment', 'c-1-default-worker']['spec'][
                'template'] = {'version': 'v1.35.0'}

        self.assertEqual(
            ['MachineDeployment c-1-default-worker has changed: template'],
            self.faults(change, 'more'))

    def test_more_objects_than_groups_whose_names_do_not_tell(self):
        before = a_view()
        for number in (1, 2):
            key = 'MachineDeployment', f'md-{number}'
            before.objects[key] = an_object(f'md-{number}')
        after = copy.deepcopy(before)
        after.objects['MachineDeployment', 'md-1']['spec']['replicas'] = 2

        self.assertEqual([], bystanders.faults(before, after, ['more']))
        after.objects['MachineDeployment', 'md-2']['spec']['replicas'] = 2
        self.assertEqual(2, len(bystanders.faults(before, after, ['more'])))

    def test_control_plane_and_cluster_are_never_named(self):
        def change(view):
            for kind in ('KubeadmControlPlane', 'OpenStackCluster'):
                view.objects[kind, 'c-1']['spec']['apiServer'] = {'port': 2}

        self.assertEqual(
            ['the spec of KubeadmControlPlane c-1 has changed: apiServer',
             'the spec of OpenStackCluster c-1 has changed: apiServer.port'],
            self.faults(change, 'more'))

    def test_a_group_is_created_and_deleted(self):
        before, after = a_view(), a_view()
        del before.groups['id-more'], before.objects[
            'MachineDeployment', 'c-1-more']

        self.assertEqual([], bystanders.faults(before, after, ['more']))
        self.assertEqual([], bystanders.faults(after, before, ['more']))
        self.assertEqual(['node group more was created'],
                         bystanders.faults(before, after))
        self.assertEqual(['node group more is gone',
                          'MachineDeployment c-1-more is gone'],
                         bystanders.faults(after, before))

    def test_a_cluster_keeps_its_template_until_it_is_upgraded(self):
        def change(view):
            view.cluster.update(cluster_template_id='u', coe_version='v2')
            for obj in view.objects.values():
                obj['spec']['version'] = 'v2'
            view.groups['id-more']['image_id'] = 'j'

        self.assertEqual([], self.faults(change, upgraded=True))
        self.assertThat(self.faults(change, 'more'),
                        testtools.matchers.HasLength(5))

    def test_an_upgrade_changes_no_size(self):
        self.assertEqual(
            ['node_count of node group more was 2 and is 4',
             'the spec of MachineDeployment c-1-more has changed: replicas'],
            self.faults(self.resize('more'), upgraded=True))

    def test_what_an_autoscaler_may_change(self):
        before = a_view(auto_scaling_enabled='true')
        before.objects['MachineDeployment', 'c-1-more']['metadata'][
            'annotations'] = {AUTOSCALED: '5'}

        self.assertEqual([], self.faults(
            self.resize('more'), 'default-worker', before=before))
        self.assertNotEqual([], self.faults(
            self.resize('default-worker'), 'more', before=before))

    def test_a_cluster_that_is_gone(self):
        self.assertEqual(['it is gone'], bystanders.faults(a_view(), None))


class ViewTest(testtools.TestCase):

    def test_sizes(self):
        self.assertEqual((1, 3), a_view().sizes)

    def test_autoscaled(self):
        self.assertEqual([False, False, True], [
            a_view(**labels).is_autoscaled for labels in (
                {}, {'auto_scaling_enabled': 'false'},
                {'auto_scaling_enabled': 'True'})])
