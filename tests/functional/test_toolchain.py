# SPDX-License-Identifier: Apache-2.0

"""The toolchain with real programs, real Go and PyPI.

Programs come from this user's cache and stay there: a second run takes
seconds. Tests of making them use their own empty cache.
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import fixtures
import testtools

from magnum_capi import processes
from magnum_capi import waiting
from magnum_capi_tempest import toolchain
from magnum_capi_tempest.toolchain import go
from magnum_capi_tempest.toolchain import pins
from magnum_capi_tempest.toolchain import programs
from tools.offline import pins as offline

#: Programs that commands use, and no image has.
NAMES = ('etcd', 'kube-apiserver', 'kubectl',
         'helm', 'clusterctl', 'capi', 'sonobuoy', 'hydrophone')

ENSURE = ('from magnum_capi_tempest import toolchain; '
          'print(toolchain.ensure(["helm"])["helm"])')


class TestPrograms(testtools.TestCase):

    def test_all_are_of_the_pinned_version(self):
        found = toolchain.ensure(NAMES)

        for name, path in found.items():
            program = pins.load().programs[name]
            if program.statement is not None:
                self.assertEqual(
                    program.version,
                    programs.version(program.statement, path))

    def test_kubernetes_programs_state_a_real_version(self):
        """Clients compare major and minor with the server's."""
        kubectl = toolchain.ensure(['kubectl'])['kubectl']
        output = processes.run(
            [kubectl, 'version', '--client', '-o', 'json'], timeout=120)

        self.assertIn('"major": "1"', output)
        self.assertIn('"minor": "36"', output)

    def test_helm_assumes_the_kubernetes_of_its_release(self):
        helm = toolchain.ensure(['helm'])['helm']
        chart = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (chart / 'templates').mkdir()
        (chart / 'Chart.yaml').write_text(
            'apiVersion: v2\nname: c\nversion: 1.0.0\n')
        (chart / 'templates' / 'x.yaml').write_text(
            'kube: {{ .Capabilities.KubeVersion.Version }}\n')

        self.assertIn('kube: v1.35', processes.run(
            [helm, 'template', chart], timeout=120))

    def test_own_program_runs(self):
        capi = toolchain.ensure(['capi'])['capi']

        self.assertIn('--bind-address', processes.run(
            [capi, '--help'], timeout=120, merge=True))


class TestGo(testtools.TestCase):

    def sources(self, name):
        module = pins.load().programs[name].build.module
        return go.module_directory(module.path, module.version)

    def test_pinned_modules_are_there_and_can_be_built(self):
        needed = []
        for module in pins.load().modules.values():
            folder = go.module_directory(module.path, module.version)
            self.assertTrue((folder / 'go.sum').exists(), module.name)
            needed.append(go.parse_version('go' + re.search(
                r'(?m)^go (\S+)$', (folder / 'go.mod').read_text())[1]))

        # That of all modules, also of those that are only used offline.
        self.assertGreaterEqual(go.required(), max(needed))

    def test_programs_of_a_release_of_kubernetes_match(self):
        """As its kubeadm and its tests want them."""
        programs = offline.load().programs
        for minor in '1.34', '1.35', '1.36':
            folder = go.module_files(
                programs[f'kubelet-{minor}'].build.module)
            constants = (folder / 'cmd/kubeadm/app/constants/constants.go'
                         ).read_text()
            for name, value in (('etcd', 'DefaultEtcdVersion = "{}-0"'),
                                ('coredns', 'CoreDNSVersion = "v{}"')):
                version = programs[f'{name}-{minor}'].version
                self.assertIn(value.format(version), constants)
            ginkgo = programs.get(f'ginkgo-{minor}')
            self.assertEqual(ginkgo is None, minor == '1.34')
            if ginkgo:
                self.assertIn(
                    f'github.com/onsi/ginkgo/v2 v{ginkgo.version}\n',
                    (folder / 'go.mod').read_text())

    def test_helm_is_built_like_its_release(self):
        helm = pins.load().programs['helm']
        path, version = 'helm.sh/helm/v3', f'v{helm.version}'
        h1 = re.search(rf'(?m)^{path} {version} (h1:\S+)$', (
            helm.build.path / 'go.sum').read_text())[1]
        sources = go.module_files(pins.Module(path, version, h1))
        minor = re.search(r'k8s\.io/client-go v0\.(\d+)\.', (
            sources / 'go.mod').read_text())[1]

        self.assertIn(f'{path}/pkg/chartutil.k8sVersionMinor={minor}',
                      helm.build.variables)

    def test_go_from_pypi_when_there_is_none(self):
        with tempfile.TemporaryDirectory() as cache:
            self.useFixture(fixtures.EnvironmentVariable(
                'MAGNUM_CAPI_CACHE', cache))
            self.useFixture(fixtures.EnvironmentVariable(
                'PATH', '/usr/bin:/bin'))
            if shutil.which('go'):
                self.skipTest('go is in /usr/bin')
            found = go.find_go()

            self.assertTrue(found.is_relative_to(cache))
            self.assertIn(f'go{pins.load().go.version}', processes.run(
                [found, 'version'], timeout=120,
                env=go.environment(found)))


class TestMaking(testtools.TestCase):
    """helm, which is linked in seconds once Go's caches are filled."""

    def setUp(self):
        super().setUp()
        # A build only takes seconds once Go's caches are filled.
        toolchain.ensure(['helm'])
        self.cache = self.useFixture(fixtures.TempDir()).path
        self.home = pathlib.Path(self.cache) / 'toolchain' / 'helm'
        self.env = {**os.environ, 'MAGNUM_CAPI_CACHE': self.cache}

    def start(self):
        process = subprocess.Popen(
            [sys.executable, '-c', ENSURE], env=self.env, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def kept(self):
        return os.listdir(self.home) if self.home.exists() else []

    def test_killed_and_interrupted_builds_leave_nothing_half_made(self):
        for sign in signal.SIGKILL, signal.SIGINT:
            before = set(self.kept())
            process = self.start()
            waiting.wait_for(
                lambda: set(self.kept()) - before,
                done=bool, timeout=600, what='the build to begin')
            process.send_signal(sign)
            _, stderr = process.communicate(timeout=600)

            self.assertNotEqual(0, process.returncode)
            self.assertEqual(
                [], [n for n in self.kept() if not n.startswith('tmp-')])
        # The second one cleaned up after both.
        self.assertEqual([], self.kept())

        out, _ = self.start().communicate(timeout=600)
        self.assertEqual('3.20.2', programs.version(
            pins.load().programs['helm'].statement, out.strip()))
