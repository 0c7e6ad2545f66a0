# SPDX-License-Identifier: Apache-2.0

"""What is remembered of a management cluster, and when it is not believed."""

import copy
import re
import time

import fixtures
import testtools

from magnum_capi.kube import cache
from magnum_capi import waiting
from tests.lib import kube_server

CAPI = '/apis/cluster.x-k8s.io/v1beta2'
ONE = f'{CAPI}/namespaces/n/clusters/c1'
MACHINE = f'{CAPI}/namespaces/n/machines/m1'
SECRET = '/api/v1/namespaces/n/secrets/c1-magnum'
LABEL = 'magnum.openstack.org/cluster-uuid'


def of(cluster):
    return {'metadata': {'labels': {cache.CLUSTER: cluster}}}


class Clock:
    """The time, which also jumps."""

    jumped = 0.0
    sleep = staticmethod(time.sleep)

    def monotonic(self):
        return time.monotonic() + self.jumped


class Base(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.FakeLogger())
        self.api = self.useFixture(kube_server.HttpApiServer())
        self.clock = self.api.clock = Clock()
        self.pause = cache._PAUSE
        self.patch(cache, '_PAUSE', (0.01, 0.02))
        self.patch(cache, '_WATCH', (3.0, 3.0))
        self.api.put(ONE, {'kind': 'Cluster', **of('c1')})
        self.api.put(MACHINE, of('c1'))
        self.cached = cache.CachedKube(self.api.kube(), LABEL)
        self.addCleanup(self.cached.stop)

    def until(self, value, poll):
        waiting.wait_for(poll, done=lambda found: found == value, timeout=10,
                         what='the informer', pace=waiting.Pace(0.01, 1, 1))

    def warm(self, kind='Cluster'):
        found = self.cached._informers[kind]
        self.until(True, lambda: found.fresh)
        return found

    def name(self, cluster='c1'):
        """The name of a Cluster as it is answered."""
        found = self.cached.get('Cluster', 'n', cluster)
        return found and found['metadata']['name']

    def machines(self, cluster='c1', namespace='n'):
        return [m['metadata']['name'] for m in self.cached.list(
            'Machine', namespace, {cache.CLUSTER: cluster})]

    def reads(self):
        """Requests that are no lists of all namespaces, and no watches."""
        return [path for _, path in self.api.calls('GET')
                if '/namespaces/' in path]


class RememberedTest(Base):

    def test_first_questions_are_answered_by_the_server(self):
        self.assertEqual('c1', self.name())
        self.assertEqual([ONE], self.reads())

    def test_what_is_watched_costs_no_request(self):
        self.warm()
        self.warm('Machine')
        self.api.seen.clear()
        for _time in range(10):
            self.assertEqual('c1', self.name())
            self.assertIsNone(self.name('c2'))
            self.assertEqual(['m1'], self.machines())
            self.assertEqual([], self.machines(namespace='other'))
        self.assertEqual([], self.reads())

    def test_changes_are_seen(self):
        self.warm('Machine')
        self.api.put(MACHINE.replace('m1', 'm2'), of('c1'))
        self.until(['m1', 'm2'], self.machines)
        # It is another one's now.
        self.api.put(MACHINE, of('c2'))
        self.until(['m2'], self.machines)
        self.assertEqual(['m1'], self.machines('c2'))
        self.api.remove(MACHINE.replace('m1', 'm2'))
        self.until([], self.machines)
        self.assertEqual([], self.reads())

    def test_who_asks_gets_a_copy_without_managed_fields(self):
        self.api.put(ONE, {'kind': 'Cluster', 'spec': {'a': 1}, 'metadata': {
            'labels': {'a': 'b'}, 'ownerReferences': [{'uid': 'c'}],
            'managedFields': [{'a': 1}]}})
        wanted = copy.deepcopy(self.api.objects[ONE])
        del wanted['metadata']['managedFields']
        self.warm()
        for _time in range(2):
            found = self.cached.get('Cluster', 'n', 'c1')
            self.assertEqual(wanted, found)
            found['metadata'].clear()

    def test_other_questions_go_to_the_server(self):
        self.warm('Machine')
        self.cached.list('Machine', 'n', {'other': 'label'})
        self.cached.list('Machine', 'n')
        self.cached.get('OpenStackCluster', 'n', 'c1')
        self.cached.list('MachineSet', 'n', {cache.CLUSTER: 'c1'})
        self.assertEqual(4, len(self.reads()))

    def test_secrets_are_known_by_their_versions_alone(self):
        labels = {'metadata': {'labels': {LABEL: 'u'}}}
        self.api.put(SECRET, {**labels, 'data': {'key': 'c2VjcmV0'}})
        self.api.put(SECRET.replace('c1', 'c2'), {'data': {}})
        self.assertIsNone(self.cached.version('n', 'c1-magnum'))
        self.until(True, lambda: self.cached._versions.fresh)
        first = self.cached.version('n', 'c1-magnum')
        self.assertEqual(self.api.objects[SECRET]['metadata'][
            'resourceVersion'], first)
        self.assertIsNone(self.cached.version('n', 'c2-magnum'))
        self.api.put(SECRET, labels)
        self.until(True, lambda: self.cached.version(
            'n', 'c1-magnum') not in (None, first))
        self.assertEqual([], self.reads())
        # Neither is the rest asked for.
        self.assertEqual({'PartialObjectMetadata'}, {
            headers['Accept'].rpartition('=')[2].removesuffix('List')
            for _, path, _, headers, _ in self.api.seen
            if path.endswith('/secrets')})


