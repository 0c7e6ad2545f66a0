# SPDX-License-Identifier: Apache-2.0

"""Reads and checks the table of seeded defects."""

import dataclasses
import pathlib
import re
import tomllib

from magnum_capi_sandbox import infrastructure as infrastructures

#: Prefix of the names of tests.
TESTS = 'magnum_capi_tempest.tests'

#: Prefix of the drivers' entry points.
PREFIX = 'seeded_'

#: Seconds, options of [magnum_capi]: limits for things that never happen. On
#: an idle machine, expected results take 10 to 30 s.
TIMEOUTS = {'build_timeout': 75}

#: The driver of which all in the table are variants, and one that clashes.
OWN = 'k8s_capi_v1'
CLASHES_WITH = 'k8s_capi_helm_v1'

_TABLE = pathlib.Path(__file__).with_name('defects.toml')


@dataclasses.dataclass(frozen=True)
class Defect:
    """A driver with a defect, and the test that finds it.

    :param name: of the driver, without PREFIX.
    :param does: what the driver does, a few words.
    :param test: id of unittest, below TESTS.
    :param says: regular expression for the message of the failure.
    :param options: of [magnum_capi]; they win over TIMEOUTS.
    :param infrastructure: of the sandbox in which it can be seen.
    :param clash: its driver clashes with that of CLASHES_WITH, and should
        have the mark of OWN.
    """

    name: str
    does: str
    test: str
    says: str
    options: dict = dataclasses.field(default_factory=dict)
    infrastructure: str = infrastructures.MEMORY
    clash: bool = False

    @property
    def driver(self):
        """Name of its entry point."""
        return f'{PREFIX}{self.name}'

    @property
    def id(self):
        """Full id of its test."""
        return f'{TESTS}.{self.test}'

    @property
    def short(self):
        """Class and method of its test, as in reports."""
        return '.'.join(self.test.split('.')[-2:])

    def all_options(self, patience=1.0):
        """Options of [magnum_capi], texts by name.

        :param patience: factor of TIMEOUTS.
        """
        found = {name: f'{seconds * patience:.0f}'
                 for name, seconds in TIMEOUTS.items()} | self.options
        if self.clash:
            found['clashing_drivers'] = f'{self.driver},{CLASHES_WITH}'
        return found

    def fixture(self, marks):
        """Fields of the discovery fixture.

        :param marks: function that returns the mark of a driver.
        """
        return {'marks': {CLASHES_WITH: marks(CLASHES_WITH),
                          self.driver: marks(OWN)}} if self.clash else {}


def defects() -> tuple[Defect, ...]:
    """Read the table.

    :raises ValueError: a name occurs twice, or ``says`` is not a regular
        expression.
    """
    with open(_TABLE, 'rb') as file:
        found = tuple(Defect(**item) for item in tomllib.load(file)['defect'])
    names = [defect.name for defect in found]
    for defect in found:
        if names.count(defect.name) > 1:
            raise ValueError(f'{defect.name} is there more than once')
        try:
            re.compile(defect.says)
        except re.error as e:
            raise ValueError(f'{defect.name}: says: {e}') from e
    return found


def of(infrastructure) -> tuple[Defect, ...]:
    """The defects that are seen with one infrastructure."""
    return tuple(defect for defect in defects()
                 if defect.infrastructure == infrastructure)


def tests(found) -> tuple[str, ...]:
    """Full ids of the tests of defects, each once, sorted."""
    return tuple(sorted({defect.id for defect in found}))


def regex(found) -> str:
    """Regular expression of ``tempest run`` for the tests of defects."""
    ids = '|'.join(re.escape(test) for test in tests(found))
    # Tempest appends attributes in brackets.
    return rf'^({ids})(\[|$)'
