# SPDX-License-Identifier: Apache-2.0

"""What admission would refuse of a run, as its API server says before."""

from unittest import mock

import testtools

from magnum_capi import errors
from magnum_capi_tempest.conformance.run import admission
from magnum_capi_tempest.conformance.run import dry_run
from magnum_capi_tempest.conformance.run import preflight
from magnum_capi_tempest.kubeclient import kube
from tests.unit.conformance.run import run_box

LABELS = {admission.ENFORCE: 'privileged'}
PODS = {'apiGroups': [''], 'resources': ['pods'], 'operations': ['CREATE']}


class Reader:
    """An API server.

    :param answers: kind -> what it raises, or makes of the object.
    :param lists: kind -> objects.
    """

    def __init__(self, answers=None, **lists):
        self.answers, self.lists, self.asked = answers or {}, lists, []

    def ask(self, method, path, obj, **query):
        self.asked.append((method, path, query))
        answer = self.answers.get(obj['kind'])
        if isinstance(answer, Exception):
            raise answer
        return answer or obj

    def items(self, path):
        found = self.lists.get(path.rpartition('/')[2])
        if found is None:
            raise kube.KubeError('no', status=403)
        return found


def refusal(message, status=403):
    return kube.KubeError('The API answered', status=status,
                          last_seen=message)


class TestAdmission(testtools.TestCase):

    def found(self, answers=None, **lists):
        self.reader = Reader(answers, **lists)
        return list(admission.check(dry_run.ask(
            self.reader, 'sonobuoy', LABELS), 'sonobuoy'))

    def one(self, level, words, hint, *args, **kwargs):
        found, = self.found(*args, **kwargs)
        self.assertEqual(level, found.level)
        self.assertIn(words, found.text)
        self.assertIn(hint, found.hint)

    def test_nothing_is_wrong_and_nothing_is_created(self):
        self.assertEqual([], self.found())
        self.assertEqual({('POST', 'All')}, {
            (method, query.get('dryRun'))
            for method, _, query in self.reader.asked})

    def test_a_namespace_that_is_refused(self):
        self.one(preflight.BLOCKER, 'denied the request: no such', 'Exempt', {
            'Namespace': refusal('admission webhook "x" denied the request: '
                                 'no such namespace')})

    def test_a_webhook_that_is_dead(self):
        self.one(preflight.BLOCKER, 'failed calling', 'Repair', {
            'Namespace': refusal('Internal error occurred: failed calling '
                                 'webhook "x": connection refused', 500)})

    def test_who_is_no_administrator(self):
        self.one(preflight.BLOCKER, 'cluster role', 'administrator', {
            'ClusterRole': refusal('user "x" is attempting to grant RBAC '
                                   'permissions not currently held')})

    def test_a_webhook_that_knows_no_dry_run(self):
        self.one(preflight.WARNING, 'it is unknown whether', 'dry run', {
            'Namespace': refusal('admission webhook "x" does not support '
                                 'dry run', 400)})

    def test_what_is_not_known_stops_nothing(self):
        for error in (kube.KubeError('no answer'), refusal('busy', 503),
                      refusal('exists', 409)):
            self.assertEqual([], self.found({'Namespace': error}))

    def test_a_secret_in_a_refusal(self):
        found, = self.found({'Namespace': refusal(
            'webhook: password=hunter2hunter2')})
        self.assertNotIn('hunter2hunter2', str(found))

    def test_pod_security_labels_that_are_changed(self):
        for labels, words in (({admission.ENFORCE: 'baseline'}, 'baseline'),
                              ({}, 'missing'), (None, 'missing')):
            self.one(preflight.BLOCKER, f'would be {words}', 'Exempt', {
                'Namespace': {'metadata': {'labels': labels}}})

    def hook(self, **kwargs):
        return [{'webhooks': [{'name': 'x.example', 'rules': [PODS],
                               **kwargs}]}]

    def test_webhooks_that_judge_pods_of_tests(self):
        self.one(preflight.WARNING, 'the webhook x.example', 'e2e-run',
                 validatingwebhookconfigurations=self.hook())
        self.one(preflight.WARNING, 'x.example', 'e2e-run',
                 mutatingwebhookconfigurations=self.hook())
        self.assertEqual([], self.found(
            mutatingwebhookconfigurations=self.hook(failurePolicy='Ignore')))
        for rules in ([], [{**PODS, 'resources': ['services']}],
                      [{**PODS, 'operations': ['DELETE']}], [None]):
            self.assertEqual([], self.found(
                validatingwebhookconfigurations=self.hook(rules=rules)))

    def test_namespaces_that_a_webhook_leaves_alone(self):
        def judged(**selector):
            return bool(self.found(validatingwebhookconfigurations=self.hook(
                namespaceSelector=selector)))

        def expression(operator, key, *values):
            return judged(matchExpressions=[
                {'key': key, 'operator': operator, 'values': values}])

        self.assertTrue(judged())
        self.assertFalse(judged(matchLabels={'istio-injection': 'enabled'}))
        self.assertFalse(expression('DoesNotExist', 'e2e-run'))
        self.assertTrue(expression('Exists', 'e2e-run'))
        self.assertTrue(expression(
            'NotIn', 'kubernetes.io/metadata.name', 'kube-system'))
        self.assertFalse(expression(
            'In', 'kubernetes.io/metadata.name', 'prod'))

    def policy(self, *actions, rules=(PODS,), **binding):
        policy = {'metadata': {'name': 'p'}, 'spec': {
            'matchConstraints': {'resourceRules': list(rules)}}}
        bound = {'spec': {'policyName': 'p',
                          'validationActions': list(actions), **binding}}
        return {'validatingadmissionpolicies': [policy],
                'validatingadmissionpolicybindings': [bound]}

    def test_policies(self):
        self.one(preflight.WARNING, 'the policy p', 'e2e-run',
                 **self.policy('Deny'))
        for policy in (
                self.policy('Warn'), self.policy('Deny', policyName='q'),
                self.policy('Deny', rules=()),
                self.policy('Deny', matchResources={'namespaceSelector': {
                    'matchLabels': {'a': 'b'}}})):
            self.assertEqual([], self.found(**policy))

    def test_many_are_counted(self):
        hooks = [{'webhooks': [{'name': f'w{n}', 'rules': [
            {'apiGroups': ['*'], 'resources': ['*/*'], 'operations': ['*']}]}
            for n in range(7)]}]

        found, = self.found(validatingwebhookconfigurations=hooks)
        self.assertIn('w4 and 2 more', found.text)


class TestRun(run_box.TestCase):

    def test_a_refused_run_is_not_begun(self):
        with mock.patch.object(dry_run, 'ask', return_value=(
                admission.Answers((admission.Refusal(
                    'namespace', 403, 'webhook: no'),)))):
            error = self.assertRaises(errors.EnvironmentProblem,
                                      self.box.run)

        self.assertIn('webhook: no', str(error))
        self.assertEqual(([], []), (self.box.called,
                                    self.box.runtime.store.all()))
