# SPDX-License-Identifier: Apache-2.0

"""What exists only during an operation is recorded."""

import testtools

from magnum_capi_tempest.kubeclient import changes
from magnum_capi_tempest.kubeclient import kube
from tests.unit.evidence import fake_kube

PATH = '/api/v1/secrets'


class ChangesTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.kube = self.useFixture(fake_kube.FakeKube())
        self.kube.serve(PATH)
        self.change('ADDED', 'before')
        self.client = kube.Client(self.kube.kubeconfig)

    def change(self, how, name):
        self.kube.change(PATH, how, {'metadata': {'name': name}})

    def names(self, found):
        return [(how, obj['metadata']['name']) for how, obj in found]

    def test_each_change_is_read_once(self):
        watch = changes.Changes(self.client, PATH)
        self.change('MODIFIED', 'a')
        self.assertEqual([('MODIFIED', 'a')], self.names(watch.read(1)))
        self.change('DELETED', 'a')
        self.assertEqual([('DELETED', 'a')], self.names(watch.read(1)))

        self.assertEqual(
            [('ADDED', 'before'), ('MODIFIED', 'a'), ('DELETED', 'a')],
            self.names(changes.Changes(self.client, PATH, '0').read(1)))

    def recorded(self):
        return changes.Recording(
            self.client, PATH, lambda obj: obj['metadata']['name'] != 'other')

    def test_what_is_wanted_until_the_end(self):
        with self.recorded() as recording:
            for name in ('a', 'other'):
                self.change('MODIFIED', name)
                self.change('DELETED', name)

        recording.check()
        self.assertEqual([('MODIFIED', 'a'), ('DELETED', 'a')],
                         self.names(recording.found))

    def test_a_recording_that_ended_early(self):
        with self.recorded() as recording:
            self.kube.history[PATH].append(('ERROR', {'code': 410}))

        self.assertRaises(kube.KubeError, recording.check)
