# SPDX-License-Identifier: Apache-2.0

import os
import pathlib

import fixtures
import testtools

from magnum_capi_tempest.evidence import artefacts


class WriteTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path, 'a', 'b')

    def write(self, test='m.T.test_x[id-1,slow]', name='n', text='t'):
        return artefacts.write(self.base, test, name, text)

    def test_a_folder_for_each_test_for_its_owner_only(self):
        self.addCleanup(os.umask, os.umask(0))

        path = self.write(name='cluster of c')

        self.assertEqual(self.base / 'm.T.test_x' / 'cluster-of-c.txt', path)
        self.assertEqual('t', path.read_text())
        self.assertEqual([0o600, 0o700, 0o700, 0o700], [
            p.stat().st_mode & 0o777 for p in (path, *path.parents[:3])])

    def test_what_is_in_it(self):
        for text, written in (
                ('a: b\npassword: hunter2\n', 'a: b\npassword: <redacted>\n'),
                # no Unicode
                ('\udcff', '\\udcff')):
            self.assertEqual(written, self.write(text=text).read_text())

    def test_nothing_is_written_over(self):
        """Not even through a link that somebody laid."""
        target = self.base.parent / 'x'
        paths = [self.write(text=text) for text in ('1', '2', '3')]
        (paths[0].parent / 'trap.txt').symlink_to(target)

        self.write(name='trap')

        self.assertEqual(['1', '2', '3'], [p.read_text() for p in paths])
        self.assertFalse(target.exists())

    def test_names_stay_in_the_folder(self):
        for name in ('../../x', '/etc/passwd', '..', '', 'ä' * 300):
            path = self.write(test=name, name=name)

            self.assertEqual(self.base, path.parent.parent.resolve())

    def test_long_ids_keep_their_end(self):
        path = self.write(test='a' * 500 + '.test_x')

        self.assertTrue(path.parent.name.endswith('.test_x'))
