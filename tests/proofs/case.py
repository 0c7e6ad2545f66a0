# SPDX-License-Identifier: Apache-2.0

"""The base of the tests of proofs."""

import csv
import os
import re
import signal
import sys

import fixtures
import testtools
from testtools import content
from testtools import matchers

from tests import proofs

#: Seconds for one case.
LIMIT = 7200


class ProofTest(testtools.TestCase):
    """A case of a proof: its scenario.

    :cvar port_base: of its sandboxes, as a developer's own may run meanwhile.
    :cvar columns: head of the table of its rows.
    :ivar box: what :meth:`open` returns.
    :ivar results: folder for files.
    """

    port_base = 0
    columns: tuple[str, ...] = ()

    def setUp(self):
        super().setUp()
        # Another exception would not end the cases that follow.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        self.results = proofs.results()
        self._rows = self.results / 'rows' / f'{file_name(self.id())}.csv'
        self._rows.parent.mkdir(mode=0o700, exist_ok=True)
        self._rows.unlink(missing_ok=True)
        _print_to_standard_error(self)
        self.box = self.open()
        self.useFixture(fixtures.Timeout(LIMIT, gentle=True))

    def open(self):
        """Prepare what the case needs; its time is not limited."""

    def judge(self, good: bool, text: str, cells: tuple[str, ...] = ()):
        """Record an observation; if it is not good the test fails at its end.

        :param cells: for :attr:`columns`; empty: no row of the table.
        """
        if cells:
            new = not self._rows.exists()
            with open(self._rows, 'a', newline='', encoding='utf-8') as file:
                writer = csv.writer(file, lineterminator='\n')
                writer.writerows([self.columns, cells] if new else [cells])
        self.addDetailUniqueName('verdict', content.text_content(text))
        self.expectThat(good, matchers.Equals(True), text)


def file_name(test: str) -> str:
    """A file name for the id of a test."""
    return re.sub(r'[^a-z0-9]+', '-', '.'.join(
        test.split('.')[-2:]).lower()).strip('-')[:100]


def _print_to_standard_error(test):
    """What a test and its programs print: standard output is for subunit."""
    def back():
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)

    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    test.addCleanup(back)