class StaleTest(Base):
    """What may be old is not believed."""

    def setUp(self):
        super().setUp()
        self.known = self.warm()
        self.api.seen.clear()

    def remembered(self, name='c1'):
        """The name of a Cluster in memory while that is fresh."""
        found = self.known.fresh and self.known.get('n', name)
        return found and found['metadata']['name']

    def lists(self):
        return [query for _, _, query, _, _ in self.api.seen
                if not query.get('watch')]

    def test_server_that_is_away_is_retried(self):
        self.patch(cache, '_GRACE', 0.0)
        self.api.faults = [kube_server.hang_up] * 10000
        self.api.restart()
        self.until(False, lambda: self.known.fresh)

    def test_after_a_gap_everything_is_listed_anew(self):
        def lose(request):
            self.clock.jumped += cache._GRACE
            kube_server.hang_up(request)
        self.api.faults = [lose] * 2
        # Nobody will tell that it has gone.
        del self.api.objects[ONE]
        self.api.restart()
        self.until(None, self.remembered)

    def test_bookmark_is_no_object(self):
        self.api.bookmark(ONE)
        two = ONE.replace('c1', 'c2')
        self.api.put(two, {'kind': 'Cluster', **of('c2')})
        self.until('c2', lambda: self.remembered('c2'))
        self.assertEqual('c1', self.remembered())

    def test_without_a_gap_nothing_is_listed_anew(self):
        self.api.restart()
        self.until(True, lambda: any(
            query.get('watch') for _, _, query, _, _ in self.api.seen))
        self.until(True, lambda: self.known.fresh)
        self.assertEqual([], self.lists())

    def test_one_try_that_fails_is_no_gap(self):
        def slow(request):
            # It takes half a second, and the next one is made late.
            self.clock.jumped += 0.5 + max(self.pause)
            kube_server.hang_up(request)
        self.clock.monotonic = lambda: self.clock.jumped
        self.api.faults = [slow]
        self.api.restart()
        self.until(True, lambda: bool(
            self.clock.jumped) and self.known.fresh)
        self.assertEqual([], self.lists())

    def test_watch_that_came_too_late_lists_again(self):
        for name in ('c2', 'c3'):
            self.api.version += 10
            self.api.oldest = self.api.version
            self.api.put(ONE.replace('c1', name), of(name))
            self.api.restart()
            self.until(name, lambda: self.remembered(name))

    def test_watch_that_says_so_or_sends_something_else_begins_again(self):
        for content in (b'<html>\n', b'{"kind": "Cluster"}\n',
                        b'{"type": "ERROR", "object": {"code": 410}}\n'):
            self.api.faults = [
                lambda handler: handler.answer(200, {}, content)]
            if b'410' in content:
                del self.api.objects[ONE]
            self.api.restart()
            self.until([], lambda: self.api.faults)
            self.until('c1' if self.api.objects.get(ONE) else None,
                       self.remembered)

    def test_kind_that_is_served_in_another_version_is_listed_there(self):
        served = self.api.discovery
        self.api.withdraw('v1beta2')
        withdrawn = self.api.discovery
        # An older version, and the newer one again.
        for discovery, version in ((withdrawn, 'v1beta1'),
                                   (served, 'v1beta2')):
            self.api.discovery = discovery
            self.clock.jumped += 1000
            self.api.objects = {
                re.sub('v1beta[12]', version, path):
                {**obj, 'apiVersion': f'cluster.x-k8s.io/{version}'}
                for path, obj in self.api.objects.items()}
            self.api.restart()
            self.until(
                f'cluster.x-k8s.io/{version}', lambda: self.known.fresh
                and self.known.get('n', 'c1').get('apiVersion'))

    def test_one_that_was_stopped_is_not_believed(self):
        self.cached.stop()
        # A watch that is accepted at this moment changes nothing.
        self.known._opened()
        self.assertFalse(self.known.fresh)
        self.api.restart()
        self.known._thread.join(10)
        self.assertFalse(self.known._thread.is_alive())
        self.assertFalse(self.known.fresh)


class RefusedTest(Base):

    def test_who_may_not_watch_asks_for_each_cluster(self):
        def forbidden(handler):
            handler.refuse(403, 'Forbidden')
        self.api.faults = [forbidden] * 10000
        self.api.fault_path = re.compile(f'{CAPI}/clusters$')
        known, pauses = self.cached._informers['Cluster'], []
        known._stopped.wait = lambda seconds: pauses.append(
            seconds) or known.stop()
        for number in range(1, 4):
            self.assertEqual('c1', self.name())
            self.assertEqual(number, len(self.reads()))
        # It is not asked for again soon.
        self.until(1, lambda: len(pauses))
        self.assertTrue(240 <= pauses[0] <= 360)
