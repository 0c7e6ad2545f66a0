# SPDX-License-Identifier: Apache-2.0


import dataclasses
from unittest import mock

import testtools

from magnum_capi import errors
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import preflight
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance.run import snapshot
from magnum_capi_tempest.kubeclient import kube

IMAGE = 'registry.k8s.io/conformance:v1.34.9'
NODE = snapshot.Node('n1', True, True, 'v1.34.9', 100, 2.0, 4 << 30,
                     frozenset((IMAGE,)))
GOOD = snapshot.Snapshot('v1.34.9', (
    NODE, dataclasses.replace(NODE, name='n2')))


def findings(level, seen=GOOD, needed=(IMAGE,), **plan):
    return [str(f) for f in preflight.check(
        seen, runner.Plan(**plan), 'sonobuoy', needed) if f.level == level]


class TestCheck(testtools.TestCase):

    def blocked(self, words, plan=None, node=None, **snapshot):
        if node:
            snapshot['nodes'] = (dataclasses.replace(NODE, **node),)
        found = findings(preflight.BLOCKER,
                         dataclasses.replace(GOOD, **snapshot),
                         **(plan or {}))
        self.assertEqual(1, len(found), found)
        self.assertIn(words, found[0])

    def test_a_good_cluster(self):
        self.assertEqual([], findings(preflight.BLOCKER))
        self.assertEqual([], findings(preflight.WARNING))
        self.assertIn('fact: image registry.k8s.io/conformance:v1.34.9 is on '
                      'every node', findings(preflight.FACT))

    def test_what_stops_a_run(self):
        self.blocked('older than 1.17', version='v1.16.2',
                     nodes=(dataclasses.replace(NODE, version='v1.16.2'),))
        self.blocked('does not report its version', version='')
        self.blocked('exists', namespace='Active')
        self.blocked('--replace', namespace='Active', has_run=True)
        self.blocked('being removed', namespace='Terminating')
        self.blocked('no node takes', node={'schedulable': False})
        self.blocked('not enough room', node={'free_pods': 1})
        self.blocked('labels', {'node_selector': (('a', 'b'),)})
        self.blocked('version of the tests is v1.33.1', {
            'mode': model.CERTIFIED, 'kubernetes': 'v1.33.1'})

    def test_releases_of_distributions(self):
        """Sonobuoy issue 1213: their tests are those of upstream."""
        for version in ('v1.34.9+rke2r1', 'v1.34.9-34+350770ed07a558'):
            seen = dataclasses.replace(GOOD, version=version)

            self.assertEqual([], findings(
                preflight.BLOCKER, seen, mode=model.CERTIFIED,
                kubernetes='v1.34.9'))
        for version, release in (('v1.34.9+rke2r1', 'v1.34.9'),
                                 ('v1.34.9-34+350770ed07a558', 'v1.34.9'),
                                 ('v1.35.0-rc.1+k3s1', 'v1.35.0-rc.1'),
                                 ('v1.34', 'v1.34'), ('', '')):
            self.assertEqual(release, preflight.release(version))

    def of(self, level, *specs, version='v1.34.9', **plan):
        """Findings of a level on a cluster with nodes of these specs."""
        nodes = [{'metadata': {'name': f'n{number}'}, 'spec': spec,
                  'status': {'conditions': [
                      {'type': 'Ready', 'status': 'True'}],
                      'allocatable': {'pods': '100', 'cpu': '4',
                                      'memory': '8Gi'},
                      'nodeInfo': {'kubeletVersion': version}}}
                 for number, spec in enumerate(specs)]
        reader = mock.Mock()
        reader.get.return_value = {'gitVersion': version}
        reader.items.side_effect = lambda path, **query: (
            nodes if path.endswith('/nodes') else [])
        return ' '.join(findings(level, dataclasses.replace(
            snapshot.look(reader, 'x'), signs=()), needed=(), **plan))

    def test_nodes_that_the_suite_waits_for(self):
        control_plane = {'key': 'node-role.kubernetes.io/control-plane',
                         'effect': 'NoSchedule'}
        gpu = {'key': 'gpu', 'effect': 'NoSchedule'}
        cordon = {'key': 'node.kubernetes.io/unschedulable',
                  'effect': 'NoSchedule'}
        soft = {'key': 'soft', 'effect': 'PreferNoSchedule'}
        for spec, word in (
                ({}, ''), ({'taints': [control_plane, soft]}, ''),
                ({'taints': [gpu]}, 'n1 (gpu)'),
                ({'taints': [control_plane, gpu]}, 'n1 (gpu)'),
                ({'unschedulable': True, 'taints': [cordon]},
                 'n1 (cordoned)')):
            found = self.of(preflight.BLOCKER, {}, spec)
            self.assertIn(word, found)
            self.assertEqual(bool(word), '30 minutes' in found, found)

    def test_the_taint_of_older_control_planes(self):
        """Magnum 18's Heat driver and kubeadm before 1.25 set it."""
        master = {'taints': [{'key': 'node-role.kubernetes.io/master',
                              'effect': 'NoSchedule'}]}
        for version, blocks in (('v1.21.14', False), ('v1.27.16', False),
                                ('v1.28.0', True), ('v1.34.9', True)):
            found = self.of(preflight.BLOCKER, {}, master, version=version)
            self.assertEqual(blocks, '30 minutes' in found, version)

    def test_taints_that_the_suite_is_told_of(self):
        taints = [{'key': 'gpu', 'effect': 'NoSchedule'},
                  {'key': 'db', 'effect': 'NoExecute'}]
        for told, blocks in (('gpu,db', False), ('gpu', True)):
            found = self.of(preflight.BLOCKER, {}, {'taints': taints}, env=((
                'E2E_EXTRA_ARGS', f'-v=4 --non-blocking-taints={told}'),))
            self.assertEqual(blocks, 'n1 (db)' in found)

    def test_one_node_for_all_conformance_tests(self):
        """A control plane does not count, as its taint keeps pods away."""
        master = {'taints': [{'key': 'node-role.kubernetes.io/control-plane',
                              'effect': 'NoSchedule'}]}
        for nodes, mode, warned in (
                ([{}], model.CERTIFIED, True),
                ([{}, master], model.CERTIFIED, True),
                ([{}, master], model.NON_DISRUPTIVE, True),
                ([{}, {}], model.CERTIFIED, False),
                ([{}, {}, master], model.CERTIFIED, False),
                ([{}], model.QUICK, False)):
            found = self.of(preflight.WARNING, *nodes, mode=mode)
            self.assertEqual(warned, 'only one node' in found, found)

    def test_a_node_that_is_not_ready_fails_every_run(self):
        found = findings(preflight.BLOCKER, dataclasses.replace(
            GOOD, nodes=(NODE, dataclasses.replace(
                NODE, name='n2', ready=False))))

        self.assertIn('nodes not ready: n2', found[0])

    def test_why_nodes_are_of_no_use_is_said(self):
        for words, node in (
                ('nodes not ready: n1 (no cni)', {'ready': False,
                                                  'schedulable': False}),
                ('no node takes the pods of the tests: n1 (no cni)',
                 {'schedulable': False})):
            found = findings(preflight.BLOCKER, dataclasses.replace(
                GOOD, nodes=(dataclasses.replace(
                    NODE, why='no cni', **node),)))
            self.assertIn(words, found[0])

    def test_other_troubles_are_warnings(self):
        found = findings(preflight.WARNING, dataclasses.replace(
            GOOD, dns=0, signs=(
                'cluster DNS: none of its pods is ready',
                'Node n1 Ready=False (x)', 'pod a/b not ready: y')))

        self.assertEqual(['warning: no pod of the cluster DNS is ready. Most '
                          'specs need cluster DNS',
                          'warning: pod a/b not ready: y'], found)

    def test_stand_ins_are_told(self):
        node = dataclasses.replace(NODE, system='Debian (stand-in)')
        for seen, plan in ((dataclasses.replace(GOOD, nodes=(node,)), {}),
                           (GOOD, {'stand_in': True})):
            self.assertTrue(any('stand-ins' in f for f in findings(
                preflight.FACT, seen, **plan)))

    def test_what_is_only_said(self):
        for words, changes in (
                ('little room', {'nodes': (dataclasses.replace(
                    NODE, free_cpu=0.1),) * 2}),
                ('DNS', {'dns': 0}),
                ('left behind: e2e-1', {'e2e': ('e2e-1',)}),
                ('other versions: v1.33.1', {'nodes': (dataclasses.replace(
                    NODE, version='v1.33.1'),) * 2})):
            found = findings(preflight.WARNING,
                             dataclasses.replace(GOOD, **changes))
            self.assertEqual(1, len(found), found)
            self.assertIn(words, found[0])

    def test_the_weightiest_comes_first(self):
        levels = [f.level for f in preflight.check(
            dataclasses.replace(GOOD, namespace='Active', dns=0),
            runner.Plan(), 'sonobuoy', [IMAGE])]

        self.assertEqual(sorted(levels, key=[
            preflight.BLOCKER, preflight.WARNING, preflight.FACT].index),
            levels)

    def test_an_image_that_must_be_there_and_is_not(self):
        never = {'images': runner.Images(pull_policy='Never')}

        self.blocked('on 0 of 1 nodes', never,
                     node={'images': frozenset()})
        self.assertEqual([], findings(preflight.BLOCKER, **never))

    def test_short_names_of_images_are_docker_hubs(self):
        node = dataclasses.replace(NODE, images=frozenset((
            'docker.io/sonobuoy/sonobuoy:v1', 'docker.io/library/x:1')))
        found = findings(preflight.FACT,
                         dataclasses.replace(GOOD, nodes=(node,)),
                         needed=('sonobuoy/sonobuoy:v1', 'x:1', 'h:5/x:1'))

        self.assertEqual([True, True, False], [
            'on every node' in f for f in found if 'image' in f])


