# SPDX-License-Identifier: Apache-2.0

"""Reads and checks the tables of bugs and defects."""

import dataclasses
import pathlib
import re
import tomllib

UNIT = 'tests.unit'
FUNCTIONAL = 'tests.functional'
TEMPEST = 'magnum_capi_tempest.tests'

#: Keys of both tables, and prefixes for the names of tests.
_PLACES = {'unit': UNIT, 'functional': FUNCTIONAL, 'tempest': TEMPEST}

_HERE = pathlib.Path(__file__).parent


@dataclasses.dataclass(frozen=True)
class Bug:
    """A bug of a driver.

    :param id: a letter for the driver and a number, such as H1.
    :param title: a few words.
    :param wrong: what another driver does.
    :param here: what ours does instead.
    :param tests: ids of unittest.
    :param unseen: why there is no test through the REST API; empty when
        there is one.
    """

    id: str
    title: str
    wrong: str
    here: str
    tests: tuple[str, ...]
    unseen: str = ''

    @property
    def tempest(self):
        """Ids of its tests through the REST API."""
        return tuple(test for test in self.tests
                     if test.startswith(f'{TEMPEST}.'))


@dataclasses.dataclass(frozen=True)
class Defect:
    """A change that injects a bug into our driver.

    :param bug: id of the Bug.
    :param what: what the driver does then.
    :param file: path below the folder that is changed.
    :param old: lines that occur once.
    :param new: lines that replace them.
    :param tests: ids of unittest; each must fail.
    :param hangs: whether the last test hangs instead of failing.
    """

    bug: str
    what: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    hangs: bool = False

    @property
    def name(self):
        return f'{self.bug}: {self.what}'

    def applied(self, text):
        """The content of the file with the defect.

        :raises ValueError: the lines do not occur exactly once.
        """
        changed, times = re.subn(
            f'^{re.escape(self.old)}', lambda _match: self.new, text,
            flags=re.MULTILINE)
        if times != 1:
            raise ValueError(f'{self.name}: its lines are {times} times in '
                             f'{self.file}, not once')
        return changed


def bugs() -> tuple[Bug, ...]:
    return tuple(Bug(tests=_tests(found), **found)
                 for found in _read('bugs.toml')['bug'])


def defects() -> tuple[Defect, ...]:
    return tuple(Defect(tests=_tests(found), **found)
                 for found in _read('defects.toml')['defect'])


def _tests(found):
    """Remove the tests from a table; returns their ids."""
    return tuple(f'{place}.{test}' for key, place in _PLACES.items()
                 for test in found.pop(key, ()))


def _read(name):
    with open(_HERE / name, 'rb') as file:
        return tomllib.load(file)
