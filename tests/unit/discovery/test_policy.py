# SPDX-License-Identifier: Apache-2.0

import os
import pathlib
import threading
import time
from unittest import mock

import fixtures
from oslo_config import cfg
import testtools

from magnum_capi.discovery import model
from magnum_capi.discovery import policy
from magnum_capi import errors
from magnum_capi import waiting
from tests.unit import fake_clock


class PolicyTestCase(testtools.TestCase):

    def setUp(self):
        super().setUp()
        # All files of tests are young.
        self.useFixture(fixtures.MockPatchObject(
            policy, '_SETTLE', waiting.Pace(0.001, 1.0, 0.001)))
        self.base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.log = self.useFixture(fixtures.FakeLogger(
            policy.LOG.name, format='%(levelname)s %(message)s'))
        for name in list(os.environ):
            if name.startswith('OS_DRIVERS__'):
                self.useFixture(fixtures.EnvironmentVariable(name))

    def write(self, name, text, age=60):
        """A file with [drivers], changed ``age`` seconds ago."""
        path = self.base / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'[drivers]\n{text}\n')
        then = time.time() - age
        os.utime(path, (then, then))
        return path

    def errors_logged(self):
        return [line for line in self.log.output.splitlines()
                if line.startswith('ERROR')]


class ReadingTest(PolicyTestCase):

    def read(self, files=(), folders=()):
        return policy.Source(files, folders, search=False).current()

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
        self.assertEqual(model.Policy('b', frozenset('c')), source.current())

    def test_what_is_given_is_not_looked_for(self):
        self.write('.magnum/magnum.conf', 'default_driver = a')
        self.write('.magnum/magnum.conf.d/x.conf', 'disabled_drivers = c')
        mine = self.write('mine.conf', 'default_driver = b')

        self.assertEqual(model.Policy('b', frozenset('c')),
                         policy.Source([mine]).current())

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
        self.assertEqual('c', source.current().default_driver)

    def test_of_options_that_were_found(self):
        path = self.write('.magnum/magnum.conf', 'default_driver = a')
        self.write('.magnum/magnum.conf.d/x.conf', 'disabled_drivers = c')

        source = self.conf()

        self.assertEqual((str(path),), source.files)
        self.assertEqual((f'{path}.d',), source.folders)
        self.assertEqual(model.Policy('a', frozenset('c')), source.current())

    def test_of_options_of_no_file(self):
        self.write('.magnum/magnum.conf', 'default_driver = a')
        source = self.conf(default_config_files=[], default_config_dirs=[])

        self.assertEqual(((), ()), (source.files, source.folders))
        self.assertEqual(model.Policy(), source.current())


