# SPDX-License-Identifier: Apache-2.0

"""What objects of an API say: conditions, events, nodes, pods, owners."""

import testtools

from magnum_capi_tempest.evidence import conditions
from magnum_capi_tempest.evidence import events
from magnum_capi_tempest.evidence import owners
from magnum_capi_tempest.evidence import workload
from magnum_capi_tempest.kubeclient import kube
from tests.unit.driver import tls_server
from tests.unit.evidence import fake_kube
from tests.unit import loopback


def condition(type_, status, reason=None, message=None):
    return {'type': type_, 'status': status, 'reason': reason,
            'message': message}


class ConditionsTest(testtools.TestCase):

    def test_bad_ones(self):
        ready = condition('Ready', 'True')
        for kind, status, said in (
                # v1beta1
                ('Cluster', {'conditions': [ready, condition(
                    'ControlPlaneReady', 'False', 'NoQuota',
                    'too\n  many')]},
                 ['ControlPlaneReady=False (NoQuota: too many)']),
                # v1beta2, some of which should be False
                ('Cluster', {'conditions': [
                    condition('Available', 'Unknown'),
                    condition('Paused', 'False'),
                    condition('Deleting', 'False'),
                    condition('RollingOut', 'True')]},
                 ['Available=Unknown', 'RollingOut=True']),
                # v1beta2 inside v1beta1
                ('Cluster', {'conditions': [ready], 'v1beta2': {
                    'conditions': [condition('Available', 'False')]}},
                 ['Available=False']),
                ('Node', {'conditions': [
                    condition('MemoryPressure', 'False'),
                    condition('DiskPressure', 'True'),
                    condition('Ready', 'False')]},
                 ['DiskPressure=True', 'Ready=False']),
                ('Cluster', None, []),
                ('HelmRelease', {'phase': 'Failed',
                                 'failureMessage': 'no chart'},
                 ['phase=Failed (no chart)']),
                # phases of others are normal
                ('Cluster', {'phase': 'Pending'}, [])):
            self.assertEqual(
                [f'{kind} c1 {one}' for one in said],
                list(map(str, conditions.bad(
                    kind, {'metadata': {'name': 'c1'}, 'status': status}))))


class EventsTest(testtools.TestCase):

    def test_both_apis(self):
        for obj, found in (
                ({'lastTimestamp': '2', 'count': 4}, ('2', 4)),
                ({'lastTimestamp': None, 'eventTime': '5', 'series': {
                    'count': 3, 'lastObservedTime': '6'}}, ('6', 3)),
                ({}, ('', 1))):
            one = events.event({'metadata': {}, **obj})

            self.assertEqual((*found, ''), (one.at, one.count, one.name))


class OwnersTest(testtools.TestCase):

    def test_what_belongs_to_a_cluster(self):
        for mine, metadata in (
                (True, {'name': 'c1'}),
                (True, {'name': 'c1-control-plane-abcde'}),
                (True, {'name': 'sh.helm.release.v1.c1.v12'}),
                *((True, {'labels': {key: 'c1'}}) for key in (
                    'cluster.x-k8s.io/cluster-name',
                    'capi.stackhpc.com/cluster',
                    'addons.stackhpc.com/cluster',
                    'app.kubernetes.io/instance')),
                (True, {'annotations': {'meta.helm.sh/release-name': 'c1'}}),
                (True, {'labels': {
                    'magnum.openstack.org/cluster-uuid': 'uuid'}}),
                (False, {'name': 'c10'}),
                (False, {'name': 'other-c1'}),
                (False, {'name': 'sh.helm.release.v1.c10.v1'}),
                (False, {'labels': None, 'annotations': None}),
                (False, {'labels': {'cluster.x-k8s.io/cluster-name': 'c10'}}),
                (False, {'labels': {
                    'magnum.openstack.org/cluster-uuid': 'other'}})):
            self.assertEqual(mine, owners.belongs(
                {'name': 'x', **metadata}, 'c1', 'uuid'), metadata)

    def test_without_a_name_or_an_id(self):
        for stack_id in ('c1', None, ''):
            self.assertFalse(owners.belongs(
                {'name': '-x', 'labels': {}}, stack_id))
        for words, mine in ((('abc', 'tele'), True), (('abc',), False)):
            self.assertEqual(mine, owners.belongs(
                {'name': 'x', 'annotations': {'of': 'my-tele'}}, None,
                words=words))


