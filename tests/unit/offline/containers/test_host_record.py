# SPDX-License-Identifier: Apache-2.0

import fcntl
import json
import os
import pathlib

import fixtures
import testtools

from magnum_capi import errors
from tests.unit import strangers
from tools.offline.containers import host_record
from tools.offline.containers import kernel

KEY = 'vm/overcommit_memory'


class HostRecordTest(testtools.TestCase):
    """Engines are locks of this process; see also test_engines."""

    def setUp(self):
        super().setUp()
        base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.top, self.folder = base / 'sys', base / 'run' / 'host'
        (self.top / 'vm').mkdir(parents=True)
        self.set('0')
        for name, value in (('kernel.TOP', self.top),
                            ('host_record.FOLDER', self.folder)):
            self.useFixture(fixtures.MonkeyPatch(
                f'tools.offline.containers.{name}', value))

    def set(self, value):
        (self.top / KEY).write_text(f'{value}\n')

    @property
    def value(self):
        return kernel.read()[KEY]

    def start(self, key):
        """Start an engine; returns what its processes have open."""
        with host_record.joined(key):
            held = os.open(host_record.entry(key), os.O_RDWR)
            fcntl.flock(held, fcntl.LOCK_SH)
        return held

    def test_is_for_its_owner_only(self):
        with host_record.joined('one'):
            self.assertEqual(0o700, self.folder.stat().st_mode & 0o777)
            self.assertEqual(
                {'lock', 'before.json', 'one.engine'},
                {p.name for p in self.folder.iterdir()})
            for path in self.folder.iterdir():
                self.assertEqual(0o600, path.stat().st_mode & 0o777)

    def test_one_that_is_just_being_started_counts(self):
        with host_record.joined('one'):
            self.set('1')
            self.start('two')
            host_record.leave('two')
            self.assertEqual('1', self.value)
        host_record.leave('one')
        self.assertEqual('0', self.value)

    def test_a_command_that_was_killed_at_a_start_does_not_count(self):
        with host_record.joined('one'):
            self.set('1')
        host_record.leave('two')
        self.assertEqual('0', self.value)
        self.assertEqual(['lock'], os.listdir(self.folder))

    def test_what_is_on_its_way_out_does_not_count(self):
        self.start('one')
        self.set('1')
        host_record.leave('one')
        self.assertEqual('0', self.value)

    def test_a_file_without_a_lock_is_no_engine(self):
        held = self.start('one')
        self.set('1')
        os.close(held)
        (self.folder / 'two.engine').write_text(str(os.getpid()))
        host_record.leave('three')
        self.assertEqual('0', self.value)

    def test_what_a_living_engine_found_is_kept(self):
        self.start('one')
        self.set('1')
        self.start('two')
        self.assertEqual('0', json.loads(
            (self.folder / 'before.json').read_text())[KEY])

    def test_a_record_that_cannot_be_read(self):
        for text in ('{', '[1]', '7', '{"vm/overcommit_memory": 7}'):
            held = self.start('one')
            self.set('1')
            (self.folder / 'before.json').write_text(text)
            os.close(held)
            host_record.leave('one')
            self.assertEqual(['lock'], os.listdir(self.folder))

    def test_another_command_that_hangs(self):
        self.useFixture(fixtures.MonkeyPatch(
            'tools.offline.containers.host_record._PATIENCE', 0))
        self.start('one')
        with open(self.folder / 'lock') as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            e = self.assertRaises(errors.WaitTimeout, host_record.leave,
                                  'one')
        self.assertIn(str(self.folder / 'lock'), str(e))

    @strangers.root
    def test_folder_of_another_user(self):
        strangers.give(self.folder.parent)
        e = self.assertRaises(errors.UsageError, self.start, 'one')
        self.assertIn(str(self.folder.parent), str(e))
        self.assertEqual([], list(self.folder.parent.iterdir()))

    @strangers.root
    def test_record_that_another_user_has_made(self):
        self.folder.parent.mkdir()
        strangers.give(self.folder)
        (self.folder / 'before.json').write_text(f'{{"{KEY}": "2"}}')
        self.assertRaises(errors.UsageError, host_record.leave, 'one')
        self.assertEqual('0', self.value)

    def test_links_in_it_are_not_followed(self):
        self.start('one')
        (self.folder / 'two.engine').symlink_to(self.top / KEY)
        self.assertRaises(OSError, self.start, 'two')
