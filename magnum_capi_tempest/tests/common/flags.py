# SPDX-License-Identifier: Apache-2.0

"""Decorators that say what a test is about, and what the cloud must have.

They mark what they decorate, as ``promise`` and ``needs`` (like the attribute
of a class).
"""

import collections.abc
import dataclasses
import inspect
import typing

from tempest import config
from tempest.lib import decorators

from magnum_capi_tempest import config as options_
from magnum_capi_tempest import option_files
from magnum_capi_tempest import promises

CONF = config.CONF

#: A test, or a class of tests.
Marked = typing.TypeVar('Marked', bound=collections.abc.Callable[..., object])

#: The promise that tests need which resize a cluster on their way.
RESIZE = 'lifecycle.resize.workers'

_OPTIONS, _FEATURES = (frozenset(option.name for option in options)
                       for options in (options_.OPTS, options_.FEATURE_OPTS))

#: Options of other groups that tests may need to be true, and what follows
#: where they are not.
_OTHERS = {
    'auth.use_dynamic_credentials':
        ': users and projects that Tempest did not create are left alone',
    'service_available.cinder': '',
    'service_available.glance': '',
    'service_available.neutron': '',
}

_FIXTURE = frozenset(field.name for field in dataclasses.fields(
    option_files.DiscoveryFixture))


def promise(name: str) -> collections.abc.Callable[[Marked], Marked]:
    """Return a decorator: the test, or each of a class, judges a promise.

    The promise of a test takes precedence over that of its class. The test is
    skipped if the driver does not make the promise. The promise is also an
    attribute of the test, see :func:`.promises.attribute`.

    :param name: id in the registry.
    :raises LookupError: there is no such promise.
    """
    if promises.get(name).id != name:
        raise LookupError(f'{name} is an alias')

    def decorate(found: Marked) -> Marked:
        setattr(found, 'promise', name)
        for test in (
                [test for test in tests_of(found)
                 if not hasattr(test, 'promise')]
                if inspect.isclass(found) else [found]):
            decorators.attr(type=promises.attribute(name))(test)
        return found
    return decorate


def tests_of(case: type) -> list[collections.abc.Callable[..., object]]:
    """Return the tests that a class itself defines, its functions."""
    return [test for name, test in vars(case).items()
            if name.startswith('test_')]


def needs(*names: str) -> collections.abc.Callable[[Marked], Marked]:
    """Return a decorator: the test needs this, and is skipped without it.

    :param names: ids of promises in one of the registries; options of
        [magnum_capi_feature_enabled] that must be true, or, with their group
        and a point in front, of [auth] and [service_available]; options of
        [magnum_capi] that must be set, see :func:`value`.
    :raises LookupError: there is no such thing.
    """
    for name in names:
        if _is_promise(name):
            promises.missing(name, ())

    def decorate(found: Marked) -> Marked:
        setattr(found, 'needs', (*getattr(found, 'needs', ()), *names))
        return found
    return decorate


def not_promised(name: str) -> str:
    """Return why a promise is not tested here; empty if it is.

    :param name: id in the registry.
    """
    missing = promises.missing(name, CONF.magnum_capi.not_promised)
    return missing and f'{missing} is in [magnum_capi] not_promised'


def can_resize() -> bool:
    """Return whether tests may resize a cluster on their way."""
    return not not_promised(RESIZE)


def judged_by(case: type, name: str) -> str:
    """Return the id of the promise that a test judges; empty if none.

    :param case: class of the test.
    :param name: of its method.
    """
    return getattr(getattr(case, name), 'promise', '') or getattr(
        case, 'promise', '')


def needed(case: type, name: str = '') -> tuple[str, ...]:
    """Return what a class needs, or a test of it: names for :func:`needs`.

    :param name: of the method of a test.
    """
    if name:
        return (*getattr(getattr(case, name), 'needs', ()),
                *filter(None, [judged_by(case, name)]))
    return tuple(dict.fromkeys(
        name for base in reversed(case.__mro__)
        for name in vars(base).get('needs', ())))


def features(case: type, name: str) -> set[str]:
    """Return the flags that a test needs, names of options."""
    return {*needed(case), *needed(case, name)} & _FEATURES


def refusal(case: type, name: str) -> str:
    """Return why a test is skipped for what it judges or needs; or ''."""
    return lacking(needed(case)) or lacking(needed(case, name))


def lacking(names: collections.abc.Sequence[str]) -> str:
    """Return why a test is skipped that needs all of these; or ''."""
    options = [name for name in names if _is_option(name) and not value(name)]
    if options:
        return ('Not set in [magnum_capi] of tempest.conf: '
                + ', '.join(_path(name) for name in options))
    for name in names:
        if name in _FEATURES and not CONF.magnum_capi_feature_enabled[name]:
            return f'[magnum_capi_feature_enabled] {name} is false'
        if name in _OTHERS:
            group, _, option = name.partition('.')
            if not getattr(CONF, group)[option]:
                return f'[{group}] {option} is false{_OTHERS[name]}'
    return next(filter(None, map(
        not_promised, filter(_is_promise, names))), '')


def fixture() -> option_files.DiscoveryFixture:
    """Return the option_files.DiscoveryFixture of tempest.conf.

    :raises UsageError: the file cannot be read.
    """
    return option_files.discovery_fixture(CONF.magnum_capi.discovery_fixture)


def value(option: str) -> typing.Any:
    """Return what tempest.conf sets for a test; empty: nothing.

    :param option: of [magnum_capi]; or "fault_flavors." and a key; or a field
        of option_files.DiscoveryFixture.
    """
    if option in _FIXTURE:
        return getattr(fixture(), option)
    group, _, key = option.partition('.')
    found = CONF.magnum_capi[group]
    return found.get(key) if key else found


def _is_option(name: str) -> bool:
    return name in _FIXTURE or name.partition('.')[0] in _OPTIONS


def _is_promise(name: str) -> bool:
    return not (name in _FEATURES or name in _OTHERS or _is_option(name))


def _path(option: str) -> str:
    return f'discovery_fixture.{option}' if option in _FIXTURE else option
