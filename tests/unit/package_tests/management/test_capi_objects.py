# SPDX-License-Identifier: Apache-2.0

import dataclasses

import testtools

from magnum_capi_tempest.tests.common.management import capi_objects
from tests.unit.evidence import fake_kube

CORE = fake_kube.CLUSTER_API
NODE = '/api/v1/nodes/n1'


def metadata(name, **more):
    return {'metadata': {'name': name, 'namespace': 'm', **more}}


class ManagementTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.api = self.useFixture(fake_kube.FakeKube())
        self.api.serve_management()
        self.api.serve(f'{CORE}/clusters', metadata('c1'), metadata('c2'))
        self.api.serve(
            f'{CORE}/machines',
            {**metadata('c1-b', labels={
                'cluster.x-k8s.io/control-plane': ''}),
             'spec': {'version': 'v1.34.2'},
             'status': {'phase': 'Running', 'nodeRef': {'name': 'n1'}}},
            metadata('c1-a', deletionTimestamp='now'),
            metadata('c2-a'))
        self.api.serve('/apis/apps/v1/deployments', metadata('c1'))
        self.management = capi_objects.Management(self.api.kubeconfig)

    def test_objects_are_those_of_cluster_api_and_of_the_cluster(self):
        self.assertEqual(
            [('Cluster c1', f'{CORE}/namespaces/m/clusters/c1'),
             ('Machine c1-a', f'{CORE}/namespaces/m/machines/c1-a'),
             ('Machine c1-b', f'{CORE}/namespaces/m/machines/c1-b')],
            [(str(found), found.path)
             for found in self.management.objects('c1')])

    def test_secrets_have_no_data_here(self):
        self.api.serve('/api/v1/secrets', {
            **metadata('c1-ca'), 'data': {'tls.key': 'secret'}})

        found, = self.management.secrets('c1')

        self.assertEqual('/api/v1/namespaces/m/secrets/c1-ca', found.path)
        self.assertNotIn('secret', str(found.body))

    def test_machines(self):
        path = f'{CORE}/namespaces/m/machines'
        self.assertEqual([
            capi_objects.Machine('c1-a', f'{path}/c1-a', False, '', '', '',
                                 going=True),
            capi_objects.Machine('c1-b', f'{path}/c1-b', True, 'Running', 'n1',
                                 'v1.34.2')], self.management.machines('c1'))

    def test_who_may_change_it(self):
        for self.api.allowed in (True, False):
            self.assertIs(self.api.allowed, self.management.may_change())


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
        self.api = self.useFixture(fake_kube.FakeKube())
        self.inside = capi_objects.Workload(self.api.kubeconfig)

    def test_a_node_that_fails_was_not_heard_of_for_long(self):
        self.api.answers[NODE] = 200, {'status': {'conditions': [
            {'type': 'MemoryPressure', 'status': 'False'},
            {'type': 'Ready', 'status': 'True',
             'lastTransitionTime': 'now'}]}}

        self.inside.fail_node('n1')

        pressure, ready = self.api.answers[NODE][1]['status']['conditions']
        self.assertEqual('False', pressure['status'])
        self.assertEqual(('Unknown', capi_objects.LONG_AGO),
                         (ready['status'], ready['lastTransitionTime']))

    def test_a_pod_that_is_evicted(self):
        self.inside.create_pod('p', 'n1', {})
        (_, pod), = (answer for path, answer in self.api.answers.items()
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
