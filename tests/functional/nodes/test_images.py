# SPDX-License-Identifier: Apache-2.0


"""Image archives made by the command and read by containerd."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

import fixtures
import testtools

from magnum_capi import processes
from magnum_capi import waiting
from magnum_capi_tempest import toolchain
from tools.offline.images import inventory
from tools.offline.images import recipes
from tools.offline import pins

#: In the folder of the repository.
COMMAND = (sys.executable, '-m', 'tools.offline.images')


def build(directory):
    return processes.run(
        [*COMMAND, 'build', '--directory', directory, '--only',
         'pause', 'nonewprivs'], timeout=600, merge=True)


class TestArchives(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.home = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def build(self, name='a'):
        """Build in a folder; returns the archive of "pause"."""
        build(self.home / name)
        return inventory.read(self.home / name)['pause'].path

    def test_two_builds_give_the_same_bytes(self):
        one, other = self.build('a'), self.build('b')

        self.assertEqual(one.name, other.name)
        self.assertEqual(one.read_bytes(), other.read_bytes())

    def test_pause_runs_and_ends_when_told(self):
        program = self.home / 'pause'
        with tarfile.open(self.build()) as tar:
            entry, = json.load(tar.extractfile('manifest.json'))
            with tarfile.open(fileobj=tar.extractfile(
                    entry['Layers'][-1])) as layer:
                program.write_bytes(layer.extractfile('pause').read())
        program.chmod(0o755)
        process = subprocess.Popen([program])
        self.addCleanup(process.kill)
        self.assertRaises(subprocess.TimeoutExpired, process.wait, 0.2)
        process.terminate()

        self.assertEqual(0, process.wait(60))


class TestNames(testtools.TestCase):
    """Programs are only built for this with MAGNUM_CAPI_LONG."""

    def program(self, name):
        if toolchain.missing([name], pins.load()) and not os.environ.get(
                'MAGNUM_CAPI_LONG'):
            self.skipTest(f'{name} is not built, and MAGNUM_CAPI_LONG is not '
                          'set')
        return toolchain.ensure([name], found=pins.load())[name]

    def references(self, minor):
        return {reference for r in recipes.load().values()
                if r.minor in (None, minor) for reference in r.references}

    def test_kubeadm_finds_all_that_it_asks_for(self):
        for minor in recipes.minors():
            version = pins.load().programs[f'kubelet-{minor}'].version
            wanted = processes.run(
                [self.program(f'kubeadm-{minor}'), 'config', 'images',
                 'list', '--kubernetes-version', f'v{version}'], timeout=600)

            self.assertEqual(
                set(), set(wanted.split()) - self.references(minor))

    def test_sonobuoy_finds_all_that_quick_asks_for(self):
        sonobuoy = self.program('sonobuoy')
        for minor in recipes.minors():
            version = pins.load().programs[f'kubelet-{minor}'].version
            manifest = processes.run(
                [sonobuoy, 'gen', '--mode', 'quick', '--plugin', 'e2e',
                 '--kubernetes-version', f'v{version}'], timeout=600)
            # Without a host it is on Docker's hub.
            wanted = {name if '.' in name.split('/')[0]
                      else f'docker.io/{name}'
                      for name in re.findall(r'image: (\S+)', manifest)}

            self.assertEqual(set(), wanted - self.references(minor))
            self.assertEqual(2, len(wanted))

    def test_tests_find_the_versions_that_they_ask_for(self):
        """Only for images that we make: no storage drivers, no Redis."""
        for minor in recipes.minors():
            known = self.references(minor)
            names = {r.rpartition(':')[0] for r in known}
            wanted = processes.run(
                [self.program(f'e2e.test-{minor}'), '--list-images'],
                timeout=600).split()
            wanted = {r for r in wanted
                      if r.rpartition(':')[0] in names
                      and 'e2e-test-images/' in r}

            self.assertEqual(set(), wanted - known)
            self.assertGreater(len(wanted), 5)


class TestContainerd(testtools.TestCase):

    def setUp(self):
        super().setUp()
        if os.geteuid() or not shutil.which('containerd') \
                or not shutil.which('ctr'):
            self.skipTest('containerd and ctr, and root, are needed')
        self.home = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        build(self.home / 'images')
        config = self.home / 'config.toml'
        config.write_text(
            'version = 2\n'
            'disabled_plugins = ["io.containerd.grpc.v1.cri"]\n'
            f'root = "{self.home}/root"\nstate = "{self.home}/state"\n'
            f'[grpc]\naddress = "{self.home}/sock"\n'
            f'[ttrpc]\naddress = "{self.home}/sock.ttrpc"\n')
        self.log = open(self.home / 'log', 'w')
        self.addCleanup(self.log.close)
        self.containerd = subprocess.Popen(
            ['containerd', '--config', config], stdout=self.log,
            stderr=self.log)
        self.addCleanup(self.end)
        waiting.wait_for(
            (self.home / 'sock').exists, done=bool, timeout=600,
            what='containerd')

    def end(self):
        self.containerd.terminate()
        self.containerd.wait(120)

    def ctr(self, *argv):
        return processes.run(
            ['ctr', '--address', self.home / 'sock', '--namespace', 'k8s.io',
             *argv], timeout=600)

    def test_takes_an_archive_under_all_its_names(self):
        found = inventory.read(self.home / 'images')['pause']
        self.ctr('images', 'import', '--no-unpack', found.path)
        names = self.ctr('images', 'list', '--quiet').split()

        self.assertEqual(sorted(found.references), sorted(names))
        self.ctr('images', 'check')
        labels = self.ctr('content', 'get', f'sha256:{found.image_id}')
        self.assertEqual(
            'true', json.loads(labels)['config']['Labels'][
                'io.magnum-capi.stand-in'])
