# SPDX-License-Identifier: Apache-2.0

"""Several processes of the library in one: copies with memories of their own.

A process of Magnum keeps things in the modules of its driver. A :class:`Copy`
has these modules for itself, and a module ``subprocess``, a clock and threads
that are not this process's. :meth:`Copy.restart` makes its memory that of a
process that has just begun: all globals are as they were after the import.
"""

import collections
import contextlib
import functools
import importlib
import sys
import types
import typing

from tests.lib import virtual_time

_ROOT = 'magnum_capi'

_CONTAINERS = (dict, list, set, collections.deque)


class Copy:
    """The library, imported once more.

    :param module: full name of the one that is needed.
    :param others: modules by name that it imports instead of the real ones,
        beside those of the clock.
    :param during: other modules that exist while it is imported.
    :ivar program: its identity at the doors.
    """

    def __init__(self, clock: virtual_time.Clock, module: str,
                 others: typing.Mapping[str, types.ModuleType],
                 during: typing.Mapping[str, types.ModuleType]) -> None:
        self.program = virtual_time.Program(clock)
        instead = {**self.program.modules(), **others, **during}
        with _instead(instead):
            self.module = importlib.import_module(module)
            self.modules = {name: found for name, found in sys.modules.items()
                            if _is_ours(name)}
        self._memory = _Memory(self.modules.values())

    def restart(self) -> None:
        """End its threads, and forget everything."""
        self.program.end()
        self._memory.restore()

    @property
    def threads(self) -> list[virtual_time.Thread]:
        return self.program.threads


class _Memory:
    """What modules had in their globals at one moment."""

    def __init__(self, modules: typing.Iterable[types.ModuleType]) -> None:
        self._caches: list = []
        self._containers: list = []
        self._spaces: list = []
        self._seen: set[int] = set()
        for module in modules:
            self._space(vars(module), module.__name__)

    def restore(self) -> None:
        for cache in self._caches:
            cache.cache_clear()
        for space, before in self._spaces:
            for name in space.keys() - before.keys():
                del space[name]
            for name, value in before.items():
                if space.get(name) is not value:
                    space[name] = value
        for container, before in self._containers:
            container.clear()
            (container.update if isinstance(container, (dict, set))
             else container.extend)(before)

    def _space(self, space: dict, module: str) -> None:
        """Globals of a module, or what an object of it has."""
        if id(space) in self._seen:
            return
        self._seen.add(id(space))
        self._spaces.append((space, dict(space)))
        for name, value in list(space.items()):
            if not name.startswith('__'):
                self._value(value, module)

    def _value(self, value: typing.Any, module: str) -> None:
        if isinstance(value, functools._lru_cache_wrapper):
            self._caches.append(value)
        elif isinstance(value, _CONTAINERS):
            if id(value) not in self._seen:
                self._seen.add(id(value))
                self._containers.append((value, value.copy()))
                for one in (value.values() if isinstance(value, dict)
                            else value):
                    self._value(one, module)
        elif isinstance(value, type):
            if value.__module__ == module:
                for one in vars(value).values():
                    one = getattr(one, '__func__', one)
                    if isinstance(one, (functools._lru_cache_wrapper,
                                        *_CONTAINERS)):
                        self._value(one, module)
        elif (_is_ours(type(value).__module__)
              and hasattr(value, '__dict__')):
            self._space(vars(value), module)


def _is_ours(name: str) -> bool:
    return name == _ROOT or name.startswith(f'{_ROOT}.')


@contextlib.contextmanager
def _instead(others: typing.Mapping[str, types.ModuleType]
             ) -> typing.Iterator[None]:
    """The library's modules are not there, and others are replaced."""
    before = {name: sys.modules.pop(name) for name in list(sys.modules)
              if _is_ours(name)}
    replaced = {name: sys.modules.get(name) for name in others}
    sys.modules.update(others)
    try:
        yield
    finally:
        for name in [name for name in sys.modules if _is_ours(name)]:
            del sys.modules[name]
        sys.modules.update(before)
        for name, module in replaced.items():
            if module is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module
