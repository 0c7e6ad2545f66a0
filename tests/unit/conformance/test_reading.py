# SPDX-License-Identifier: Apache-2.0

"""What a record says: real archives, small ones, loose files."""

import hashlib
import json
import pathlib
from unittest import mock

import fixtures
import testtools

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.results import damage
from magnum_capi_tempest.conformance.results import documents
from magnum_capi_tempest.conformance.results import infra
from magnum_capi_tempest.conformance.results import reading
from magnum_capi_tempest.conformance import verdict
from tests.unit.conformance import archives
from tests.unit.conformance import by_hand

ONE_FAILED = by_hand.ARCHIVES / 'one-failed-v1.34.9.tar.gz'
HELLO = by_hand.ARCHIVES / 'hello-plugin.tar.gz'
POD = {'status': {'reason': '', 'containerStatuses': [
    {'state': {'waiting': {'reason': 'ImagePullBackOff'}}}]},
    'spec': {'containers': [{'env': [{'name': 'PASSWORD',
                                      'value': 'hunter22'}]}]}}


class _Base(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.path = self.folder / 'a.tar.gz'

    def read(self, *cases, **changes):
        """The Result of a small archive with changed members."""
        if cases:
            changes[archives.JUNIT] = archives.junit(*cases)
        return self.read_bytes(archives.good(**changes))

    def read_bytes(self, data, **kwargs):
        self.path.write_bytes(data)
        return reading.read(self.path, **kwargs)


class RealTest(testtools.TestCase):

    def test_many_specs_on_several_processes(self):
        result = by_hand.real(by_hand.PARALLEL)

        self.assertEqual({'failed': 4, 'skipped': 6756, 'passed': 384},
                         result.counts)
        self.assertEqual((388, True), (result.planned,
                                       result.suite_finished))
        self.assertEqual(10, len(result.suite_nodes))
        self.assertEqual(('v1.34.9', ('n1', 'n2')), (
            result.cluster.kubernetes, result.cluster.nodes))
        self.assertEqual(1226.469, result.seconds)
        self.assertEqual('v0.57.5', result.backend_version)
        self.assertEqual((), result.problems)
        # Asked for as certified-conformance is, but on four processes.
        self.assertEqual(model.FOCUSED, result.mode)

    def test_a_cluster_that_magnum_made(self):
        result = by_hand.real(by_hand.MAGNUM)

        self.assertEqual({'failed': 1, 'skipped': 6358, 'passed': 382},
                         result.counts)
        self.assertEqual(('v1.33.13', 3, ()), (
            result.cluster.kubernetes, len(result.cluster.nodes),
            result.problems))
        spec, = result.failures
        self.assertIn('Read-only file system', spec.failure)
        self.assertEqual(verdict.FAILED, by_hand.judged(result).outcome)

    def test_sonobuoys_own_counts_stay_apart(self):
        plugin, = by_hand.real(by_hand.PARALLEL).plugins

        self.assertEqual(('e2e', 'failed'), (plugin.name, plugin.status))
        self.assertEqual({'passed': 394, 'failed': 4, 'skipped': 6756},
                         dict(plugin.counts))

    def test_status_document_agrees(self):
        status = json.loads(
            (by_hand.ARCHIVES / 'fail-status.json').read_text())
        tar = status['tar-info']

        result = reading.read(ONE_FAILED, expect_sha256=tar['sha256'])

        self.assertTrue(result.verified)
        counts = status['plugins'][0]['result-counts']
        self.assertEqual(counts, {
            key: number for key, number
            in result.plugins[0].counts.items() if number})

    def test_stand_ins_are_found_out(self):
        self.assertTrue(by_hand.real(by_hand.PARALLEL).stand_in_images)

    def test_a_failure_has_its_reason_and_its_output(self):
        spec = by_hand.real(by_hand.PARALLEL).failures[0]

        self.assertIn('expected "data-1=value-1"', spec.failure)
        self.assertIn('output.go:263', spec.failure)
        self.assertIn('STEP', spec.output)
        self.assertEqual('node', spec.sig)

    def test_a_plugin_of_somebodys_own(self):
        result = reading.read(HELLO)

        self.assertEqual((), result.specs)
        self.assertEqual([('hello', 'passed', {'passed': 1})],
                         [(p.name, p.status, dict(p.counts))
                          for p in result.plugins])


class SmallTest(_Base):

    def test_the_digest_that_was_expected(self):
        data = archives.good()
        sha256 = hashlib.sha256(data).hexdigest()

        result = self.read_bytes(data, expect_sha256=sha256)

        self.assertEqual((sha256, True, True),
                         (result.sha256, result.verified, result.whole))
        self.assertRaises(damage.Damage, self.read_bytes, data,
                          expect_sha256='f' * 64)

    def test_verified_stops_behind_the_results(self):
        cut = archives.broken_behind_results()

        result = self.read_bytes(cut, verified=True, expect_sha256='a' * 64)

        self.assertEqual({'passed': 1}, result.counts)
        self.assertEqual((False, 'a' * 64), (result.whole, result.sha256))
        self.assertRaises(damage.Damage, self.read_bytes, cut)

    def test_packed_again(self):
        files = archives.files()
        files['plugins/e2e/results/global/._junit_01.xml'] = (
            b'\0\5\26\7Mac OS X')
        dotted = {f'./{name}': data for name, data in files.items()}

        for members in (files, dotted):
            result = self.read_bytes(archives.by_library(members))
            self.assertEqual({'passed': 1}, result.counts)
            self.assertEqual('v1.34.9', result.cluster.kubernetes)
            self.assertEqual((), result.problems)

    def test_several_junit_files_add_up(self):
        result = self.read(**{
            'plugins/e2e/results/global/junit_02.xml': archives.junit(
                archives.case('[It] other', 'skipped', '<skipped/>'))})

        self.assertEqual({'passed': 1, 'skipped': 1}, result.counts)

    def test_xml_of_another_plugin_holds_no_specs(self):
        result = self.read(**{
            'plugins/mine/results/global/x.xml': archives.junit(
                archives.case('[It] mine', 'failed', '<failure/>'))})

        self.assertEqual({'passed': 1}, result.counts)

    def test_infra_errors(self):
        result = self.read(**{
            'plugins/e2e/errors/global/error.json':
                b'{"error":"timeout waiting for results"}',
            'plugins/systemd-logs/errors/w-1/error.json': json.dumps(
                {'error': 'Container pending', 'pod': POD}).encode(),
            'plugins/x/errors/error.json': b'no JSON \x1b[2J'})

        self.assertEqual(
            [('timeout', 'e2e', 'timeout waiting for results'),
             ('image-pull', 'systemd-logs/w-1',
              'Container pending; ImagePullBackOff'),
             ('other', 'x', 'an error without a message')],
            [(e.kind, e.where, e.message) for e in result.infra_errors])

    def test_journals_of_no_node(self):
        result = self.read(**{
            'plugins/systemd-logs/errors/error.json':
                b'{"error": "no nodes matched the selector"}'})

        self.assertEqual(verdict.PASSED, by_hand.judged(result).outcome)
        self.assertEqual(['systemd-logs'],
                         [e.where for e in result.infra_errors])

    def test_a_lost_junit_file(self):
        log = archives.log(2, 1, 1, more=(
            'Summarizing 1 Failure:\n  [FAIL] [sig-a] B [It] c [sig-a]\n'
            '  /x.go:1\n\n'))

        result = self.read(**{archives.JUNIT: None, archives.LOG: log})

        self.assertEqual(['[sig-a] B c'], [s.name for s in result.failures])
        self.assertIn('there is no JUnit file', result.problems)

    def test_another_archive(self):
        error = self.assertRaises(
            damage.Damage, self.read_bytes,
            archives.by_library({'etc/os-release': b'ID=debian'}))

        self.assertIn("is not a Sonobuoy archive", str(error))

    def test_an_archive_that_was_unpacked(self):
        for name, content in archives.files().items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

        result = reading.find(self.folder)

        self.assertEqual(({'passed': 1}, 'v1.34.9', model.SONOBUOY),
                         (result.counts, result.cluster.kubernetes,
                          result.backend))
        self.assertEqual(verdict.PASSED, by_hand.judged(result).outcome)

    def test_a_spec_that_skipped_itself_without_saying_so(self):
        # Ginkgo v1 had no words for it.
        result = self.read(
            archives.case('a'), '<testcase name="b"><skipped/></testcase>',
            **{archives.LOG: archives.log(2, 1, total=2)})

        self.assertEqual(verdict.PASSED, by_hand.judged(result).outcome)

    def test_an_interrupted_suite_left_something_out(self):
        log = archives.log(2, 1, total=2).replace(
            b'SUCCESS!', b'FAIL! - Interrupted by User')
        result = self.read(
            archives.case('a'), '<testcase name="b"><skipped/></testcase>',
            **{archives.LOG: log})

        self.assertEqual(verdict.INCOMPLETE, by_hand.judged(result).outcome)

    def test_a_disk_that_cannot_be_read(self):
        by_hand.folder(self.folder / 'run')
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.conformance.results.reading._pieces',
            mock.Mock(side_effect=OSError(5, 'Input/output error'))))

        self.assertRaisesRegex(damage.Damage, 'Input/output error',
                               reading.find, self.folder / 'run')

    def test_metadata_that_cannot_be_read_is_told(self):
        for name, content, why in (
                (archives.SERVER, b'{"gitVersion":', 'not JSON'),
                ('meta/config.json', b'[' * 100_000, 'not JSON'),
                (archives.DEFINITION, b' ' * (2 << 20), 'bytes'),
                (archives.YAML, b'{"name": "e2e"}', 'no status')):
            with self.subTest(name):
                found = by_hand.judged(self.read(**{name: content}))

                remark, = found.remarks
                self.assertIn(name, remark)
                self.assertIn(why, remark)
                self.assertEqual(verdict.PASSED, found.outcome)

    def test_a_junit_file_of_each_process(self):
        # Each lists all specs; what another process ran is skipped.
        sums = 'tests="2" failures="0" errors="0"'
        skipped = '<testcase name="{}"><skipped/></testcase>'
        result = self.read(**{
            archives.LOG: archives.log(2, 2, total=2),
            archives.JUNIT: archives.junit(
                archives.case('a'), skipped.format('b'), attributes=sums),
            archives.JUNIT.replace('01', '02'): archives.junit(
                skipped.format('a'), archives.case('b'), attributes=sums)})

        self.assertEqual((), result.problems)
        self.assertEqual({'passed': 2}, result.counts)

    def test_a_spec_that_two_processes_ran_and_one_failed(self):
        result = self.read(**{
            archives.LOG: archives.log(2, 1, 1, total=2),
            archives.JUNIT: archives.junit(archives.case('a')),
            archives.JUNIT.replace('01', '02'): archives.junit(
                archives.case('a', 'failed', '<failure/>'))})

        self.assertIn('ended differently', ' '.join(result.problems))

    def test_a_lost_log(self):
        result = self.read(**{archives.LOG: None})

        self.assertEqual(('there is no e2e log',), result.problems)
        self.assertFalse(result.suite_finished)

    def test_stand_ins_by_declaration(self):
        definition = {'Definition': {'spec': {
            'image': 'registry.k8s.io/conformance:v1.34.9',
            'env': [{'name': 'MAGNUM_CAPI_IMAGES', 'value': 'stand-in'}]}}}

        result = self.read(**{
            archives.DEFINITION: json.dumps(definition).encode()})

        self.assertTrue(result.stand_in_images)
        self.assertFalse(self.read().stand_in_images)

    def test_modes(self):
        for focus, skip, processes, mode in (
                ('\\[Conformance\\]', '', '1', model.CERTIFIED),
                ('\\[Conformance\\]', '', '4', model.CERTIFIED),
                ('\\[Conformance\\]', '\\[Serial\\]', '4', model.FOCUSED),
                ('\\[Conformance\\]',
                 '\\[Disruptive\\]|NoExecuteTaintManager', '1',
                 model.NON_DISRUPTIVE),
                ('Pods should be submitted and removed', '', '1',
                 model.QUICK),
                ('\\[Conformance\\]', 'Serial|Slow|Disruptive|\\[sig-apps\\]',
                 '25', model.LITE),
                ('x', '', '1', model.FOCUSED)):
            with self.subTest(mode, focus=focus):
                result = self.read(**{archives.JUNIT: archives.junit(
                    archives.case('[It] a'), properties=[
                        ('FocusStrings', focus), ('SkipStrings', skip),
                        ('ParallelTotal', processes)])})
                self.assertEqual(mode, result.mode)
        self.assertEqual(model.UNKNOWN, self.read().mode)

    def test_mode_by_variables(self):
        """The image of the tests leaves out [Serial] specs by itself."""
        for variables, mode in (
                ({}, model.CERTIFIED),
                ({'E2E_PARALLEL': 'false'}, model.CERTIFIED),
                ({'E2E_EXTRA_GINKGO_ARGS': '--procs=4'}, model.CERTIFIED),
                ({'E2E_PARALLEL': 'true'}, model.FOCUSED)):
            with self.subTest(**variables):
                self.assertEqual(mode, documents.mode_of(
                    {'E2E_FOCUS': '\\[Conformance\\]', 'E2E_SKIP': '',
                     **variables}))

    def test_tests_of_another_minor_than_the_cluster(self):
        definition = json.dumps({'Definition': {'spec': {
            'image': 'registry.k8s.io/conformance:v1.33.5'}}}).encode()
        told = archives.junit(archives.case('[It] a'), properties=[
            ('FocusStrings', '\\[Conformance\\]'), ('SkipStrings', '')])

        result = self.read(**{archives.DEFINITION: definition,
                              archives.JUNIT: told})

        self.assertEqual(('the tests are of v1.33.5, the API server is '
                          'v1.34.9',), result.problems)

    def test_documents_of_any_shape(self):
        for document in (b'[]', b'null', b'"x"', b'{', b'\xff',
                         b'[' * 100_000, b'{"node_health":[],"plugins":{}}',
                         b'{"node_health":{"details":[1,{"name":2}]}}',
                         b'{"Definition":{"spec":{"env":[{"value":1}]}}}',
                         b'{"items":[{"metadata":[],"status":"x"}]}'):
            with self.subTest(document[:60]):
                result = self.read(**{
                    name: document for name in (
                        'meta/clusterhealth.json', 'meta/config.json',
                        'meta/info.json', archives.DEFINITION,
                        archives.SERVER,
                        'resources/cluster/core_v1_nodes.json',
                        'resources/ns/a/apps_v1_daemonsets.json',
                        'plugins/e2e/errors/global/error.json')})
                self.assertEqual({'passed': 1}, result.counts)

    def test_network_plugin_and_systems(self):
        sets = {'items': [{'metadata': {'name': 'calico-node'}}]}
        nodes = {'items': [{'status': {'nodeInfo': {
            'osImage': system, 'kernelVersion': '6'}}} for system in 'aab']}

        result = self.read(**{
            'resources/ns/calico-system/apps_v1_daemonsets.json':
                json.dumps(sets).encode(),
            'resources/cluster/core_v1_nodes.json':
                json.dumps(nodes).encode()})

        self.assertEqual('calico', result.cluster.cni)
        self.assertEqual('a (2), b (1)', result.facts['node system'])
        self.assertEqual('6', result.facts['kernel'])