MASTER = {
    'metadata': {'name': 'c1-cp', 'labels': {
        'node-role.kubernetes.io/control-plane': '', 'arch': 'amd64'}},
    'spec': {'taints': [
        {'key': 'gpu', 'value': 'yes', 'effect': 'NoSchedule'},
        {'key': 'old', 'effect': 'NoExecute'}]},
    'status': {'nodeInfo': {'kubeletVersion': 'v1.34.2'},
               'conditions': [condition('DiskPressure', 'False'),
                              condition('Ready', 'True')]}}
WORKER = {'metadata': {'name': 'a-worker'},
          'status': {'nodeInfo': {'kubeletVersion': 'v1.34.2'},
                     'conditions': [condition('Ready', 'Unknown')]}}


class NodesTest(testtools.TestCase):

    def test_nodes(self):
        server = self.useFixture(fake_kube.FakeKube())
        server.serve('/api/v1/nodes', MASTER, WORKER)

        worker, master = workload.nodes(server.kubeconfig)

        self.assertEqual(workload.Node('a-worker', False, 'v1.34.2'), worker)
        self.assertEqual(
            workload.Node('c1-cp', True, 'v1.34.2', ('control-plane',)),
            master)
        self.assertEqual((True, False),
                         (master.control_plane, worker.control_plane))
        self.assertEqual('amd64', master.labels['arch'])
        self.assertEqual((('gpu', 'yes', 'NoSchedule'),
                          ('old', None, 'NoExecute')), master.taints)
        server.answers['/api/v1/nodes'] = 401, {}
        error = self.assertRaises(
            kube.KubeError, workload.nodes, server.kubeconfig)
        self.assertEqual(401, error.status)

    def test_server_of_a_node(self):
        for provider, server in (
                ('openstack:///0f8fad5b', '0f8fad5b'),
                ('openstack://RegionOne/0f8fad5b', '0f8fad5b'),
                ('docker:////n1', ''), ('vsphere://n1', ''), (None, '')):
            found = workload.node({**WORKER, 'spec': {'providerID': provider}})
            self.assertEqual(server, found.server, provider)


class PodsTest(testtools.TestCase):

    def test_why_one_is_not_ready(self):
        waits = {'state': {'waiting': {'reason': 'ErrImagePull',
                                       'message': 'no\nroute'}}}
        ended = {'state': {'terminated': {'reason': 'Completed'}}}
        for status, said in (
                ({'phase': 'Running', 'containerStatuses': [
                    {'ready': True, 'restartCount': 2}],
                  'initContainerStatuses': [ended]},
                 'Running, 1/1 ready, 2 restarts, on n1'),
                ({'phase': 'Pending', 'containerStatuses': [waits]},
                 'Pending, 0/1 ready, 0 restarts, on n1: ErrImagePull: '
                 'no route'),
                ({'phase': 'Failed', 'reason': 'Evicted'},
                 'Failed, 0/0 ready, 0 restarts, on n1: Evicted'),
                # other conditions only repeat what its containers say
                ({'phase': 'Pending', 'conditions': [{
                    'type': kind, 'status': 'False', 'message': said}
                    for kind, said in (('ContainersReady', 'a'), (
                        'PodScheduled', 'no node fits'), ('Ready', 'b'))]},
                 'Pending, 0/0 ready, 0 restarts, on n1: no node fits')):
            self.assertEqual(f'kube-system/p {said}', str(workload.pod({
                'metadata': {'name': 'p', 'namespace': 'kube-system'},
                'spec': {'nodeName': 'n1'}, 'status': status})))
        self.assertEqual('/p , 0/0 ready, 0 restarts, on no node', str(
            workload.pod({'metadata': {'name': 'p'}})))


class Refuses(loopback.Handler):

    def do_GET(self):
        self.answer(401 if self.path == '/api/v1/nodes' else 500)


class StrangerTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.server = self.useFixture(tls_server.TlsServer(handler=Refuses))

    def test_status(self):
        self.assertEqual(401, workload.status_without_certificate(
            self.server.url, self.server.ca))

    def test_no_answer_or_that_of_another_server_does_not_count(self):
        other = self.useFixture(tls_server.TlsServer())
        for url, ca, untrusted in (
                (self.server.url, other.ca, True),
                ('https://127.0.0.1:1', self.server.ca, False)):
            error = self.assertRaises(
                kube.KubeError, workload.status_without_certificate, url, ca)

            self.assertEqual((untrusted, untrusted),
                             (error.untrusted, error.is_final), str(error))
