# SPDX-License-Identifier: Apache-2.0

"""What a record says: real archives, small ones, loose files."""

import gc
import hashlib
import json
import pathlib
import shutil
from unittest import mock

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.conformance import archive
from magnum_capi_tempest.conformance import damage
from magnum_capi_tempest.conformance import documents
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance import tar
from magnum_capi_tempest.conformance import verdict
from tests.unit.conformance import archives
from tests.unit.conformance import by_hand

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
        return archive.read(self.path, **kwargs)


class RealTest(testtools.TestCase):

    def test_many_specs_on_several_processes(self):
        result = by_hand.real(by_hand.PARALLEL)

        self.assertEqual((388, True), (result.planned,
                                       result.suite_finished))
        self.assertEqual(('v1.34.9', ('n1', 'n2')), (
            result.cluster.kubernetes, result.cluster.nodes))
        self.assertEqual(1226.469, result.seconds)
        self.assertEqual('v0.57.5', result.backend_version)
        self.assertEqual((), result.problems)
        # Asked for as certified-conformance is, but on four processes.
        self.assertEqual(model.FOCUSED, result.mode)

    def test_every_archive_is_judged_as_before(self):
        """Verdicts and counts of the real archives of this project."""
        for name, outcome, failed, passed, skipped, nodes, status in (
                ('conformance-parallel-v1.34.9', 'failed', 4, 384, 6756, 10,
                 'failed'),
                ('magnum-parallel-v1.33.13', 'failed', 1, 382, 6358, 10,
                 'failed'),
                ('one-failed-v1.34.9', 'failed', 1, 0, 7143, 4, 'failed'),
                ('quick-e2e-v1.34.9', 'passed', 0, 1, 7143, 4, 'passed'),
                ('rerun-failed-v1.34.9', 'passed', 0, 4, 7140, 4, 'passed')):
            with self.subTest(name):
                result = by_hand.real(by_hand.ARCHIVES / f'{name}.tar.gz')
                counts = result.counts
                self.assertEqual(
                    (outcome, failed, passed, skipped, nodes, ()),
                    (verdict.judge(result).outcome, counts.get('failed', 0),
                     counts.get('passed', 0), counts['skipped'],
                     len(result.suite_nodes), result.problems))
                self.assertEqual((model.PluginResult('e2e', status),),
                                 result.plugins)
                self.assertTrue(result.stand_in_images)


