# SPDX-License-Identifier: Apache-2.0

import pathlib
import subprocess

import fixtures
import testtools

from tools.offline.images import archive
from tools.offline.images import kicbase
from tools.offline.images import layer
from tools.offline.images import machine
from tools.offline.images import node
from tools.offline.images import plan
from tools.offline.images import recipes

OS_RELEASE = '''\
PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"
NAME="Debian GNU/Linux"
ID=debian
HOME_URL="https://www.debian.org/?a=b"
'''
BASE = {
    '/usr/lib/os-release': OS_RELEASE.encode(),
    '/etc/passwd': b'root:x:0:0::/root:/bin/bash\n',
    '/etc/group': b'root:x:0:\n', '/etc/shadow': b'root:*:1:0:9:7:::\n'}


class MachineTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.base = self.folder / 'base.tar'
        layer.write(self.base, [layer.Entry(path, content, 0o644)
                                for path, content in BASE.items()])
        self.program = self.folder / 'program'
        self.program.write_bytes(b'program')

    def entries(self, make, recipe):
        found = layer.ordered(make.entries(
            recipe, dict.fromkeys(recipe.programs, self.program), self.base))
        return {e.path: e for e in found}

    def test_release_says_what_it_is(self):
        found = machine.release(OS_RELEASE, 'node image').splitlines()
        self.assertIn('stand-in', found[0])
        self.assertEqual(OS_RELEASE.splitlines()[1:], found[1:])

    def test_minikube_sees_a_system_that_it_knows(self):
        self.assertIn('\nID=ubuntu\n', machine.release(
            OS_RELEASE, 'machine', identity='ubuntu'))

    def test_blobs_are_outside_of_the_volume(self):
        root = self.folder / 'root'
        store = root / 'var/lib/containerd'
        blobs = store / 'io.containerd.content.v1.content/blobs/sha256'
        blobs.mkdir(parents=True)
        (blobs / 'abc').write_bytes(b'blob')
        (store / 'meta.db').write_bytes(b'meta')
        found = {e.path: e for e in machine.baked(root)}
        inside = f'{blobs.relative_to(root)}/abc'
        self.assertEqual('/kind/blobs/sha256/abc', found[inside].link)
        self.assertEqual(b'blob', found[
            'kind/blobs/sha256/abc'].content.read_bytes())
        self.assertEqual(b'meta', found[
            'var/lib/containerd/meta.db'].content.read_bytes())

    def test_node(self):
        recipe = recipes.load()['node-1.36']
        found = self.entries(node, recipe)
        config = found['etc/containerd/config.toml'].content
        self.assertIn(b'"registry.k8s.io/pause:3.10.2"', config)
        self.assertNotIn(b'@', config)
        self.assertEqual(0o755, found['usr/local/bin/entrypoint'].mode)
        self.assertEqual(self.program, found['usr/bin/kubelet'].content)
        self.assertEqual(b'v1.36.5\n', found['kind/version'].content)
        self.assertEqual('/usr/lib/cni/bridge',
                         found['opt/cni/bin/bridge'].link)
        wants = 'etc/systemd/system/multi-user.target.wants'
        self.assertIn(f'{wants}/kubelet.service', found)

    def test_node_runs_as_kind_and_cluster_api_run_it(self):
        found = node.config(recipes.load()['node-1.35'], [])['config']
        self.assertEqual(
            ['/usr/local/bin/entrypoint', '/sbin/init'], found['Entrypoint'])
        self.assertEqual('SIGRTMIN+3', found['StopSignal'])
        self.assertEqual({'/var': {}}, found['Volumes'])
        self.assertIn('container=docker', found['Env'])
        self.assertEqual('true', found['Labels'][archive.STAND_IN])

    def test_machine_of_minikube(self):
        found = self.entries(kicbase, recipes.load()['kicbase-1.34'])
        self.assertEqual([], [p for p in found if 'kubelet' in p
                              and p.startswith('etc')])
        self.assertIn(b'\ndocker:', found['etc/passwd'].content)
        self.assertIn(b'\ndocker:*:', found['etc/shadow'].content)
        self.assertEqual(0o640, found['etc/shadow'].mode)
        self.assertEqual(0o700, found['home/docker/.ssh'].mode)
        self.assertIn(
            'etc/systemd/system/multi-user.target.wants/ssh.service', found)

    def test_minikube_gets_what_it_runs(self):
        every = recipes.load()
        found = {one.name for one in plan.baked(every['kicbase-1.34'], every)}
        self.assertGreaterEqual(
            found, {'etcd-1.34', 'pause', 'cert-manager', 'coredns-1.34'})
        self.assertFalse(found & {'agnhost', 'flannel', 'sonobuoy'})

    def test_an_upgrade_keeps_what_outlives_it(self):
        every = recipes.load()
        for minor, before in (('1.36', {'kube-proxy-1.35', 'coredns-1.35'}),
                              ('1.35', set())):
            found = plan.baked(every[f'node-{minor}'], every)
            self.assertEqual(before, {
                r.name for r in found if r.minor not in (None, minor)})


class KubeletForHostTest(testtools.TestCase):
    """What a node finds out about its host, on this one."""

    def test_is_a_configuration_of_kubelets(self):
        import yaml
        script = (recipes.FOLDER
                  / 'node/files/usr/local/bin/kubelet-for-host')
        found = yaml.safe_load(subprocess.run(
            ['bash', script], check=True, capture_output=True).stdout)
        self.assertEqual('KubeletConfiguration', found['kind'])
        # The kubelet removes no image, however full the host's disk is.
        self.assertEqual(100, found['imageGCHighThresholdPercent'])
        v2 = pathlib.Path('/sys/fs/cgroup/cgroup.controllers').exists()
        self.assertEqual(None if v2 else False, found.get('failCgroupV1'))
        status = pathlib.Path('/proc/self/status').read_text()
        bounding, = [line.split()[1] for line in status.splitlines()
                     if line.startswith('CapBnd:')]
        self.assertEqual(None if int(bounding, 16) >> 24 & 1 else 0,
                         found.get('oomScoreAdj'))
