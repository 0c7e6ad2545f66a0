# SPDX-License-Identifier: Apache-2.0

"""The answers that releases of Magnum are known to give to invalid input.

``known_answers.csv`` contains measured answers: a line for a field or request
(* for all of its kind), the kind and the value, and a column for the highest
microversion of the releases.
``python -m tests.known_answers`` records it. Pure, except for reading the
file.
"""

import csv
import dataclasses
import pathlib

from magnum_capi import errors
from magnum_capi_tempest.tests.common.negative import bad_input

#: The table that was measured with this suite.
MEASURED = pathlib.Path(__file__).with_name('known_answers.csv')

KEY = ('where', 'kind', 'value')

#: Stands for all fields and requests of a kind.
ANY = '*'


@dataclasses.dataclass(frozen=True)
class KnownAnswers:
    """What one Magnum is known to answer.

    :param statuses: by (where, kind, value).
    """

    statuses: dict[tuple[str, str, str], int]

    def has(self, where, kind, value, answer) -> bool:
        """Return whether Magnum is known to answer like this.

        A known status of 400 or above stands for a refusal with internal
        words, a success status for any success.
        """
        known = self.statuses.get(
            (where, kind, value), self.statuses.get((ANY, kind, value)))
        if known is None:
            return False
        if known < 400:
            return answer.status < 400
        return answer.status == known and (
            known >= 500 or bool(bad_input.tells_inside(answer)))


def read(path, microversion) -> KnownAnswers:
    """Read a table.

    :param microversion: the highest one of a Magnum; selects its column, or
        that of the next lower one. None: the last column.
    :raises UsageError: the file does not exist, or is not such a table.
    """
    try:
        with open(path, newline='', encoding='utf-8') as file:
            heads, *rows = csv.reader(file)
        versions = heads[len(KEY):]
        column = heads.index(_column(versions, microversion))
        return KnownAnswers({
            tuple(row[:len(KEY)]): int(row[column])
            for row in rows if row[column]})
    except (OSError, ValueError, IndexError) as e:
        raise errors.UsageError(
            f'Not a table of known answers: {e}', where=path,
            hint='Record one with: python -m tests.known_answers') from e


def _column(versions, microversion):
    if microversion is None:
        return versions[-1]
    older = [v for v in versions if _number(v) <= _number(microversion)]
    return older[-1] if older else versions[0]


def _number(version):
    return tuple(map(int, version.split('.')))
