# SPDX-License-Identifier: Apache-2.0

import pathlib
import subprocess

import fixtures
import testtools

from tests.proofs import records


class CommitTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def git(self, *argv):
        subprocess.run(['git', '-C', self.top, '-c', 'user.name=n', '-c',
                        'user.email=e', *argv], check=True,
                       stdout=subprocess.DEVNULL)

    def test_what_is_not_committed_makes_another_source(self):
        self.git('init', '-q')
        file = self.top / 'file'
        file.write_text('one')
        self.git('add', 'file')
        self.git('commit', '-q', '-m', 'one')
        clean = records.commit(self.top)
        self.assertRegex(clean, '^[0-9a-f]{12}$')

        found = {clean}
        for text in ('two', 'three'):
            file.write_text(text)
            found.add(records.commit(self.top))
        self.assertEqual(3, len(found))
        for one in found - {clean}:
            self.assertTrue(one.startswith(f'{clean}+'))

    def test_outside_of_git(self):
        self.assertEqual('', records.commit(self.top))
