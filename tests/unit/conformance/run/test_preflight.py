# SPDX-License-Identifier: Apache-2.0


import dataclasses
from unittest import mock

import testtools

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import preflight
from magnum_capi_tempest.conformance.run import runner

NODE = preflight.Node('n1', True, True, 'v1.34.9', (100, 2.0, 4 << 30))
GOOD = preflight.Snapshot('v1.34.9', (
    NODE, dataclasses.replace(NODE, name='n2')))


def findings(level, seen=GOOD, **plan):
    return [str(f) for f in preflight.check(
        seen, runner.Plan(**plan), 'sonobuoy') if f.level == level]


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
        self.assertEqual(['fact: Kubernetes v1.34.9, 2 nodes'],
                         findings(preflight.FACT))

    def test_what_stops_a_run(self):
        self.blocked('does not report its version', version='')
        self.blocked('exists', namespace='Active')
        self.blocked('abort --namespace sonobuoy', namespace='Active',
                     program=model.SONOBUOY)
        self.blocked('being removed', namespace='Terminating')
        self.blocked('no schedulable node', node={'schedulable': False})
        self.blocked('not enough room', node={'free': (1, 2.0, 4 << 30)})
        self.blocked('run no pods (container runtime: fake://1): 7 pods',
                     unstarted=7, nodes=(dataclasses.replace(
                         NODE, runtime='fake://1'),) * 2)
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
        reader.get.side_effect = lambda path: (
            {'gitVersion': version} if path == '/version' else None)
        reader.items.side_effect = lambda path, **query: (
            nodes if path.endswith('/nodes') else [])
        return ' '.join(findings(level, dataclasses.replace(
            preflight.read(reader, 'x'), warnings=(), namespace=''), **plan))

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
            self.assertEqual(
                warned, 'only one schedulable node' in found, found)

    def test_what_is_only_said(self):
        for words, changes in (
                ('little room', {'nodes': (dataclasses.replace(
                    NODE, free=(100, 0.1, 4 << 30)),) * 2}),
                ('left behind: e2e-1', {'tests': ('e2e-1',)}),
                # A node that is not ready is reported by itself.
                ('pod a/b not ready: y', {'warnings': (
                    'Node n1 Ready=False (x)', 'pod a/b not ready: y')}),
                ('other versions: v1.33.1', {'nodes': (dataclasses.replace(
                    NODE, version='v1.33.1'),) * 2})):
            found = findings(preflight.WARNING,
                             dataclasses.replace(GOOD, **changes))
            self.assertEqual(1, len(found), found)
            self.assertIn(words, found[0])


class TestLook(testtools.TestCase):

    def reader(self, **lists):
        lists = {'pods': [], 'nodes': [], 'namespaces': [], **lists}
        reader = mock.Mock()
        spaces = {s['metadata']['name']: s for s in lists['namespaces']}
        reader.get.side_effect = lambda path: (
            {'gitVersion': 'v1.34.9'} if path == '/version'
            else spaces.get(path.rpartition('/')[2]))
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
            'nodeInfo': {'kubeletVersion': 'v1.34.9'}}}

        found, = preflight.read(self.reader(
            pods=[pod, done], nodes=[node]), 'sonobuoy').nodes

        self.assertEqual(preflight.Node(
            'n1', True, True, 'v1.34.9', (109, 1.5, 3 << 30),
            frozenset((('a', 'b'),))), found)

    def test_namespaces(self):
        seen = preflight.read(self.reader(namespaces=[
            {'metadata': {'name': 'sonobuoy'},
             'status': {'phase': 'Terminating'}},
            {'metadata': {'name': 'e2e-1', 'labels': {'e2e-run': 'x'}}}]),
            'sonobuoy')

        self.assertEqual(('Terminating', '', ('e2e-1',)),
                         (seen.namespace, seen.program, seen.tests))


class TestQuantity(testtools.TestCase):

    def test_quantities(self):
        for text, expected in (
                ('2', 2), ('500m', 0.5), ('2Gi', 2 << 30), ('1k', 1000),
                ('1e3', 1000), (0, 0), ('many', 0), ('3Zi', 0),
                ('128974848000m', 128974848)):
            self.assertAlmostEqual(expected, preflight.quantity(text))
