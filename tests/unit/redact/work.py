# SPDX-License-Identifier: Apache-2.0

"""Counts the characters that the patterns of a package read.

That is how the work grows with a text, on any machine. It cannot see what a
pattern does within one match: a pattern that tries again and again there is
for the tests of the patterns themselves.
"""

import importlib
import pkgutil
import re

import fixtures

#: Methods that read from a position on, and those that read a whole text.
_AT, _WHOLE = ('match', 'fullmatch', 'search'), ('sub', 'split', 'findall')


class _Counted:
    """A pattern that counts what it reads.

    :param work: list of one number, which all patterns add to.
    """

    def __init__(self, pattern, work):
        self._pattern = pattern
        self._work = work

    def __getattr__(self, name):
        method = getattr(self._pattern, name)
        if name in _AT:
            return lambda *place: self._at(name, method, *place)
        if name == 'finditer':
            return self._each
        if name in _WHOLE:
            return lambda *given: self._all(method, *given)
        return method

    def _at(self, name, method, text, start=0, end=None):
        end = len(text) if end is None else min(end, len(text))
        found = method(text, start, end)
        if found:
            end = found.end()
        elif name != 'search':
            end = start
        self._work[0] += 1 + max(0, end - start)
        return found

    def _each(self, text, start=0):
        for found in self._pattern.finditer(text, start):
            self._work[0] += 1 + found.end() - start
            start = found.end()
            yield found
        self._work[0] += 1 + len(text) - start

    def _all(self, method, *given):
        self._work[0] += 1 + len(given[-1])
        return method(*given)


class Work(fixtures.Fixture):
    """Counts what the patterns in variables of a package's modules read.

    :ivar patterns: how many there are.
    """

    def __init__(self, package):
        self._package = package
        self._work = [0]
        self.patterns = 0

    def _setUp(self):
        names = [self._package.__name__, *(
            found.name for found in pkgutil.walk_packages(
                self._package.__path__, f'{self._package.__name__}.'))]
        for module in map(importlib.import_module, names):
            for name, value in list(vars(module).items()):
                counted = self._counted(value)
                if counted is not value:
                    self.useFixture(fixtures.MonkeyPatch(
                        f'{module.__name__}.{name}', counted))

    def _counted(self, value):
        if isinstance(value, re.Pattern):
            self.patterns += 1
            return _Counted(value, self._work)
        if type(value) is dict:
            items = {key: self._counted(one) for key, one in value.items()}
            return items if self._differ(items, value) else value
        if type(value) is tuple:
            items = tuple(map(self._counted, value))
            return items if self._differ(
                dict(enumerate(items)), dict(enumerate(value))) else value
        return value

    @staticmethod
    def _differ(new, old):
        return any(new[key] is not old[key] for key in old)

    def of(self, function, *args):
        """Return the number of characters that are read in a call."""
        before = self._work[0]
        function(*args)
        return self._work[0] - before
