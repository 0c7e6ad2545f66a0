# SPDX-License-Identifier: Apache-2.0
"""Tests that disclose secrets in every way that Tempest's tests can.

Copied into a folder from which Tempest runs tests; no cloud is needed.
"""

import json
import logging
import sys
import warnings

from tempest import test
from testtools import content

PASSWORD = 'Kx7#pw vL2]q"Zr9'
LOGGED = 'gT4_logged-qW8zN'
SPLIT = 'uB6splitYc3xMe0v'
RAISED = 'raisedH5k2[Pd7s]'
PRINTED = 'pR1nted-Jf8yVb2w'
CLASS = 'class-Sx9dQm4t6L'
PRIVATE_KEY = ('-----BEGIN EC PRIVATE KEY-----\n'
               'MIGkAgEBBDA8f0aJq2wYkZs1bT7nXeR5uLhVgKp3mCd9oQyWjB6\n'
               'rN4tSxEiHzAcFvGDlPqUoM==\n'
               '-----END EC PRIVATE KEY-----\n')
#: By description.
SECRETS = {'password': PASSWORD, 'logged': LOGGED, 'split': SPLIT,
           'raised': RAISED, 'printed': PRINTED, 'of a class': CLASS,
           'private key': PRIVATE_KEY}

LOG = logging.getLogger('tempest.lib.common.rest_client')


class TalkativeTest(test.BaseTestCase):

    credentials = []

    def _say(self):
        body = json.dumps({'user': {'name': 'x', 'password': PASSWORD}})
        LOG.debug('Request\n        Body: %s', body.encode())
        LOG.debug('Body: %s', {'keypair': {'private_key': PRIVATE_KEY}})
        try:
            raise ValueError(f'token: {LOGGED}')
        except ValueError:
            LOG.exception('It failed')
        halves = f'a: b\npassword: {SPLIT[:7]}', f'{SPLIT[7:]}\nc: d\n'
        self.addDetail('halves', content.Content(
            content.UTF8_TEXT, lambda: [half.encode() for half in halves]))
        print(f'password={PRINTED}')
        print(f'password={PRINTED}', file=sys.stderr)
        warnings.warn(f'secret_key={PRINTED}', stacklevel=1)

    def test_passes(self):
        self._say()

    def test_fails(self):
        self._say()
        self.fail(f'{{"adminPass": "{RAISED}"}}')


class BrokenClassTest(test.BaseTestCase):

    credentials = []

    @classmethod
    def resource_setup(cls):
        super().resource_setup()
        raise ValueError(f"('X-Auth-Token', '{CLASS}')")

    def test_nothing(self):
        raise AssertionError
