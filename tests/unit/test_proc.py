# SPDX-License-Identifier: Apache-2.0

import subprocess
import sys

import psutil
import testtools

from magnum_capi import waiting
from magnum_capi_tempest import proc


class EndedTest(testtools.TestCase):

    def start(self, *argv):
        process = subprocess.Popen(argv, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def test_nobody_has_asked_for_its_exit_code(self):
        process = self.start('true')
        process.stdout.read()
        waiting.wait_for(lambda: proc.ended(process.pid), done=bool,
                         timeout=60, what='it to end')
        self.assertEqual(psutil.STATUS_ZOMBIE,
                         psutil.Process(process.pid).status())
        process.wait()
        self.assertTrue(proc.ended(process.pid))

    def test_its_first_thread_has_ended_and_another_has_not(self):
        process = self.start(
            sys.executable, '-c', 'import ctypes, sys, threading\n'
            'threading.Thread(target=sys.stdin.read).start()\n'
            'ctypes.CDLL(None).pthread_exit(None)')
        waiting.wait_for(lambda: psutil.Process(process.pid).status(),
                         done=lambda state: state == psutil.STATUS_ZOMBIE,
                         timeout=60, what='its first thread to end')
        self.assertFalse(proc.ended(process.pid))
        process.kill()
        waiting.wait_for(lambda: proc.ended(process.pid), done=bool,
                         timeout=60, what='it to end')
