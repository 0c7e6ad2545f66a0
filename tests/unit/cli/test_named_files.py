# SPDX-License-Identifier: Apache-2.0

"""Files that a user names: who may read them, and where they may be."""

import os

import testtools

from tests.unit.cli import terminal
from tests.unit.conformance import archives
from tests.unit import own_folders
from tests.unit.report import streams

SECRET = 'abc.def-ghi123456'


class NamedFilesTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = self.useFixture(own_folders.OwnFolders()).base
        self.addCleanup(os.umask, os.umask(0o022))
        self.stream = streams.Stream().test('a.b').write(self.base)
        self.archive = self.base / 'run.tar.gz'
        failed = archives.case(
            '[It] [sig-a] b', 'failed',
            f'<failure message="no">Authorization: Bearer {SECRET}</failure>'
            f'<system-out>Authorization: Bearer {SECRET}\n[FAILED] no\n'
            '</system-out>')
        self.archive.write_bytes(archives.good(**{
            archives.LOG: archives.log(1, 0, 1, 1),
            archives.JUNIT: archives.junit(failed)}))

    def call(self, *argv):
        """Exit code and standard error."""
        code, _, err = terminal.call(*argv)
        return code, err

    @property
    def commands(self):
        """Each command that writes a report, without where to."""
        return (['conformance', 'report', self.archive],
                ['conformance', 'compare', self.archive, self.archive],
                ['report', 'show', self.stream])

    def test_the_umask_says_who_may_read_reports(self):
        for mask, file, folder in (0o022, 0o644, 0o755), (0o077, 0o600, 0o700):
            os.umask(mask)
            for number, argv in enumerate(self.commands):
                top = self.base / f'{mask}-{number}'
                self.call(*argv, '--output', top)

                self.assertEqual(
                    {folder, file},
                    {path.stat().st_mode & 0o777
                     for path in (top, *top.iterdir())}, argv)

    def test_reports_have_no_secrets(self):
        top = self.base / 'all'
        self.call('conformance', 'report', self.archive, '--output', top)

        for path in top.iterdir():
            self.assertNotIn(SECRET.encode(), path.read_bytes(), path)
