# SPDX-License-Identifier: Apache-2.0

"""Tests as the source has them: whether they are there, and their flags.

Nothing is imported: Tempest's tests want a configuration, and those with
real programs want the programs.
"""

import functools
import pathlib

from magnum_capi_tempest.matrix import source

TOP = pathlib.Path(__file__).resolve().parents[3]


@functools.cache
def _suite():
    return source.Suite(TOP)


def flags(test) -> frozenset[str]:
    """Flags of [magnum_capi_feature_enabled] that a test needs.

    :param test: id of unittest.
    :raises LookupError: there is no such test.
    """
    return _suite().flags(test)
