# SPDX-License-Identifier: Apache-2.0

import itertools
import re

import fixtures
import testtools

from magnum_capi_tempest import resources
from tests.unit.infrastructure import drivers

machines = drivers.machines


class ForwardTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.answer = (200, b'')
        self.asked = []
        self.useFixture(fixtures.MockPatchObject(
            machines.Machines, '_once', self.once))
        self.service = machines.Machines('/socket')

    def once(self, *request):
        self.asked.append(request)
        return self.answer

    def test_forward(self):
        self.service.forward(machines.BALANCERS, 'x', {'port': 1})
        self.service.forward(machines.FLOATING_IPS, 'y', {'fixed': 'f'})
        self.assertEqual([('PUT', '/balancers/x', {'port': 1}),
                          ('PUT', '/floating-ips/y', {'fixed': 'f'})],
                         self.asked)

    def test_refused(self):
        self.answer = (400, b'{"message": "the address is in use"}')
        e = self.assertRaises(machines.Refused, self.service.forward,
                              machines.BALANCERS, 'x', {})
        self.assertEqual('the address is in use', str(e))

    def test_a_service_that_does_not_know_how(self):
        self.answer = (404, b'404 page not found')
        self.assertRaises(machines.Refused, self.service.forward,
                          machines.BALANCERS, 'x', {})

    def test_a_service_that_failed(self):
        self.answer = (500, b'{"message": "no engine"}')
        e = self.assertRaises(machines.Failed, self.service.put, 'u', {})
        self.assertEqual('no engine', str(e))

    def test_console(self):
        for self.answer, text in (((200, b'{"console": "login:"}'), 'login:'),
                                  ((404, b'{"message": "none"}'), None)):
            self.assertEqual(text, self.service.console('u'))
        self.assertEqual([('GET', '/machines/u/console', None)] * 2,
                         self.asked)


class AwayTest(testtools.TestCase):

    def test_a_service_that_is_away(self):
        times = itertools.count()
        self.useFixture(fixtures.MockPatchObject(
            machines.time, 'monotonic', lambda: next(times)))
        self.useFixture(fixtures.MockPatchObject(machines.time, 'sleep'))
        asked = []

        def once(*request):
            asked.append(request)
            if len(asked) > 100:
                raise AssertionError('asked for ever')
            raise ConnectionRefusedError('no service')
        self.useFixture(fixtures.MockPatchObject(
            machines.Machines, '_once', once))

        e = self.assertRaises(
            machines.Unreachable,
            machines.Machines('/socket', patience=5).delete, 'u')

        self.assertIn('does not answer at /socket', str(e))
        self.assertIn('no service', str(e))
        self.assertEqual(6, len(asked))


class TimeoutTest(testtools.TestCase):

    def test_the_service_gives_up_first(self):
        """Otherwise Nova gives up a server that is still being started."""
        minutes = re.search(
            r'^const changeTimeout = (\d+) \* time\.Minute$',
            resources.find('sandbox/capi/containers.go').read_text(),
            re.MULTILINE)[1]
        self.assertGreater(machines.TIMEOUT, int(minutes) * 60)
