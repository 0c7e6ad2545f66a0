# SPDX-License-Identifier: Apache-2.0

"""The Secret with the state of a cluster cannot be read."""

import base64
import json

from tests.lib import magnum_api
from tests.unit.driver import small_world
from tests.unit.driver import test_driver

SECRET = f'{small_world.RELEASE}-magnum'
PATH = f'/api/v1/namespaces/{small_world.NAMESPACE}/secrets/{SECRET}'


def _data(text):
    return {'state.json': base64.b64encode(text.encode()).decode()}


#: Data of the Secret.
DAMAGED = {
    'cut off': _data('{"operation": "CREA'),
    'empty': _data(''),
    'another type': _data('[]'),
    'no such key': {},
    'no base64': {'state.json': 'a'},
    'no text': {'state.json': base64.b64encode(b'\xff').decode()},
    'entry that lacks fields': _data(json.dumps({'record': [{}]})),
    'entry of another type': _data(json.dumps({'record': ['x']})),
    'part of another type': _data(json.dumps({'held': []})),
    'no time': _data(json.dumps({'since': 'yesterday'})),
    'values of another type': _data(json.dumps({'kept': 'x'})),
    'values that are missing': _data(json.dumps({'kept': {}})),
    'of a later release': _data(json.dumps({'schema': 2})),
}


class DamagedStateTest(test_driver.DriverTestCase):
    """Nothing is done with the cluster, and its owner and health say why."""

    def damage(self, data=DAMAGED['cut off']):
        """Returns a function that restores the Secret."""
        before = self.api.objects[PATH]
        self.api.put(PATH, {**before, 'data': data})
        return lambda: self.api.put(PATH, before)

    def health(self):
        monitor = self.driver.get_monitor(self.w.context, self.w.row())
        monitor.poll_health_status()
        return monitor.data

    def kept(self):
        """What must not change meanwhile."""
        return (self.api.objects[PATH]['data'], dict(self.w.cloud.credentials),
                len(self.w.helm.upgrades), self.w.helm.uninstalls)

    def begin(self):
        self.call('create_cluster', 60)

    def test_periodic_jobs_give_the_reason_and_lose_nothing(self):
        self.begin()
        for case, data in DAMAGED.items():
            with self.subTest(case):
                restore = self.damage(data)
                before = self.kept()

                self.check_status(3)
                health = self.health()

                self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)
                self.assertIn(SECRET, self.w.cluster.status_reason or '')
                self.assertEqual('UNKNOWN', health['health_status'])
                self.assertIn(SECRET, str(health['health_status_reason']))
                self.assertEqual(before, self.kept())
                self.w.rows.clusters[small_world.CLUSTER].update(
                    status_reason=None)
                restore()

        self.settle('CREATE_COMPLETE')
        self.assertEqual('HEALTHY', self.health()['health_status'])

    def test_of_an_adopted_cluster(self):
        self.begin()
        self.w.rows.clusters[small_world.CLUSTER].update(stack_id='adopted')
        self.api.put(PATH.replace(small_world.RELEASE, 'adopted'),
                     {'data': DAMAGED['cut off']})

        self.check_status()

        self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)
        self.assertIn('adopted-magnum', self.w.cluster.status_reason)

    def test_requests_are_refused_with_the_reason(self):
        self.create()
        restore = self.damage()
        before = self.kept()
        for method, args, error in (
                ('resize_cluster', (None, 2, None), 500),
                ('rotate_credential', (), 500),
                ('upgrade_cluster', (
                    self.w.store.template(small_world.NEWER), 1, None), 400),
                ('delete_cluster', (), 500)):
            e = self.assertRaises(magnum_api.MagnumException, self.call,
                                  method, *args)
            self.assertEqual(error, e.code)
            self.assertIn(SECRET, str(e))
            self.assertEqual(before, self.kept())

        # As the conductor does after the last of them.
        self.w.rows.clusters[small_world.CLUSTER].update(
            status='DELETE_FAILED')
        restore()
        self.health()
        self.settle('DELETE_COMPLETE')
        self.assertEqual({}, self.w.cloud.credentials)
