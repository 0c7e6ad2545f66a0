# SPDX-License-Identifier: Apache-2.0

import re

import testtools

from magnum_capi_tempest.toolchain import go
from magnum_capi_tempest.toolchain import pins as toolchain
from tools.offline import pins


class PinsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.pins = pins.load()

    def test_programs_of_a_release_of_kubernetes(self):
        found = self.pins.programs
        for name, version in (('kubelet-1.34', '1.34.9'),
                              ('etcd-1.34', '3.6.5'), ('etcd', '3.6.8')):
            self.assertEqual(version, found[name].version)
        self.assertNotIn('e2e.test-1.34', found)
        self.assertEqual('k8s.io/kubernetes/cmd/kubelet',
                         found['kubelet-1.36'].build.package)

    def test_those_of_the_toolchain_are_the_same(self):
        for name, program in toolchain.load().programs.items():
            self.assertEqual(program, self.pins.programs[name])

    def test_every_pinned_module_is_of_use(self):
        built = {p.build.module for p in self.pins.programs.values()
                 if p.build.module}
        self.assertEqual(built, {
            module for name, module in self.pins.modules.items()
            if name not in toolchain.load().modules} | (
                built & {*toolchain.load().modules.values()}))

    def test_own_modules_are_there_and_can_be_built(self):
        own = {name: p for name, p in self.pins.programs.items()
               if name not in toolchain.load().programs and p.build.folder}
        self.assertLess({'pause', 'runc-nores', 'cert-manager'}, {*own})
        for program in own.values():
            self.assertTrue(program.build.path.is_dir(), program.name)
            if program.build.module is None:
                directive = re.search(r'(?m)^go (\S+)$', (
                    program.build.path / 'go.mod').read_text())[1]
                self.assertLessEqual(
                    go.parse_version(f'go{directive}'), go.required())

    def test_version_regexes_read_real_outputs(self):
        for name, output in (
                ('kubelet-1.34', 'Kubernetes v1.34.9\n'),
                ('kubeadm-1.36', 'v1.36.5\n'),
                ('etcd-1.36', 'etcd Version: 3.6.8\nGit SHA: x\n')):
            program = self.pins.programs[name]
            self.assertEqual(program.version, program.statement.read(output))
