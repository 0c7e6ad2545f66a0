# SPDX-License-Identifier: Apache-2.0

"""A clock for tests that wait: it jumps instead of sleeping."""


class FakeClock:
    """Time that passes only when somebody sleeps; naps are kept."""

    def __init__(self):
        self.now = 0.0
        self.naps = []

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.naps.append(seconds)
        self.now += seconds
