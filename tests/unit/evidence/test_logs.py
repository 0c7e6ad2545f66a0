# SPDX-License-Identifier: Apache-2.0

import os
import sys

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.evidence import logs

ID = 'req-0f8fad5b-d9cb-469f-a165-70867728950e'
USER = '35bfb2bedd2a4c2ab95c1adf73a47f98'


class RelevantTest(testtools.TestCase):

    def test_lines_of_the_words_in_their_order(self):
        lines = [f'1 INFO [{ID}] a', '2 INFO [req-2] b',
                 f'3 ERROR [req-3 {USER}] c', f'4 DEBUG [{ID}] d']

        self.assertEqual([lines[0], lines[2], lines[3]],
                         logs.relevant(lines, [ID, USER, None, '']))

    def test_no_words_are_not_all_lines(self):
        self.assertEqual([], logs.relevant(['a', ''], []))
        self.assertEqual([], logs.relevant(['a', ''], ['', None]))

    def test_words_are_no_patterns(self):
        self.assertEqual([], logs.relevant(['abc'], ['a.c']))

    def test_looks_of_an_access_log_tell_nothing(self):
        lines = ['"GET /v1/clusters/c HTTP/1.1" 200',
                 '"DELETE /v1/clusters/c HTTP/1.1" 204']

        self.assertEqual(lines[1:], logs.relevant(lines, ['c']))

    def test_of_too_many_errors_stay_and_then_the_latest(self):
        lines = ['w ERROR first', *(f'w INFO {n}' for n in range(9))]

        self.assertEqual(['w ERROR first', 'w INFO 7', 'w INFO 8'],
                         logs.relevant(lines, ['w'], most=3))

    def test_errors_are_bounded_too(self):
        lines = [f'w ERROR {n}' for n in range(9)] + ['w INFO']

        self.assertEqual(lines[6:9], logs.relevant(lines, ['w'], most=3))

    def test_a_line_is_bounded(self):
        line, = logs.relevant(['w' * 9999], ['w'])

        self.assertEqual(logs.WIDTH + 4, len(line))


class FilesTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = self.useFixture(fixtures.TempDir()).path

    def write(self, name, data):
        with open(os.path.join(self.folder, name), 'wb') as file:
            file.write(data)

    def found(self, *patterns):
        return logs.from_files(
            [os.path.join(self.folder, p) for p in patterns], [ID])

    def test_each_file_under_its_name_once(self):
        self.write('magnum-api.log', f'{ID} a\nother\n'.encode())
        self.write('magnum-conductor.log', b'other\n')

        self.assertEqual(
            f'magnum-api.log:\n{ID} a\nmagnum-conductor.log:\n'
            'nothing about this test', self.found('magnum-*', '*.log'))

    def test_bytes_that_are_no_text(self):
        self.write('a', b'\xff ' + ID.encode() + b' no newline')

        self.assertIn(f'{ID} no newline', self.found('a'))

    def test_only_the_end_of_a_long_file_is_read(self):
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.evidence.logs.TAIL', 60))
        self.write('a', f'{ID} old\n{ID} new\n'.encode())

        self.assertEqual(f'a:\n{ID} new', self.found('a'))

    def test_no_file_is_said(self):
        error = self.assertRaises(errors.EnvironmentProblem, self.found, '*')

        self.assertIn('log_files', str(error))


class CommandTest(testtools.TestCase):

    def run_command(self, code, *words, timeout=20):
        return logs.from_command(
            f'{sys.executable} -c "{code}" {{since}} {{words}}',
            [ID, *words], 1234.9, timeout)

    def test_time_and_words_take_their_places(self):
        found = self.run_command('import sys; print(sys.argv[1:])', USER)

        self.assertIn(f"['@1234', '{ID}|{USER}']", found)

    def test_only_lines_of_the_words_stay(self):
        found = self.run_command(
            "import sys; print('other'); print(sys.argv[2])")

        self.assertNotIn('other', found)
        self.assertIn(ID, found)

    def test_what_is_no_word_does_not_get_there(self):
        found = self.run_command(
            'import sys; print(sys.argv[1:])', '$(reboot)', 'a b')

        self.assertNotIn('reboot', found)

    def test_a_failure_names_the_option(self):
        error = self.assertRaises(
            errors.CommandFailed, self.run_command, 'raise SystemExit(1)')

        self.assertIn('log_command', str(error))