class TestFamilies(testtools.TestCase):

    def found(self, *nodes, services=('IPv4',)):
        seen = dataclasses.replace(GOOD, services=services, nodes=tuple(
            dataclasses.replace(NODE, name=f'n{number}', families=families)
            for number, families in enumerate(nodes, 1)))
        return [str(f) for f in preflight.check(
            seen, runner.Plan(), 'sonobuoy', ())
            if 'IPv' in f.text or 'families' in f.text]

    def test_alike(self):
        self.assertEqual([], self.found(('IPv4',), ('IPv4',)))
        self.assertEqual(['fact: the nodes have IPv4 and IPv6'], self.found(
            ('IPv4', 'IPv6'), services=('IPv4', 'IPv6')))
        self.assertEqual(['fact: the nodes have IPv6'], self.found(
            ('IPv6',), services=('IPv6',)))
        self.assertEqual([], self.found((), services=()))

    def test_nodes_that_differ(self):
        for first, other, words in (
                (('IPv4',), ('IPv4', 'IPv6'), 'IPv4 n1; IPv4 and IPv6 n2'),
                (('IPv6', 'IPv4'), ('IPv4', 'IPv6'),
                 'IPv4 and IPv6 n2; IPv6 and IPv4 n1')):
            found, = self.found(first, other)
            self.assertIn(words, found)
            self.assertIn('--node-ip', found)

    def test_services_in_another_order(self):
        found, _ = self.found(('IPv4', 'IPv6'), services=('IPv6', 'IPv4'))
        self.assertIn('services are IPv6 first, nodes are IPv4', found)

    def test_services_with_more_than_nodes(self):
        found, = self.found(('IPv4',), services=('IPv4', 'IPv6'))
        self.assertIn('services have two IP families', found)


