# SPDX-License-Identifier: Apache-2.0

"""Which nodes a change replaces, by the rules of Cluster API."""

import copy

import testtools

from magnum_capi.driver.desired import replacement

PLANE = {
    'kind': 'KubeadmControlPlane', 'metadata': {'name': 'c-plane'},
    'spec': {
        'replicas': 3, 'version': 'v1.34.2',
        'machineTemplate': {
            'metadata': {'labels': {'a': 'b'}},
            'nodeDrainTimeout': '5m0s',
            'infrastructureRef': {
                'apiVersion': 'infrastructure.cluster.x-k8s.io/v1beta1',
                'kind': 'OpenStackMachineTemplate', 'name': 'plane-1'}},
        'kubeadmConfigSpec': {
            'files': [{'path': '/etc/a', 'content': 'password'}]}}}
GROUP = {
    'kind': 'MachineDeployment', 'metadata': {'name': 'c-workers'},
    'spec': {
        'replicas': 2, 'strategy': {'type': 'RollingUpdate'},
        'template': {
            'metadata': {'labels': {'a': 'b'}},
            'spec': {
                'clusterName': 'c', 'version': 'v1.34.2',
                'nodeDrainTimeout': '5m0s',
                'bootstrap': {'configRef': {
                    'apiVersion': 'bootstrap.cluster.x-k8s.io/v1beta1',
                    'kind': 'KubeadmConfigTemplate', 'name': 'boot-1'}},
                'infrastructureRef': {
                    'apiVersion': 'infrastructure.cluster.x-k8s.io/v1beta1',
                    'kind': 'OpenStackMachineTemplate',
                    'name': 'workers-1'}}}}}
BOOT = {'kind': 'KubeadmConfigTemplate', 'metadata': {'name': 'boot-1'},
        'spec': {'template': {'spec': {'files': []}}}}

MACHINE = 'spec.template.spec'


def changed(found, path, value):
    """A copy with another value; None takes it away."""
    made = copy.deepcopy(found)
    *parents, key = path.split('.')
    inner = made
    for parent in parents:
        inner = inner.setdefault(parent, {})
    if value is None:
        inner.pop(key)
    else:
        inner[key] = value
    return made


class ReplacedTest(testtools.TestCase):

    def assert_replaced(self, part, path, value, field):
        found = replacement.replaced([part], [changed(part, path, value)])
        self.assertEqual({(part['kind'], part['metadata']['name']): (
            f'another {field}',)}, found)

    def test_what_replaces_a_control_plane(self):
        for path, value, field in (
                ('spec.version', 'v1.35.0', 'version'),
                ('spec.rolloutAfter', '2026-11-21T00:00:00Z', 'rolloutAfter'),
                ('spec.kubeadmConfigSpec.files', [], 'kubeadmConfigSpec'),
                ('spec.machineTemplate.infrastructureRef.name', 'plane-2',
                 'infrastructureRef')):
            self.assert_replaced(PLANE, path, value, field)

    def test_what_replaces_a_node_group(self):
        for path, value, field in (
                (f'{MACHINE}.version', 'v1.35.0', 'version'),
                (f'{MACHINE}.failureDomain', 'az1', 'failureDomain'),
                (f'{MACHINE}.infrastructureRef.name', 'workers-2',
                 'infrastructureRef'),
                (f'{MACHINE}.bootstrap.configRef.name', 'boot-2',
                 'bootstrap.configRef'),
                (f'{MACHINE}.bootstrap.configRef', None,
                 'bootstrap.configRef'),
                ('spec.rollout.after', '2026-11-21T00:00:00Z',
                 'rolloutAfter')):
            self.assert_replaced(GROUP, path, value, field)

    def test_what_is_propagated_in_place(self):
        reference = 'infrastructureRef.apiVersion'
        for part, path, value in (
                (PLANE, 'spec.replicas', 5),
                (PLANE, 'metadata.labels', {'a': 'c'}),
                (PLANE, 'spec.rolloutStrategy', {'type': 'RollingUpdate'}),
                (PLANE, 'spec.machineTemplate.metadata.labels', {'a': 'c'}),
                (PLANE, 'spec.machineTemplate.nodeDrainTimeout', '1m'),
                (PLANE, f'spec.machineTemplate.{reference}', 'x/v1beta2'),
                (GROUP, 'spec.replicas', 3),
                (GROUP, 'spec.strategy', {'type': 'OnDelete'}),
                (GROUP, 'spec.template.metadata.labels', {'a': 'c'}),
                (GROUP, f'{MACHINE}.nodeDrainTimeout', '1m'),
                (GROUP, f'{MACHINE}.{reference}', 'x/v1beta2'),
                (BOOT, 'spec.template.spec.files', ['a'])):
            self.assertEqual({}, replacement.replaced(
                [part], [changed(part, path, value)]), path)

    def test_control_plane_in_the_next_version_of_cluster_api(self):
        # Its reference is a level deeper, and has no version.
        then = changed(PLANE, 'spec.machineTemplate', {'spec': {
            'infrastructureRef': {
                'apiGroup': 'infrastructure.cluster.x-k8s.io',
                'kind': 'OpenStackMachineTemplate', 'name': 'plane-1'}}})
        self.assertEqual({}, replacement.replaced([PLANE], [then]))

    def test_strategy_that_replaces_none(self):
        then = changed(GROUP, f'{MACHINE}.version', 'v1.35.0')
        old = changed(then, 'spec.strategy.type', 'OnDelete')
        new = changed(changed(then, 'spec.strategy', None),
                      'spec.rollout.strategy.type', 'OnDelete')
        for deferred in (old, new):
            self.assertEqual({}, replacement.replaced([GROUP], [deferred]))

    def test_part_that_goes_or_comes(self):
        self.assertEqual(
            {('MachineDeployment', 'c-workers'): ('no such object',)},
            replacement.replaced([PLANE, GROUP], [PLANE]))
        self.assertEqual({}, replacement.replaced([PLANE], [PLANE, GROUP]))

    def test_groups_are_judged_apart(self):
        other = changed(GROUP, 'metadata.name', 'c-others')
        then = changed(other, f'{MACHINE}.version', 'v1.35.0')
        self.assertEqual(
            [('MachineDeployment', 'c-others')],
            list(replacement.replaced([GROUP, other], [GROUP, then])))
