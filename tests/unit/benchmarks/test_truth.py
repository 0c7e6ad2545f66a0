# SPDX-License-Identifier: Apache-2.0

from sidebyside import truth
import testtools

WANTED = truth.Wanted(1, 1, 'v1.34.2')


def condition(kind, status='True'):
    return {'type': kind, 'status': status}


def cluster(name='c1', available='True', generation=2, observed=2):
    return {'kind': 'Cluster',
            'metadata': {'name': name, 'generation': generation},
            'status': {'observedGeneration': observed,
                       'conditions': [condition('Available', available)]}}


def machine(name, master=False, ready='True', version='v1.34.2', **metadata):
    labels = {truth.OF_CLUSTER: 'c1'} | ({truth.MASTERS: ''} if master else {})
    return {'kind': 'Machine', 'spec': {'version': version},
            'metadata': {'name': name, 'labels': labels, **metadata},
            'status': {'conditions': [condition('Ready', ready)]}}


def addon(name, phase):
    return {'kind': 'HelmRelease', 'status': {'phase': phase}, 'metadata': {
        'name': name, 'labels': {'capi.stackhpc.com/cluster': 'c1'}}}


def machines(**worker):
    return [machine('m', master=True), machine('w', **worker)]


class LacksTest(testtools.TestCase):

    def test_what_was_asked_for_lacks_nothing(self):
        self.assertEqual('', truth.lacks(cluster(), machines(), WANTED))

    def test_each_part_is_missed(self):
        deleting = {'deletionTimestamp': '2026-01-01T00:00:00Z'}
        for expected, found in (
                ('there is no Cluster', (None, machines())),
                ('not seen by its controller',
                 (cluster(generation=3), machines())),
                ('not Available', (cluster(available='False'), machines())),
                ('0 of 1 control plane', (cluster(), [machine('w')])),
                ('0 of 1 worker', (cluster(), [machine('m', master=True)])),
                ('2 of 1 worker', (cluster(), [*machines(), machine('x')])),
                ('being deleted', (cluster(), machines(**deleting))),
                ('another version',
                 (cluster(), machines(version='v1.33.0'))),
                ('not Ready', (cluster(), machines(ready='Unknown')))):
            self.assertIn(expected, truth.lacks(*found, WANTED))

    def test_objects_without_status_are_not_complete(self):
        bare = machine('w')
        del bare['status']
        self.assertIn('not Ready', truth.lacks(
            cluster(), [machine('m', master=True), bare], WANTED))

    def test_addons(self):
        self.assertEqual('none', truth.lacks_addons([]))
        self.assertEqual('', truth.lacks_addons([addon('a', 'Deployed')]))
        self.assertEqual('b, c', truth.lacks_addons([
            addon('c', None), addon('a', 'Deployed'), addon('b', 'Failed')]))


class HistoryTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.history = truth.History(WANTED)

    def see(self, at, *objects, gone=False):
        for obj in objects:
            self.history.see(obj['kind'], gone, obj, at)

    def test_complete_since_the_last_missing_part_came(self):
        self.see(1, cluster(), machine('m', master=True))
        self.see(5, machine('w', ready='False'))
        self.see(9, machine('w'))
        self.assertIsNone(self.history.since('c1', 8.9))
        self.assertEqual(9, self.history.since('c1', 9))
        self.assertEqual(9, self.history.since('c1', 20))

    def test_complete_that_was_lost_does_not_count_again(self):
        self.see(1, cluster(), *machines())
        self.see(2, machine('w', ready='False'))
        self.see(4, machine('w'))
        self.assertEqual(1, self.history.since('c1', 1.5))
        self.assertIsNone(self.history.since('c1', 3))
        self.assertEqual(4, self.history.since('c1', 5))
        self.assertEqual(4, self.history.next('c1', 3))
        self.assertIsNone(self.history.next('c1', 4))

    def test_what_is_asked_for_counts_from_the_request(self):
        self.see(1, cluster(), *machines())
        self.history.want('c1', truth.Wanted(1, 2, 'v1.34.2'), 3)
        self.assertIsNone(self.history.since('c1', 3))
        self.see(7, machine('x'))
        self.assertEqual(7, self.history.since('c1', 7))

    def test_machine_that_is_gone_is_missed(self):
        self.see(1, cluster(), *machines())
        self.see(2, machine('w'), gone=True)
        self.assertEqual('0 of 1 worker machines', self.history.lacks('c1'))

    def test_addons_are_known_by_cluster(self):
        self.history.see(truth.ADDON, False, addon('a', 'Installing'), 1)
        self.assertEqual('a', self.history.lacks_addons('c1'))
        self.assertEqual('none', self.history.lacks_addons('c2'))

    def test_objects_of_no_cluster_are_left_out(self):
        stranger = machine('s')
        stranger['metadata']['labels'] = {}
        self.see(1, stranger)
        self.assertIsNone(self.history.since('c1', 1))
