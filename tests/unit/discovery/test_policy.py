# SPDX-License-Identifier: Apache-2.0

import os
import pathlib

import fixtures
from oslo_config import cfg
import testtools

from magnum_capi.discovery import model
from magnum_capi.discovery import policy
from magnum_capi import errors


class PolicyTestCase(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        for name in list(os.environ):
            if name.startswith('OS_DRIVERS__'):
                self.useFixture(fixtures.EnvironmentVariable(name))

    def write(self, name, text):
        """A file with [drivers]."""
        path = self.base / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'[drivers]\n{text}\n')
        return path


class ReadingTest(PolicyTestCase):

    def read(self, files=(), folders=()):
        return policy.Source(files, folders, search=False).policy()

    def test_nothing_is_given(self):
        self.assertEqual(model.Policy(), self.read())

    def test_mode(self):
        path = self.write('magnum.conf', '[k8s_discovery]\nmode = hibiscus')
        self.assertEqual(model.Policy(mode=model.Mode.HIBISCUS),
                         self.read([str(path)]))

    def test_a_mode_that_is_none(self):
        path = self.write('magnum.conf', '[k8s_discovery]\nmode = lenient')
        e = self.assertRaises(errors.UsageError, self.read, [str(path)])
        self.assertIn('lenient', str(e))

    def test_all_three_options(self):
        path = self.write('magnum.conf', 'default_driver = a\n'
                          'disabled_drivers = b,c\nenabled_beta_drivers=d')

        self.assertEqual(model.Policy('a', frozenset('bc'), frozenset('d')),
                         self.read([path]))

    def test_blanks_around_names_and_blank_names_do_not_count(self):
        path = self.write('magnum.conf', 'default_driver =  a \n'
                          'disabled_drivers = b , ,\n   c,\n'
                          'enabled_beta_drivers = ')

        self.assertEqual(model.Policy('a', frozenset('bc')),
                         self.read([path]))

    def test_a_blank_default_is_none(self):
        self.assertEqual(model.Policy(), self.read(
            [self.write('magnum.conf', 'default_driver =')]))

    def test_later_files_win(self):
        one = self.write('1', 'default_driver = a\ndisabled_drivers = x')
        two = self.write('2', 'default_driver = b')

        self.assertEqual('b', self.read([one, two]).default_driver)
        self.assertEqual('a', self.read([two, one]).default_driver)
        self.assertEqual({'x'}, self.read([one, two]).disabled_drivers)

    def test_folders_win_over_files_and_are_sorted(self):
        path = self.write('magnum.conf', 'default_driver = a')
        self.write('d/20.conf', 'default_driver = c')
        self.write('d/10.conf', 'default_driver = b\ndisabled_drivers = x')
        self.write('d/30.txt', 'default_driver = d')

        self.assertEqual(model.Policy('c', frozenset('x')),
                         self.read([path], [self.base / 'd']))

    def test_the_environment_wins(self):
        path = self.write('magnum.conf', 'default_driver = a')
        self.useFixture(fixtures.EnvironmentVariable(
            'OS_DRIVERS__DEFAULT_DRIVER', 'b'))

        self.assertEqual('b', self.read([path]).default_driver)

    def test_other_options_do_not_matter(self):
        path = self.write('magnum.conf', 'verify_ca = perhaps\n[api]\nx = $y')

        self.assertEqual(model.Policy(), self.read([path]))

    def test_the_global_options_are_left_alone(self):
        before = dict(cfg.CONF)

        self.read([self.write('magnum.conf', 'default_driver = a')])

        self.assertEqual(before, dict(cfg.CONF))

    def test_a_path_with_a_dash_or_a_blank(self):
        path = self.write('-- a b', 'default_driver = a')

        self.assertEqual('a', self.read([path]).default_driver)


