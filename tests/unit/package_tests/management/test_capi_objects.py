# SPDX-License-Identifier: Apache-2.0

import dataclasses
import json
import os

import fixtures
import testtools
import yaml

from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest import kubeconfig
from magnum_capi_tempest.tests.common.management import capi_objects
from tests.unit import loopback

CORE = '/apis/cluster.x-k8s.io/v1beta2'
NODE = '/api/v1/nodes/n1'


class Objects(fixtures.Fixture):
    """A Kubernetes API of a few objects, over real HTTP.

    ``there``: path -> body. ``asked``: (method, path, Content-Type, body).
    ``refuse``: list of statuses for the next changes. ``reviewed``: what
    is said of who asks what they may.
    """

    reviewed = True

    def _setUp(self):
        self.there, self.asked, self.refuse = {}, [], []
        self.kubeconfig = os.path.join(
            self.useFixture(fixtures.TempDir()).path, 'kubeconfig')
        url = loopback.start(self, self._handler())
        with open(self.kubeconfig, 'w') as f:
            yaml.safe_dump(kubeconfig.document(url, 'CA', None, None), f)

    def serve(self, group, version, plural, kind, *items):
        api = f'/apis/{group}/{version}'
        groups = self.there.setdefault('/apis/', {'groups': []})['groups']
        if group not in [g['name'] for g in groups]:
            served = {'version': version}
            groups.append({'name': group, 'preferredVersion': served,
                           'versions': [served]})
        self.there.setdefault(api, {'resources': []})['resources'].append(
            {'name': plural, 'kind': kind, 'verbs': ['list']})
        self.there[f'{api}/{plural}'] = {'items': list(items)}

    def _answer(self, method, path, body):
        if method != 'GET' and self.refuse:
            return self.refuse.pop(0), {'message': 'no, no'}
        if path.endswith('/selfsubjectaccessreviews'):
            return 201, {**body, 'status': {'allowed': self.reviewed}}
        if method == 'POST':
            body['metadata'].setdefault('uid', f'uid-{len(self.there)}')
            self.there[f'{path}/{body["metadata"]["name"]}'] = body
            return 201, body
        if path not in self.there:
            return 404, {'message': f'no {path}'}
        if method == 'DELETE':
            del self.there[path]
            return 200, None
        if method == 'PUT':
            self.there[path] = body
        return 200, self.there[path]

    def _handler(self):
        fixture = self

        class Handler(loopback.Handler):

            def do_GET(self):
                body = json.loads(self.body() or 'null')
                path = self.path.partition('?')[0]
                fixture.asked.append((self.command, path, self.headers.get(
                    'Content-Type'), body))
                self.answer(*fixture._answer(self.command, path, body))

            do_PUT = do_PATCH = do_POST = do_DELETE = do_GET

        return Handler

    def changes(self):
        return [asked for asked in self.asked if asked[0] != 'GET']


def metadata(name, **more):
    return {'metadata': {'name': name, 'namespace': 'm', **more}}


class HandsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.api = self.useFixture(Objects())
        self.writer = kube.Client(self.api.kubeconfig)
        self.api.there['/x'] = {'size': 1}

    def grow(self, body):
        body['size'] += 1

    def test_a_change_that_another_one_overtook_is_made_again(self):
        self.api.refuse = [409, 409]

        self.assertEqual({'size': 2}, self.writer.replace('/x', self.grow))

    def test_not_for_ever(self):
        self.api.refuse = [409] * 9

        error = self.assertRaises(
            kube.KubeError, self.writer.replace, '/x', self.grow)

        self.assertEqual(409, error.status)
        self.assertEqual(5, len(self.api.changes()))

    def test_a_refusal_says_what_the_api_said(self):
        self.api.refuse = [403]

        error = self.assertRaises(
            kube.KubeError, self.writer.replace, '/x', self.grow)

        self.assertIn('403 to PUT /x', str(error))
        self.assertIn('no, no', str(error))
        self.assertTrue(capi_objects.is_refused(error))

    def test_a_server_without_subresources(self):
        self.writer.replace('/x', self.grow, '/status')

        self.assertEqual(['/x/status', '/x'],
                         [path for _, path, *_ in self.api.changes()])
        self.assertEqual({'size': 2}, self.api.there['/x'])

    def test_a_server_with_subresources(self):
        self.api.there['/x/status'] = {}

        self.writer.replace('/x', self.grow, '/status')

        self.assertEqual({'size': 2}, self.api.there['/x/status'])

    def test_nobody_there(self):
        self.writer.server = 'http://127.0.0.1:1'

        self.assertIsNone(self.assertRaises(
            kube.KubeError, self.writer.get, '/x').status)


class ManagementTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.api = self.useFixture(Objects())
        self.api.serve(
            'cluster.x-k8s.io', 'v1beta2', 'clusters', 'Cluster',
            metadata('c1'), metadata('c2'))
        self.api.serve(
            'cluster.x-k8s.io', 'v1beta2', 'machines', 'Machine',
            {**metadata('c1-b', labels={
                'cluster.x-k8s.io/control-plane': ''}),
             'spec': {'version': 'v1.34.2'},
             'status': {'phase': 'Running', 'nodeRef': {'name': 'n1'}}},
            metadata('c1-a', deletionTimestamp='now'),
            metadata('c2-a'))
        self.api.serve('apps', 'v1', 'deployments', 'Deployment',
                       metadata('c1'))
        self.management = capi_objects.Management(self.api.kubeconfig)

    def test_objects_are_those_of_cluster_api_and_of_the_cluster(self):
        self.assertEqual(
            [('Cluster c1', f'{CORE}/namespaces/m/clusters/c1'),
             ('Machine c1-a', f'{CORE}/namespaces/m/machines/c1-a'),
             ('Machine c1-b', f'{CORE}/namespaces/m/machines/c1-b')],
            [(str(found), found.path)
             for found in self.management.objects('c1')])

    def test_secrets_have_no_data_here(self):
        self.api.there['/api/v1/secrets'] = {'items': [
            {**metadata('c1-ca'), 'data': {'tls.key': 'secret'}}]}

        found, = self.management.secrets('c1')

        self.assertEqual('/api/v1/namespaces/m/secrets/c1-ca', found.path)
        self.assertNotIn('secret', str(found.body))

    def test_machines(self):
        path = f'{CORE}/namespaces/m/machines'
        self.assertEqual([
            capi_objects.Machine('c1-a', f'{path}/c1-a', False, '', None, '',
                                 going=True),
            capi_objects.Machine('c1-b', f'{path}/c1-b', True, 'Running', 'n1',
                                 'v1.34.2')], self.management.machines('c1'))

    def test_who_may_change_it(self):
        for self.api.reviewed in (True, False):
            self.assertIs(self.api.reviewed, self.management.may_change())


class ReplacementTest(testtools.TestCase):

    LOST = capi_objects.Machine('lost', '', False, 'Running', 'n1', 'v1')
    OTHER = capi_objects.Machine('other', '', True, 'Running', 'n2', 'v1')
    CAME = capi_objects.Machine('came', '', False, 'Running', 'n3', 'v1')

    def replacement(self, *machines):
        return capi_objects.replacement(
            {'lost', 'other'}, self.LOST, [self.OTHER, *machines])

    def test_another_one_is_there(self):
        self.assertEqual(self.CAME, self.replacement(self.CAME))

    def test_not_yet(self):
        for machines in (
                (), (self.LOST,), (self.LOST, self.CAME),
                (dataclasses.replace(self.CAME, phase='Provisioning'),),
                (dataclasses.replace(self.CAME, going=True),),
                (dataclasses.replace(self.CAME, control_plane=True),)):
            self.assertIsNone(self.replacement(*machines), machines)


class WorkloadTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.api = self.useFixture(Objects())
        self.inside = capi_objects.Workload(self.api.kubeconfig)

    def test_a_node_that_fails_was_not_heard_of_for_long(self):
        self.api.there[NODE] = {'status': {'conditions': [
            {'type': 'MemoryPressure', 'status': 'False'},
            {'type': 'Ready', 'status': 'True',
             'lastTransitionTime': 'now'}]}}

        self.inside.fail_node('n1')

        pressure, ready = self.api.there[NODE]['status']['conditions']
        self.assertEqual('False', pressure['status'])
        self.assertEqual(('Unknown', capi_objects.LONG_AGO),
                         (ready['status'], ready['lastTransitionTime']))

    def test_a_pod_that_is_evicted(self):
        self.inside.create_pod('p', 'n1', {})
        pod, = (body for path, body in self.api.there.items()
                if path.endswith('/pods/p'))
        pod['metadata']['deletionTimestamp'] = 'now'

        self.assertFalse(self.inside.has_pod('p'))


class InServiceTest(testtools.TestCase):

    def machine(self, phase='Running', going=False, control_plane=False):
        return capi_objects.Machine('m', '', control_plane, phase, 'n', 'v1',
                                    going)

    def test_who_is_in_service(self):
        machines = [self.machine(), self.machine(going=True),
                    self.machine(phase='Provisioned'),
                    self.machine(control_plane=True)]

        self.assertEqual((1, 1), (
            capi_objects.in_service(machines, False),
            capi_objects.in_service(machines, True)))
