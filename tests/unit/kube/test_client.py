# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi.kube import access
from magnum_capi.kube import client
from magnum_capi.kube import rest
from tests.lib import kube_server

N = '/api/v1/namespaces/n'
CAPI = '/apis/cluster.x-k8s.io/v1beta2/namespaces/n'
SECRET = {'kind': 'Secret', 'metadata': {'name': 's', 'namespace': 'n'}}


class _Base(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.api = self.useFixture(kube_server.ApiServer())
        self.kube = self.api.kube()

    def labelled(self, kind, **labels):
        """Objects a and b with the label l."""
        for name, label in labels.items():
            self.api.put(f'{kind}/{name}', {
                'metadata': {'labels': {'l': label, 'm': 'x'}}})


class ReadTest(_Base):

    def test_what_is_not_there_is_none(self):
        self.api.put(f'{CAPI}/clusters/c0', {'spec': {'a': 1}})
        self.assertEqual(
            {'a': 1}, self.kube.get('Cluster', 'n', 'c0')['spec'])
        self.assertIsNone(self.kube.get('Cluster', 'n', 'c1'))
        self.assertEqual([], self.kube.list('Machine', 'n'))
        self.assertIsNone(self.kube.mark_for_deletion('n', 'm'))

    def test_kind_that_need_not_be_served_has_no_objects(self):
        self.assertIsNone(self.kube.get('HelmChartProxy', 'n', 'x'))
        self.assertEqual([], self.kube.list('HelmChartProxy', 'n'))
        self.assertFalse(self.kube.delete('HelmChartProxy', 'n', 'x'))
        self.assertEqual([], self.api.calls())

    def test_kubeconfig_for_other_programs(self):
        for path in (None, '/k'):
            found = access.Access(self.api.url, path, None)
            self.assertEqual(path, client.Kube(rest.Rest(found)).kubeconfig)

    def test_answer_about_another_object_is_none_about_this_one(self):
        # As an admission webhook may give it.
        self.api.faults = [(404, {}, {
            'kind': 'Status', 'reason': 'NotFound',
            'details': {'kind': 'namespaces', 'name': 'n'}})]
        e = self.assertRaises(rest.NotFound, self.kube.get, 'Secret', 'n', 's')
        self.assertEqual(('namespaces', 'n'), e.object)

    def test_kind_that_cluster_api_has_is_missed(self):
        self.api.discovery = {'kind': 'APIGroupDiscoveryList', 'items': []}
        for ask in (
                lambda: self.kube.get('Cluster', 'n', 'c1'),
                lambda: self.kube.list('Machine', 'n'),
                lambda: self.kube.delete('Cluster', 'n', 'c1'),
                lambda: self.kube.delete_all('Machine', 'n', {'a': 'b'}),
                lambda: self.kube.mark_for_deletion('n', 'm')):
            self.assertRaises(rest.NotServed, ask)

    def test_list_by_label(self):
        self.labelled(f'{CAPI}/machines', a='c1', b='c2')
        for labels in ({'l': 'c1', 'm': 'x'}, 'l=c1'):
            found = self.kube.list('Machine', 'n', labels)
            self.assertEqual(['a'], [m['metadata']['name'] for m in found])


class WriteTest(_Base):

    def test_apply(self):
        found = self.kube.apply({**SECRET, 'stringData': {'a': 'b'}})
        self.assertEqual({'a': 'b'}, found['stringData'])
        method, path, query, headers, body = self.api.seen[-1]
        self.assertEqual(('PATCH', f'{N}/secrets/s'), (method, path))
        self.assertEqual({'fieldManager': 'magnum', 'force': 'true'}, query)
        self.assertEqual('application/apply-patch+yaml',
                         headers['Content-Type'])
        self.assertEqual('v1', body['apiVersion'])

    def test_patches_are_tried_again_beside_somebody_else(self):
        # A controller changed the object at the same moment.
        self.api.put(f'{CAPI}/machines/m', {'metadata': {
            'annotations': {'a': 'b'}}})
        self.kube.kind('Machine')
        mark = {'cluster.x-k8s.io/delete-machine': 'true'}
        for change, annotations in (
                (self.kube.mark_for_deletion, {'a': 'b', **mark}),
                (self.kube.unmark_for_deletion, {'a': 'b'})):
            self.api.faults = [(409, {}, {})]
            self.assertEqual(annotations, change('n', 'm')['metadata'][
                'annotations'])
        self.api.faults = [(409, {}, {})]
        self.kube.apply(SECRET)
        self.assertIn(f'{N}/secrets/s', self.api.objects)

    def test_labels_and_sizes(self):
        self.api.put(f'{N}/secrets/s', {'metadata': {'labels': {'a': 'b'}}})
        self.assertEqual({'c': 'd'}, self.kube.label(
            'Secret', 'n', 's', {'a': None, 'c': 'd'})['metadata']['labels'])
        self.api.put(f'{CAPI}/machinedeployments/d', {'spec': {'a': 1}})
        self.assertEqual({'a': 1, 'replicas': 3},
                         self.kube.scale('n', 'd', 3)['spec'])
        self.assertEqual('magnum', self.api.seen[-1][2]['fieldManager'])

    def test_write_of_a_kind_that_is_not_served_says_what_is_missing(self):
        e = self.assertRaises(rest.NotServed, self.kube.apply, {
            'kind': 'HelmChartProxy', 'metadata': {'name': 'x'}})
        self.assertIn('Install Cluster API', str(e))

    def test_delete(self):
        self.api.put(f'{N}/secrets/s', {})
        for only in ({'version': '0'}, {'uid': 'other'}):
            self.assertRaises(rest.Conflict, self.kube.delete, 'Secret', 'n',
                              's', **only)
        self.assertTrue(self.kube.delete('Secret', 'n', 's'))
        self.assertFalse(self.kube.delete('Secret', 'n', 's'))

    def test_delete_by_label(self):
        self.labelled(f'{N}/secrets', a='c1', b='c2')
        self.kube.delete_all('Secret', 'n', {'l': 'c1'})
        self.assertEqual([f'{N}/secrets/b'], list(self.api.objects))
        # Without labels it would be everything.
        self.assertRaises(ValueError, self.kube.delete_all, 'Secret', 'n',
                          {})


class PagesTest(_Base):

    def fill(self, number):
        for i in range(number):
            self.api.put(f'{CAPI}/machines/m{i}', {})
        self.kube.kind('Machine')

    def second(self, status):
        """Answer the second page with a status."""
        def first(request):
            self.api.faults = [(status, {}, {})]
            request.act(f'{CAPI}/machines', {'limit': '500'}, None)
        self.api.faults = [first]

    def test_list_of_many_pages(self):
        # B.1: metadata.continue is missing on the last page.
        self.fill(1200)
        self.assertEqual(1200, len(self.kube.list('Machine', 'n')))
        # As many as client-go asks for (tools/pager, defaultPageSize).
        self.assertEqual(['500'] * 3, [
            query['limit'] for _, _, query, _, _ in self.api.seen
            if 'limit' in query])

    def test_list_that_expires_half_way_starts_again(self):
        self.fill(600)
        self.second(410)
        self.assertEqual(600, len(self.kube.list('Machine', 'n')))

    def test_list_that_is_refused_is_not_begun_again(self):
        self.fill(600)
        for status in (403, 422):
            self.second(status)
            e = self.assertRaises(
                rest.KubeError, self.kube.list, 'Machine', 'n')
            self.assertEqual(status, e.status)
        self.api.faults = [(410, {}, {})]
        e = self.assertRaises(rest.KubeError, self.kube.list, 'Machine', 'n')
        self.assertEqual(410, e.status)

    def test_answer_that_is_no_list_is_not_an_empty_one(self):
        self.kube.kind('Machine')
        self.api.faults = [(200, {}, {'kind': 'Machine'})] * 100
        e = self.assertRaises(
            rest.Unreachable, self.kube.list, 'Machine', 'n')
        self.assertEqual((200, 'Machine'), (e.status, e.last_seen))


class NamespaceTest(_Base):
    # B.4.19: ensure_namespace needed rights on the whole cluster.

    PATH = '/api/v1/namespaces/n'

    def refused(self, kind, *faults):
        self.api.faults = list(faults)
        return self.assertRaises(kind, self.kube.ensure_namespace, 'n', {})

    def test_missing_one_is_made_and_an_existing_one_only_read(self):
        for _time in range(2):
            self.kube.ensure_namespace('n', {'l': 'v'})
            self.assertEqual({'l': 'v'}, self.api.objects[self.PATH][
                'metadata']['labels'])
        self.assertEqual(1, len(self.api.calls('POST')))

    def test_somebody_was_faster(self):
        def other(request):
            self.api.put(self.PATH, {})
            request.not_found('namespaces', 'n')

        self.api.faults = [other]
        self.kube.ensure_namespace('n', {})

    def test_missing_right_is_explained(self):
        e = self.refused(rest.Forbidden, (403, {}, {'message': 'cannot get'}),
                         (403, {}, {'message': 'cannot create'}))
        self.assertIn('Create n', str(e))
        self.assertIn('cannot create', str(e))

    def test_one_that_is_going_cannot_be_used(self):
        self.api.put(self.PATH, {'metadata': {
            'deletionTimestamp': '2026-01-01T00:00:00Z',
            'finalizers': ['kubernetes']}})
        self.assertEqual(409, self.refused(rest.Conflict).status)

    def test_unknown_user_makes_no_namespace(self):
        self.assertEqual(401, self.refused(
            rest.Unauthorized, (401, {}, {})).status)
        self.assertEqual([], self.api.calls('POST'))


class EventsTest(_Base):

    def event(self, name, of, when, **more):
        self.api.put(f'{N}/events/{name}', {
            'involvedObject': {'name': of}, 'lastTimestamp': when,
            'type': 'Warning', 'message': name, **more})

    def messages(self):
        return [e['message'] for e in self.kube.events('n', 'c1')]

    def test_warnings_of_this_cluster(self):
        self.event('own', 'c1', '2026-01-01T00:00:01Z')
        self.event('other', 'c12', '2026-01-01T00:00:09Z')
        self.event('machine', 'c1-g1-x', None,
                   eventTime='2026-01-01T00:00:05.000000Z')
        self.assertEqual({'own', 'machine'}, set(self.messages()))
        # The addon provider sends "Error" every 15 s for each addon that waits
        # for the cluster (kopf, engines/posting.py): nothing else was newest.
        self.assertEqual('type=Warning',
                         self.api.seen[-1][2]['fieldSelector'])

    def test_endless_list_is_cut(self):
        for i in range(2100):
            self.event(f'e{i}', 'other', '')
        self.messages()
        self.assertEqual(4, len(self.api.calls('GET')))
