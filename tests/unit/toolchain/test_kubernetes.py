# SPDX-License-Identifier: Apache-2.0

import json
import pathlib
from unittest import mock

import fixtures

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi_tempest import toolchain
from magnum_capi_tempest.toolchain import go
from magnum_capi_tempest.toolchain import kubernetes
from magnum_capi_tempest.toolchain import pins
from tests.unit.toolchain import base

GO_MOD = '''\
module k8s.io/kubernetes

go 1.24.0

godebug default=go1.24

require (
    example.org/direct v1.2.3
    github.com/onsi/ginkgo/v2 v2.21.0
    k8s.io/api v0.0.0
    k8s.io/sample-apiserver v0.0.0
)

require example.org/alone v1.0.0

require (
    example.org/indirect v0.1.0 // indirect
)

replace (
    k8s.io/api => ./staging/src/k8s.io/api
    k8s.io/sample-apiserver => ./staging/src/k8s.io/sample-apiserver
    k8s.io/sample-controller => ./staging/src/k8s.io/sample-controller
)
'''.replace('    ', '\t')
GO_SUM = 'example.org/direct v1.2.3 h1:a=\n'
TOOLS = ('k8s.io/kubernetes/cmd/kubelet', 'k8s.io/kubernetes/test/e2e')
UNKNOWN = 'reading https://h/sumdb/sum.golang.org/lookup/x: 404 Not Found'
NOT_SERVED = 'reading https://h/x.info: 403 Forbidden'


class FilesTest(base.TestCase):

    def made(self, **changes):
        return kubernetes.files(
            '1.34.2', changes.get('go_mod', GO_MOD), GO_SUM, [
                kubernetes.Sum('k8s.io/kubernetes', 'v1.34.2', 'h1:k', 'h1:l'),
                kubernetes.Sum('k8s.io/api', 'v0.34.2', 'h1:m', 'h1:n'),
                kubernetes.Sum('k8s.io/sample-apiserver', 'v0.34.0', 'h1:o',
                               'h1:p')], TOOLS)

    def test_staging_is_what_is_required(self):
        self.assertEqual(('k8s.io/api', 'k8s.io/sample-apiserver'),
                         kubernetes.staging(GO_MOD))

    def test_go_mod(self):
        made = self.made()['go.mod']

        for line in ('go 1.26.0', 'godebug default=go1.24',
                     'require k8s.io/kubernetes v1.34.2',
                     '\tk8s.io/kubernetes/cmd/kubelet',
                     '\texample.org/direct v1.2.3 // indirect',
                     '\texample.org/indirect v0.1.0 // indirect',
                     '\tk8s.io/api v0.34.2 // indirect',
                     '\tk8s.io/sample-apiserver v0.34.0 // indirect'):
            self.assertIn(f'\n{line}\n', made)
        for word in ('replace', 'sample-controller', 'test/e2e'):
            self.assertNotIn(word, made)

    def test_newer_go_stays(self):
        made = self.made(go_mod=GO_MOD.replace('go 1.24.0', 'go 1.27.1'))

        self.assertIn('\ngo 1.27.1\n', made['go.mod'])

    def test_hashes_of_kubernetes_and_of_what_is_published(self):
        self.assertEqual([
            'example.org/direct v1.2.3 h1:a=',
            'k8s.io/api v0.34.2 h1:m', 'k8s.io/api v0.34.2/go.mod h1:n',
            'k8s.io/kubernetes v1.34.2 h1:k',
            'k8s.io/kubernetes v1.34.2/go.mod h1:l',
            'k8s.io/sample-apiserver v0.34.0 h1:o',
            'k8s.io/sample-apiserver v0.34.0/go.mod h1:p'],
            self.made()['go.sum'].splitlines())

    def test_tests_are_imported(self):
        self.assertIn('\nimport _ "k8s.io/kubernetes/test/e2e"\n',
                      self.made()['tools.go'])

    def test_releases(self):
        for text, expected in (('1.36.5', True), ('1.36', False),
                               ('v1.36.5', False), ('2.36.5', False),
                               ('1.36.5/..', False)):
            self.assertIs(expected, kubernetes.is_release(text))

    def test_documents(self):
        self.assertEqual([{'a': 1}, {'b': {}}],
                         kubernetes.documents('{"a": 1}\n{"b": {}}\n'))


