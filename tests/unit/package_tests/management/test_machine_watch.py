# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi_tempest.tests.common.management import capi_objects
from magnum_capi_tempest.tests.common.management import machine_watch

PATH = '/apis/cluster.x-k8s.io/v1beta2/namespaces/n/machines'


def machine(name, version, phase='Running', going=False):
    return {'metadata': {
        'name': name, 'resourceVersion': str(version),
        **({'deletionTimestamp': '2026-01-01T00:00:00Z'} if going else {})},
        'spec': {}, 'status': {'phase': phase}}


class History:
    """The part of Management that a watch asks, with a history of its own.

    :param there: Machines when the watch begins.
    :ivar events: of which a request gets those after its version.
    """

    def __init__(self, *there):
        self.there, self.events = there, []

    def add(self, kind, body):
        self.events.append((kind, body))

    def ask(self, method, path):
        assert (method, path) == ('GET', PATH)
        return {'metadata': {'resourceVersion': '10'},
                'items': list(self.there)}

    def changes(self, path, version, seconds):
        assert path == PATH and seconds
        found = [(how, body) for how, body in self.events
                 if int(version) < int(body['metadata']['resourceVersion'])]
        versions = [body['metadata']['resourceVersion'] for _, body in found]
        return found, max([version, *versions], key=int)


class MachineWatchTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.api = History(machine('c-1', 5), machine('other-1', 6))
        self.watch = machine_watch.MachineWatch(self.api, PATH, 'c')

    def moments(self):
        return [' '.join(map(str, moment)) for moment in self.watch.moments]

    def in_service(self):
        return [capi_objects.in_service(moment, False)
                for moment in self.watch.moments]

    def test_short_state_between_two_reads_is_seen(self):
        self.api.add('MODIFIED', machine('c-1', 11, going=True))
        self.api.add('ADDED', machine('c-2', 12, 'Provisioned'))
        self.api.add('DELETED', machine('c-1', 13, going=True))
        self.api.add('MODIFIED', machine('c-2', 14))
        # Those of others do not matter.
        self.api.add('MODIFIED', machine('other-1', 15, 'Failed'))
        self.api.add('DELETED', machine('other-1', 16, 'Failed'))

        self.watch.read()

        self.assertEqual(
            ['c-1 Running', 'c-1 going', 'c-1 going c-2 Provisioned',
             'c-2 Provisioned', 'c-2 Running'], self.moments())
        self.assertEqual([1, 0, 0, 0, 1], self.in_service())
        self.assertEqual(f'{PATH}/c-1', self.watch.moments[0][0].path)
