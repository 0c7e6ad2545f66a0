# SPDX-License-Identifier: Apache-2.0


import io
import json
import pathlib
import tarfile

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.conformance.run import salvage
from magnum_capi_tempest.kubeclient import kube
from tests.unit.conformance import archives

PODS = [
    {'metadata': {'name': 'sonobuoy',
                  'labels': {'sonobuoy-component': 'aggregator'}},
     'spec': {'containers': [{'env': [{'value': 'hunter2'}]}]},
     'status': {'phase': 'Failed', 'reason': 'Evicted'}},
    {'metadata': {'name': 'e2e-job', 'labels': {'sonobuoy-plugin': 'e2e'}},
     'status': {'phase': 'Running'}}]


def held(files):
    """What a worker holds: the archive of its tests, in another one."""
    return archives.by_library({'e2e.tar.gz': archives.by_library(files)})


class Reader:
    """A cluster of which parts are lost."""

    def __init__(self, pods=PODS, log='Will run 1', packed=b'', inside=b''):
        self.pods, self.log, self.packed = pods, log, packed
        self.inside = inside

    def items(self, path):
        return self._give(self.pods)

    def text(self, path, **query):
        return self._give(self.log)

    def execute(self, namespace, pod, container, command):
        if command[0] == 'kubectl':
            return self._give(self.inside)
        self.asked = (pod, container, command)
        return self._give(self.packed)

    def _give(self, what):
        if isinstance(what, Exception):
            raise what
        return what


class TestSave(testtools.TestCase):

    def save(self, **parts):
        self.folder = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path, 'saved')
        self.reader = Reader(**parts)
        return salvage.save(self.reader, 'sonobuoy', self.folder)

    def test_the_log_and_what_the_worker_holds(self):
        saved = self.save(packed=held(
            {'e2e.log': b'x', 'junit_01.xml': b'<testsuites/>'}))

        self.assertEqual(('Will run 1', '<testsuites/>', ()), (
            saved.log.read_text(), saved.junit.read_text(), saved.notes))
        self.assertEqual(('e2e-job', 'sonobuoy-worker'),
                         self.reader.asked[:2])

    def test_no_environment_and_no_other_reader(self):
        self.save()

        for file in self.folder.iterdir():
            self.assertNotIn('hunter2', file.read_text())
            self.assertEqual(0o600, file.stat().st_mode & 0o777)
        pods = json.loads((self.folder / 'pods.json').read_text())
        self.assertEqual(['Evicted', ''], [p['reason'] for p in pods])

    def test_what_is_not_there_is_said(self):
        ended = PODS[1] | {'status': {'phase': 'Succeeded'}}
        for parts, note in (
                ({'packed': kube.KubeError('no exec')}, 'no JUnit of e2e-job: '
                 'no exec'),
                ({'packed': b'no gzip'}, 'no JUnit of e2e-job'),
                ({'packed': held({'e2e.log': b'x'})},
                 'the tests have not written it'),
                ({'pods': [PODS[0], ended], 'packed': kube.KubeError('x')},
                 'no JUnit of e2e-job: it has handed its results to the '
                 'aggregator, which gives them with its archive'),
                ({'log': kube.KubeError('gone')}, 'no log of e2e-job: gone'),
                ({'pods': PODS[:1]}, 'there is no pod of the tests'),
                ({'pods': kube.KubeError('API is away')}, 'API is away')):
            notes = self.save(**parts).notes
            self.assertIn(note, ' | '.join(notes))

    def test_no_room(self):
        """Not a traceback, after hours of tests."""
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path,
                                   'file', 'saved')
        self.folder.parent.touch()

        self.assertRaises(errors.EnvironmentProblem, salvage.save, Reader(),
                          'sonobuoy', self.folder)

    def test_a_link_in_what_the_worker_holds_is_not_followed(self):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode='w:gz') as archive:
            link = tarfile.TarInfo('e2e.tar.gz')
            link.type, link.linkname = tarfile.SYMTYPE, '/etc/passwd'
            archive.addfile(link)

        saved = self.save(packed=out.getvalue())
        self.assertIsNone(saved.junit)
        self.assertIn('link', ' '.join(saved.notes))

    def test_what_the_api_does_not_have_yet_is_in_the_pod(self):
        for log in 'Will', kube.KubeError('no kubelet'):
            self.assertEqual('Will run 1 of 2', self.save(
                log=log, inside=b'Will run 1 of 2').log.read_text())


class TestLogs(testtools.TestCase):

    def pods(self):
        return [{**pod, 'spec': {'containers': [
            {'name': 'sonobuoy-worker'}, {'name': 'main'}]}}
            for pod in [*PODS, {'metadata': {'name': 'x', 'labels': {
                'sonobuoy-plugin': 'mine'}}}]]

    def test_each_plugin_and_the_aggregator(self):
        reader = Reader(self.pods(), inside=b'longer than that')
        for plugin, expected in (
                ('e2e', ('e2e-job', 'longer than that')),
                ('', ('sonobuoy', 'Will run 1')),
                ('mine', ('x', 'Will run 1'))):
            self.assertEqual([expected], list(
                salvage.logs(reader, 'sonobuoy', plugin)))

    def test_no_such_plugin(self):
        error = self.assertRaises(
            errors.UsageError, list,
            salvage.logs(Reader(self.pods()), 'sonobuoy', 'none'))
        self.assertIn('aggregator, e2e, mine', str(error))

    def test_one_pod_can_be_followed(self):
        pods = self.pods()
        self.assertEqual(('e2e-job', 'main'), salvage.only_container(
            Reader(pods), 'sonobuoy', 'e2e'))
        error = self.assertRaises(
            errors.UsageError, salvage.only_container,
            Reader([*pods, pods[-1]]), 'sonobuoy', 'mine')
        self.assertIn('2 pods', str(error))
