# SPDX-License-Identifier: Apache-2.0

"""Patterns, for which Python 3.11.2 of Debian 12 has a fault.

A possessive repetition of a group may go on for ever or match wrongly until
Python 3.11.5 (https://github.com/python/cpython/issues/106052). That of a
single character is well.
"""

import importlib
import pkgutil
import re
from re import _compiler as compiler
from re import _constants as codes
from re import _parser as parser

import testtools

import magnum_capi_tempest


def modules():
    """Those that can be imported here, without Magnum."""
    for found in pkgutil.walk_packages(
            magnum_capi_tempest.__path__, 'magnum_capi_tempest.'):
        if '.tests' in found.name or found.name.endswith('__main__'):
            continue
        try:
            yield importlib.import_module(found.name)
        except ImportError:
            continue


def patterns(value):
    """The compiled patterns in the value of a module's variable."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from patterns(tuple(value.values()))
    elif isinstance(value, tuple | list):
        for one in value:
            yield from patterns(one)
    elif getattr(value, '__name__', '') in (
            'match', 'fullmatch', 'search', 'finditer', 'sub'):
        # A method of a pattern that was kept in its place.
        yield from patterns(getattr(value, '__self__', None))


def faults(found):
    """Possessive repetitions of groups, and atomic groups, in a parsed one."""
    for code, value in found:
        if code is codes.ATOMIC_GROUP or (
                code is codes.POSSESSIVE_REPEAT
                and not compiler._simple(value[2])):
            yield code
        for part in value if isinstance(value, tuple) else ():
            for one in part if isinstance(part, list) else [part]:
                if isinstance(one, parser.SubPattern):
                    yield from faults(one)


class PossessiveTest(testtools.TestCase):

    def test_that_of_a_group_is_seen(self):
        for text, bad in (('(?:ab|c)*+d', True), ('(?:x(?:ab)++)?', True),
                          ('[ab]*+c', False), ('(?:ab|c)*d', False),
                          ('(?=(?:ab){1,4}+)', True), ('a|(?:bc)?+', True)):
            self.assertEqual(bad, bool(list(faults(parser.parse(text)))),
                             text)

    def test_there_is_none(self):
        bad = set()
        for module in modules():
            for name, value in vars(module).items():
                for pattern in patterns(value):
                    if list(faults(parser.parse(
                            pattern.pattern, pattern.flags & ~re.DEBUG))):
                        bad.add(f'{module.__name__}.{name}')
        self.assertEqual(set(), bad)
