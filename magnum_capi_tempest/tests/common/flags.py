# SPDX-License-Identifier: Apache-2.0

"""Decorators that say what a test needs of the deployment under test."""

from tempest import config
import testtools

CONF = config.CONF


def promised(flag):
    """Return a decorator: skip the test where this is not promised."""
    return testtools.skipUnless(
        CONF.magnum_capi_feature_enabled[flag],
        f'[magnum_capi_feature_enabled] {flag} is false')


def configured(*options):
    """Return a decorator: skip the test where an option is not set."""
    missing = [o for o in options if not CONF.magnum_capi[o]]
    return testtools.skipIf(
        missing, 'Not set in [magnum_capi] of tempest.conf: '
        f'{", ".join(missing)}')
