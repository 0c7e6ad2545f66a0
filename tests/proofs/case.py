# SPDX-License-Identifier: Apache-2.0

"""The base of the tests of proofs."""

import csv
import re
import signal

import fixtures
import testtools
from testtools import content
from testtools import matchers

from tests import proofs
from tests.proofs import boxes

#: Seconds for one case.
LIMIT = 7200


class ProofTest(testtools.TestCase):
    """A case of a proof: its scenario.

    :cvar kind: class of the sandbox that all cases have in common, if any.
    :cvar columns: head of the table of its rows.
    :ivar box: object of ``kind``.
    :ivar results: folder for files.
    """

    kind: type[boxes.Box] | None = None
    columns: tuple[str, ...] = ()

    def setUp(self):
        super().setUp()
        # Another exception would not end the cases that follow.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        # Standard output is for subunit.
        self.enterContext(proofs.printing_to(2))
        self.results = proofs.results()
        self._rows = self.results / 'rows' / f'{file_name(self.id())}.csv'
        self._rows.parent.mkdir(mode=0o700, exist_ok=True)
        self._rows.unlink(missing_ok=True)
        self.open()
        self.useFixture(fixtures.Timeout(LIMIT, gentle=True))

    def open(self):
        """Prepare what the case needs; its time is not limited."""
        if self.kind:
            self.box = boxes.attached(self.kind)

    def judge(self, good: bool, cells: tuple[str, ...] = (), text: str = ''):
        """Record an observation; if it is not good the test fails at its end.

        :param cells: for :attr:`columns`; empty: no row of the table.
        :param text: what is not in the table.
        """
        if cells:
            new = not self._rows.exists()
            with open(self._rows, 'a', newline='', encoding='utf-8') as file:
                writer = csv.writer(file, lineterminator='\n')
                writer.writerows([self.columns, cells] if new else [cells])
        lines = [f'{column}: {cell}'
                 for column, cell in zip(self.columns, cells)]
        text = '\n'.join([*lines, text] if text else lines)
        self.addDetailUniqueName('verdict', content.text_content(text))
        self.expectThat(good, matchers.Equals(True), text)


def file_name(test: str) -> str:
    """A file name for the id of a test."""
    return re.sub(r'[^a-z0-9]+', '-', '.'.join(
        test.split('.')[-2:]).lower()).strip('-')[:100]
