# SPDX-License-Identifier: Apache-2.0

"""A management cluster with the OpenStack provider, but without a cloud.

The test plays Nova's part: it passes the real bootstrap provider's user data
to the machine service, and writes into the provider's objects what that would
have found in Nova.
"""

import base64
import http.client
import ipaddress
import json
import os
import pathlib
import signal
import socket
import stat
import unittest
import uuid

import fixtures
import testtools

from magnum_capi import progress
from magnum_capi import waiting
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest import listeners
from magnum_capi_tempest.management import standalone
from magnum_capi_tempest import runmarks
from magnum_capi_tempest import supervision
from tests.functional import workload

PORT_BASE = 26000

#: Not the default network, which a developer's own cluster may use. This one
#: is also reserved for benchmarks of networks (RFC 2544).
NETWORK = '198.19.240.0/20'
ENDPOINT = {'host': '198.19.240.9', 'port': 6443}

_INFRASTRUCTURE = 'infrastructure.cluster.x-k8s.io/v1beta1'


class _Machines(http.client.HTTPConnection):
    """A connection to the machine service."""

    def __init__(self, path):
        super().__init__('machines', timeout=30)
        self._path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


@unittest.skipUnless(os.geteuid() == 0, 'needs root')
class OpenStackTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(self.useFixture(
            fixtures.TempDir(rootdir='/tmp')).path) / 'cluster'
        self.addCleanup(standalone.down, self.directory)
        self.plane = self._up()
        self.api = kube.Client(self.plane.kubeconfig)
        self.supervisor = supervision.Supervisor(
            self.directory / 'supervisor')
        self.addOnException(self._attach_logs)

    def _attach_logs(self, exc_info):
        for name in ('capi', 'capo'):
            self.addDetail(f'{name}.log', testtools.content.text_content(
                supervision.tail(self.supervisor.log(name), 60)))

    def _up(self):
        return standalone.up(
            self.directory, progress.Silent(), port_base=PORT_BASE,
            endpoint_network=NETWORK)

    def machine(self, method, path='', body=None):
        """Ask the machine service.

        :returns: the status and the decoded answer.
        """
        connection = _Machines(self.plane.layout.machines)
        self.addCleanup(connection.close)
        connection.request(method, f'/machines{path}',
                           body and json.dumps(body))
        answer = connection.getresponse()
        content = answer.read()
        return answer.status, json.loads(content) if content else None

    def test_cluster_of_machines_that_boot_from_user_data(self):
        self.assertTrue(all(
            ready for _, ready in standalone.status(self.directory)))
        self.assertEqual(0o600, stat.S_IMODE(
            self.plane.layout.machines.stat().st_mode))
        self._create()
        servers = {}
        waiting.wait_for(
            lambda: self._boot(servers), timeout=180,
            done=lambda _: workload.conditions(workload.get(
                self.api, 'life')).get('Available') == 'True',
            what='the cluster to be available')
        self.assertEqual(2, len(servers))
        self.assertEqual(
            set(servers), set(workload.nodes(self.api, 'life')))
        self.assertEqual(ENDPOINT, workload.get(
            self.api, 'life')['spec']['controlPlaneEndpoint'])
        found = listeners.of_processes(
            runmarks.marked(self.supervisor.directory))
        self.assertEqual([], [f for f in found if not f.loopback])
        self._webhook_of_the_provider_refuses()
        self._is_killed(servers)
        standalone.down(self.directory)
        self.assertFalse(self._routed())

    def _is_killed(self, servers):
        """Kill the program: its resources vanish, servers are sent again."""
        capi, = (s for s in self.supervisor.status() if s.name == 'capi')
        os.kill(capi.pid, signal.SIGKILL)
        waiting.wait_for(
            self._routed, done=lambda routed: not routed, timeout=30,
            what='the route of a killed program to be gone')
        self._up()
        self.assertTrue(self._routed())
        self.assertEqual([], self.machine('GET')[1]['machines'])
        for server, body in servers.values():
            self.assertEqual(201, self.machine(
                'PUT', f'/{server}', body)[0])
        waiting.wait_for(
            self._nodes, done=lambda found: found == set(servers),
            timeout=60, what='the nodes to be back')

    def _nodes(self):
        try:
            return set(workload.nodes(self.api, 'life'))
        except kube.KubeError:
            return set()

    @staticmethod
    def _routed():
        """Whether the host has a route to the network."""
        address = ipaddress.ip_network(NETWORK).network_address
        # Little-endian, as the kernel prints it on all supported machines.
        printed = address.packed[::-1].hex().upper()
        return any(line.split()[1] == printed for line in pathlib.Path(
            '/proc/net/route').read_text().splitlines()[1:])

    def _webhook_of_the_provider_refuses(self):
        path = workload.path(_INFRASTRUCTURE, 'OpenStackMachineTemplate',
                             'life')
        o = self.api.get(path)
        o['spec']['template']['spec']['flavor'] = 'm1.other'
        e = self.assertRaises(
            kube.KubeError, self.api.ask, 'PUT', path, o)
        self.assertIn('immutable', str(e))

    def _create(self):
        """Create a cluster with an externally managed network."""
        for o in workload.objects('life'):
            if o['kind'] == 'OpenStackCluster':
                o['metadata']['annotations'] = {
                    'cluster.x-k8s.io/managed-by': 'somebody else'}
                o['spec']['controlPlaneEndpoint'] = ENDPOINT
            self.api.ask('POST', workload.path(o['apiVersion'], o['kind']),
                         o)
        self._set_status('OpenStackCluster', 'life', {
            'ready': True, 'initialization': {'provisioned': True}})

    def _set_status(self, kind, name, status):
        path = workload.path(_INFRASTRUCTURE, kind, name)
        self.api.ask('PATCH', f'{path}/status', {'status': status},
                     kind='application/merge-patch+json')

    def _boot(self, servers):
        """Do what provider and Nova do for waiting machines."""
        machines = self.api.get(workload.path(
            'cluster.x-k8s.io/v1beta2', 'Machine'))['items']
        for machine in machines:
            name = machine['metadata']['name']
            secret = machine['spec']['bootstrap'].get('dataSecretName')
            if not secret or name in servers:
                continue
            data = self.api.get(workload.path('v1', 'Secret', secret))
            server = str(uuid.uuid4())
            body = {'name': name, 'user_data': data['data']['value'],
                    'addresses': ['10.6.0.12'], 'image': str(uuid.uuid4()),
                    'flavor': {'name': 'm1.small', 'vcpus': 2,
                               'ram_mib': 4096, 'disk_gib': 20},
                    'image_properties': {'kube_version': 'v1.34.2'},
                    'metadata': {}}
            self.assertIn(b'kubeadm', base64.b64decode(body['user_data']))
            self.assertEqual((201, {}), self.machine(
                'PUT', f'/{server}', body))
            self.api.ask(
                'PATCH', workload.path(
                    _INFRASTRUCTURE, 'OpenStackMachine',
                    machine['spec']['infrastructureRef']['name']),
                {'spec': {'providerID': f'openstack:///{server}'}},
                kind='application/merge-patch+json')
            self._set_status(
                'OpenStackMachine',
                machine['spec']['infrastructureRef']['name'],
                {'ready': True, 'initialization': {'provisioned': True}})
            servers[name] = server, body
        return sorted(servers)