class Proxy:
    """Stands for the go command: says what a module proxy serves.

    :param lacks: ``module@version`` that it does not serve; ``unknown``
        likewise, to the checksum database.
    """

    def __init__(self, folder, lacks=(), unknown=()):
        self.folder, self.lacks, self.unknown = folder, lacks, unknown
        self.asked = []
        (folder / 'go.mod').write_text(GO_MOD)
        (folder / 'go.sum').write_text(GO_SUM)

    def run(self, argv, *, env, **kwargs):
        if 'list' in argv:
            return json.dumps({'Versions': [
                'v1.34.0', 'v1.34.1', 'v1.34.1-rc.0', 'v1.35.0']})
        modules = argv[4:]
        self.asked += modules
        said = [self._module(one, env.get('GONOSUMDB', '')) for one in modules]
        text = '\n'.join(map(json.dumps, said))
        if any('Error' in one for one in said):
            raise errors.CommandFailed(argv, 1, text)
        return text

    def _module(self, name, outside):
        path, _, version = name.partition('@')
        found = {'Path': path, 'Version': version}
        if name in self.lacks:
            return found | {'Error': NOT_SERVED}
        if name in self.unknown and path not in outside.split(','):
            return found | {'Error': UNKNOWN}
        return found | {'Dir': str(self.folder), 'Sum': 'h1:s',
                        'GoModSum': 'h1:t'}


class ModuleTest(base.TestCase):

    def setUp(self):
        super().setUp()
        self.home = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.useFixture(fixtures.EnvironmentVariable(
            'MAGNUM_CAPI_CACHE', str(self.home / 'cache')))
        self.progress = base.Recorder()
        for name, value in (('find_go', 'go'), ('environment', {})):
            self.patch(go, name, mock.Mock(return_value=value))

    def patch(self, where, name, value):
        self.useFixture(fixtures.MockPatchObject(where, name, value))

    def serve(self, **kwargs):
        source = self.home / 'source'
        source.mkdir(exist_ok=True)
        proxy = Proxy(source, **kwargs)
        self.patch(processes, 'run', proxy.run)
        return proxy

    def module(self, version='1.34.2'):
        return kubernetes.module(version, TOOLS, self.progress)

    def test_is_made_once(self):
        proxy = self.serve()

        folder = self.module()
        asked = list(proxy.asked)

        self.assertEqual({'go.mod', 'go.sum', 'tools.go'},
                         {path.name for path in folder.iterdir()})
        self.assertEqual('2.21.0', kubernetes.requirement(
            folder, 'github.com/onsi/ginkgo/v2'))
        self.assertEqual(folder, self.module())
        self.assertEqual(asked, proxy.asked)
        self.assertNotIn('first use', ''.join(self.progress.lines))

    def test_what_the_checksum_database_does_not_know_is_said(self):
        self.serve(unknown=('k8s.io/api@v0.34.2',))

        folder = self.module()

        self.assertIn('k8s.io/api v0.34.2 h1:s', (folder / 'go.sum')
                      .read_text())
        self.assertIn('trusted on first use: k8s.io/api@v0.34.2',
                      self.progress.lines[-1])

    def test_a_release_that_is_not_served(self):
        self.serve(lacks=('k8s.io/kubernetes@v1.34.2',))

        error = self.assertRaises(errors.UsageError, self.module)

        self.assertIn('does not serve Kubernetes 1.34.2', str(error))
        self.assertIn('v1.34.0, v1.34.1, and may', str(error))
        self.assertNotIn('rc', error.hint)
        self.assertFalse((self.home / 'cache' / 'modules').exists())

    def test_a_part_of_it_that_is_not_served(self):
        self.serve(lacks=('k8s.io/api@v0.34.2',))

        self.assertRaises(errors.UsageError, self.module)

    def test_sample_code_may_be_of_an_older_patch_release(self):
        sample = 'k8s.io/sample-apiserver@v0.34.'
        self.serve(lacks=(f'{sample}2', f'{sample}1'))

        self.assertIn('\tk8s.io/sample-apiserver v0.34.0 // indirect\n',
                      (self.module() / 'go.mod').read_text())

    def test_a_network_that_fails_is_no_wrong_version(self):
        self.patch(processes, 'run', mock.Mock(
            side_effect=errors.CommandFailed(['go'], 1, 'dial tcp: no')))

        self.assertRaises(errors.CommandFailed, self.module)

    def test_programs_of_a_release_become_known(self):
        self.serve()

        found = toolchain.known(['kubelet-1.34.2', 'etcd'], self.progress)

        program = found.programs['kubelet-1.34.2']
        self.assertEqual(('1.34.2', True), (
            program.version, 'v1.34.2' in program.build.variables[0]))
        self.assertEqual('2.21.0', found.programs['ginkgo-1.34.2'].version)
        self.assertNotIn('kubelet-1.34.2', pins.load().programs)

    def test_programs_that_cannot_be(self):
        proxy = self.serve()

        self.assertRaises(errors.UsageError, toolchain.ensure,
                          ['kubelet-1.99'], self.progress)
        self.assertEqual([], proxy.asked)


class PinnedTest(base.TestCase):

    def test_a_program_of_one_minor_only(self):
        programs = pins.load().programs

        self.assertEqual(['agnhost-1.36'], [
            name for name in programs if name.startswith('agnhost')])

    def test_every_minor_has_a_module_of_its_own(self):
        for minor in pins.load().kubernetes.releases:
            self.assertEqual(f'tools/go/kubernetes-{minor}', pins.load()
                             .programs[f'kubelet-{minor}'].build.family.folder)
