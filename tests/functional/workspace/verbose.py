# SPDX-License-Identifier: Apache-2.0
"""Tests that say much, as those of clusters do; see :mod:`.fake_suite`."""

import logging

from tempest import test
from testtools import content

LINES = 1500
LAST = 'the last line of it'
WHY = 'Timed out waiting for cluster c1 to be created'
SEEN = 'last seen: CREATE_FAILED (no more hosts)'

LOG = logging.getLogger('tempest.lib.common.rest_client')


class VerboseTest(test.BaseTestCase):

    credentials = []

    def say_much(self):
        for number in range(LINES):
            LOG.debug('Request number %d', number)
        for name in ('cluster of c1', 'Magnum logs of c1'):
            self.addDetail(name, content.text_content('\n'.join(
                (*(f'{name}: line {n}' for n in range(LINES)),
                 f'{name}: {LAST}'))))

    def test_fails(self):
        self.say_much()
        raise TimeoutError(f'{WHY} (took 300 s; {SEEN})')

    def test_fails_with_a_long_message(self):
        self.say_much()
        self.fail('\n'.join((WHY, *map(str, range(LINES)), SEEN)))

    def test_passes(self):
        self.say_much()

    def test_is_skipped(self):
        self.skipTest('the cloud has none')
