# SPDX-License-Identifier: Apache-2.0

import os
import types

import fixtures
import testtools
import yaml

from magnum_capi import errors
from magnum_capi_tempest.evidence import workload
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.tests.common import access
from magnum_capi_tempest.tests.common import waiters

V = 'v1.34.2'
MASTER = workload.Node('cp', True, V, ('control-plane',))
WORKER = workload.Node('w', True, V)


class KubeconfigTest(testtools.TestCase):

    def test_file_has_what_magnum_signed(self):
        asked = {}
        certificates = types.SimpleNamespace(
            create_certificate=lambda **r: asked.update(r) or {'pem': 'C'},
            show_ca_certificate=lambda cluster: {'pem': 'CA'})

        with access.kubeconfig_of(certificates, {
                'uuid': 'u', 'api_address': 'https://x'}) as path:
            with open(path) as f:
                document = yaml.safe_load(f)

        self.assertFalse(os.path.exists(path))
        self.assertEqual('https://x',
                         document['clusters'][0]['cluster']['server'])
        self.assertEqual('u', asked['cluster_uuid'])
        self.assertIn('CERTIFICATE REQUEST', asked['csr'])


class NodesTest(testtools.TestCase):

    def test_these_and_no_others(self):
        for nodes, shown in (
                ((MASTER, WORKER), True), ((MASTER,), False),
                ((WORKER,), False), ((WORKER, WORKER), False),
                ((MASTER, WORKER, WORKER), False),
                ((MASTER, workload.Node('w', False, V)), False),
                ((MASTER, workload.Node('w', True, 'v1.33.0')), False)):
            self.assertEqual(
                shown, access.Nodes(nodes).shows(1, 1, V), nodes)

    def test_one_takes_no_pods_yet(self):
        """Its condition is ahead of the taints."""
        for key, ready in (('node.cluster.x-k8s.io/uninitialized', False),
                           ('node.kubernetes.io/not-ready', False),
                           ('example.com/gpu', True)):
            nodes = access.Nodes((MASTER, workload.Node('w', True, V, taints=(
                (key, None, 'NoSchedule'),))))
            self.assertEqual(ready, nodes.shows(1, 1, V))
            self.assertEqual(not ready, key in str(nodes))

    def test_text_names_every_node(self):
        self.assertEqual(
            f'cp ready {V} [control-plane], w ready {V} []',
            str(access.Nodes((MASTER, WORKER))))


class WaitForNodesTest(testtools.TestCase):

    def wait(self, *answers, timeout=60):
        answers = list(answers)

        def nodes(path):
            answer = answers.pop(0) if len(answers) > 1 else answers[0]
            if isinstance(answer, kube.KubeError):
                raise answer
            return answer

        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.evidence.workload.nodes', nodes))
        self.useFixture(fixtures.MonkeyPatch(
            f'{waiters.__name__}.CONF', types.SimpleNamespace(
                magnum_capi=types.SimpleNamespace(
                    build_timeout=timeout, build_interval=0.01))))
        access.wait_for_nodes('path', 1, 1, V)
        return answers

    def test_waits_through_connections_that_fail(self):
        left = self.wait(kube.KubeError('x'), [MASTER],
                         [MASTER, WORKER])

        self.assertEqual([[MASTER, WORKER]], left)

    def test_a_refusal_aborts(self):
        self.assertRaises(errors.WaitAborted, self.wait,
                          kube.KubeError('x', status=401))

    def test_timeout_lists_the_nodes(self):
        error = self.assertRaises(
            errors.WaitTimeout, self.wait, [MASTER], timeout=0.05)

        self.assertIn('cp ready', str(error))
