# SPDX-License-Identifier: Apache-2.0


import testtools

from magnum_capi.kube import rest
from tests.unit.driver import api_server

CAPI = '/apis/cluster.x-k8s.io/v1beta2/namespaces/n'


class PagesTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.api = self.useFixture(api_server.ApiServer())
        self.kube = self.api.kube()

    def test_list_of_many_pages(self):
        # B.1: metadata.continue is missing on the last page.
        for i in range(1200):
            self.api.put(f'{CAPI}/machines/m{i}', {})
        self.assertEqual(1200, len(self.kube.list('Machine', 'n')))
        self.assertEqual(3, len(self.api.calls('GET')))
        # As many as client-go asks for (tools/pager, defaultPageSize).
        self.assertEqual(['500'] * 3, [
            query['limit'] for _, _, query, _, _ in self.api.seen
            if 'limit' in query])

    def test_list_that_expires_half_way_starts_again(self):
        for i in range(600):
            self.api.put(f'{CAPI}/machines/m{i}', {})
        self.kube.kind('Machine')

        def expire_second(request):
            self.api.faults = [(410, {}, {})]
            request.act(f'{CAPI}/machines', {'limit': '500'}, None)

        self.api.faults = [expire_second]
        self.assertEqual(600, len(self.kube.list('Machine', 'n')))

    def test_list_that_expires_at_once_is_an_error(self):
        self.kube.kind('Machine')
        self.api.faults = [(410, {}, {})]
        e = self.assertRaises(
            rest.KubeError, self.kube.list, 'Machine', 'n')
        self.assertEqual(410, e.status)

    def test_list_that_is_refused_half_way_is_not_begun_again(self):
        for i in range(600):
            self.api.put(f'{CAPI}/machines/m{i}', {})
        self.kube.kind('Machine')
        for status in (403, 422):
            def refuse_second(request, status=status):
                self.api.faults = [(status, {}, {})]
                request.act(f'{CAPI}/machines', {'limit': '500'}, None)

            self.api.faults = [refuse_second]
            e = self.assertRaises(
                rest.KubeError, self.kube.list, 'Machine', 'n')
            self.assertEqual(status, e.status)

    def test_answer_that_is_no_list_is_not_an_empty_one(self):
        self.kube.kind('Machine')
        self.api.faults = [(200, {}, {'kind': 'Machine'})] * 100
        e = self.assertRaises(
            rest.Unreachable, self.kube.list, 'Machine', 'n')
        self.assertEqual((200, 'Machine'), (e.status, e.last_seen))

    def test_collection_that_is_not_served_is_not_an_empty_one(self):
        self.kube.kind('Machine')
        self.api.faults = [api_server.UNKNOWN_PATH] * 100
        self.assertRaises(rest.Unreachable, self.kube.list, 'Machine', 'n')
