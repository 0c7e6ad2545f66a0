# SPDX-License-Identifier: Apache-2.0

import json
import pathlib
import re

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.report import json_
from magnum_capi_tempest.report import markdown
from magnum_capi_tempest.report import model
from magnum_capi_tempest.report import subunit
from magnum_capi_tempest.report import terminal
from magnum_capi_tempest import texts
from tests.unit.report import streams

TRACEBACK = '''\
Traceback (most recent call last):
  File "a.py", line 1, in test
    cluster.wait()
    ^^^^^^^^^^^^^^
  File "b.py", line 2, in wait
    raise Late(
WaitTimeout: Timed out waiting for c1
last seen: CREATE_IN_PROGRESS
'''


class ReadTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def read(self, stream, **kwargs):
        return subunit.read(stream.write(self.folder), title='T', **kwargs)

    def test_statuses_times_and_order(self):
        stream = (streams.Stream()
                  .test('a.B.one', seconds=2)
                  .test('a.B.two', 'skip', reason='no driver', seconds=0)
                  .test('a.B.three', 'fail', traceback=TRACEBACK, seconds=3)
                  .test('a.B.four', 'xfail')
                  .test('a.B.five', 'uxsuccess'))

        run = self.read(stream)

        self.assertEqual(
            [model.PASSED, model.SKIPPED, model.FAILED, model.XFAILED,
             model.XPASSED], [t.status for t in run.tests])
        self.assertEqual([2, 0, 3, 1, 1], [t.seconds for t in run.tests])
        self.assertEqual((streams.START, 7.0), (run.started, run.seconds))
        self.assertFalse(run.ok)
        self.assertEqual('2 of 5 tests failed', run.verdict)

    def test_tolerated_errors_are_one_line_unless_a_test_failed(self):
        stream = (streams.Stream()
                  .test('a.B.one', **{texts.TOLERATED: (
                      'B, GET cluster 1: 400, master_count\n'
                      'B, GET cluster 2: 400, master_count\n'
                      'B, update: it was abandoned: 3 nodes')})
                  .test('a.B.two', **{texts.TOLERATED: (
                      'B, GET cluster 1: 400, master_count')}))

        section, = self.read(stream).sections
        *_, after = self.read(stream.test('a.B.three', 'fail')).sections

        self.assertIn('Tolerated errors: 4 ', section.title)
        self.assertIn('400, master_count (3); it was abandoned (1)',
                      section.title)
        self.assertEqual(4, len(section.lines))
        self.assertEqual('B.one: B, GET cluster 1: 400, master_count',
                         section.lines[0])
        self.assertTrue(section.folded)
        self.assertFalse(after.folded)

    def test_versions_that_tests_have_seen_come_first(self):
        run = subunit.read(
            streams.Stream()
            .test('a.B.one', versions='Kubernetes: v1.34.2\nMagnum: 1.14')
            .test('a.B.two', versions='Kubernetes: v1.35.1').write(
                pathlib.Path(self.useFixture(fixtures.TempDir()).path)),
            title='x', facts={'tests': 'y'})

        self.assertEqual({'Kubernetes': 'v1.34.2, v1.35.1', 'Magnum': '1.14',
                          'tests': 'y'}, dict(run.facts))
        self.assertEqual('tests', [*run.facts][-1])

    def test_what_failed_can_be_selected(self):
        regex = subunit.regex_of_failed(self.read(
            streams.Stream()
            .test('a.B.one[id-1,slow]', 'fail').test('a.B.one_more')
            .test('setUpClass (a.C)', 'fail').test('a.D.two', 'skip')))
        finds = re.compile(regex).search

        self.assertEqual(
            [True, False, True, False, False],
            [bool(finds(test)) for test in (
                'a.B.one[id-1,slow]', 'a.B.one_more', 'a.C.any', 'a.CC.any',
                'a.D.two')])
        self.assertEqual('', subunit.regex_of_failed(self.read(
            streams.Stream().test('a.B.one'))))

    def test_known_answers_of_magnum_are_one_line(self):
        run = self.read(streams.Stream().test(
            'a.B.one', **{texts.KNOWN_ANSWERS: 'x is accepted: 201\ny: 2'}))

        section, = run.sections
        self.assertIn(': 2 requests', section.title)
        self.assertTrue(section.folded)
        self.assertTrue(run.ok)
        printed = []
        terminal.show_sections(
            lambda text='', style='': printed.append(text), run.sections)
        self.assertEqual(['', f'{section.title}.'], printed)

    def test_what_was_not_checked_is_counted(self):
        run = self.read(
            streams.Stream()
            .test('a.B.one', **{'not checked': 'nodes: x is unset\nMachines'})
            .test('a.B.two', **{'not checked': 'nodes: x is unset'}))

        section, = run.sections
        self.assertEqual('Not checked', section.title)
        self.assertEqual(('Machines (1 test)', 'nodes: x is unset (2 tests)'),
                         section.lines)
        self.assertTrue(run.ok)

    def test_the_name_of_a_detail_is_for_people(self):
        test, = self.read(streams.Stream().test(
            'a.B.one', 'fail', **{"pythonlogging:''": 'x'})).tests

        self.assertEqual('pythonlogging', test.details[0].name)

    def test_short_name_and_attributes(self):
        stream = streams.Stream().test(
            'magnum_capi_tempest.tests.api.test_x.TestX.test_y'
            '[id-1c2b3d,smoke,slow]', tags=['worker-1'])

        test, = self.read(stream).tests

        self.assertEqual('TestX.test_y', test.name)
        self.assertEqual(('slow', 'smoke', 'worker-1'), test.tags)

    def test_class_fixture_keeps_its_name(self):
        name = 'setUpClass (magnum_capi_tempest.tests.api.test_x.TestX)'

        test, = self.read(streams.Stream().test(
            name, 'fail', traceback=TRACEBACK)).tests

        self.assertEqual((name, model.FAILED), (test.name, test.status))

    def test_a_class_is_no_test(self):
        run = self.read(streams.Stream()
                        .test('setUpClass (a.C)', 'fail', traceback=TRACEBACK)
                        .test('setUpClass (a.D)', 'skip', reason='x')
                        .test('a.B.one'))
        more = self.read(streams.Stream()
                         .test('setUpClass (a.C)', 'fail', traceback=TRACEBACK)
                         .test('tearDownClass (a.B)', 'fail', traceback='x')
                         .test('a.B.one').test('a.B.two', 'fail', x='y'))

        self.assertEqual(({model.PASSED: 1}, 1), (run.counts, run.exit_code))
        self.assertEqual(
            ['1 class failed', '1 class skipped', '1 passed'],
            [text for _, text in run.totals])
        self.assertEqual('the setup or cleanup of 1 class failed', run.verdict)
        self.assertEqual('1 of 2 tests and the setup or cleanup of 2 classes '
                         'failed', more.verdict)
        self.assertIn('1 class failed, 1 class skipped, 1 passed in',
                      markdown.render(run))
        self.assertEqual({'failed': 1, 'skipped': 1},
                         json.loads(json_.render(run))['classes'])

    def test_reason_is_what_follows_the_stack(self):
        stream = streams.Stream().test(
            'a.b', 'fail', log='lots', traceback=TRACEBACK)

        test, = self.read(stream).tests

        self.assertEqual(['traceback', 'log'], [d.name for d in test.details])
        self.assertEqual('WaitTimeout: Timed out waiting for c1\n'
                         'last seen: CREATE_IN_PROGRESS', test.reason)

    def test_listed_tests_did_not_run(self):
        run = self.read(streams.Stream().listed('a.b').listed('a.c'))

        self.assertEqual((), run.tests)
        self.assertFalse(run.ok)

    def test_empty_stream_is_a_failure(self):
        run = self.read(streams.Stream())

        self.assertFalse(run.ok)
        self.assertEqual('nothing ran', run.verdict)
        self.assertIsNone(run.started)

    def test_all_skipped_is_a_failure(self):
        run = self.read(streams.Stream().test('a.b', 'skip', reason='x'))

        self.assertFalse(run.ok)
        self.assertEqual('nothing ran: everything was skipped', run.verdict)

    def test_killed_test_is_unfinished(self):
        stream = streams.Stream().test('a.b').test('a.c', 'inprogress')

        run = self.read(stream)

        self.assertEqual([model.PASSED, model.UNFINISHED],
                         [t.status for t in run.tests])
        self.assertEqual('It began and did not end', run.tests[1].reason)
        self.assertFalse(run.ok)

    def test_as_stestr_records_it(self):
        # With the end of the run, and as a failure without a reason.
        test, = self.read(streams.Stream().test('a.c', 'fail')).tests

        self.assertEqual((model.UNFINISHED, 'It began and did not end'),
                         (test.status, test.reason))

    def test_stream_cut_in_a_packet(self):
        whole = streams.Stream().test('a.b').test('a.c').data
        path = self.folder / 'cut.subunit'
        path.write_bytes(whole[:-7])

        run = subunit.read(path, title='T')

        self.assertEqual(model.PASSED, run.tests[0].status)
        self.assertFalse(run.ok)
        self.assertIn('cut.subunit is truncated or damaged', run.problems[0])

    def test_no_cut_is_green_but_one_after_a_whole_test(self):
        # That one cannot be told from a shorter run: only the runner knows
        # how many tests there are.
        stream = streams.Stream().test('a.b')
        complete = len(stream.data)
        whole = stream.test('a.c', log='x' * 50, traceback='y').data
        path = self.folder / 'cut.subunit'
        green = []
        for size in range(1, len(whole)):
            path.write_bytes(whole[:size])
            try:
                if subunit.read(path, title='T').ok:
                    green.append(size)
            except errors.UsageError:
                pass
        self.assertEqual([complete], green)

    def test_noise_that_looks_like_an_impossible_packet(self):
        # Signature, version and flags, and a length shorter than these.
        stream = streams.Stream().test('a.b').noise(b'\xb3\x20\x00\x03abcd')

        run = self.read(stream)

        self.assertEqual(model.PASSED, run.tests[0].status)
        self.assertIn('truncated or damaged', run.problems[0])

    def test_noise_of_programs_is_left_out(self):
        stream = (streams.Stream().noise(b'warning: \xff\xfe caf\xc3\xa9\n')
                  .test('a.b').noise(b'bye\n'))

        run = self.read(stream)

        self.assertTrue(run.ok)
        self.assertEqual(1, len(run.tests))

    def test_another_file_is_refused(self):
        path = self.folder / 'x.txt'
        path.write_text('hello\n' * 100)

        error = self.assertRaises(
            errors.UsageError, subunit.read, path, title='T')

        self.assertIn('not a subunit version 2 stream', str(error))
        self.assertNotIn('\n', str(error))

    def test_missing_file_and_folder_are_refused(self):
        for path in (self.folder / 'none', self.folder):
            error = self.assertRaises(
                errors.UsageError, subunit.read, path, title='T')
            self.assertIn(str(path), str(error))
            self.assertEqual(2, error.exit_code)

    def test_binary_and_hostile_details_become_text(self):
        stream = streams.Stream().test(
            'a.b', 'fail', picture=('image/png', b'\x89PNG'),
            log=('text/plain', b'\xff\x00\x1b[31mred\x1b[0m\x07'),
            state=('application/json', b'{}'), nothing='')

        test, = self.read(stream).tests

        self.assertEqual(
            {'picture': '[4 bytes of image/png]', 'state': '{}',
             'log': '\ufffd\ufffdred\ufffd'},
            {d.name: d.text for d in test.details})

    def test_secrets_are_taken_out(self):
        stream = streams.Stream().test(
            'a.b', 'fail',
            pythonlogging='Body: b\'{"password": "hunter2"}\'\nok\n',
            traceback='ValueError: token: 0123456789',
            coloured='\x1b[31mpassword\x1b[0m: hunter2')

        test, = self.read(stream).tests

        self.assertEqual(
            {'pythonlogging': 'Body: b\'{"password": "<redacted>"}\'\nok\n',
             'traceback': 'ValueError: token: <redacted>',
             'coloured': 'password: <redacted>'},
            {d.name: d.text for d in test.details})

    def test_facts_are_kept_in_order_as_text(self):
        run = self.read(streams.Stream().test('a.b'),
                        facts={'z': 1, 'a': self.folder})

        self.assertEqual([('z', '1'), ('a', str(self.folder))],
                         list(run.facts.items()))
