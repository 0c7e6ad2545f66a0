# SPDX-License-Identifier: Apache-2.0
import testtools

from magnum_capi import errors
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.management import deployments
from tests.unit import fake_clock


def deployment(name, provider=None, image='x/manager:v1.14.0', ready=1,
               labels=None, **kwargs):
    """A Deployment as the API has it."""
    return {
        'metadata': {'namespace': f'{name}-system', 'name': name,
                     'generation': 2, 'labels': {
                         **({deployments.PROVIDER: provider}
                            if provider else {}), **(labels or {})}},
        'spec': {'replicas': 1, 'template': {'spec': {
            'containers': [{'image': image}]}}},
        'status': {'observedGeneration': 2, 'updatedReplicas': 1,
                   'availableReplicas': ready, 'conditions': [
                       {'type': 'Available',
                        'status': 'True' if ready else 'False',
                        'message': 'no minimum availability'}], **kwargs}}


class Api:
    """Answers every GET with what it was given for the path."""

    server = 'https://there'

    def __init__(self, answers):
        self.answers = answers

    def get(self, path):
        return self.answers.get(path)


def api_with(*names):
    """An API whose only Deployments are available.

    :param names: (namespace, name) of each.
    """
    items = [deployment(name) for _, name in names]
    for item, (namespace, _) in zip(items, names, strict=True):
        item['metadata']['namespace'] = namespace
    return Api({'/apis/apps/v1/deployments': {'items': items}})


class ParseTest(testtools.TestCase):

    def test_available(self):
        found, = deployments.parse([deployment('capi', 'cluster-api')])
        self.assertTrue(found.available)
        self.assertEqual(('cluster-api', (1, 14, 0)),
                         (found.provider, found.version))

    def test_not_rolled_out_yet_is_not_available(self):
        for change in ({'observedGeneration': 1}, {'updatedReplicas': 0}):
            found, = deployments.parse([deployment('capi', **change)])
            self.assertFalse(found.available)
            self.assertEqual('being rolled out', found.reason)

    def test_versions(self):
        for image, version in (
                ('reg:5000/a/b:v0.14.6@sha256:00', (0, 14, 6)),
                ('b:1.2.3-rc.1', (1, 2, 3)), ('reg:5000/b', None),
                ('b:main', None)):
            self.assertEqual(version, deployments.version(image))


class WaitTest(testtools.TestCase):

    def wait(self, items, pods=(), notes=None):
        api = Api({'/apis/apps/v1/deployments': {'items': items},
                   '/api/v1/namespaces/capi-system/pods':
                   {'items': list(pods)}})
        deployments.wait(api, [('capi-system', 'capi')], 0,
                         (notes if notes is not None else []).append)

    def test_time_is_up_and_says_why(self):
        pod = {'metadata': {'name': 'capi-1'}, 'status': {
            'containerStatuses': [{'state': {'waiting': {
                'reason': 'ImagePullBackOff', 'message': 'no route'}}}]}}
        notes = []
        e = self.assertRaises(errors.WaitTimeout, self.wait,
                              [deployment('capi', ready=0)], [pod], notes)
        self.assertIn('capi-system/capi: no minimum', str(e))
        self.assertIn('ImagePullBackOff no route', str(e))
        self.assertEqual(['capi-system/capi'], notes)

    def wait_for(self, *answers):
        """Wait for a Deployment; answers of the API, the last one for ever."""
        answers, notes = list(answers), []

        def get(path):
            answer = answers.pop(0) if len(answers) > 1 else answers[0]
            if isinstance(answer, Exception):
                raise answer
            return answer

        api = Api({})
        api.get = get
        deployments.wait(api, [('capi-system', 'capi')], 60, notes.append,
                         fake_clock.FakeClock())
        return notes

    def test_an_api_that_does_not_answer_for_a_moment(self):
        """Webhooks and controllers start beside the only API server."""
        notes = self.wait_for(
            kube.KubeError('no answer'), kube.KubeError('etcd', status=500),
            {'items': [deployment('capi')]})

        self.assertIn('no answer', notes[0])

    def test_an_api_that_is_gone(self):
        e = self.assertRaises(errors.WaitTimeout, self.wait_for,
                              kube.KubeError('no answer'))
        self.assertIn('no answer', str(e))

    def test_an_api_that_refuses(self):
        self.assertRaises(kube.KubeError, self.wait_for,
                          kube.KubeError('forbidden', status=403))

    def test_pod_without_a_node(self):
        pod = {'metadata': {'name': 'capi-1'}, 'status': {'conditions': [
            {'status': 'False', 'reason': 'Unschedulable',
             'message': 'no CPU'}]}}
        self.assertEqual('capi-1 Unschedulable no CPU',
                         deployments.waiting_pods([pod]))
