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
        looks = ['"GET /v1/clusters/c HTTP/1.1" 200',
                 '"DELETE /v1/clusters/c HTTP/1.1" 204']
        for text, words, found in (
                (lines, [ID, USER, None, ''], [0, 2, 3]),
                # no words are not all lines, and words are no patterns
                (['a', ''], [], []), (['a', ''], ['', None], []),
                (['abc'], ['a.c'], []),
                # what an access log says of looks tells nothing
                (looks, ['c'], [1])):
            self.assertEqual([text[number] for number in found],
                             logs.relevant(text, words))

    def test_of_too_many_errors_stay_and_then_the_latest(self):
        good, bad = ([f'w {level} {n}' for n in range(9)]
                     for level in ('INFO', 'ERROR'))
        for lines, found in ((bad[:1] + good, [bad[0], *good[7:]]),
                             (bad + good[:1], bad[6:])):
            self.assertEqual(found, logs.relevant(lines, ['w'], most=3))

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

    def test_only_the_end_of_a_long_file_is_read(self):
        self.useFixture(fixtures.MockPatchObject(logs, 'TAIL', 60))
        self.write('a', f'{ID} old\n{ID} new\n'.encode())

        self.assertEqual(f'a:\n{ID} new', self.found('a'))

    def test_no_file_is_said(self):
        error = self.assertRaises(errors.EnvironmentProblem, self.found, '*')

        self.assertIn('log_files', str(error))


class CommandTest(testtools.TestCase):

    def run_command(self, code, *words):
        return logs.from_command(
            f'{sys.executable} -c "{code}" {{since}} {{words}}',
            [ID, *words], 1234.9, 20)

    def test_time_and_words_take_their_places(self):
        """What is no word does not get there."""
        found = self.run_command(
            "import sys; print('other'); print(sys.argv[1:])",
            USER, '$(reboot)', 'a b')

        self.assertIn(f"['@1234', '{ID}|{USER}']", found)
        self.assertNotIn('other', found)

    def test_a_failure_names_the_option(self):
        error = self.assertRaises(
            errors.CommandFailed, self.run_command, 'raise SystemExit(1)')

        self.assertIn('log_command', str(error))
