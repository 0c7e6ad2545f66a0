# SPDX-License-Identifier: Apache-2.0

import pathlib
import stat

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi import folders
from tests.unit import strangers

HOST = f'0 0 {2**32 - 1}\n'
ME, ROOT, OTHER, UNKNOWN = 1000, 0, 1001, 65534


def way(*steps, exists=True):
    """A way of (path, owner, mode); a folder unless its mode says else."""
    return folders.Way(
        tuple(folders.Step(pathlib.Path(path), owner, mode if
                           stat.S_IFMT(mode) else stat.S_IFDIR | mode)
              for path, owner, mode in steps),
        pathlib.Path(steps[-1][0]), exists)


class UsersTest(testtools.TestCase):

    def test_of_who_became_root_by_sudo(self):
        self.assertEqual(
            folders.Users(frozenset({ROOT, ME}), frozenset({ROOT, ME})),
            folders.users(ROOT, str(ME), HOST, UNKNOWN))

    def test_who_is_not_root_cannot_say_so(self):
        self.assertEqual(
            frozenset({ME}), folders.users(ME, '1001', HOST, UNKNOWN).own)

    def test_folders_above_a_container_have_unknown_owners(self):
        found = folders.users(ROOT, None, '0 1000 1\n1 100000 65536\n',
                              UNKNOWN)
        self.assertEqual(frozenset({ROOT}), found.own)
        self.assertEqual(frozenset({ROOT, UNKNOWN}), found.above)


class ObjectionTest(testtools.TestCase):

    def objection(self, *steps, exists=True):
        return folders.objection(
            way(*steps, exists=exists),
            folders.users(ME, None, HOST, UNKNOWN))

    def test_ours(self):
        self.assertIsNone(self.objection(
            ('/', ROOT, 0o755), ('/home', ROOT, 0o755),
            ('/home/me', ME, 0o775), ('/home/me/box', ME, 0o755)))

    def test_of_another(self):
        self.assertEqual(
            f'/tmp/box belongs to the user {strangers.STRANGER}',
            self.objection(('/tmp', ROOT, 0o1777),
                           ('/tmp/box', strangers.STRANGER, 0o777)))

    def test_above_of_another(self):
        for mode in (0o755, 0o1777):
            self.assertIn('/tmp/his belongs to', self.objection(
                ('/tmp', ROOT, 0o1777), ('/tmp/his', OTHER, mode),
                ('/tmp/his/box', ME, 0o700)))

    def test_above_for_everybody(self):
        self.assertEqual('everybody may write to /open', self.objection(
            ('/open', ROOT, 0o777), ('/open/box', ME, 0o700)))

    def test_for_everybody(self):
        for mode in (0o777, 0o1777):
            self.assertEqual('everybody may write to /box',
                             self.objection(('/box', ME, mode)))

    def test_link(self):
        link = stat.S_IFLNK | 0o777
        self.assertIsNone(self.objection(
            ('/home', ROOT, link), ('/var/home', ROOT, 0o755),
            ('/var/home/box', ME, 0o700)))
        self.assertIn('/tmp/l belongs to', self.objection(
            ('/tmp', ROOT, 0o1777), ('/tmp/l', OTHER, link),
            ('/home/me/box', ME, 0o700)))


class FolderTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path).resolve()

    def refused(self, path, error=errors.UsageError, call=folders.check):
        return str(self.assertRaises(error, call, path))

    def test_path_of_what_is_there_or_not(self):
        (self.base / 'a').mkdir()
        (self.base / 'link').symlink_to('a')
        (self.base / 'root').symlink_to(self.base)
        for path, target in (
                ('a', 'a'), ('link', 'a'), ('link/new/x', 'a/new/x'),
                ('a/../link', 'a'), ('root/link', 'a'),
                ('new/../other', 'other'), ('link/..', '.')):
            self.assertEqual(self.base / target,
                             folders.check(self.base / path), path)

    def test_links_in_a_circle(self):
        (self.base / 'a').symlink_to('b')
        (self.base / 'b').symlink_to('a')
        self.assertIn('Too many levels', self.refused(
            self.base / 'a', errors.EnvironmentProblem))

    def test_made_for_its_owner(self):
        path = folders.make(self.base / 'x' / 'y')
        self.assertEqual(0o700, path.stat().st_mode & 0o777)

    def test_file_in_its_place(self):
        (self.base / 'x').touch()
        for path in ('x', 'x/y'):
            self.assertIn('Cannot use this folder', self.refused(
                self.base / path, errors.EnvironmentProblem, folders.make))

    @strangers.root
    def test_of_another_user(self):
        theirs = strangers.give(self.base / 'x')
        for path in (theirs, theirs / 'new', theirs / '..' / 'x'):
            self.assertIn(f'{theirs} belongs to', self.refused(path))

    @strangers.root
    def test_of_who_called_sudo(self):
        theirs = strangers.give(self.base / 'x', 0o755)
        self.useFixture(fixtures.EnvironmentVariable(
            'SUDO_UID', str(strangers.STRANGER)))
        self.assertEqual(theirs / 'new', folders.make(theirs / 'new'))
