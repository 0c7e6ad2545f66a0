# SPDX-License-Identifier: Apache-2.0

"""Decorators that say what a test needs of the deployment under test.

Flags stay with what they decorate, as ``required_flags`` of a function, like
those of a class, and as ``stricter_flags``: ``python -m tests.suite_table``
records them for the matrix.
"""

from tempest import config
import testtools

CONF = config.CONF


def promised(flag):
    """Return a decorator: skip the test where this is not promised."""
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
