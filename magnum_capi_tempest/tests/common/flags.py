# SPDX-License-Identifier: Apache-2.0

"""Decorators that say what a test is about, and what it needs of the cloud.

Both stay with what they decorate, as ``promise`` and ``required_flags`` of a
function, like those of a class, and as ``stricter_flags``: ``python -m
tests.suite_table`` records them for the scorecard.
"""

from tempest import config
import testtools

from magnum_capi_tempest import promises

CONF = config.CONF


def promise(name):
    """Return a decorator: the test, or each of a class, judges a promise.

    That of a test counts before that of its class. It is skipped where the
    driver does not make it.

    :param name: id of the registry.
    :raises LookupError: it has no such promise.
    """
    if promises.get(name).id != name:
        raise LookupError(f'{name} is an alias')

    def decorate(found):
        found.promise = name
        return found
    return decorate


def needs(name):
    """Return a decorator: skip the test where another promise is not made."""
    reason = not_promised(name)
    return testtools.skipIf(reason, reason)


def not_promised(name):
    """Return why a promise is not tried here; empty: it is.

    :param name: id of the registry.
    """
    missing = promises.missing(name, CONF.magnum_capi.not_promised)
    return missing and f'{missing} is in [magnum_capi] not_promised'


def judged_by(case, name):
    """Return the id of the promise that a test judges; empty: none.

    :param case: class of the test.
    :param name: of its method.
    """
    return getattr(getattr(case, name), 'promise', '') or getattr(
        case, 'promise', '')


def refusal(case, name):
    """Return why a test is not run for what it judges; empty: it is."""
    judged = judged_by(case, name)
    return judged and not_promised(judged)


def promised(flag):
    """Return a decorator: skip the test where the cloud has not this."""
    skip = testtools.skipUnless(
        CONF.magnum_capi_feature_enabled[flag],
        f'[magnum_capi_feature_enabled] {flag} is false')
    return lambda test: _noted(skip(test), 'required_flags', flag)


def stricter(flag):
    """Return a decorator of what asks for more where this is promised.

    Tests that call it may pass without the promise, and prove nothing of it.
    """
    return lambda function: _noted(function, 'stricter_flags', flag)


def configured(*options):
    """Return a decorator: skip the test where an option is not set."""
    missing = [o for o in options if not CONF.magnum_capi[o]]
    return testtools.skipIf(
        missing, 'Not set in [magnum_capi] of tempest.conf: '
        f'{", ".join(missing)}')


def cleanup(function):
    """Mark a function that cleans up: no test is about what it asks for."""
    function.is_cleanup = True
    return function


def _noted(function, name, flag):
    setattr(function, name, (*getattr(function, name, ()), flag))
    return function