class ChangesTest(PolicyTestCase):

    def setUp(self):
        super().setUp()
        self.path = self.write('magnum.conf', 'default_driver = a')
        self.write('d/1.conf', 'disabled_drivers = x')
        self.source = policy.Source([self.path], [self.base / 'd'],
                                    search=False)

    def test_no_change_is_the_same_object_and_no_reading(self):
        self.useFixture(fixtures.MockPatchObject(policy, '_YOUNG_NS', 0))
        before = self.source.current()

        with mock.patch.object(cfg, 'ConfigOpts', side_effect=AssertionError):
            for _ in range(3):
                self.assertIs(before, self.source.current())

    def test_a_file_is_written(self):
        self.source.current()
        self.write('magnum.conf', 'default_driver = bb')

        self.assertEqual('bb', self.source.current().default_driver)

    def seen_when(self, age):
        """What is read of a file that changes twice in one tick.

        :param age: nanoseconds of the first change when it is read.
        """
        source = policy.Source([self.path], [self.base / 'd'], search=False)
        now = time.time_ns()
        # And with as many bytes, and the time that a copy brings along.
        stamp = (now - age, now - 10 ** 12, 1, 1)
        with mock.patch.object(
                policy, '_stamp', lambda paths: (stamp,) * len(paths)), \
                mock.patch.object(time, 'time_ns', return_value=now):
            for name in 'bc':
                self.write('magnum.conf', f'default_driver = {name}')
                yield source.current().default_driver

    def test_a_change_that_cannot_be_told_from_the_one_before(self):
        for age in (0, 10_000_000, -10_000_000, 49_999_999, -49_999_999):
            self.assertEqual(['b', 'c'], list(self.seen_when(age)), age)

    def test_what_has_not_changed_for_a_while_is_not_read_again(self):
        for age in (50_000_000, 1_000_000_000, -50_000_000):
            self.assertEqual(['b', 'b'], list(self.seen_when(age)), age)

    def test_a_file_that_is_being_written_is_waited_for(self):
        self.write('magnum.conf', 'disabled_drivers = off')
        self.source = policy.Source([self.path], search=False)
        self.source.current()
        steps = [lambda: self.path.write_text('[drivers]\n'),
                 lambda: self.write('magnum.conf', 'disabled_drivers = off,b')]
        self.path.write_text('')

        with mock.patch.object(time, 'sleep', lambda seconds: (
                steps and steps.pop(0)())):
            found = self.source.current()

        self.assertEqual({'off', 'b'}, found.disabled_drivers)
        self.assertEqual([], steps)

    def test_a_file_that_is_written_for_ever_changes_nothing(self):
        before = self.source.current()
        clock = fake_clock.FakeClock()
        policy._SETTLE = waiting.Pace(0.05, 1.0, 0.05)
        written = []

        def write(seconds):
            clock.sleep(seconds)
            written.append(seconds)
            self.write('magnum.conf', f'default_driver = {"x" * len(written)}')

        write(0)
        with mock.patch.object(time, 'sleep', write), \
                mock.patch.object(time, 'monotonic', clock.monotonic):
            self.assertIs(before, self.source.current())
        self.assertEqual(1.0, round(sum(written), 3))
        self.assertEqual('x' * len(written),
                         self.source.current().default_driver)

    def test_a_file_is_replaced(self):
        self.source.current()
        new = self.write('new', 'default_driver = b')
        new.rename(self.path)

        self.assertEqual('b', self.source.current().default_driver)

    def test_a_file_in_a_folder_is_written(self):
        self.source.current()
        self.write('d/1.conf', 'disabled_drivers = y')

        self.assertEqual({'y'}, self.source.current().disabled_drivers)

    def test_a_file_in_a_folder_is_new_and_then_written(self):
        self.source.current()
        self.write('d/2.conf', 'disabled_drivers = y')
        self.assertEqual({'y'}, self.source.current().disabled_drivers)
        self.write('d/2.conf', 'disabled_drivers = z')
        self.assertEqual({'z'}, self.source.current().disabled_drivers)

    def test_a_file_in_a_folder_is_removed(self):
        self.source.current()
        (self.base / 'd/1.conf').unlink()

        self.assertEqual(frozenset(), self.source.current().disabled_drivers)

    def test_a_file_becomes_another_through_a_link(self):
        # As in a volume of a Kubernetes ConfigMap.
        self.write('v1/m.conf', 'default_driver = a')
        self.write('v2/m.conf', 'default_driver = b')
        (self.base / 'data').symlink_to('v1')
        source = policy.Source([self.base / 'data/m.conf'], search=False)
        source.current()
        (self.base / 'new').symlink_to('v2')
        (self.base / 'new').rename(self.base / 'data')

        self.assertEqual('b', source.current().default_driver)

    def test_whatever_changes_of_a_file_is_a_change(self):
        self.useFixture(fixtures.MockPatchObject(policy, '_YOUNG_NS', 0))
        before = dict(st_ctime_ns=1, st_mtime_ns=1, st_size=1, st_ino=1)
        for name in before:
            self.write('magnum.conf', 'default_driver = before')
            source = policy.Source([self.path], search=False)
            with mock.patch.object(os, 'stat',
                                   return_value=mock.Mock(**before)):
                source.current()
            self.write('magnum.conf', f'default_driver = {name}')
            with mock.patch.object(os, 'stat', return_value=mock.Mock(
                    **before | {name: 2})):
                self.assertEqual(name, source.current().default_driver)

    def test_a_change_of_other_options_is_no_new_policy(self):
        before = self.source.current()
        self.write('magnum.conf', 'default_driver = a\nother = 1')

        self.assertIs(before, self.source.current())


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

            error = self.assertRaises(errors.UsageError, self.source.current)

            self.assertEqual(str(self.path), error.where)
            self.assertIn(said, str(error))
            self.assertEqual(1, len(str(error).splitlines()))

    def test_what_is_in_the_file_is_not_told(self):
        self.path.write_text('[database]\nconnection = x\nsecret')

        error = self.assertRaises(errors.UsageError, self.source.current)

        self.assertIn('line 3', str(error))
        self.assertNotIn('secret', str(error))

    def test_a_file_that_is_not_there(self):
        source = policy.Source([self.base / 'no'], search=False)

        error = self.assertRaises(errors.UsageError, source.current)

        self.assertEqual(str(self.base / 'no'), error.where)

    def test_a_folder_that_is_not_there(self):
        source = policy.Source([self.path], [self.base / 'no'], search=False)

        error = self.assertRaises(errors.UsageError, source.current)

        self.assertEqual(str(self.base / 'no'), error.where)

    def test_a_folder_in_the_place_of_a_file(self):
        (self.base / 'd/x.conf').mkdir(parents=True)
        source = policy.Source([], [self.base / 'd'], search=False)

        error = self.assertRaises(errors.UsageError, source.current)

        self.assertEqual(str(self.base / 'd/x.conf'), error.where)

    def test_bad_ones_of_different_kinds_are_all_named(self):
        (self.base / 'd/2.conf').mkdir(parents=True)
        (self.base / 'd/1.conf').write_bytes(b'\xff\x81')
        source = policy.Source([self.path], [self.base / 'd'], search=False)

        error = self.assertRaises(errors.UsageError, source.current)

        self.assertEqual(f'{self.base}/d/1.conf, {self.base}/d/2.conf',
                         error.where)

    def test_the_bad_one_of_several_is_named(self):
        (self.base / 'bad').write_bytes(b'\xff\x81')
        source = policy.Source([self.path, self.base / 'bad'], search=False)

        error = self.assertRaises(errors.UsageError, source.current)

        self.assertEqual(str(self.base / 'bad'), error.where)

    def test_who_cannot_be_told_is_one_of_all(self):
        path = self.write('other.conf', 'disabled_drivers = $nowhere')
        source = policy.Source([self.path, path], search=False)

        error = self.assertRaises(errors.UsageError, source.current)

        self.assertEqual(f'{self.path}, {path}', error.where)

    def test_a_bad_start_can_be_mended(self):
        self.path.write_text('bad')
        self.assertRaises(errors.UsageError, self.source.current)
        self.write('magnum.conf', 'default_driver = b')

        self.assertEqual('b', self.source.current().default_driver)

    def test_a_later_version_that_is_bad_is_not_used_and_told_once(self):
        before = self.source.current()
        self.path.write_text('bad')

        for _ in range(5):
            self.assertIs(before, self.source.current())

        line, = self.errors_logged()
        self.assertIn(str(self.path), line)

    def test_a_bad_version_is_not_read_again(self):
        self.useFixture(fixtures.MockPatchObject(policy, '_YOUNG_NS', 0))
        self.source.current()
        self.path.write_text('bad')
        self.source.current()

        with mock.patch.object(cfg, 'ConfigOpts', side_effect=AssertionError):
            self.source.current()

    def test_a_file_that_went_is_told_once_and_again_when_it_went_again(self):
        before = self.source.current()
        for _ in range(2):
            self.path.unlink()
            for _ in range(3):
                self.assertIs(before, self.source.current())
            self.write('magnum.conf', 'default_driver = a')
            self.assertIs(before, self.source.current())

        self.assertEqual(2, len(self.errors_logged()))

    def test_another_fault_is_told(self):
        self.source.current()
        self.path.write_text('bad')
        self.source.current()
        self.path.write_text('[drivers]\nworse')
        self.source.current()

        self.assertEqual(2, len(self.errors_logged()))

    def test_a_mended_version_is_used(self):
        self.source.current()
        self.path.write_text('bad')
        self.source.current()
        self.write('magnum.conf', 'default_driver = b')

        self.assertEqual('b', self.source.current().default_driver)


