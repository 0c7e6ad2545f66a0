# SPDX-License-Identifier: Apache-2.0


import json
import pathlib
from unittest import mock

import testtools

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance.run import sonobuoy

DATA = pathlib.Path(__file__).parents[3] / 'data' / 'sonobuoy'


def driven(**plan):
    return sonobuoy.Sonobuoy(runner.Plan(**plan), '/s', '/k')


def command(**plan):
    return driven(**plan).preview('/d')[0]


class TestCommands(testtools.TestCase):

    def test_words(self):
        parallel = ('e2e.E2E_EXTRA_GINKGO_ARGS=--procs=4',)
        for plan, words, others in (
                ({'mode': model.CERTIFIED}, (), ('--wait', 'focus')),
                # The default mode of "run" would skip [Disruptive] specs.
                ({'mode': model.FOCUSED, 'expression': 'a|b'},
                 ('--e2e-focus=a|b', '--e2e-skip='), ()),
                # With E2E_PARALLEL, the image leaves out [Serial] specs.
                ({'mode': model.CERTIFIED, 'parallel': 4}, parallel,
                 ('E2E_PARALLEL',)),
                # What lite leaves out is Sonobuoy's to know.
                ({'mode': model.LITE, 'parallel': 4},
                 ('--mode conformance-lite', *parallel), ('--e2e-skip',)),
                # The image of the tests counts before a version.
                ({'kubernetes': 'v1.34.9', 'images': runner.Images(
                    conformance='r/c:v1.34.9')},
                 ('--kube-conformance-image',), ('--kubernetes-version',)),
                # The aggregator is more patient than we are.
                ({'timeout': 1000}, ('--timeout 1600',), ()),
                ({'kubernetes': 'v1.34.9', 'node_selector': (('a/b', 'c'),),
                  'images': runner.Images(
                      'r/s:1', '', '', pathlib.Path('/m.yaml'),
                      pathlib.Path('/d.json'), 'Never')},
                 ('--kubernetes-version v1.34.9', '--sonobuoy-image r/s:1',
                  '--e2e-repo-config /m.yaml',
                  '--e2e-docker-config-file /d.json',
                  '--image-pull-policy Never --force-image-pull-policy',
                  '--aggregator-node-selector a/b:c'), ())):
            said = ' '.join(command(**plan))
            for word in words:
                self.assertIn(word, said, plan)
            for word in others:
                self.assertNotIn(word, said, plan)

    def test_results_are_never_extracted(self):
        argv = driven().preview('/d')[2]

        self.assertIn('/d', argv)
        self.assertFalse({'-x', '--extract'} & set(argv))

    def test_nobody_elses_objects_are_deleted(self):
        self.assertNotIn('--all', driven().preview('/d')[3])


class TestStatus(testtools.TestCase):

    def read(self, name):
        return sonobuoy.parse_status((DATA / name).read_text())

    def test_complete(self):
        status = self.read('quick-status.json')

        self.assertEqual(('complete', 247516),
                         (status.state, status.archive.size))

    def test_nothing_is_complete_without_an_archive(self):
        for tar_info in (None, {'name': 'x', 'sha256': 'ab', 'size': 0},
                         {'name': '', 'sha256': '', 'size': 0,
                          'created': '0001-01-01T00:00:00Z'}):
            self.assertEqual('post-processing', sonobuoy.parse_status(
                json.dumps({'status': 'complete', 'plugins': None,
                            'tar-info': tar_info})).state)

    def test_a_name_leads_nowhere(self):
        status = sonobuoy.parse_status(json.dumps({
            'status': 'complete', 'tar-info': {'name': '../../x.tar.gz'}}))

        self.assertEqual('x.tar.gz', status.archive.name)

    def test_prose_and_other_json_are_no_status(self):
        for text in ('The Sonobuoy aggregator is ...', '', '[]', '{}',
                     'null', '{"status": "x", "plugins": [1]}',
                     '{"status": "x", "tar-info": {"size": "many"}}'):
            self.assertIsNone(sonobuoy.parse_status(text), text)


class TestCalls(testtools.TestCase):

    def answers(self, output=None, error=None):
        fake = mock.Mock(return_value=output, side_effect=error)
        patch = mock.patch.object(processes, 'run', fake)
        patch.start()
        self.addCleanup(patch.stop)
        return driven()

    def test_a_failed_aggregator_is_an_answer(self):
        text = json.dumps({'status': 'failed', 'plugins': []})
        program = self.answers(error=errors.CommandFailed(
            ['s'], 1, f'time="x" level=error msg="y"\n{text}\n'))

        self.assertEqual('failed', program.status().state)

    def test_no_answer_is_an_error(self):
        program = self.answers(error=errors.CommandFailed(['s'], 1, 'no'))

        self.assertRaises(errors.CommandFailed, program.status)

    def test_prose_is_an_answer_without_a_state(self):
        status = self.answers('It is \x1b[31mPending\x1b[0m\n').status()

        self.assertEqual(('', 'It is Pending'), (status.state, status.message))

    def test_what_it_said_is_without_its_warnings(self):
        self.assertEqual(
            'boom: \\"x\\" not found EOF', driven().failure_message(
                'time="t" level=warning msg="never mind"\n'
                'time="t" level=error msg="boom: \\"x\\" not found"\nEOF\n'))
        # Better a warning than nothing.
        self.assertIn('mind', driven().failure_message(
            'time="t" level=warning msg="never mind"'))

    def test_it_refuses_options_of_the_other_backend(self):
        self.assertRaises(errors.UsageError, driven(
            images=runner.Images(busybox='x')).refuse)
