# SPDX-License-Identifier: Apache-2.0

"""Classes of tests go to the worker that is free.

stestr distributes the classes among its workers before they begin, by the
durations of earlier runs if there are any, so one worker may still have many
when all others have ended. Here the workers of a run share a folder: each
lists its classes there, and takes one after the other of those of all workers
that nobody has taken.

The longest classes mostly wait, the shortest ones keep processors busy: two
workers of three begin with those, one with these. A class that must run alone
comes last, when nobody waits for it.
"""

import collections
import collections.abc
import csv
import functools
import itertools
import os
import pathlib
import re
from urllib import parse

from magnum_capi import outfile

#: Seconds that tests of the suite took in a sandbox on two cores; those of
#: less than a second are left out. ``python -m tests.suite_durations`` writes
#: it from a recorded run.
TYPICAL = pathlib.Path(__file__).with_name('durations.csv')

#: Seconds of a test that is not in :data:`TYPICAL`.
_SHORT = 0.3

#: Below the shared folder: a file for each worker that has not ended, or was
#: killed; each worker's tests; and a file for each class that is taken, and
#: for each number of a worker.
ALIVE, TESTS, TAKEN = 'alive', 'tests', 'taken'

#: Tempest appends the attributes of a test: ``test_x[id-1234,smoke]``.
_ATTRIBUTES = re.compile(r'(?<=\w)\[[^\[\]]*\]$')


def name_of(test_id: str) -> str:
    """The dotted name of a test, without Tempest's attributes."""
    return _ATTRIBUTES.sub('', test_id)


def class_of(test_id: str) -> str:
    """The dotted name of a test's class."""
    return name_of(test_id).rpartition('.')[0]


@functools.cache
def _typical() -> dict[str, int]:
    """The table of :data:`TYPICAL`: seconds by name."""
    with open(TYPICAL, newline='', encoding='utf-8') as rows:
        return {row['test']: int(row['seconds'])
                for row in csv.DictReader(rows)}


def seconds(ids: collections.abc.Iterable[str]) -> float:
    """Typical seconds of tests, one after the other."""
    return sum(_typical().get(name_of(one), _SHORT) for one in ids)


def make(folder: pathlib.Path) -> None:
    """Make the folders that the workers of a run share, below this one."""
    for name in (ALIVE, TESTS, TAKEN):
        (folder / name).mkdir()


class Pool:
    """The classes of the tests of a run, for one of its workers.

    :param folder: see :func:`make`.
    :param ids: of this worker's tests, with their attributes.
    :param alone: dotted names of the classes during which no other test runs.
    """

    def __init__(self, folder: pathlib.Path,
                 ids: collections.abc.Iterable[str],
                 alone: collections.abc.Container[str] = ()) -> None:
        self._folder = folder
        self._ids = list(ids)
        self._alone = alone

    def __iter__(self) -> collections.abc.Iterator[list[str]]:
        """Take one class after the other: the ids of its tests.

        Ends when all that are listed are taken. Others may be listed later,
        by a worker that runs them itself.
        """
        long_first = next(number for number in itertools.count()
                          if self._is_mine(str(number))) % 3 < 2
        with outfile.whole(self._folder / TESTS / str(os.getpid())) as f:
            f.write('\n'.join(self._ids).encode())
        while taken := self._take(long_first):
            yield taken

    def _take(self, long_first: bool) -> list[str] | None:
        classes = self._listed()
        sign = -1 if long_first else 1
        for key in sorted(classes, key=lambda key: (
                key[1] in self._alone, sign * seconds(classes[key]))):
            # Names of scenarios may have any character.
            if self._is_mine(parse.quote(' '.join(key), safe='')):
                return classes[key]
        return None

    def _is_mine(self, name: str) -> bool:
        """Take something, unless another worker has taken it."""
        try:
            (self._folder / TAKEN / name).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def _listed(self) -> dict[tuple[str, str], list[str]]:
        """Ids of tests by worker and class.

        stestr may give tests of one class to several workers: it depends on
        group_regex in .stestr.conf.
        """
        found = collections.defaultdict(list)
        # Not the drafts of those that are being written.
        for file in sorted((self._folder / TESTS).glob('[0-9]*')):
            for test_id in file.read_text().splitlines():
                found[file.name, class_of(test_id)].append(test_id)
        return found
