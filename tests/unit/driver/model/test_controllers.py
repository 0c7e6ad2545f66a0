# SPDX-License-Identifier: Apache-2.0

"""The model's controllers say what the sandbox's Cluster API 1.14 said.

That is recorded in tests/unit/driver/data: a cluster of one master and two
workers at moments of its life.
"""

import json
import pathlib

import testtools

from tests.lib import chart
from tests.lib import cluster_api
from tests.lib import doors
from tests.lib import helm_program
from tests.lib import kube_api
from tests.lib import virtual_time

_DATA = pathlib.Path(__file__).parents[1] / 'data'

_COUNTS = ('replicas', 'readyReplicas', 'availableReplicas',
           'upToDateReplicas')

_VALUES = {
    'kubernetesVersion': '1.34.2', 'machineImageId': 'image',
    'cloudCredentialsSecretName': 'c0-cloud-credentials',
    'controlPlane': {'machineFlavor': 'm1.small', 'machineCount': 1},
    'nodeGroups': [{'name': 'default-worker', 'machineFlavor': 'm1.small',
                    'machineCount': 2}]}


def _recorded(moment):
    found = json.loads((_DATA / f'{moment}-v1beta2.json').read_text())
    return {**(_recorded(found['as']) if 'as' in found else {}), **found}


def _conditions(obj, of):
    """Statuses of the conditions, those that ``of`` has."""
    types = {one['type'] for one in of['status']['conditions']}
    return {one['type']: one['status']
            for one in obj['status']['conditions'] if one['type'] in types}


class World:

    def __init__(self):
        clock = virtual_time.Clock(1_700_000_000)
        self.api = kube_api.KubeApi(clock)
        self.api.namespaces.add('n')
        self.helm = helm_program.Helm(self.api, doors.Doors(clock), clock)
        self.controllers = cluster_api.Controllers(self.api)
        # Without a cloud, a Secret is enough.
        self.api.put('/api/v1/namespaces/n/secrets/c0-cloud-credentials',
                     {'metadata': {}, 'data': {}})

    def upgrade(self, **changes):
        code, _out, err = self.helm.start(
            ['upgrade', 'c0', 'chart', '--install', '--namespace', 'n',
             '--values', '-'], json.dumps(chart.merged(_VALUES, changes)))
        if code:
            raise AssertionError(err)

    def one(self, kind, number=0):
        return self.api.list(kind, 'n')[number]


class RecordedTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.world = World()
        self.world.upgrade()

    def _same(self, real, ours, *keys):
        self.assertEqual(_conditions(real, ours), _conditions(ours, real))
        for key in keys:
            self.assertEqual(real['status'].get(key),
                             ours['status'].get(key), key)

    def _all_the_same(self, moment):
        real, world = _recorded(moment), self.world
        self._same(real['cluster'], world.one('Cluster'))
        self._same(real['control_plane'], world.one('KubeadmControlPlane'),
                   *_COUNTS, 'version')
        deployment = next(iter(real['machine_deployments'].values()))
        self._same(deployment, world.one('MachineDeployment'), *_COUNTS)
        for part in ('controlPlane', 'workers'):
            for key in ('desiredReplicas', *_COUNTS):
                self.assertEqual(
                    real['cluster']['status'][part].get(key, 0),
                    world.one('Cluster')['status'][part].get(key, 0),
                    (part, key))

    def test_created(self):
        self.world.controllers.settle()

        self._all_the_same('created')
        real = _recorded('created')
        self._same(real['machine_sets'][0], self.world.one('MachineSet'),
                   *_COUNTS)
        self._same(real['machines'][0], self.world.one('Machine'), 'phase')
        self.assertEqual(
            {addon['status']['phase'] for addon in real['addons']},
            {addon['status']['phase'] for kind in ('HelmRelease', 'Manifests')
             for addon in self.world.api.list(kind, 'n')})

    def test_upgraded(self):
        self.world.controllers.settle()
        self.world.upgrade(kubernetesVersion='1.35.0')
        self.world.controllers.settle()

        self.assertEqual(
            {'v1.35.0'}, {one['spec']['version']
                          for one in self.world.api.list('Machine', 'n')})
        self.assertEqual(3, len(self.world.api.list('Machine', 'n')))
        self.assertEqual('v1.35.0', self.world.one(
            'KubeadmControlPlane')['status']['version'])

    def test_an_upgrade_replaces_one_after_the_other(self):
        self.world.controllers.settle()
        self.world.upgrade(kubernetesVersion='1.35.0')
        most, least = 0, 9
        for _round in range(40):
            self.world.controllers.round()
            workers = [one for one in self.world.api.list('Machine', 'n')
                       if cluster_api._DEPLOYMENT in one['metadata'][
                           'labels']]
            ready = sum('nodeRef' in (one.get('status') or {})
                        and 'deletionTimestamp' not in one['metadata']
                        for one in workers)
            most, least = max(most, len(workers)), min(least, ready)
        # The chart's strategy: maxUnavailable 1, maxSurge 0.
        self.assertEqual((2, 1), (most, least))

    def test_deleted(self):
        self.world.controllers.settle()
        self.world.helm.start(
            ['uninstall', 'c0', '--namespace', 'n'], '')
        self.world.controllers.settle()

        self.assertEqual(
            ['/api/v1/namespaces/n/secrets/c0-cloud-credentials'],
            list(self.world.api.objects))

    def test_autoscaled_group_begins_with_its_minimum(self):
        self.world.upgrade(nodeGroups=[{
            'name': 'default-worker', 'machineFlavor': 'm1.small',
            'autoscale': True, 'machineCountMin': 2, 'machineCountMax': 4}])
        world = World()
        world.upgrade(nodeGroups=[{
            'name': 'more', 'machineFlavor': 'm1.small', 'autoscale': True,
            'machineCountMin': 2, 'machineCountMax': 4}])
        world.controllers.settle()

        self.assertEqual(
            2, world.one('MachineDeployment')['spec']['replicas'])
