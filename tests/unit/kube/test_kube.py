# SPDX-License-Identifier: Apache-2.0


import testtools

from magnum_capi.kube import access
from magnum_capi.kube import kube
from magnum_capi.kube import rest
from tests.unit.driver import api_server

N = '/api/v1/namespaces/n'
CAPI = '/apis/cluster.x-k8s.io/v1beta2/namespaces/n'


class _Base(testtools.TestCase):

    server = api_server.ApiServer

    def setUp(self):
        super().setUp()
        self.api = self.useFixture(self.server())
        self.kube = self.api.kube()


class ReadTest(_Base):

    def test_get(self):
        self.api.put(f'{CAPI}/clusters/c1', {'spec': {'a': 1}})
        self.assertEqual(
            {'a': 1}, self.kube.get('Cluster', 'n', 'c1')['spec'])

    def test_what_is_not_there_is_none(self):
        self.assertIsNone(self.kube.get('Cluster', 'n', 'c1'))
        self.assertEqual([], self.kube.list('Machine', 'n'))

    def test_kind_that_is_not_served_is_none(self):
        self.assertIsNone(self.kube.get('HelmChartProxy', 'n', 'x'))
        self.assertEqual([], self.kube.list('HelmChartProxy', 'n'))
        self.assertFalse(self.kube.delete('HelmChartProxy', 'n', 'x'))
        self.assertEqual([], self.api.calls())

    def test_kubeconfig_for_other_programs(self):
        for path in (None, '/k'):
            found = access.Access(self.api.url, path, None)
            self.assertEqual(path, kube.Kube(rest.Rest(found)).kubeconfig)

    def test_unknown_path_is_no_answer_about_an_object(self):
        for kind in ('Secret', 'Cluster'):
            with self.subTest(kind):
                self.api.faults = []
                self.kube.kind(kind)
                self.api.faults = [api_server.UNKNOWN_PATH] * 2
                self.assertRaises(rest.NotServed, self.kube.get, kind,
                                  'n', 'c1')

    def test_answer_about_another_object_is_none_about_this_one(self):
        # As an admission webhook may give it.
        self.kube.kind('Secret')
        self.api.faults = [(404, {}, {
            'kind': 'Status', 'reason': 'NotFound',
            'details': {'kind': 'namespaces', 'name': 'n'}})]
        e = self.assertRaises(rest.NotFound, self.kube.get, 'Secret', 'n', 's')
        self.assertEqual(('namespaces', 'n'), e.object)

    def test_kind_that_cluster_api_has_is_missed(self):
        self.api.discovery = {'kind': 'APIGroupDiscoveryList', 'items': []}
        for what in (
                lambda: self.kube.get('Cluster', 'n', 'c1'),
                lambda: self.kube.list('Machine', 'n'),
                lambda: self.kube.delete('Cluster', 'n', 'c1'),
                lambda: self.kube.delete_all('Machine', 'n', {'a': 'b'}),
                lambda: self.kube.mark_for_deletion('n', 'm')):
            self.assertRaises(rest.NotServed, what)

    def test_list_by_label(self):
        for name, label in (('a', 'c1'), ('b', 'c2')):
            self.api.put(f'{CAPI}/machines/{name}', {
                'metadata': {'labels': {'l': label, 'm': 'x'}}})
        found = self.kube.list('Machine', 'n', {'l': 'c1', 'm': 'x'})
        self.assertEqual(['a'], [m['metadata']['name'] for m in found])

    def test_list_of_metadata_asks_for_no_secrets(self):
        self.kube.list_metadata('Secret', 'n', {'owner': 'helm'})
        headers = self.api.seen[-1][3]
        self.assertIn('as=PartialObjectMetadataList', headers['Accept'])


class WriteTest(_Base):

    def test_apply(self):
        found = self.kube.apply({
            'kind': 'Secret', 'metadata': {'name': 's', 'namespace': 'n'},
            'stringData': {'a': 'b'}})
        self.assertEqual({'a': 'b'}, found['stringData'])
        method, path, query, headers, body = self.api.seen[-1]
        self.assertEqual(('PATCH', f'{N}/secrets/s'), (method, path))
        self.assertEqual({'fieldManager': 'magnum', 'force': 'true'}, query)
        self.assertEqual('application/apply-patch+yaml',
                         headers['Content-Type'])
        self.assertEqual('v1', body['apiVersion'])

    def test_apply_is_tried_again_on_conflict(self):
        self.api.faults = [(409, {}, {})]
        self.kube.apply({
            'kind': 'Secret', 'metadata': {'name': 's', 'namespace': 'n'}})
        self.assertIn(f'{N}/secrets/s', self.api.objects)

    def test_apply_of_an_unknown_kind_says_what_is_missing(self):
        e = self.assertRaises(rest.KubeError, self.kube.apply, {
            'kind': 'HelmChartProxy', 'metadata': {'name': 'x'}})
        self.assertIn('Install Cluster API', str(e))

    def test_mark_a_machine_for_deletion(self):
        self.api.put(f'{CAPI}/machines/m', {'metadata': {
            'annotations': {'a': 'b'}}})
        found = self.kube.mark_for_deletion('n', 'm')
        self.assertEqual(
            {'a': 'b', 'cluster.x-k8s.io/delete-machine': 'true'},
            found['metadata']['annotations'])

    def test_marks_are_set_and_taken_off_beside_somebody_else(self):
        # A controller changed the Machine at the same moment.
        self.api.put(f'{CAPI}/machines/m', {})
        self.kube.kind('Machine')
        for change, marked in ((self.kube.mark_for_deletion, True),
                               (self.kube.unmark_for_deletion, False)):
            self.api.faults = [(409, {}, {})]
            change('n', 'm')
            self.assertEqual(marked, bool(self.kube.get(
                'Machine', 'n', 'm')['metadata'].get('annotations')))

    def test_annotation_of_what_is_not_there(self):
        self.assertIsNone(self.kube.mark_for_deletion('n', 'm'))

    def test_delete(self):
        self.api.put(f'{N}/secrets/s', {})
        self.assertTrue(self.kube.delete('Secret', 'n', 's'))
        self.assertFalse(self.kube.delete('Secret', 'n', 's'))

    def test_delete_of_this_version_only(self):
        self.api.put(f'{N}/secrets/s', {})
        self.assertRaises(rest.Conflict, self.kube.delete, 'Secret', 'n',
                          's', version='0')
        self.assertIn(f'{N}/secrets/s', self.api.objects)

    def test_delete_by_label(self):
        for name, label in (('a', 'c1'), ('b', 'c2')):
            self.api.put(f'{N}/secrets/{name}', {
                'metadata': {'labels': {'l': label}}})
        self.kube.delete_all('Secret', 'n', {'l': 'c1'})
        self.assertEqual([f'{N}/secrets/b'], list(self.api.objects))

    def test_delete_of_everything_is_refused(self):
        self.assertRaises(ValueError, self.kube.delete_all, 'Secret', 'n',
                          {})


