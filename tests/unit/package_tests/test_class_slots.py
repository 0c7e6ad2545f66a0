# SPDX-License-Identifier: Apache-2.0

"""Who must be alone, and who waits for whom."""

import subprocess
import sys
import types
import unittest

import fixtures
from tempest.lib import decorators
import testtools

from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import class_slots
from tests.unit.package_tests import test_base

#: Exits with 0 when the lock is free, as another worker finds it.
TRY = '''
from oslo_concurrency import lockutils
import sys
lock = lockutils.external_lock(sys.argv[1], lock_path=sys.argv[2])
sys.exit(0 if lock.acquire(blocking=False) else 3)
'''


class Recorder:
    """A lock that remembers, with all others, what was done to it."""

    def __init__(self, name, events):
        self.name, self.events = name, events

    def __getattr__(self, done):
        return lambda: self.events.append(f'{done} {self.name}')


class NoCredentials(Exception):
    pass


def a_class(serial, lock):
    """Return a class of tests, without a cloud. No loader finds it."""

    class OneTest(base.BaseMagnumCapiTest):

        serial_rw_lock = lock

        @classmethod
        def setup_credentials(cls):
            raise NoCredentials

        def runTest(self):
            pass

    return decorators.serial(OneTest) if serial else OneTest


class OrderTest(testtools.TestCase):

    def events(self, serial, available=True):
        events = []
        conf = types.SimpleNamespace(
            service_available=test_base.Options(magnum_capi=available),
            magnum_capi=test_base.Options(
                image_id='i', flavor_id='f', external_network='n'))
        for module in ('base', 'flags'):
            self.useFixture(fixtures.MonkeyPatch(
                f'magnum_capi_tempest.tests.common.{module}.CONF', conf))
        self.useFixture(fixtures.MonkeyPatch(
            'oslo_concurrency.lockutils.external_lock',
            lambda name, lock_path: Recorder('turnstile', events)))
        self.assertRaises(
            NoCredentials if available else unittest.SkipTest,
            a_class(serial, Recorder('lock', events)).setUpClass)
        return events

    def test_others_go_through_and_read(self):
        self.assertEqual(
            ['acquire turnstile', 'release turnstile',
             'acquire_read_lock lock', 'release_read_lock lock'],
            self.events(serial=False))

    def test_serial_ones_keep_it_closed_until_they_write(self):
        self.assertEqual(
            ['acquire turnstile', 'acquire_write_lock lock',
             'release turnstile', 'release_write_lock lock'],
            self.events(serial=True))

    def test_serial_ones_that_are_skipped_wait_for_nobody(self):
        self.assertEqual([], self.events(serial=True, available=False))


class ProcessesTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = self.useFixture(fixtures.TempDir()).path
        self.useFixture(fixtures.MonkeyPatch(
            'oslo_concurrency.lockutils.get_lock_path',
            lambda conf: self.folder))
        self.addCleanup(class_slots.reopen)

    def is_open(self):
        code = subprocess.run(
            [sys.executable, '-c', TRY, class_slots.NAME, self.folder],
            check=False).returncode
        self.assertIn(code, (0, 3))
        return code == 0

    def test_closed_for_others(self):
        class_slots.close()
        self.assertFalse(self.is_open())

        class_slots.reopen()
        self.assertTrue(self.is_open())

    def test_open_after_somebody_went_through(self):
        class_slots.pass_through()

        self.assertTrue(self.is_open())
