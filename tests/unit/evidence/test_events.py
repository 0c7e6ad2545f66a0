# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi_tempest.evidence import capi
from magnum_capi_tempest.evidence import events
from tests.unit.evidence import fake_kube


class EventsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.kube = self.useFixture(fake_kube.FakeKube())
        self.management = capi.ManagementCluster(self.kube.kubeconfig)

    @staticmethod
    def event(about, at, **fields):
        return {'metadata': {'name': 'e'}, 'type': 'Warning',
                'reason': 'Failed', 'message': 'no\nhost',
                'involvedObject': {'kind': 'Machine', 'name': about},
                'lastTimestamp': at, **fields}

    def test_the_latest_of_this_cluster_last(self):
        self.kube.serve(
            '/api/v1/events', self.event('s1-b', '2'), self.event('s1', '1'),
            self.event('s10', '3'), self.event('s1-c', '3', count=4))

        self.assertEqual(
            ['2 Warning Machine s1-b Failed: no host',
             '3 Warning Machine s1-c Failed: no host (4 times)'],
            list(map(str, self.management.events('s1', most=2))))

    def test_both_apis_of_events(self):
        found = events.event(self.event(
            's1', None, eventTime='5', series={
                'count': 3, 'lastObservedTime': '6'}))

        self.assertEqual(('6', 3), (found.at, found.count))

    def test_an_event_with_next_to_nothing(self):
        self.assertEqual('', events.event({'metadata': {}}).name)