class PlacesTest(PolicyTestCase):

    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.EnvironmentVariable(
            'HOME', str(self.base)))

    def test_magnum_finds_its_own(self):
        path = self.write('.magnum/magnum.conf', 'default_driver = a')
        api = self.write('.magnum/magnum-api.conf', 'default_driver = b')
        self.write('.magnum/magnum.conf.d/x.conf', 'disabled_drivers = c')

        source = policy.Source()

        self.assertEqual((str(path), str(api)), source.files)
        self.assertEqual((f'{path}.d',), source.folders)
        self.assertEqual(model.Policy('b', frozenset('c')), source.policy())

    def test_what_is_given_is_not_looked_for(self):
        self.write('.magnum/magnum.conf', 'default_driver = a')
        self.write('.magnum/magnum.conf.d/x.conf', 'disabled_drivers = c')
        mine = self.write('mine.conf', 'default_driver = b')

        self.assertEqual(model.Policy('b', frozenset('c')),
                         policy.Source([mine]).policy())

    def test_home_is_understood(self):
        path = self.write('mine.conf', 'default_driver = b')

        self.assertEqual((str(path),), policy.Source(['~/mine.conf']).files)

    def conf(self, *argv, **kwargs):
        conf = cfg.ConfigOpts()
        conf([*argv], project='magnum', **kwargs)
        return policy.Source.of(conf)

    def test_of_options_that_were_read(self):
        path = self.write('mine.conf', 'default_driver = a')
        self.write('d/x.conf', 'default_driver = b')
        self.write('e/x.conf', 'default_driver = c')

        source = self.conf(
            '--config-file', str(path), '--config-dir', f'{self.base}/d',
            '--config-dir', f'{self.base}/e')

        self.assertEqual((str(path),), source.files)
        self.assertEqual((f'{self.base}/d', f'{self.base}/e'),
                         source.folders)
        self.assertEqual('c', source.policy().default_driver)

    def test_of_options_that_were_found(self):
        path = self.write('.magnum/magnum.conf', 'default_driver = a')
        self.write('.magnum/magnum.conf.d/x.conf', 'disabled_drivers = c')

        source = self.conf()

        self.assertEqual((str(path),), source.files)
        self.assertEqual((f'{path}.d',), source.folders)
        self.assertEqual(model.Policy('a', frozenset('c')), source.policy())

    def test_of_options_of_no_file(self):
        self.write('.magnum/magnum.conf', 'default_driver = a')
        source = self.conf(default_config_files=[], default_config_dirs=[])

        self.assertEqual(((), ()), (source.files, source.folders))
        self.assertEqual(model.Policy(), source.policy())


class FaultsTest(PolicyTestCase):

    def setUp(self):
        super().setUp()
        self.path = self.write('magnum.conf', 'default_driver = a')
        self.source = policy.Source([self.path], search=False)

    def test_a_first_version_that_is_bad(self):
        for content, said in (
                (b'[drivers]\nno option', 'line 2: No \':\' or \'='),
                (b'default_driver = a', 'line 1: Section must be started'),
                (b'[drivers]\ndefault_driver = \xff\xfe\x81',
                 'UnicodeDecodeError')):
            self.path.write_bytes(content)

            error = self.assertRaises(errors.UsageError, self.source.policy)

            self.assertEqual(str(self.path), error.where)
            self.assertIn(said, str(error))
            self.assertEqual(1, len(str(error).splitlines()))

    def test_what_is_in_the_file_is_not_told(self):
        self.path.write_text('[database]\nconnection = x\nsecret')

        error = self.assertRaises(errors.UsageError, self.source.policy)

        self.assertIn('line 3', str(error))
        self.assertNotIn('secret', str(error))

    def test_a_file_that_is_not_there(self):
        source = policy.Source([self.base / 'no'], search=False)

        error = self.assertRaises(errors.UsageError, source.policy)

        self.assertEqual(str(self.base / 'no'), error.where)

    def test_a_folder_that_is_not_there(self):
        source = policy.Source([self.path], [self.base / 'no'], search=False)

        error = self.assertRaises(errors.UsageError, source.policy)

        self.assertEqual(str(self.base / 'no'), error.where)

    def test_a_folder_in_the_place_of_a_file(self):
        (self.base / 'd/x.conf').mkdir(parents=True)
        source = policy.Source([], [self.base / 'd'], search=False)

        error = self.assertRaises(errors.UsageError, source.policy)

        self.assertEqual(str(self.base / 'd/x.conf'), error.where)

    def test_bad_ones_of_different_kinds_are_all_named(self):
        (self.base / 'd/2.conf').mkdir(parents=True)
        (self.base / 'd/1.conf').write_bytes(b'\xff\x81')
        source = policy.Source([self.path], [self.base / 'd'], search=False)

        error = self.assertRaises(errors.UsageError, source.policy)

        self.assertEqual(f'{self.base}/d/1.conf, {self.base}/d/2.conf',
                         error.where)

    def test_the_bad_one_of_several_is_named(self):
        (self.base / 'bad').write_bytes(b'\xff\x81')
        source = policy.Source([self.path, self.base / 'bad'], search=False)

        error = self.assertRaises(errors.UsageError, source.policy)

        self.assertEqual(str(self.base / 'bad'), error.where)

    def test_who_cannot_be_told_is_one_of_all(self):
        path = self.write('other.conf', 'disabled_drivers = $nowhere')
        source = policy.Source([self.path, path], search=False)

        error = self.assertRaises(errors.UsageError, source.policy)

        self.assertEqual(f'{self.path}, {path}', error.where)
