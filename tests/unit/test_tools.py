# SPDX-License-Identifier: Apache-2.0

"""What the scripts in tools do to a machine, and undo however they end."""

import os
import pathlib
import signal
import subprocess

import fixtures
import testtools

from magnum_capi import waiting

LIBRARY = pathlib.Path(__file__).parents[2] / 'tools' / 'lib.sh'
#: Exit codes of policy-rc.d(8).
ALLOWED, FORBIDDEN = 0, 101


class StartsTest(testtools.TestCase):
    """Debian starts no server while a package is installed."""

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.policy = self.folder / 'policy-rc.d'

    def install(self, *command):
        """Start what installs, a subprocess.Popen of its own group."""
        program = subprocess.run(
            ['bash', '-c', f'source {LIBRARY}; printf %s "$WITHOUT_STARTS"'],
            capture_output=True, text=True, check=True).stdout
        started = subprocess.Popen(
            ['sh', '-c', program, 'sh', self.policy, *command],
            start_new_session=True, stdin=subprocess.DEVNULL)
        self.addCleanup(started.wait)
        return started

    def asked(self):
        """Return what invoke-rc.d would be told."""
        return subprocess.run([self.policy, 'x', 'start'],
                              check=False).returncode

    def start_and_wait(self):
        ready = self.folder / 'ready'
        started = self.install(
            'sh', '-c', f'touch {ready}; exec sleep 60')
        waiting.wait_for(ready.exists, done=bool, timeout=10, what='ready')
        return started

    def test_none_is_started_meanwhile(self):
        command = self.folder / 'command'
        command.write_text(f'{self.policy} x start; echo $? > {command}.out')

        self.assertEqual(0, self.install('sh', command).wait(10))

        self.assertEqual(
            str(FORBIDDEN), (self.folder / 'command.out').read_text().strip())
        self.assertFalse(self.policy.exists())

    def test_the_exit_code_is_that_of_the_command(self):
        self.assertEqual(7, self.install('sh', '-c', 'exit 7').wait(10))

    def test_one_that_is_killed_forbids_nothing_afterwards(self):
        started = self.start_and_wait()
        self.assertEqual(FORBIDDEN, self.asked())

        os.killpg(started.pid, signal.SIGKILL)
        started.wait()

        self.assertEqual(ALLOWED, self.asked())
        self.assertFalse(self.policy.exists())

    def test_one_that_is_ended_cleans_up(self):
        started = self.start_and_wait()

        os.killpg(started.pid, signal.SIGTERM)
        started.wait(10)

        self.assertFalse(self.policy.exists())

    def test_what_a_killed_one_left_is_used_again(self):
        started = self.start_and_wait()
        os.killpg(started.pid, signal.SIGKILL)
        started.wait()

        self.install('true').wait(10)

        self.assertFalse(self.policy.exists())

    def test_a_policy_of_others_stays(self):
        self.policy.write_text('#!/bin/sh\nexit 101\n')

        self.install('true').wait(10)

        self.assertEqual('#!/bin/sh\nexit 101\n', self.policy.read_text())