class SmallTest(_Base):

    def test_the_digest_that_was_expected(self):
        data = archives.good()

        self.assertEqual(hashlib.sha256(data).hexdigest(),
                         self.read_bytes(data).sha256)
        self.assertRaisesRegex(
            damage.Damage, 'does not have the expected SHA-256',
            self.read_bytes, data, sha256='f' * 64)

    def test_copies_of_the_two_files_of_the_tests(self):
        copies = self.folder / 'copies'
        for files in (archives.files(), {
                # Of OpenShift, beside another plugin of its own tests.
                name.replace('plugins/e2e', 'plugins/10-kube'): content
                for name, content in archives.files().items()
                if name != 'meta/info.json'} | {
                    'plugins/05-other/results/global/junit_01.xml':
                    archives.junit(archives.case('own'))}):
            copies.mkdir()
            result = self.read_bytes(archives.by_library(files),
                                     copy_to=copies)

            self.assertEqual({'passed': 1}, result.counts)
            self.assertEqual(
                {'junit_01.xml': archives.files()[archives.JUNIT],
                 'e2e.log': archives.files()[archives.LOG]},
                {path.name: path.read_bytes() for path in copies.iterdir()})
            shutil.rmtree(copies)

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

    def test_infra_errors(self):
        result = self.read(**{
            'plugins/e2e/errors/global/error.json':
                b'{"error":"timeout waiting for results"}',
            'plugins/systemd-logs/errors/w-1/error.json': json.dumps(
                {'error': 'Container pending', 'pod': POD}).encode(),
            'plugins/x/errors/error.json': b'no JSON \x1b[2J'})

        self.assertEqual(
            (model.InfraError('e2e', 'timeout waiting for results'),
             model.InfraError('systemd-logs/w-1',
                              'Container pending; ImagePullBackOff'),
             model.InfraError('x', 'an error without a message')),
            result.infra_errors)

    def test_a_lost_junit_file(self):
        for failed, outcome in ((1, verdict.FAILED), (0, verdict.INCOMPLETE)):
            result = self.read(**{
                archives.JUNIT: None,
                archives.LOG: archives.log(2, 2 - failed, failed)})

            self.assertEqual(outcome, verdict.judge(result).outcome)
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

        result = archive.read(self.folder)

        self.assertEqual(({'passed': 1}, 'v1.34.9', model.SONOBUOY),
                         (result.counts, result.cluster.kubernetes,
                          result.backend))
        self.assertEqual(verdict.PASSED, verdict.judge(result).outcome)

    def test_a_spec_that_skipped_itself_without_saying_so(self):
        """Ginkgo v1 had no words for it; its last line tells."""
        whole = archives.log(2, 1, total=2)
        for log, outcome in (
                (whole, verdict.PASSED),
                (whole.replace(b'SUCCESS!', b'FAIL! - Interrupted by User'),
                 verdict.INCOMPLETE)):
            result = self.read(
                archives.case('a'),
                '<testcase name="b"><skipped/></testcase>',
                **{archives.LOG: log})

            self.assertEqual(outcome, verdict.judge(result).outcome)

    def test_a_disk_that_cannot_be_read(self):
        by_hand.folder(self.folder / 'run')
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.conformance.archive._open',
            mock.Mock(side_effect=OSError(5, 'Input/output error'))))

        self.assertRaisesRegex(damage.Damage, 'Input/output error',
                               archive.read, self.folder / 'run')

    def test_metadata_that_cannot_be_read_is_reported(self):
        for name, content, why in (
                (archives.SERVER, b'{"gitVersion":', 'not JSON'),
                ('meta/config.json', b'[' * 100_000, 'not JSON'),
                (archives.DEFINITION, b' ' * (2 << 20), 'bytes')):
            with self.subTest(name):
                found = verdict.judge(self.read(**{name: content}))

                remark, = found.remarks
                self.assertIn(name, remark)
                self.assertIn(why, remark)
                self.assertEqual(verdict.PASSED, found.outcome)

    def test_a_junit_file_of_each_process(self):
        """Each lists all specs; what another process ran is skipped."""
        sums = 'tests="2" failures="0" errors="0"'
        skipped = '<testcase name="{}"><skipped/></testcase>'
        for passed, failed, first, second, attributes, problem in (
                (2, 0, (archives.case('a'), skipped.format('b')),
                 (skipped.format('a'), archives.case('b')), sums, ''),
                (1, 1, (archives.case('a'),),
                 (archives.case('a', 'failed', '<failure/>'),), '',
                 'ended differently')):
            result = self.read(**{
                archives.LOG: archives.log(2, passed, failed, total=2),
                archives.JUNIT: archives.junit(*first, attributes=attributes),
                archives.JUNIT.replace('01', '02'): archives.junit(
                    *second, attributes=attributes)})

            self.assertEqual({'passed': passed, 'failed': failed},
                             {'failed': 0} | result.counts)
            self.assertEqual(bool(problem), bool(result.problems))
            self.assertIn(problem, ' '.join(result.problems))

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


class MemoryTest(_Base):

    def test_nothing_stays_in_memory(self):
        self.path.write_bytes(archives.good())
        for read in (archive.read, archive.checksum):
            read(self.path)
        gc.collect()
        self.assertEqual([], [one for one in gc.get_objects()
                              if isinstance(one, tar.Content)])


class FilesTest(_Base):

    def test_both_files(self):
        folder = by_hand.folder(self.folder / 'run')

        result = archive.read(folder)

        self.assertEqual(('run', model.HYDROPHONE, {'passed': 1}), (
            result.title, result.backend, result.counts))
        self.assertEqual(((), ''), (result.problems, result.sha256))

    def test_a_folder_with_an_archive(self):
        self.path.write_bytes(archives.good())

        self.assertEqual('a', archive.read(self.folder).title)
        (self.folder / 'b.tar.gz').write_bytes(archives.good())
        self.assertRaises(damage.Damage, archive.read, self.folder)

    def test_what_is_no_record(self):
        self.assertRaises(damage.Damage, archive.read, self.folder)
        for given in (self.folder / 'none', 'https://example.org/a.tar.gz'):
            self.assertRaises(errors.UsageError, archive.read, given)


class InfraTest(testtools.TestCase):

    def test_secrets_and_the_pods_environment_stay_out(self):
        error = documents.error(
            {'error': 'failed with password=hunter2hunter2', 'pod': POD},
            'e2e')

        self.assertNotIn('hunter2', error.message)
        self.assertIn('ImagePullBackOff', error.message)
