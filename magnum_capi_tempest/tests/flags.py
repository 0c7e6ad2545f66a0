# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

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
