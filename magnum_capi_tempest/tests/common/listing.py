# SPDX-License-Identifier: Apache-2.0

"""Print the tests of the suite as JSON: see :mod:`.scorecard.suite`.

This is a program of its own, because a process reads one tempest.conf, when
the first test is imported.
"""

import collections.abc
import importlib
import inspect
import json
import pkgutil
import types
import typing
import unittest

from magnum_capi_tempest import tests
from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import flags


class Listed(typing.TypedDict):
    """What is printed of a test: the fields of suite.Test."""

    id: str
    promise: str
    required: list[str]
    skipped: str


def listed() -> collections.abc.Iterator[Listed]:
    """Yield what to print of each test."""
    for found in pkgutil.walk_packages(tests.__path__, f'{tests.__name__}.'):
        if found.name.rpartition('.')[2].startswith('test_'):
            for case in _cases(importlib.import_module(found.name)):
                yield from _of_class(case)


def _cases(module: types.ModuleType) -> list[type[base.BaseMagnumCapiTest]]:
    return [found for found in vars(module).values()
            if inspect.isclass(found) and found.__module__ == module.__name__
            and issubclass(found, base.BaseMagnumCapiTest)]


def _of_class(case: type[base.BaseMagnumCapiTest]
              ) -> collections.abc.Iterator[Listed]:
    names = unittest.TestLoader().getTestCaseNames(case)
    refusal = _refusal(case) if names else ''
    for name in names:
        place = f'{case.__module__}.{case.__name__}.{name}'
        yield {
            'id': place.removeprefix(f'{tests.__name__}.'),
            'promise': flags.judged_by(case, name),
            'required': sorted(flags.features(case, name)),
            'skipped': flags.refusal(case, name) or refusal}


def _refusal(case: type[base.BaseMagnumCapiTest]) -> str:
    """Why tempest.conf skips a class; empty if it does not."""
    try:
        case.skip_checks()
    except unittest.SkipTest as e:
        return str(e)
    return ''


if __name__ == '__main__':
    print(json.dumps(list(listed())))
