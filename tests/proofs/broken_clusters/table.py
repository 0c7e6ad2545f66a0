# SPDX-License-Identifier: Apache-2.0


"""What was broken, what the report said, and whether it was right. Pure."""

import dataclasses
import re

from magnum_capi_tempest import texts

#: Replaces a verdict if the preflight refused to begin.
NOT_BEGUN = 'not begun'

#: Prefix of the names of nodes: an internal name of their cluster.
_RELEASE = re.compile(r'\bc[0-9a-f]{32}-')

COLUMNS = ('What was broken', 'When', 'Verdict', 'Exit code',
           'What the report says of it', 'Seconds', 'Right')


@dataclasses.dataclass(frozen=True)
class Expected:
    """What a conformance run must report about a broken cluster.

    :param verdicts: right outcomes, possibly NOT_BEGUN.
    :param cause: regular expression of a line that names the cause.
    """

    verdicts: tuple[str, ...]
    cause: str


@dataclasses.dataclass(frozen=True)
class Row:
    """One case.

    :param name: of the case.
    :param broken: what was done to the cluster.
    :param when: "before the run", "during the run".
    :param verdict: an outcome, or NOT_BEGUN.
    :param told: the line of the report that names the cause; empty if there
        is none.
    :param seconds: of the run.
    :param right: whether the verdict is right.
    """

    name: str
    broken: str
    when: str
    verdict: str
    exit_code: int
    told: str
    seconds: float
    right: bool

    @property
    def kept(self) -> bool:
        """Whether the verdict is right and the cause is named."""
        return self.right and bool(self.told)

    def cells(self) -> tuple[str, ...]:
        """Texts of :data:`COLUMNS`."""
        return (self.broken, self.when, self.verdict, str(self.exit_code),
                _RELEASE.sub('', self.told), f'{self.seconds:.0f}',
                'yes' if self.kept else 'no')

    def as_text(self) -> str:
        """For a terminal: two lines."""
        return (f'{self.name}: {self.broken} {self.when}: {self.verdict}, '
                f'exit code {self.exit_code}, {self.seconds:.0f} s\n'
                f'       {self.told or "the report does not name the cause"}')


def row(case, verdict, exit_code, report, seconds) -> Row:
    """The row of a case.

    :param case: has ``name``, ``broken``, ``when``, ``expected``.
    :param report: text of the report.
    """
    return Row(case.name, case.broken, case.when, verdict, exit_code,
               cause(report, case.expected.cause), round(seconds, 1),
               verdict in case.expected.verdicts)


def cause(report, pattern) -> str:
    """The shortest line of a report that names the cause."""
    found = [texts.line(line.strip(' -!#*|'), 300)
             for line in report.splitlines() if re.search(pattern, line)]
    return min(found, key=len, default='')
