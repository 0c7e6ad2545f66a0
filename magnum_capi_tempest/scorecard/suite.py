# SPDX-License-Identifier: Apache-2.0

"""The recorded tests of the suite.

No test is imported: Tempest's tests cannot be imported without a
configuration, and the requirements of a test must not depend on it. ``python
-m tests.suite_table`` reads the table from the classes, and a unit test
compares them.
"""

import csv
import dataclasses
import functools
import pathlib

PACKAGE = 'magnum_capi_tempest.tests'

TESTS = pathlib.Path(__file__).with_name('tests.csv')


@dataclasses.dataclass(frozen=True)
class Test:
    """A test of the suite.

    :param id: of unittest, below :data:`PACKAGE`: ``api.test_x.Y.test_z``.
    :param promise: id of the promise that it judges a driver by; empty: it
        judges Magnum.
    :param required: flags of [magnum_capi_feature_enabled] without which it
        is skipped.
    :param operations: methods of Magnum's clients that it calls, directly or
        through shared code; not those in the setup of its class.
    :param stricter: flags without which it is less strict: it may pass
        without them, and then proves nothing about them.
    """

    id: str
    promise: str = ''
    required: frozenset[str] = frozenset()
    operations: frozenset[str] = frozenset()
    stricter: frozenset[str] = frozenset()

    @property
    def flags(self) -> frozenset[str]:
        return self.required | self.stricter

    @property
    def class_id(self) -> str:
        return self.id.rpartition('.')[0]


@functools.cache
def tests() -> tuple[Test, ...]:
    """All tests of the suite, in the order of their modules."""
    return tuple(
        Test(id, promise, *(frozenset(names.split()) for names in columns))
        for id, promise, *columns in _rows())


def get(test: str) -> Test:
    """A test by its id of unittest, including the package.

    :raises LookupError: there is no such test.
    """
    for known in tests():
        if test == f'{PACKAGE}.{known.id}':
            return known
    raise LookupError(f'There is no test {test}')


def _rows():
    with open(TESTS, newline='', encoding='utf-8') as file:
        _, *rows = csv.reader(file)
    return rows