class ThreadsTest(PolicyTestCase):

    def test_who_comes_while_it_is_read_gets_the_one_before(self):
        path = self.write('magnum.conf', 'default_driver = a')
        source = policy.Source([path], search=False)
        before = source.current()
        self.write('magnum.conf', 'default_driver = b')
        reading, go_on = threading.Event(), threading.Event()
        read = source._read

        def slowly():
            reading.set()
            go_on.wait(10)
            return read()

        with mock.patch.object(source, '_read', slowly):
            other = threading.Thread(target=source.current)
            other.start()
            self.addCleanup(other.join)
            self.addCleanup(go_on.set)
            self.assertTrue(reading.wait(10))
            self.assertIs(before, source.current())
            go_on.set()
            other.join(60)

        self.assertEqual('b', source.current().default_driver)

    def test_the_first_reading_is_waited_for(self):
        path = self.write('magnum.conf', 'default_driver = a')
        source = policy.Source([path], search=False)
        reads, read, found = [], source._read, []

        def counted():
            reads.append(1)
            return read()

        with mock.patch.object(source, '_read', counted), \
                mock.patch.object(policy, '_YOUNG_NS', 0):
            with source._lock:
                threads = [threading.Thread(
                    target=lambda: found.append(source.current()))
                    for _ in range(4)]
                for thread in threads:
                    thread.start()
            for thread in threads:
                thread.join(60)

        self.assertEqual([model.Policy('a')] * 4, found)
        self.assertEqual(1, len(reads))
