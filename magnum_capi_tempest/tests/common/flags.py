# SPDX-License-Identifier: Apache-2.0

"""Decorators that say what a test is about, and what the cloud must have.

They mark what they decorate, as ``promise`` and ``required_flags`` (like the
attribute of a class).
"""

import inspect

from tempest import config
from tempest.lib import decorators
import testtools

from magnum_capi_tempest import option_files
from magnum_capi_tempest import promises

CONF = config.CONF

#: The promise that tests need which resize a cluster on their way.
RESIZE = 'lifecycle.resize.workers'


def promise(name):
    """Return a decorator: the test, or each of a class, judges a promise.

    The promise of a test takes precedence over that of its class. The test is
    skipped if the driver does not make the promise. The promise is also an
    attribute of the test, see :func:`.promises.attribute`.

    :param name: id in the registry.
    :raises LookupError: there is no such promise.
    """
    if promises.get(name).id != name:
        raise LookupError(f'{name} is an alias')

    def decorate(found):
        found.promise = name
        for test in (
                [test for test in tests_of(found)
                 if not hasattr(test, 'promise')]
                if inspect.isclass(found) else [found]):
            decorators.attr(type=promises.attribute(name))(test)
        return found
    return decorate


def tests_of(case):
    """Return the tests that a class itself defines, its functions."""
    return [test for name, test in vars(case).items()
            if name.startswith('test_')]


def needs(*names):
    """Return a decorator: the test, or each of a class, needs other promises.

    It is skipped if one of them is not made.

    :param names: ids in one of the registries.
    :raises LookupError: there is no such promise.
    """
    for name in names:
        promises.missing(name, ())

    def decorate(found):
        found.needs = (*getattr(found, 'needs', ()), *names)
        return found
    return decorate


def not_promised(name):
    """Return why a promise is not tested here; empty if it is.

    :param name: id in the registry.
    """
    missing = promises.missing(name, CONF.magnum_capi.not_promised)
    return missing and f'{missing} is in [magnum_capi] not_promised'


def can_resize():
    """Return whether tests may resize a cluster on their way."""
    return not not_promised(RESIZE)


def judged_by(case, name):
    """Return the id of the promise that a test judges; empty if none.

    :param case: class of the test.
    :param name: of its method.
    """
    return getattr(getattr(case, name), 'promise', '') or getattr(
        case, 'promise', '')


def refusal(case, name):
    """Return why a test is skipped for what it judges or needs; or ''."""
    wanted = (judged_by(case, name),
              *getattr(getattr(case, name), 'needs', ()),
              *getattr(case, 'needs', ()))
    return next(filter(None, map(not_promised, filter(None, wanted))), '')


def promised(flag):
    """Return a decorator: skip the test if the cloud lacks this feature."""
    skip = testtools.skipUnless(
        CONF.magnum_capi_feature_enabled[flag],
        f'[magnum_capi_feature_enabled] {flag} is false')

    def decorate(test):
        found = skip(test)
        found.required_flags = (*getattr(found, 'required_flags', ()), flag)
        return found
    return decorate


def fixture():
    """Return the option_files.DiscoveryFixture of tempest.conf.

    :raises UsageError: the file cannot be read.
    """
    return option_files.discovery_fixture(CONF.magnum_capi.discovery_fixture)


def value(option):
    """Return what tempest.conf sets for a test; empty: nothing.

    :param option: of [magnum_capi]; or "fault_flavors." and a key, or
        "discovery_fixture." and a field.
    """
    group, _, field = option.partition('.')
    if group == 'discovery_fixture':
        return getattr(fixture(), field)
    if field:
        return CONF.magnum_capi[group].get(field)
    return CONF.magnum_capi[option]


def unset(options):
    """Return why a test is skipped for options; empty if they are set.

    :param options: for :func:`value`.
    """
    missing = [option for option in options if not value(option)]
    return missing and ('Not set in [magnum_capi] of tempest.conf: '
                        + ', '.join(missing))


def configured(*options):
    """Return a decorator: skip the test if an option is not set.

    :param options: for :func:`value`.
    """
    reason = unset(options)
    return testtools.skipIf(reason, reason)


def in_fixture(*fields):
    """Return a decorator: skip the test if a field of the file is empty.

    :param fields: of option_files.DiscoveryFixture.
    """
    return configured(*(f'discovery_fixture.{field}' for field in fields))