class FilesTest(_Base):

    def test_both_files(self):
        folder = by_hand.folder(self.folder / 'run')

        result = reading.find(folder, kubernetes='v1.34.2')

        self.assertEqual(('run', model.HYDROPHONE, {'passed': 1}), (
            result.title, result.backend, result.counts))
        self.assertEqual('v1.34.2', result.cluster.kubernetes)
        self.assertEqual((), result.problems)

    def test_one_of_them(self):
        folder = by_hand.folder(self.folder / 'run')
        (folder / 'e2e.log').unlink()

        self.assertEqual(('there is no e2e log',),
                         reading.find(folder).problems)

    def test_a_folder_with_an_archive(self):
        self.path.write_bytes(archives.good())

        self.assertEqual('a', reading.find(self.folder).title)
        (self.folder / 'b.tar.gz').write_bytes(archives.good())
        self.assertRaises(damage.Damage, reading.find, self.folder)

    def test_an_empty_folder(self):
        self.assertRaises(damage.Damage, reading.find, self.folder)


class InfraTest(testtools.TestCase):

    def test_kinds(self):
        for message, kind in (
                ('timeout waiting for results', infra.TIMEOUT),
                ('Can\'t schedule: ErrImagePull', infra.IMAGE_PULL),
                ('Back-off pulling image "x"', infra.IMAGE_PULL),
                ('The node was low on resource: memory', infra.EVICTED),
                ('could not find pod created by plugin', infra.LOST),
                ('Container e2e is in a terminated state', infra.CRASHED),
                ('OOMKilled', infra.CRASHED), ('what', infra.OTHER)):
            with self.subTest(message):
                self.assertEqual(kind, infra.classify(message))

    def test_secrets_and_the_pods_environment_stay_out(self):
        error = infra.from_document(
            {'error': 'failed with password=hunter2hunter2', 'pod': POD},
            'e2e')

        self.assertNotIn('hunter2', error.message)
        self.assertIn('ImagePullBackOff', error.message)
