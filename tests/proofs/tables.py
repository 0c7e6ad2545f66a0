# SPDX-License-Identifier: Apache-2.0

"""A proof's output on terminals and in the documentation."""

import csv
import io
import re

from magnum_capi_tempest import texts
from tests.proofs import proof as proof_module

#: Columns of the table of cases.
CASES = ('Part', 'Rows', 'Kept', 'Minutes')

#: Variable parts of texts, and their replacements in tables.
_NEW_EACH_TIME = (
    ('<uuid>', re.compile(r'\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b')),
    ('<release>', re.compile(r'\bc[0-9a-f]{32}\b')),
    # Id of a message to a conductor, or of a project.
    ('<id>', re.compile(r'\b[0-9a-f]{32}\b')),
    ('<address>', re.compile(r'\b127(\.\d+){3}\b(:\d+)?')),
)


def plain(text: str) -> str:
    """A text on one line, without variable parts."""
    for word, pattern in _NEW_EACH_TIME:
        text = pattern.sub(word, text)
    return texts.line(text, 240)


def rows(proof, case, record, results) -> list[proof_module.Row]:
    """Verdicts on the observations in a case.

    :param record: records.Record.
    """
    found = [proof.judge(case, seen, results) for seen in record.seen]
    if not record.ended:
        found.append(_no_end(proof, case, 'interrupted'))
    elif record.problem:
        # The other cases may still be useful.
        found.append(_no_end(proof, case, record.problem))
    return found


def _no_end(proof, case, why):
    cells = case.name, 'the proof itself', why, *('' for _ in proof.columns)
    return proof_module.Row(
        False, f'{case.name}: the proof itself: {why}',
        cells[:len(proof.columns)])


def as_text(proof, row) -> str:
    return f'{proof.words[0 if row.good else 1]:8} {row.text}'


def as_csv(columns, lines) -> str:
    """A table of the documentation."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator='\n')
    writer.writerow(columns)
    writer.writerows(lines)
    return stream.getvalue()


def cases_csv(found) -> str:
    """The durations of cases.

    :param found: pairs of a records.Record and its rows.
    """
    return as_csv(CASES, (
        (record.case, len(its), sum(row.good for row in its),
         f'{record.seconds / 60:.1f}') for record, its in found))


def summary(proof, found) -> str:
    """What ran, when, on which commit and for how long; a line.

    :param found: pairs of a records.Record and its rows.
    """
    its = [row for _record, rows in found for row in rows]
    records = [record for record, _rows in found]
    commits = sorted({r.commit for r in records if r.commit})
    # Based on start times, as cases may have run in parallel.
    times = sorted(r.began[:16].replace('T', ' ') for r in records)
    return (f'{proof.name}: {sum(row.good for row in its)} of {len(its)} '
            f'{proof.words[0]}, {len(records)} cases begun {times[0]} to '
            f'{times[-1]} UTC, {sum(r.seconds for r in records) / 60:.1f} '
            f'minutes in all, commit {", ".join(commits) or "unknown"}')


def changes(proof, rows, recorded: str) -> list[str]:
    """Differences from the results in the documentation, one line each.

    :param rows: of proof.Row.
    :param recorded: the text of the table.
    """
    def pick(line, names):
        return tuple(line[name] for name in names)

    known = {}
    for line in csv.DictReader(io.StringIO(recorded)):
        known.setdefault(pick(line, proof.key), []).append(
            pick(line, proof.compared))
    found = []
    for row in rows:
        if row.cells:
            line = dict(zip(proof.columns, row.cells))
            key, now = pick(line, proof.key), pick(line, proof.compared)
            before = known.get(key)
            if before is None:
                found.append(f'{", ".join(key)}: it is not recorded')
            elif now not in before:
                found.append(f'{", ".join(key)}: recorded '
                             f'{", ".join(before[0])}, now {", ".join(now)}')
    return found
