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

"""Tests as the source has them: whether they are there, and their flags.

Nothing is imported: Tempest's tests want a configuration, and those with
real programs want the programs.
"""

import functools
import pathlib

from magnum_capi_tempest.matrix import source

TOP = pathlib.Path(__file__).resolve().parents[2]


@functools.cache
def _suite():
    return source.Suite(TOP)


def flags(test) -> frozenset[str]:
    """Flags of [magnum_capi_feature_enabled] that a test needs.

    :param test: id of unittest.
    :raises LookupError: there is no such test.
    """
    return _suite().flags(test)
