# SPDX-License-Identifier: Apache-2.0

"""Node images: kubeadm alone turns each into a Kubernetes node.

Needs the archives of "tools/offline/images.sh build", root, containers
(:func:`containers.problem` says why otherwise) and MAGNUM_CAPI_LONG=1.
"""

import json
import pathlib
import ssl
import urllib.request

import fixtures
import testtools

from magnum_capi import progress
from magnum_capi import waiting
from magnum_capi_tempest import dockers
from tests.functional import boxes
from tools.offline import containers
from tools.offline.images import inventory
from tools.offline.images import loading

# Like kubeadm in Cluster API's docker provider: eviction would check the
# host's disk, and the control group is the node's own.
KUBEADM = '''\
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
nodeRegistration:
  criSocket: unix:///run/containerd/containerd.sock
  kubeletExtraArgs:
  - {name: cgroup-root, value: /kubelet}
  - {name: fail-swap-on, value: "false"}
  - {name: eviction-hard, value: "nodefs.available<0%%,imagefs.available<0%%"}
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: %s
networking: {podSubnet: 10.244.0.0/16}
---
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
conntrack: {maxPerCore: 0}
'''

NETWORK = json.dumps({
    'cniVersion': '1.0.0', 'name': 'test', 'plugins': [
        {'type': 'ptp', 'ipMasq': True,
         'ipam': {'type': 'host-local',
                  'ranges': [[{'subnet': '10.244.0.0/24'}]],
                  'routes': [{'dst': '0.0.0.0/0'}]}},
        {'type': 'portmap', 'capabilities': {'portMappings': True}}]})


@boxes.LONG
class NodeTest(testtools.TestCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        problem = containers.problem()
        if problem:
            raise cls.skipException(problem)
        cls.archives = [one for one in inventory.read().values()
                        if one.name.startswith('node-')]
        if not cls.archives:
            raise cls.skipException(
                'There is no node image; "tools/offline/images.sh build" '
                'makes them')
        temporary = fixtures.TempDir(rootdir='/tmp')
        temporary.setUp()
        cls.addClassCleanup(temporary.cleanUp)
        cls.engine = containers.Engine(
            pathlib.Path(temporary.path) / 'run')
        cls.addClassCleanup(cls.engine.down)
        cls.access = cls.engine.up(progress.Silent())
        loading.load(cls.archives,
                     dockers.Docker(cls.access.docker_host),
                     progress.Silent())

    def setUp(self):
        super().setUp()
        self.client = self.access.client()
        self.addCleanup(self.client.close)

    def node(self, archive):
        """A booted machine, made like Cluster API's."""
        container = self.client.containers.run(
            archive.references[0], detach=True, name='node',
            hostname='node', network='kind', privileged=True,
            security_opt=['seccomp=unconfined'], volumes=['/var'],
            tmpfs={'/tmp': '', '/run': ''})
        self.addCleanup(container.remove, force=True, v=True)
        waiting.wait_for(
            lambda: container.exec_run(
                ['systemctl', 'is-system-running']).output.strip(),
            done=lambda state: state == b'running', timeout=600,
            what='systemd to start everything')
        container.reload()
        return container

    def run_in(self, container, *command, text=None):
        if text is not None:
            command = ('sh', '-c', 'printf %s "$1" > "$2"', 'sh', text,
                       *command)
        code, output = container.exec_run(list(command))
        self.assertEqual(0, code, output.decode(errors='replace'))
        return output.decode()

    def kubectl(self, container, *words):
        code, output = container.exec_run(
            ['kubectl', '--kubeconfig=/etc/kubernetes/admin.conf', *words])
        return output.decode() if code == 0 else ''

    def test_every_image_becomes_a_node(self):
        for archive in self.archives:
            with self.subTest(kubernetes=archive.kubernetes):
                self.check(archive, self.node(archive))
                self.doCleanups()
                self.client = self.access.client()
                self.addCleanup(self.client.close)

    def check(self, archive, container):
        self.run_in(container, '/etc/cni/net.d/10-test.conflist',
                    text=NETWORK)
        self.run_in(container, '/kind/kubeadm.yaml',
                    text=KUBEADM % archive.kubernetes)
        self.run_in(container, 'kubeadm', 'init',
                    '--config=/kind/kubeadm.yaml',
                    '--ignore-preflight-errors=SystemVerification,Swap')
        self.run_in(container, 'kubectl',
                    '--kubeconfig=/etc/kubernetes/admin.conf', 'taint',
                    'node', 'node', 'node-role.kubernetes.io/control-plane-')
        waiting.wait_for(
            lambda: self.kubectl(
                container, '--namespace=kube-system', 'get', 'deployment',
                'coredns', '--output=jsonpath={.status.readyReplicas}'),
            done=lambda ready: ready == '2', timeout=900, what='CoreDNS')
        info = json.loads(self.kubectl(
            container, 'get', 'node', 'node', '--output=json'))[
                'status']['nodeInfo']
        self.assertEqual(archive.kubernetes, info['kubeletVersion'])
        self.assertIn('stand-in', info['osImage'])
        self.assertEqual(archive.kubernetes, self.version(container))

    def version(self, container):
        """The version that the node's API server reports to the host."""
        address = container.attrs['NetworkSettings']['Networks']['kind'][
            'IPAddress']
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(
                context=ssl._create_unverified_context()))
        with opener.open(f'https://{address}:6443/version',
                         timeout=120) as answer:
            return json.load(answer)['gitVersion']
