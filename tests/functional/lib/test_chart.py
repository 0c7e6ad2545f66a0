# SPDX-License-Identifier: Apache-2.0

"""tests.lib.chart renders what helm renders of the same values."""

import functools
import json
import re

import testtools
import yaml

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi_tempest import toolchain
from tests.lib import chart

_BASE = {
    'kubernetesVersion': '1.34.2', 'machineImageId': 'image-1',
    'cloudCredentialsSecretName': 'demo-cloud-credentials',
    'clusterAnnotations': {'magnum.openstack.org/cluster-uuid': 'u'},
    'apiServer': {'associateFloatingIP': True, 'enableLoadBalancer': True,
                  'loadBalancerProvider': 'amphora'},
    'clusterNetworking': {'internalNetwork': {'nodeCidr': '10.0.0.0/24'},
                          'externalNetworkId': 'outside'},
    'controlPlane': {'machineFlavor': 'm1.small', 'machineCount': 1,
                     'healthCheck': {'enabled': True}},
    'nodeGroupDefaults': {'healthCheck': {'enabled': False}},
    'nodeGroups': [{'name': 'workers', 'machineFlavor': 'm1.small',
                    'machineCount': 2, 'healthCheck': {'enabled': True}}],
    'addons': {'metricsServer': {'enabled': True},
               'openstack': {'csiCinder': {'enabled': True}}},
}


def _group(**fields):
    return {'nodeGroups': [{
        'name': 'workers', 'machineFlavor': 'm1.small', 'machineCount': 2,
        'healthCheck': {'enabled': True}, **fields}]}


#: Values over _BASE.
CASES = {
    'plain': {},
    'another version': {'kubernetesVersion': 'v1.35.1'},
    'another image': {'machineImageId': 'image-2'},
    'image of a group': _group(machineImageId='image-3',
                               kubernetesVersion='1.33.0'),
    'autoscaled': _group(autoscale=True, machineCountMin=1,
                         machineCountMax=4),
    'zone and disk': _group(
        failureDomain='az1', serverGroupId='group-1', machineRootVolume={
            'diskSize': 20, 'volumeType': 'ssd', 'availabilityZone': 'az2'}),
    'labels and taints': _group(
        nodeLabels={'b': 'x', 'a': 'y'}, kubeadmConfigSpec={
            'joinConfiguration': {'nodeRegistration': {'taints': [
                {'key': 'k', 'effect': 'NoSchedule'}]}},
            'preKubeadmCommands': ['true']}),
    'networks': _group(machineNetworking={'ports': [{}, {
        'network': {'filter': {'name': 'storage'}}, 'securityGroups': []}]}),
    'strategy': _group(rolloutStrategy={
        'rollingUpdate': {'maxSurge': 1, 'maxUnavailable': '0%'}}),
    'held': _group(rolloutStrategy={'type': 'OnDelete'}),
    'no healing': _group(healthCheck={'enabled': False}),
    'control plane': {'controlPlane': {
        'machineFlavor': 'm1.large', 'machineCount': 3,
        'serverGroupId': 'group-0', 'machineRootVolume': {'diskSize': 30},
        'healthCheck': {'enabled': False}}},
    'etcd': {'etcd': {'blockDevice': {'size': 5, 'type': 'Local'}}},
    'own network': {'clusterNetworking': {'internalNetwork': {
        'networkFilter': {'id': 'net'}, 'subnetFilter': {'id': 'sub'}}}},
    'cilium and keys': {'machineSSHKeyName': 'key', 'addons': {
        'cni': {'type': 'cilium'}, 'monitoring': {'enabled': True},
        'ingress': {'enabled': True}, 'metricsServer': {'enabled': False},
        'openstack': {'k8sKeystoneAuth': {'enabled': True},
                      'csiCinder': {'enabled': False}}}},
    'no groups, no addons': {'nodeGroups': [], 'addons': {'enabled': False}},
}

#: Values that the chart refuses.
REFUSED = {
    'bounds': _group(autoscale=True, machineCountMin=5, machineCountMax=4),
    'no bounds': _group(autoscale=True),
    'no size': {'nodeGroups': [{'name': 'workers',
                                'machineFlavor': 'm1.small'}]},
    'name': _group(name='A_b'),
    'no image': {'machineImageId': None},
}


def _values(changes):
    return chart.merged(_BASE, changes)


@functools.cache
def _helm():
    return toolchain.ensure(['helm'])['helm']


def _rendered(changes):
    text = processes.run(
        [_helm(), 'template', 'demo', chart.FOLDER, '--namespace', 'n',
         '--values', '-'], timeout=600, stdin=json.dumps(_values(changes)))
    return [obj for obj in yaml.safe_load_all(text) if obj]


def _by_name(objects):
    return {(obj['kind'], _nameless(obj['metadata']['name'])): _nameless(obj)
            for obj in objects}


def _nameless(found):
    """Without hashes."""
    if isinstance(found, dict):
        return {key: 'HASH' if key.endswith('/template-checksum')
                else _nameless(value) for key, value in found.items()}
    if isinstance(found, list):
        return list(map(_nameless, found))
    if isinstance(found, str):
        return re.sub('-[0-9a-f]{8}$', '-HASH', found)
    return found


def _templates(objects):
    return {(obj['kind'], _nameless(obj['metadata']['name'])):
            obj['metadata']['name'] for obj in objects
            if obj['kind'].endswith('Template')}


class ChartTest(testtools.TestCase):

    maxDiff = None

    def test_renders_the_same(self):
        for name, changes in CASES.items():
            with self.subTest(name):
                self.assertEqual(
                    _by_name(_rendered(changes)),
                    _by_name(chart.render('demo', 'n', _values(changes))))

    def test_names_of_templates_change_with_the_same_values(self):
        real, ours = (
            {name: _templates(render(changes))
             for name, changes in CASES.items()} for render in (
                _rendered,
                lambda changes: chart.render('demo', 'n', _values(changes))))

        def changed(found):
            return {(case, name) for case, names in found.items()
                    for name, full in names.items()
                    if full != found['plain'].get(name)}
        self.assertEqual(changed(real), changed(ours))

    def test_refuses_the_same(self):
        for name, changes in REFUSED.items():
            with self.subTest(name):
                self.assertRaises(
                    errors.CommandFailed, _rendered, changes)
                self.assertRaises(chart.Refused, chart.render, 'demo', 'n',
                                  _values(changes))
