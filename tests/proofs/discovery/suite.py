# SPDX-License-Identifier: Apache-2.0

"""The tests of the package, without running them."""

import re
import unittest

from magnum_capi_tempest import plugin
from tests.proofs.discovery import compare

_TAGS = re.compile(r'\[(.*)\]$')


def load() -> list[compare.Expected]:
    """The tests of the package, without compare.ELSEWHERE."""
    found = []
    for case in cases():
        name = '.'.join(_TAGS.sub('', case.id()).split('.')[-2:])
        found_tags = _TAGS.search(case.id())
        tags = found_tags.group(1).split(',') if found_tags else ()
        if not compare.ELSEWHERE.intersection(tags):
            found.append(compare.expected(name, tags))
    return found


def cases() -> list[unittest.TestCase]:
    """All tests of the package, loaded but not run."""
    folder, top = plugin.MagnumCapiTempestPlugin().load_tests()
    return list(_flat(unittest.TestLoader().discover(
        folder, top_level_dir=top)))


def _flat(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from _flat(item)
        else:
            yield item
