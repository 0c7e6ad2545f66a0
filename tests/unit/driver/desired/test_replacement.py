# SPDX-License-Identifier: Apache-2.0

"""Which nodes a change replaces, by the rules of Cluster API."""

import copy

import testtools

from magnum_capi.driver.desired import replacement
from tests.unit.driver import objects

PLANE = {
    'apiVersion': 'controlplane.cluster.x-k8s.io/v1beta1',
    'kind': 'KubeadmControlPlane', 'metadata': {'name': 'c-plane'},
    'spec': {
        'replicas': 3, 'version': 'v1.34.2',
        'rolloutStrategy': {'rollingUpdate': {'maxSurge': 1}},
        'machineTemplate': {
            'metadata': {'labels': {'a': 'b'}},
            'nodeDrainTimeout': '5m0s',
            'infrastructureRef': {
                'apiVersion': 'infrastructure.cluster.x-k8s.io/v1beta1',
                'kind': 'OpenStackMachineTemplate', 'name': 'plane-1'}},
        'kubeadmConfigSpec': {
            'files': [{'path': '/etc/a', 'content': 'password'}],
            'clusterConfiguration': {
                'dns': {'imageTag': 'v1'},
                'apiServer': {'extraArgs': {'v': '1'}}},
            'joinConfiguration': {'nodeRegistration': {'name': 'n'}}}}}