class HttpReadTest(ReadTest):
    """The same by real HTTP."""

    server = api_server.HttpApiServer


class HttpWriteTest(WriteTest):
    """The same by real HTTP."""

    server = api_server.HttpApiServer


class NamespaceTest(_Base):
    # B.4.19: ensure_namespace needed rights on the whole cluster.

    def test_existing_one_is_only_read(self):
        self.api.put('/api/v1/namespaces/n', {})
        self.kube.ensure_namespace('n', {})
        self.assertEqual([], self.api.calls('POST'))

    def test_missing_one_is_made(self):
        self.kube.ensure_namespace('n', {'l': 'v'})
        found = self.api.objects['/api/v1/namespaces/n']
        self.assertEqual({'l': 'v'}, found['metadata']['labels'])

    def test_somebody_was_faster(self):
        def other(request):
            self.api.put('/api/v1/namespaces/n', {})
            request.not_found('namespaces', 'n')

        self.api.faults = [other]
        self.kube.ensure_namespace('n', {})

    def test_missing_right_is_explained(self):
        self.api.faults = [(403, {}, {'message': 'cannot get'}),
                           (403, {}, {'message': 'cannot create'})]
        e = self.assertRaises(rest.Forbidden, self.kube.ensure_namespace,
                              'magnum-1', {})
        self.assertIn('Create magnum-1', str(e))
        self.assertIn('cannot create', str(e))

    def test_one_that_is_going_cannot_be_used(self):
        self.api.put('/api/v1/namespaces/n', {'metadata': {
            'deletionTimestamp': '2026-01-01T00:00:00Z'}})
        e = self.assertRaises(
            rest.Conflict, self.kube.ensure_namespace, 'n', {})
        self.assertEqual(409, e.status)

    def test_unknown_user_makes_no_namespace(self):
        self.api.faults = [(401, {}, {})]
        e = self.assertRaises(
            rest.Forbidden, self.kube.ensure_namespace, 'n', {})
        self.assertEqual(401, e.status)
        self.assertEqual([], self.api.calls('POST'))


class EventsTest(_Base):

    def event(self, name, of, when, **more):
        self.api.put(f'{N}/events/{name}', {
            'involvedObject': {'name': of}, 'lastTimestamp': when,
            'message': name, **more})

    def messages(self):
        return [e['message'] for e in self.kube.events('n', 'c1')]

    def test_newest_first_and_bounded(self):
        for i in range(9):
            self.event(f'e{i}', 'c1', f'2026-01-01T00:00:0{i}Z')
        self.assertEqual(['e8', 'e7', 'e6', 'e5', 'e4'], self.messages())

    def test_of_this_cluster_only(self):
        self.event('a', 'c1-g1-x', '2026-01-01T00:00:00Z')
        self.event('b', 'c12', '2026-01-01T00:00:00Z')
        self.assertEqual(['a'], self.messages())

    def test_times_of_every_kind(self):
        self.event('old', 'c1', '2026-01-01T00:00:01Z')
        self.event('new', 'c1', None,
                   eventTime='2026-01-01T00:00:02.000000Z')
        self.event('series', 'c1', None, series={
            'lastObservedTime': '2026-01-01T00:00:03.000000Z'})
        self.assertEqual(['series', 'new', 'old'], self.messages())

    def test_only_warnings_are_asked_for(self):
        # The addon provider sends "Error" every 15 s for each addon that waits
        # for the cluster (kopf, engines/posting.py): nothing else was newest.
        self.messages()
        self.assertEqual('type=Warning',
                         self.api.seen[-1][2]['fieldSelector'])

    def test_endless_list_is_cut(self):
        for i in range(2100):
            self.event(f'e{i}', 'other', '')
        self.messages()
        self.assertEqual(4, len(self.api.calls('GET')))
