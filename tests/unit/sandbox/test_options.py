# SPDX-License-Identifier: Apache-2.0

import os
import pathlib

import fixtures
from oslo_config import cfg
import testtools

from magnum_capi import errors
from magnum_capi_sandbox import options


class _Base(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path).resolve()
        self.folder = self.base / 'magnum.d'
        self.folder.mkdir()

    def file(self, name, content=b'[drivers]\ndefault_driver = a\n'):
        path = self.base / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        return path

    def default_driver(self):
        """What Magnum would read in the folder."""
        conf = cfg.ConfigOpts()
        conf.register_opt(cfg.StrOpt('default_driver'), group='drivers')
        conf(['--config-dir', str(self.folder)], default_config_files=[],
             default_config_dirs=[])
        return conf.drivers.default_driver


class CheckTest(_Base):

    def test_a_good_one(self):
        self.assertEqual(self.base / 'a.conf',
                         options.check(self.file('a.conf')))

    def test_bad_ones_are_named_in_one_line(self):
        for content in (b'no section\n', b'[a\n', b'[a]\nno value\n',
                        b'\xff\xfe', b'[a]\n = 1\n'):
            with self.subTest(repr(content)):
                path = self.file('bad.conf', content)
                e = self.assertRaises(errors.UsageError, options.check, path)
                self.assertIn(str(path), str(e))
                self.assertNotIn('\n', str(e))

    def test_missing(self):
        for path in (self.base, self.base / 'missing'):
            self.assertRaises(errors.UsageError, options.check, path)


class CopyTest(_Base):

    def test_later_ones_win(self):
        options.copy([self.file('z.conf', b'[drivers]\ndefault_driver=1\n'),
                      self.file('a.conf', b'[drivers]\ndefault_driver=2\n')],
                     self.folder)
        self.assertEqual({'10-z.conf', '11-a.conf'},
                         set(os.listdir(self.folder)))
        self.assertEqual('2', self.default_driver())

    def test_private_and_plainly_named(self):
        options.copy([self.file('.é a;b.conf')], self.folder)
        path, = self.folder.iterdir()
        self.assertEqual(0o600, path.stat().st_mode & 0o777)
        self.assertRegex(path.name, r'^10-[\w-]+\.conf$')
        self.assertEqual('a', self.default_driver())

    def test_sets_come_after_as_many_as_there_may_be(self):
        options.copy([self.file('a.conf')] * 80, self.folder)
        options.change(self.folder, ['drivers.default_driver=set'])
        self.assertEqual('set', self.default_driver())
        self.assertRaises(errors.UsageError, options.copy,
                          [self.file('a.conf')] * 81, self.folder)


class AddTest(_Base):

    def test_the_users_files_win(self):
        options.add({('drivers', 'default_driver'): 'b',
                     ('nova_client', 'api_version'): '2.15'}, self.folder)
        self.assertEqual('b', self.default_driver())
        self.assertEqual('2.15', options.value(
            self.folder, 'nova_client', 'api_version'))
        options.copy([self.file('a.conf')], self.folder)
        self.assertEqual('a', self.default_driver())


class ChangesTest(testtools.TestCase):

    def test_words(self):
        self.assertEqual(
            {('drivers', 'default_driver'): 'a=b',
             ('oslo.x', 'y'): '', ('DEFAULT', 'z-z'): 'c d'},
            options.changes(['drivers.default_driver=a=b', 'oslo.x.y=',
                             'DEFAULT.z-z= c d ']))

    def test_bad_words(self):
        for word in ('', 'a', 'a.b', 'a=b', '.b=1', 'a.=1', 'a b.c=1',
                     'a].b=1', 'a.b=1\n[c]', 'a.b=\0', '#a.b=1'):
            with self.subTest(repr(word)):
                e = self.assertRaises(errors.UsageError, options.changes,
                                      ['a.b=1', word])
                self.assertIn(repr(word), str(e))


class ChangeTest(_Base):

    def text(self):
        return (self.folder / '90-set.conf').read_text()

    def test_changes_are_added_up(self):
        options.change(self.folder, ['a.b=1', 'a.c=2'])
        options.change(self.folder, ['a.b=3', 'DEFAULT.D=4'])
        self.assertEqual('[a]\nc = 2\nb = 3\n\n[DEFAULT]\nD = 4\n\n',
                         self.text())

    def test_an_empty_value_takes_back(self):
        options.change(self.folder, ['a.b=1', 'c.d=2'])
        options.change(self.folder, ['a.b=', 'e.f='])
        self.assertEqual('[c]\nd = 2\n\n', self.text())

    def test_magnum_reads_values_as_they_were_given(self):
        for value in ('x', 'a;b #c', '50%', 'ä', '[x]', 'a = b', ':'):
            with self.subTest(value):
                options.change(self.folder,
                               [f'drivers.default_driver={value}'])
                self.assertEqual(value, self.default_driver())

    def test_private(self):
        options.change(self.folder, ['a.b=1'])
        self.assertEqual(0o600, (
            self.folder / '90-set.conf').stat().st_mode & 0o777)
        self.assertEqual(['90-set.conf'], os.listdir(self.folder))

    def test_a_bad_word_changes_nothing(self):
        options.change(self.folder, ['a.b=1'])
        before = self.text()
        self.assertRaises(errors.UsageError, options.change, self.folder,
                          ['a.b=2', 'c'])
        self.assertEqual(before, self.text())

    def test_file_that_somebody_else_has_spoilt(self):
        (self.folder / '90-set.conf').write_text('spoilt\n')
        e = self.assertRaises(errors.UsageError, options.change,
                              self.folder, ['a.b=1'])
        self.assertIn('90-set.conf', str(e))
        self.assertNotIn('\n', str(e))
        self.assertEqual('spoilt\n', self.text())