GROUP = {
    'apiVersion': 'cluster.x-k8s.io/v1beta1',
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
MACHINE = {'kind': 'OpenStackMachineTemplate',
           'metadata': {'name': 'workers-1'},
           'spec': {'template': {'spec': {'flavor': 'm1'}}}}

ALL = (PLANE, GROUP, BOOT, MACHINE)


def changed(found, value, *path):
    """A copy with another value; None takes it away."""
    made = copy.deepcopy(found)
    inner = made
    for key in path[:-1]:
        inner = inner.setdefault(key, {})
    if value is None:
        inner.pop(path[-1])
    else:
        inner[path[-1]] = value
    return made


class Base(testtools.TestCase):

    def verdicts(self, now, then):
        return {one.name: one for one in replacement.rollouts(
            *(tuple(map(objects.as_read, found)) for found in (now, then)))}

    def of_plane(self, value, *path):
        found = self.verdicts([PLANE], [changed(PLANE, value, *path)])
        return found['c-plane']

    def of_group(self, value, *path):
        found = self.verdicts([GROUP], [changed(GROUP, value, *path)])
        return found['c-workers']

    def assert_stays(self, found):
        self.assertEqual((False, ()), (found.replaced, found.reasons))

    def assert_goes(self, found, *reasons):
        self.assertEqual((True, reasons), (found.replaced, found.reasons))


class ControlPlaneTest(Base):

    def test_nothing_changes(self):
        self.assert_stays(self.verdicts(ALL, copy.deepcopy(ALL))['c-plane'])

    def test_comes_first(self):
        found = replacement.rollouts([GROUP, PLANE], [GROUP, PLANE])
        self.assertEqual([replacement.CONTROL_PLANE, replacement.NODE_GROUP],
                         [one.kind for one in found])

    def test_version(self):
        self.assert_goes(self.of_plane('v1.35.0', 'spec', 'version'),
                         'version: v1.34.2 -> v1.35.0')

    def test_what_is_propagated_in_place(self):
        for value, *path in (
                (5, 'spec', 'replicas'),
                ({'a': 'c'}, 'metadata', 'labels'),
                ({'rollingUpdate': {'maxSurge': 0}}, 'spec',
                 'rolloutStrategy'),
                ({'maxRetry': 1}, 'spec', 'remediationStrategy'),
                ({'a': 'c'}, 'spec', 'machineTemplate', 'metadata', 'labels'),
                ('1m', 'spec', 'machineTemplate', 'nodeDrainTimeout'),
                ('1m', 'spec', 'machineTemplate', 'nodeDeletionTimeout'),
                ('v2', 'spec', 'kubeadmConfigSpec', 'clusterConfiguration',
                 'dns', 'imageTag'),
                ({'tlsBootstrapToken': 'x'}, 'spec', 'kubeadmConfigSpec',
                 'joinConfiguration', 'discovery'),
                ([], 'spec', 'kubeadmConfigSpec', 'preKubeadmCommands')):
            self.assert_stays(self.of_plane(value, *path))

    def test_part_that_has_only_what_is_propagated(self):
        now = changed(PLANE, {'dns': {'imageTag': 'v1'}}, 'spec',
                      'kubeadmConfigSpec', 'clusterConfiguration')
        then = changed(now, None, 'spec', 'kubeadmConfigSpec',
                       'clusterConfiguration')
        self.assert_stays(self.verdicts([now], [then])['c-plane'])

    def test_kubeadm_names_the_field_and_no_value(self):
        found = self.of_plane(
            [{'path': '/etc/a', 'content': 'other password'}],
            'spec', 'kubeadmConfigSpec', 'files')
        self.assert_goes(found, 'kubeadmConfigSpec.files')

    def test_field_deep_in_kubeadm(self):
        self.assert_goes(
            self.of_plane('2', 'spec', 'kubeadmConfigSpec',
                          'clusterConfiguration', 'apiServer', 'extraArgs',
                          'v'),
            'kubeadmConfigSpec.clusterConfiguration.apiServer.extraArgs.v')

    def test_field_that_kubeadm_had_and_has_no_more(self):
        self.assert_goes(
            self.of_plane(None, 'spec', 'kubeadmConfigSpec', 'files'),
            'kubeadmConfigSpec.files')

    def test_another_machine_template(self):
        self.assert_goes(
            self.of_plane('plane-2', 'spec', 'machineTemplate',
                          'infrastructureRef', 'name'),
            'infrastructureRef: OpenStackMachineTemplate plane-1 -> '
            'OpenStackMachineTemplate plane-2')

    def test_asked_for_by_date(self):
        date = '2026-11-21T00:00:00Z'
        self.assert_goes(self.of_plane(date, 'spec', 'rolloutAfter'),
                         f'rolloutAfter: nothing -> {date}')

    def test_same_machine_template_in_another_version_of_the_api(self):
        self.assert_stays(self.of_plane(
            'infrastructure.cluster.x-k8s.io/v1beta2', 'spec',
            'machineTemplate', 'infrastructureRef', 'apiVersion'))

    def test_same_in_the_next_version_of_cluster_api(self):
        # Its references have no version, arguments are a list.
        then = changed(PLANE, {'spec': {'infrastructureRef': {
            'apiGroup': 'infrastructure.cluster.x-k8s.io',
            'kind': 'OpenStackMachineTemplate', 'name': 'plane-1'}}},
            'spec', 'machineTemplate')
        then = changed(then, [{'name': 'v', 'value': '1'}], 'spec',
                       'kubeadmConfigSpec', 'clusterConfiguration',
                       'apiServer', 'extraArgs')
        then['apiVersion'] = 'controlplane.cluster.x-k8s.io/v1beta2'
        self.assert_stays(self.verdicts([PLANE], [then])['c-plane'])

    def test_another_name(self):
        found = self.verdicts(
            [PLANE], [changed(PLANE, 'other', 'metadata', 'name')])
        self.assert_goes(found['c-plane'], 'is taken away')
        self.assertEqual((False, ('is new',)), (
            found['other'].replaced, found['other'].reasons))


class NodeGroupTest(Base):

    def test_version(self):
        self.assert_goes(
            self.of_group('v1.35.0', 'spec', 'template', 'spec', 'version'),
            'version: v1.34.2 -> v1.35.0')

    def test_failure_domain(self):
        self.assert_goes(
            self.of_group('az1', 'spec', 'template', 'spec', 'failureDomain'),
            'failureDomain: nothing -> az1')

    def test_what_is_propagated_in_place(self):
        spec = 'spec', 'template', 'spec'
        for value, *path in (
                (3, 'spec', 'replicas'),
                ({'type': 'OnDelete'}, 'spec', 'strategy'),
                ({'a': 'c'}, 'metadata', 'annotations'),
                ({'a': 'c'}, 'spec', 'template', 'metadata', 'labels'),
                ('1m', *spec, 'nodeDrainTimeout'),
                ('1m', *spec, 'nodeDeletionTimeout'),
                ('1m', *spec, 'nodeVolumeDetachTimeout'),
                ({'order': 'Oldest'}, 'spec', 'deletion'),
                (5, *spec, 'minReadySeconds'),
                ('infrastructure.cluster.x-k8s.io/v1beta2', *spec,
                 'infrastructureRef', 'apiVersion')):
            self.assert_stays(self.of_group(value, *path))

    def test_another_machine_template_tells_what_is_other_in_it(self):
        machine = changed(MACHINE, 'm2', 'spec', 'template', 'spec', 'flavor')
        machine['metadata'] = {'name': 'workers-2'}
        group = changed(GROUP, 'workers-2', 'spec', 'template', 'spec',
                        'infrastructureRef', 'name')

        found = self.verdicts(ALL, (PLANE, group, BOOT, machine))

        self.assert_goes(
            found['c-workers'],
            'infrastructureRef: OpenStackMachineTemplate workers-1 -> '
            'OpenStackMachineTemplate workers-2 (template.spec.flavor)')
        self.assert_stays(found['c-plane'])

    def test_another_bootstrap_template(self):
        self.assert_goes(
            self.of_group('boot-2', 'spec', 'template', 'spec', 'bootstrap',
                          'configRef', 'name'),
            'bootstrap.configRef: KubeadmConfigTemplate boot-1 -> '
            'KubeadmConfigTemplate boot-2')

    def test_bootstrap_that_comes_or_goes(self):
        without = changed(GROUP, None, 'spec', 'template', 'spec',
                          'bootstrap', 'configRef')
        for now, then, told in (
                (GROUP, without, 'KubeadmConfigTemplate boot-1 -> nothing'),
                (without, GROUP, 'nothing -> KubeadmConfigTemplate boot-1')):
            self.assert_goes(self.verdicts([now], [then])['c-workers'],
                             f'bootstrap.configRef: {told}')

    def test_strategy_of_another_name_replaces(self):
        for name in ('InPlace', 'RollingUpdate'):
            now = changed(GROUP, name, 'spec', 'strategy', 'type')
            then = changed(now, 'v1.35.0', 'spec', 'template', 'spec',
                           'version')
            self.assertTrue(self.verdicts([now], [then])[
                'c-workers'].replaced)

    def test_bootstrap_template_of_the_same_name_is_for_later_nodes(self):
        boot = changed(BOOT, [{'path': '/a', 'content': 'secret'}],
                       'spec', 'template', 'spec', 'files')

        found = self.verdicts(ALL, (PLANE, GROUP, boot, MACHINE))

        found = found['c-workers']
        self.assertFalse(found.replaced)
        self.assertEqual((
            'KubeadmConfigTemplate boot-1 changes in place, for nodes that '
            'come later: template',), found.reasons)

    def test_strategy_that_replaces_none(self):
        now = changed(GROUP, 'OnDelete', 'spec', 'strategy', 'type')
        then = changed(now, 'v1.35.0', 'spec', 'template', 'spec', 'version')
        found = self.verdicts([now], [then])['c-workers']
        self.assertFalse(found.replaced)
        self.assertIn('OnDelete', found.reasons[-1])

    def test_strategy_in_the_next_version_of_cluster_api(self):
        then = changed(GROUP, 'v1.35.0', 'spec', 'template', 'spec',
                       'version')
        then = changed(then, None, 'spec', 'strategy')
        then = changed(then, {'strategy': {'type': 'OnDelete'}}, 'spec',
                       'rollout')
        self.assertFalse(self.verdicts([GROUP], [then])['c-workers'].replaced)

    def test_group_that_goes(self):
        self.assert_goes(self.verdicts([PLANE, GROUP], [PLANE])['c-workers'],
                         'is taken away')

    def test_groups_are_judged_apart(self):
        other = changed(GROUP, 'c-others', 'metadata', 'name')
        then = changed(other, 'v1.35.0', 'spec', 'template', 'spec',
                       'version')
        found = self.verdicts([GROUP, other], [GROUP, then])
        self.assertEqual({'c-workers': False, 'c-others': True}, {
            name: one.replaced for name, one in found.items()})
