# SPDX-License-Identifier: Apache-2.0

"""Patterns, which some versions of Python cannot read or read wrongly.

Python 3.10, which the library supports, has neither possessive repetitions nor
atomic groups. In Python 3.11.2 of Debian 12, a possessive repetition of a
group may go on for ever or match wrongly; that is so until Python 3.11.5
(https://github.com/python/cpython/issues/106052). That of a single character
is well.
"""

import ast
import importlib
import pathlib
import pkgutil
import re
from re import _compiler as compiler
from re import _constants as codes
from re import _parser as parser

import testtools

import magnum_capi
import magnum_capi_sandbox
import magnum_capi_tempest

LIBRARY = magnum_capi
PACKAGES = (magnum_capi, magnum_capi_sandbox, magnum_capi_tempest)

#: What is not installed here: only a module that imports it may be left out.
ABSENT = ('magnum',)


def modules(package):
    """Those of a package that can be imported here, without Magnum."""
    def missed(name):
        raise ImportError(f'{name} cannot be imported')

    for found in pkgutil.walk_packages(
            package.__path__, f'{package.__name__}.', onerror=missed):
        if '.tests' in found.name or found.name.endswith('__main__'):
            continue
        try:
            yield importlib.import_module(found.name)
        except ModuleNotFoundError as e:
            if e.name not in ABSENT:
                raise


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


def faults(found, strict=False):
    """Possessive repetitions of groups, and atomic groups, in a parsed one.

    :param strict: those of single characters, too.
    """
    for code, value in found:
        if code is codes.ATOMIC_GROUP or (
                code is codes.POSSESSIVE_REPEAT
                and (strict or not compiler._simple(value[2]))):
            yield code
        for part in value if isinstance(value, tuple) else ():
            for one in part if isinstance(part, list) else [part]:
                if isinstance(one, parser.SubPattern):
                    yield from faults(one, strict)


def kept(package):
    """The patterns of variables of modules: their place, text and flags."""
    for module in modules(package):
        for name, value in vars(module).items():
            for pattern in patterns(value):
                yield (f'{module.__name__}.{name}', pattern.pattern,
                       pattern.flags & ~re.DEBUG)


def written(package):
    """The same of the texts that the source gives to functions of re.

    These may be in functions, and in modules that cannot be imported here.
    """
    for path in sorted(pathlib.Path(package.__path__[0]).rglob('*.py')):
        source = path.read_text(encoding='utf-8')
        if 'import re\n' not in source:
            continue
        for node in ast.walk(ast.parse(source)):
            match node:
                case ast.Call(
                        func=ast.Attribute(value=ast.Name('re')),
                        args=[ast.Constant(text), *_]):
                    yield f'{path}:{node.lineno}', text, 0


def bad(package, strict=False):
    """The places of a package that have such patterns."""
    return {place for place, text, flags in (
        *kept(package), *written(package))
        if list(faults(parser.parse(text, flags), strict))}


class PossessiveTest(testtools.TestCase):

    def test_that_of_a_group_is_seen(self):
        for text, wrong in (
                ('(?:ab|c)*+d', True), ('(?:x(?:ab)++)?', True),
                ('[ab]*+c', False), ('(?:ab|c)*d', False),
                ('(?=(?:ab){1,4}+)', True), ('a|(?:bc)?+', True)):
            self.assertEqual(
                wrong, bool(list(faults(parser.parse(text)))), text)

    def test_that_of_a_character_is_seen_by_the_strict_one(self):
        for text, wrong in (('[ab]*+c', True), ('x(a?+)', True),
                            ('(?>ab)', True), ('[ab]*c', False)):
            self.assertEqual(
                wrong, bool(list(faults(parser.parse(text), True))), text)

    def test_every_package_is_walked(self):
        for package in PACKAGES:
            self.assertNotEqual([], list(kept(package)), package)
            self.assertNotEqual([], list(written(package)), package)

    def test_there_is_none(self):
        for package in PACKAGES:
            self.assertEqual(set(), bad(package))

    def test_the_library_has_none_that_python_3_10_cannot_read(self):
        self.assertEqual(set(), bad(LIBRARY, strict=True))
