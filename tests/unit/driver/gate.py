# SPDX-License-Identifier: Apache-2.0
"""Slow work without a clock: it stands at a gate until a test opens it."""

import threading

import fixtures

#: Seconds; nobody waits that long.
PATIENCE = 60


class Gate(fixtures.Fixture):
    """Where slow work stands until it is let go on."""

    def _setUp(self):
        self._reached = threading.Event()
        self._opened = threading.Event()
        self.addCleanup(self.open)

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
