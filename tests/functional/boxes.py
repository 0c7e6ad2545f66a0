# SPDX-License-Identifier: Apache-2.0

"""Sandboxes for tests: the real command, in separate folders.

Everything is done with the program ``magnum-capi sandbox``, because these
tests check signals, exit codes and leftovers. The ports are not the default
ones, as a developer's own sandbox may run meanwhile.
"""

import dataclasses
import os
import pathlib
import signal
import subprocess
import sys
import unittest

import fixtures
import testtools

from magnum_capi import waiting
import magnum_capi_sandbox as sandbox
from magnum_capi_tempest import proc
from magnum_capi_tempest import runmarks

PORT_BASE = 23000

#: For tests that take minutes.
LONG = unittest.skipUnless(
    os.environ.get('MAGNUM_CAPI_LONG'), 'MAGNUM_CAPI_LONG is not set')

_COMMAND = [sys.executable, '-m', 'magnum_capi.cli.main', 'sandbox']


@dataclasses.dataclass(frozen=True)
class Ended:
    """The exit code of a command, and its output."""

    code: int
    out: str
    err: str

    @property
    def complaints(self):
        """Lines of standard error other than progress."""
        return [line for line in self.err.splitlines()
                if not line.startswith('[')]


class Box(fixtures.Fixture):
    """A folder for a sandbox; it is taken down at the end.

    :param port_base: first of its ports.
    :param cache: folder of the cache, the user's (warm) one by default.
    """

    def __init__(self, port_base=PORT_BASE, cache=None):
        super().__init__()
        self.port_base = port_base
        self.cache = cache

    def _setUp(self):
        self.base = pathlib.Path(self.useFixture(
            fixtures.TempDir(rootdir='/tmp')).path).resolve()
        for name in ('tmp', 'state'):
            (self.base / name).mkdir()
        self.addCleanup(self.down)
        self.directory = self.base / 'box'
        self.sandbox = sandbox.Box(self.directory)
        self.env = {k: v for k, v in os.environ.items()
                    if not k.startswith('OS_')} | {
            'TMPDIR': str(self.base / 'tmp'),
            'MAGNUM_CAPI_STATE': str(self.base / 'state')}
        if self.cache:
            self.env['MAGNUM_CAPI_CACHE'] = str(self.cache)

    def start(self, verb, *arguments, **kwargs):
        """Start a command; returns its Popen."""
        return subprocess.Popen(
            [*_COMMAND, verb, '--directory', str(self.directory),
             *arguments], env=self.env, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kwargs)

    def call(self, verb, *arguments, timeout=900):
        """Run a command; returns :class:`Ended`."""
        with self.start(verb, *arguments) as process:
            try:
                out, err = process.communicate(timeout=timeout)
            except BaseException:
                process.kill()
                raise
        return Ended(process.returncode, out, err)

    def up(self, *arguments, timeout=900):
        return self.call('up', '--port-base', str(self.port_base),
                         *arguments, timeout=timeout)

    def down(self):
        return self.call('down')

    def pids(self):
        """Process ids of the programs, by name."""
        return {s.name: s.pid for s in self.sandbox.status()}

    def kill(self, program):
        """Kill a program like the kernel's out-of-memory killer."""
        pid = self.pids()[program]
        os.kill(pid, signal.SIGKILL)
        waiting.wait_for(lambda: proc.ended(pid), done=bool,
                         timeout=120, what=f'{program} to be gone')

    def processes(self):
        """Ids of all processes of the sandbox."""
        return runmarks.marked(self.directory)

    def left(self):
        """What exists of it; must be empty after a down."""
        files = [str(p.relative_to(self.base)) for p in self.base.rglob('*')
                 if p not in (self.base / 'tmp', self.base / 'state')]
        return sorted(files) + self.processes()


class TestCase(testtools.TestCase):
    """Attaches the output of commands to a failure."""

    def box(self, **kwargs):
        return self.useFixture(Box(**kwargs))

    def assert_done(self, ended, code=0):
        """Assert the exit code of a command; a failure has its output."""
        self.addDetail('command', testtools.content.text_content(
            f'{ended.out}\n{ended.err}'))
        self.assertEqual(code, ended.code, ended.err[-3000:])

    def assert_one_line(self, code, ended):
        """Assert that an error is one line without a trace; returns it."""
        self.assert_done(ended, code)
        self.assertEqual(1, len(ended.complaints), ended.err)
        self.assertTrue(ended.complaints[0].startswith('magnum-capi: '))
        return ended.complaints[0]

    def assert_nothing_left(self, box):
        self.assertEqual([], box.left())


def shared(cls, *arguments, timeout=900, **kwargs):
    """Bring up one sandbox for all tests of a class, for ``setUpClass``.

    :param timeout: seconds.
    """
    box = Box(**kwargs)
    box.setUp()
    cls.addClassCleanup(box.cleanUp)
    ended = box.up(*arguments, timeout=timeout)
    if ended.code:
        raise AssertionError(ended.err)
    return box
