# SPDX-License-Identifier: Apache-2.0

import io
import pathlib

import fixtures
import testtools

from magnum_capi import errors
import magnum_capi_sandbox as sandbox
from magnum_capi_sandbox import logs
from tests.unit.sandbox import samples


class LogsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.box = sandbox.Box(base / 'box')

    def start(self):
        folder = self.box.directory / 'log'
        folder.mkdir(parents=True)
        (folder / 'nova.log').write_text('1\n2\n3\n')
        (folder / 'magnum.log').write_bytes(b'a\xff\n')
        samples.save(self.box.directory)

    def show(self, *names, lines=2):
        stream = io.StringIO()
        self.box.logs(names, lines, False, stream)
        return stream.getvalue()

    def test_last_lines_of_all(self):
        self.start()
        self.assertEqual('magnum | a\ufffd\nnova   | 2\nnova   | 3\n',
                         self.show())

    def test_a_full_log_is_followed_to_the_next_file(self):
        self.start()
        path = self.box.supervisor.log('nova')

        def rotate():
            with open(path, 'a') as file:
                file.write('last\n')
            path.rename(f'{path}.1')
            path.write_text('next\n')

        def write():
            with open(path, 'a') as file:
                file.write('more\n')

        steps = iter((rotate, write, self.interrupt))
        self.useFixture(fixtures.MockPatchObject(
            logs.time, 'sleep', lambda _: next(steps)()))
        stream = io.StringIO()

        self.assertRaises(KeyboardInterrupt, self.box.logs, ['nova'], 1,
                          True, stream)

        self.assertEqual(
            [f'nova | {text}' for text in ('3', 'last', 'next', 'more')],
            stream.getvalue().splitlines())

    def interrupt(self):
        raise KeyboardInterrupt

    def test_unknown_program(self):
        self.start()
        e = self.assertRaises(errors.UsageError, self.show, 'heat')
        self.assertIn('Known: magnum, nova', str(e))

    def test_no_path_out_of_the_folder(self):
        self.start()
        self.assertRaises(errors.UsageError, self.show, '../sandbox')

    def test_no_sandbox(self):
        self.assertRaises(errors.UsageError, self.show)
