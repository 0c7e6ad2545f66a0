# SPDX-License-Identifier: Apache-2.0

"""A real API server's answers to a dry run of a run, which leaves nothing."""

import testtools
import yaml

from magnum_capi import waiting
from magnum_capi_tempest.conformance.run import preflight
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance.run import sonobuoy
from magnum_capi_tempest.kubeclient import kube
from tests.functional import real_api

REGISTRATION = '/apis/admissionregistration.k8s.io/v1'
RBAC = '/apis/rbac.authorization.k8s.io/v1'
PODS = {'apiGroups': [''], 'apiVersions': ['v1'], 'resources': ['pods'],
        'operations': ['CREATE']}
NAMESPACES = {**PODS, 'resources': ['namespaces']}


class TestRehearsal(testtools.TestCase):
    """One API server for all tests of the class."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = real_api.RealApi()
        cls.server.setUp()
        cls.addClassCleanup(cls.server.cleanUp)
        cls.kubeconfig, cls.api = cls.server.kubeconfig, cls.server.api

    def setUp(self):
        super().setUp()
        # Objects removed by the previous test stay effective for a moment.
        waiting.wait_for(self.findings, done=lambda found: not found,
                         timeout=30, what='an API server that refuses nothing')

    def create(self, path, kind, version, name, **parts):
        self.api.create(path, {'apiVersion': version, 'kind': kind,
                               'metadata': {'name': name}, **parts})
        self.addCleanup(self.api.delete, f'{path}/{name}')

    def registered(self, plural, kind, name, **parts):
        self.create(f'{REGISTRATION}/{plural}', kind,
                    'admissionregistration.k8s.io/v1', name, **parts)

    def findings(self, kubeconfig=None):
        return list(preflight.admitted(
            kube.Client(kubeconfig or self.kubeconfig),
            sonobuoy.Sonobuoy(runner.Plan(), '', '')))

    def webhook(self, name, rule, **selector):
        self.registered(
            'validatingwebhookconfigurations',
            'ValidatingWebhookConfiguration', name, webhooks=[{
                'name': f'{name}.example.org', 'rules': [rule],
                'clientConfig': {'url': 'https://127.0.0.1:1/'},
                'admissionReviewVersions': ['v1'], 'sideEffects': 'None',
                'failurePolicy': 'Fail', 'namespaceSelector': selector}])

    def test_nothing_is_refused_and_nothing_is_kept(self):
        self.assertEqual([], self.findings())
        self.assertIsNone(self.api.get('/api/v1/namespaces/sonobuoy'))
        self.assertIsNone(self.api.get(
            f'{RBAC}/clusterroles/sonobuoy-preflight'))

    def test_a_policy_that_refuses_the_namespace(self):
        self.registered(
            'validatingadmissionpolicies', 'ValidatingAdmissionPolicy',
            'names', spec={
                'failurePolicy': 'Fail', 'matchConstraints': {
                    'resourceRules': [NAMESPACES]},
                'validations': [{
                    'expression': 'object.metadata.name != "sonobuoy"',
                    'message': 'ask the platform team'}]})
        self.registered(
            'validatingadmissionpolicybindings',
            'ValidatingAdmissionPolicyBinding', 'names', spec={
                'policyName': 'names', 'validationActions': ['Deny']})

        # A policy takes effect a moment after its creation.
        found, = waiting.wait_for(self.findings, done=bool, timeout=60,
                                  what='the policy')
        self.assertEqual(preflight.BLOCKER, found.level)
        self.assertIn('ask the platform team', found.text)
        self.assertIn('exemption', found.hint)

    def test_a_webhook_that_is_dead(self):
        self.webhook('dead', NAMESPACES)

        found, = waiting.wait_for(self.findings, done=bool, timeout=20,
                                  what='the webhook')
        self.assertEqual(preflight.BLOCKER, found.level)
        self.assertIn('dead.example.org', found.text)

    def test_who_is_no_administrator(self):
        self.create('/api/v1/namespaces/default/serviceaccounts',
                    'ServiceAccount', 'v1', 'user')
        rbac = 'rbac.authorization.k8s.io/v1'
        self.create(f'{RBAC}/clusterroles', 'ClusterRole', rbac, 'user',
                    rules=[{'apiGroups': ['', rbac.partition('/')[0]],
                            'resources': ['namespaces', 'clusterroles'],
                            'verbs': ['create']}])
        self.create(f'{RBAC}/clusterrolebindings', 'ClusterRoleBinding',
                    rbac, 'user', roleRef={
                        'apiGroup': rbac.partition('/')[0],
                        'kind': 'ClusterRole', 'name': 'user'},
                    subjects=[{'kind': 'ServiceAccount', 'name': 'user',
                               'namespace': 'default'}])
        token = self.api.create(
            '/api/v1/namespaces/default/serviceaccounts/user/token',
            {'apiVersion': 'authentication.k8s.io/v1',
             'kind': 'TokenRequest', 'spec': {}})['status']['token']
        document = yaml.safe_load(self.kubeconfig.read_text())
        document['users'][0]['user'] = {'token': token}
        kubeconfig = self.server.folder / 'user.kubeconfig'
        kubeconfig.write_text(yaml.safe_dump(document))

        found, = self.findings(kubeconfig)
        self.assertEqual(preflight.BLOCKER, found.level)
        self.assertIn('refuses the cluster role', found.text)
        self.assertIn('administrator', found.hint)
        self.assertNotIn(token, str(found))
