# SPDX-License-Identifier: Apache-2.0

"""The tests of the suite, as their classes describe themselves.

Another process imports them: Tempest reads one tempest.conf per process, and
what a test requires must not depend on the caller's.
"""

import dataclasses
import functools
import json
import os
import sys

from magnum_capi import processes

PACKAGE = 'magnum_capi_tempest.tests'

#: Seconds for the import of all tests; on an idle machine it takes three.
_LIMIT = 180


@dataclasses.dataclass(frozen=True)
class Test:
    """A test of the suite.

    :param id: of unittest, below :data:`PACKAGE`: ``driver.test_x.Y.test_z``.
    :param promise: id of the promise that it judges a driver by; empty: it
        judges Magnum.
    :param required: flags of [magnum_capi_feature_enabled] without which it
        is skipped.
    :param skipped: why a tempest.conf skips it; empty if it runs.
    """

    id: str
    promise: str = ''
    required: frozenset[str] = frozenset()
    skipped: str = ''

    @property
    def class_id(self) -> str:
        return self.id.rpartition('.')[0]


@functools.cache
def tests(etc: str = os.devnull) -> tuple[Test, ...]:
    """All tests of the suite, in the order of their modules.

    :param etc: folder of the tempest.conf by which tests are skipped.
    :raises CommandFailed: Tempest is missing, or its configuration is wrong.
    """
    found = processes.run(
        [sys.executable, '-m', f'{PACKAGE}.common.listing'], timeout=_LIMIT,
        env={**os.environ, 'TEMPEST_CONFIG_DIR': etc},
        hint='The extra "tempest" of this package must be installed')
    # Tempest may log to standard output before.
    return tuple(Test(**{**test, 'required': frozenset(test['required'])})
                 for test in json.loads(found.splitlines()[-1]))


def get(test: str) -> Test:
    """A test by its id of unittest, including the package.

    :raises LookupError: there is no such test.
    """
    for known in tests():
        if test == f'{PACKAGE}.{known.id}':
            return known
    raise LookupError(f'There is no test {test}')
