# SPDX-License-Identifier: Apache-2.0
"""Slow work without a clock: it stands at a gate until a test opens it."""

import threading

import fixtures

from magnum_capi.driver import deadline

#: Seconds; nobody waits that long.
PATIENCE = 60


class Gate(fixtures.Fixture):
    """The caller that waits for an answer leaves once the work is here."""

    def _setUp(self):
        self._reached = threading.Event()
        self._opened = threading.Event()
        self.addCleanup(self.open)
        self.useFixture(fixtures.MockPatchObject(
            deadline.Deadline, '_wait_for', self._until_reached))

    def _until_reached(self, result):
        # Work that fails before it comes here has ended, too.
        result.add_done_callback(lambda result: self._reached.set())
        self._reached.wait(PATIENCE)

    def stand(self, *args):
        """What the work does that is slow."""
        self._reached.set()
        self._opened.wait(PATIENCE)

    def wait(self):
        """Wait until the work stands at the gate."""
        self._reached.wait(PATIENCE)

    def open(self):
        """Let the work go on."""
        self._opened.set()
