# SPDX-License-Identifier: Apache-2.0

"""The e2e tests of an archive, whatever their plugin is called."""

import io
import json
import pathlib
import tarfile

import fixtures
import testtools

from tests.unit.cli import terminal
from tests.unit.conformance import archives
from tests.unit.conformance import by_hand

#: Of OpenShift, and of sig-windows.
NAMES = '10-openshift-kube-conformance', 'op-readiness'


class PluginTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.useFixture(fixtures.EnvironmentVariable(
            'MAGNUM_CAPI_STATE', str(folder / 'state')))
        self.path = folder / 'x.tar.gz'

    def results(self, path):
        """Exit code and the document on conformance, None without one."""
        code, out, _ = terminal.call(
            'conformance', 'report', '-f', 'json', path)
        found = json.loads(out or '{}')
        return code, found.get('conformance')

    def renamed(self, source, name):
        """A copy of an archive whose e2e plugin has another name."""
        with tarfile.open(source) as old, \
                tarfile.open(self.path, 'w:gz') as new:
            for member in old:
                content = member.isreg() and old.extractfile(member).read()
                if member.name == 'meta/info.json':
                    content = content.replace(b'"e2e"', f'"{name}"'.encode())
                    member.size = len(content)
                member.name = member.name.replace(
                    'plugins/e2e', f'plugins/{name}')
                new.addfile(member, content and io.BytesIO(content))

    def packed(self, **plugins):
        """An archive with the results of these plugins."""
        members = archives.files()
        tests = {name.removeprefix('plugins/e2e/'): members.pop(name)
                 for name in list(members) if name.startswith('plugins/')}
        members['meta/info.json'] = json.dumps(
            {'plugins': list(plugins)}).encode()
        for plugin, changes in plugins.items():
            members |= {f'plugins/{plugin}/{name}': content for name, content
                        in (tests | changes).items() if content is not None}
        self.path.write_bytes(archives.pack(*map(
            archives.entry, members, members.values())))

    def test_it_is_judged_like_one_of_the_usual_name(self):
        for source, code in ((by_hand.ARCHIVES / 'one-failed-v1.34.9.tar.gz',
                              1), (by_hand.QUICK, 0)):
            wanted, known = self.results(source)
            self.assertEqual(code, wanted)
            for name in NAMES:
                self.renamed(source, name)

                code, found = self.results(self.path)

                self.assertEqual(wanted, code)
                for key in ('reasons', 'counts', 'mode', 'cluster', 'causes',
                            'planned', 'certification_blockers'):
                    self.assertEqual(known[key], found[key], key)

    def test_its_errors_decide(self):
        self.packed(other={'errors/global/error.json':
                           b'{"error":"timeout waiting for results"}'})

        self.assertEqual(3, self.results(self.path)[0])

    def test_a_plugin_of_other_tests_is_not_it(self):
        junit = 'results/global/junit_01.xml'
        log = 'results/global/e2e.log'
        bench = {log: None, junit: archives.junit(archives.case(
            'etcd is encrypted', 'failed', '<failure>no</failure>'))}
        self.packed(other={}, bench=bench)
        self.assertEqual(0, self.results(self.path)[0])

        self.packed(bench=bench)
        code, found = self.results(self.path)
        self.assertEqual((3, 0), (code, sum(found['counts'].values())))
        self.assertIn('bench', found['reasons'][0])

    def test_a_broken_file_is_no_success(self):
        junit = 'results/global/junit_01.xml'
        log = 'results/global/e2e.log'
        self.packed(other={junit: b'<testsuites>'})
        self.assertEqual(3, self.results(self.path)[0])

        self.packed(first={junit: b'<testsuites>', log: None}, second={})
        code, _, said = terminal.call('conformance', 'report', self.path)
        self.assertEqual(3, code)
        self.assertIn(f'plugins/first/{junit}', said)

    def test_of_several_the_first_is_judged_and_the_others_are_named(self):
        self.packed(first={}, second={})

        code, found = self.results(self.path)

        self.assertEqual((0, 1), (code, found['counts']['passed']))
        self.assertIn('second', found['remarks'][0])

    def test_what_is_beside_the_usual_name_is_not_read(self):
        junit = 'results/global/junit_01.xml'
        self.packed(a={junit: b'<testsuites>'}, e2e={})

        code, found = self.results(self.path)
        self.assertEqual((0, []), (code, found['remarks']))
