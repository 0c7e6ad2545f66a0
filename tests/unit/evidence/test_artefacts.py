# SPDX-License-Identifier: Apache-2.0

import os
import pathlib

import fixtures
import testtools

from magnum_capi_tempest.evidence import artefacts


class WriteTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = os.path.join(
            self.useFixture(fixtures.TempDir()).path, 'a', 'b')

    def write(self, test='m.T.test_x[id-1,slow]', name='n', text='t'):
        return artefacts.write(self.base, test, name, text)

    def test_a_folder_for_each_test_without_its_tags(self):
        path = self.write(name='cluster of c')

        self.assertEqual(
            pathlib.Path(self.base, 'm.T.test_x', 'cluster-of-c.txt'), path)
        self.assertEqual('t', path.read_text())

    def test_only_the_owner_may_look(self):
        before = os.umask(0)
        self.addCleanup(os.umask, before)

        path = self.write()

        self.assertEqual([0o600, 0o700, 0o700], [
            p.stat().st_mode & 0o777
            for p in (path, path.parent, path.parent.parent)])

    def test_folders_above_that_are_made_are_for_the_owner_too(self):
        before = os.umask(0)
        self.addCleanup(os.umask, before)

        self.write()

        above = pathlib.Path(self.base).parent
        self.assertEqual(0o700, above.stat().st_mode & 0o777)

    def test_secrets_go(self):
        path = self.write(text='a: b\npassword: hunter2\n')

        self.assertEqual('a: b\npassword: <redacted>\n', path.read_text())

    def test_nothing_is_written_over(self):
        paths = [self.write(text=text) for text in ('1', '2', '3')]

        self.assertEqual(['1', '2', '3'], [p.read_text() for p in paths])

    def test_a_link_that_somebody_laid_is_not_followed(self):
        target = pathlib.Path(self.useFixture(fixtures.TempDir()).path, 'x')
        self.write()
        folder = artefacts.folder_of(self.base, 'm.T.test_x')
        (folder / 'trap.txt').symlink_to(target)

        self.write(name='trap')

        self.assertFalse(target.exists())

    def test_names_stay_in_the_folder(self):
        for name in ('../../x', '/etc/passwd', '..', '', 'ä' * 300):
            path = self.write(test=name, name=name)

            self.assertEqual(pathlib.Path(self.base),
                             path.parent.parent.resolve())

    def test_long_ids_keep_their_end(self):
        path = self.write(test='a' * 500 + '.test_x')

        self.assertTrue(path.parent.name.endswith('.test_x'))

    def test_text_that_is_no_unicode(self):
        self.assertEqual('\\udcff', self.write(text='\udcff').read_text())
