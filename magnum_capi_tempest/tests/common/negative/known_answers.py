# SPDX-License-Identifier: Apache-2.0

"""The answers that releases of Magnum are known to give to invalid input.

``known_answers.csv`` contains measured answers: a line for a field or request
(* for all of its kind), the kind and the value, and a column for the highest
microversion of the releases.
``python -m tests.known_answers`` records it. Pure, except for reading the
file.
"""

import csv
import pathlib

from magnum_capi import errors
from magnum_capi_tempest import promises
from magnum_capi_tempest.tests.common.negative import bad_input

#: The table that was measured with this suite.
MEASURED = pathlib.Path(__file__).with_name('known_answers.csv')

KEY = ('where', 'kind', 'value')
Key = tuple[str, str, str]

#: Stands for all fields and requests of a kind.
ANY = '*'


def is_known(statuses: dict[Key, int], where: str, kind: str, value: str,
             answer: bad_input.Answer) -> bool:
    """Return whether a Magnum is known to answer like this.

    A known status of 400 or above stands for a refusal with internal words, a
    success status for any success.

    :param statuses: see :func:`read`.
    """
    known = statuses.get(
        (where, kind, value), statuses.get((ANY, kind, value)))
    if known is None:
        return False
    if known < 400:
        return answer.status < 400
    return answer.status == known and (
        known >= 500 or bool(bad_input.tells_inside(answer)))


def read(path: pathlib.Path, microversion: str | None) -> dict[Key, int]:
    """Return what one Magnum is known to answer.

    :param microversion: the highest one of it; selects its column, or that of
        the next lower one. None: the last column.
    :raises UsageError: see :func:`columns`.
    """
    found = columns(path)
    return found[_column([*found], microversion)]


def columns(path: pathlib.Path) -> dict[str, dict[Key, int]]:
    """Read a table: statuses by microversion and (where, kind, value).

    :raises UsageError: the file does not exist, or is not such a table.
    """
    try:
        with open(path, newline='', encoding='utf-8') as file:
            heads, *rows = csv.reader(file)
        versions = heads[len(KEY):]
        if heads != [*KEY, *versions] or not versions:
            raise ValueError(f'its first line is {heads}')
        return {
            version: {(row[0], row[1], row[2]): int(row[number])
                      for row in rows if row[number]}
            for number, version in enumerate(versions, len(KEY))}
    except (OSError, ValueError, IndexError) as e:
        raise errors.UsageError(
            f'Not a table of known answers: {e}', where=str(path),
            hint='Record one with: python -m tests.known_answers') from e


def _column(versions: list[str], microversion: str | None) -> str:
    if microversion is None:
        return versions[-1]
    older = [v for v in versions
             if promises.number(v) <= promises.number(microversion)]
    return older[-1] if older else versions[0]