class TestLook(testtools.TestCase):

    def test_families(self):
        reader = self.reader(nodes=[{'metadata': {'name': 'n'}, 'status': {
            'addresses': [{'type': 'Hostname', 'address': 'n:1'},
                          {'type': 'InternalIP', 'address': '192.0.2.1'},
                          {'type': 'InternalIP', 'address': '2001:db8::1'},
                          {'type': 'InternalIP', 'address': '2001:db8::2'}]}}])
        for service, services in (
                ({'clusterIPs': ['2001:db8::1', '192.0.2.1']},
                 ('IPv6', 'IPv4')), ({'clusterIP': '192.0.2.1'}, ('IPv4',)),
                ({}, ())):
            reader.get.side_effect = [{'gitVersion': 'v1'},
                                      {'spec': service}]
            seen = snapshot.look(reader, 'x')
            self.assertEqual((('IPv4', 'IPv6'), services),
                             (seen.nodes[0].families, seen.services))

    def reader(self, **lists):
        lists = {'pods': [], 'nodes': [], 'namespaces': [], **lists}
        reader = mock.Mock()
        reader.get.return_value = {'gitVersion': 'v1.34.9'}
        reader.items.side_effect = lambda path, **query: lists[
            path.rpartition('/')[2]]
        return reader

    def test_room_is_what_no_pod_has_asked_for(self):
        pod = {'metadata': {'name': 'p'}, 'status': {'phase': 'Running'},
               'spec': {'nodeName': 'n1', 'containers': [
                   {'resources': {'requests': {'cpu': '500m',
                                               'memory': '1Gi'}}}, {}]}}
        done = {**pod, 'status': {'phase': 'Succeeded'}}
        node = {'metadata': {'name': 'n1', 'labels': {'a': 'b'}}, 'status': {
            'allocatable': {'pods': '110', 'cpu': '2', 'memory': '4Gi'},
            'conditions': [{'type': 'Ready', 'status': 'True'}],
            'images': [{'names': [IMAGE]}],
            'nodeInfo': {'kubeletVersion': 'v1.34.9',
                         'osImage': 'Debian'}}}

        found, = snapshot.look(self.reader(
            pods=[pod, done], nodes=[node]), 'sonobuoy').nodes

        self.assertEqual(snapshot.Node(
            'n1', True, True, 'v1.34.9', 109, 1.5, 3 << 30,
            frozenset((IMAGE,)), frozenset((('a', 'b'),)), '', 'Debian'),
            found)

    def test_taints(self):
        def schedulable(**spec):
            return snapshot.look(self.reader(nodes=[
                {'metadata': {'name': 'n'}, 'spec': spec}]),
                'x').nodes[0].schedulable

        plane = 'node-role.kubernetes.io/control-plane'
        self.assertTrue(schedulable())
        self.assertFalse(schedulable(unschedulable=True))
        self.assertFalse(schedulable(taints=[
            {'key': plane, 'effect': 'NoSchedule'}]))
        self.assertTrue(schedulable(taints=[
            {'key': plane, 'effect': 'PreferNoSchedule'}]))
        for tolerated_by_one_plugin in ('CriticalAddonsOnly',
                                        'node-role.kubernetes.io/master'):
            self.assertFalse(schedulable(taints=[
                {'key': tolerated_by_one_plugin, 'effect': 'NoSchedule'}]))

    def test_namespaces(self):
        seen = snapshot.look(self.reader(namespaces=[
            {'metadata': {'name': 'sonobuoy'},
             'status': {'phase': 'Terminating'}},
            {'metadata': {'name': 'e2e-1', 'labels': {'e2e-run': 'x'}}}]),
            'sonobuoy')

        self.assertEqual(('Terminating', ('e2e-1',)),
                         (seen.namespace, seen.e2e))

    def test_an_api_that_does_not_answer(self):
        reader = mock.Mock()
        reader.get.side_effect = kube.KubeError('no', where='https://x')

        error = self.assertRaises(errors.EnvironmentProblem, snapshot.look,
                                  reader, 'x')
        self.assertIn('Nothing was created', str(error))


class TestQuantity(testtools.TestCase):

    def test_quantities(self):
        for text, expected in (
                ('2', 2), ('500m', 0.5), ('2Gi', 2 << 30), ('1k', 1000),
                ('1e3', 1000), (0, 0), ('many', 0), ('3Zi', 0),
                ('128974848000m', 128974848)):
            self.assertAlmostEqual(expected, snapshot.quantity(text))
