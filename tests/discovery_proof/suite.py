# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""The tests of the package, without running them."""

import re
import unittest

from magnum_capi_tempest import plugin
from tests.discovery_proof import compare

_TAGS = re.compile(r'\[(.*)\]$')


def load() -> list[compare.Expected]:
    """All tests of the package, but those of the driver under test."""
    folder, top = plugin.MagnumCapiTempestPlugin().load_tests()
    found = []
    for case in _cases(unittest.TestLoader().discover(
            folder, top_level_dir=top)):
        name = '.'.join(_TAGS.sub('', case.id()).split('.')[-2:])
        found_tags = _TAGS.search(case.id())
        tags = found_tags.group(1).split(',') if found_tags else ()
        if compare.LIFE not in tags:
            found.append(compare.expected(name, tags))
    return found


def _cases(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from _cases(item)
        else:
            yield item
