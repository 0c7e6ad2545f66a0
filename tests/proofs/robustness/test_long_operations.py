# SPDX-License-Identifier: Apache-2.0

"""Operations that take longer than planned, in real time.

An upgrade that outlives every time limit, a deletion while the API server of
the management cluster is away, and clusters that live on while an operator
changes what new ones are made of.
"""

import time

import testscenarios
import yaml

from magnum_capi import waiting
from magnum_capi_tempest.tests.common.management import upgrade_order
from magnum_capi_tempest.tests.common import observations
from tests.functional import chart_repository
from tests.proofs.robustness import base

load_tests = testscenarios.load_tests_apply_scenarios

#: Nodes that the upgrade replaces, one at a time; each takes 20 s.
WORKERS = 15

#: Minutes: create_timeout, and progress_timeout of the driver.
LIMIT = 3

#: Seconds for which the API server is away: the driver repeats a request for
#: 30 s (retry_time), then the operation has to be taken up again.
AWAY = 45

CLUSTERS = 5

#: Versions of the chart.
OLD, NEW = '0.1.0', '0.2.0'


def _label_nodes(chart):
    """Part of what nodes are made from: the newer chart makes others."""
    path = chart / 'values.yaml'
    values = yaml.safe_load(path.read_text())
    for machines in 'controlPlane', 'nodeGroupDefaults':
        values[machines]['nodeLabels']['newer-chart'] = 'true'
    path.write_text(yaml.safe_dump(values))


CHARTS = {OLD: None, NEW: _label_nodes}


class Base(base.RobustnessTest):

    def set_for_now(self, **options):
        """Change options of the driver; Magnum is restarted."""
        def change(words):
            self.box.sandbox.set([f'k8s_capi.{word}' for word in words], True,
                                 self.box.progress)

        self.addCleanup(change, [f'{name}=' for name in options])
        change([f'{name}={value}' for name, value in options.items()])


class UpgradeTest(Base):

    def test_an_upgrade_outlives_the_time_limits(self):
        self.set_for_now(progress_timeout=LIMIT)
        old, new = (self.user.make_template(image, flavor_id='slow.node')
                    for image in ('ubuntu-capi', 'ubuntu-capi-1.35'))
        # given: a cluster with many workers that has little time
        (uuid, release), = self.clusters({
            'name': 'many', 'create_timeout': LIMIT,
            'cluster_template_id': old})
        self.user.resize(uuid, WORKERS)()
        before, uids = self.box.api.machines(release), self.uids(release)
        self.assertEqual(1 + WORKERS, len(before))
        # when: it is upgraded node by node
        moments, start = [], time.monotonic()
        self.user.upgrade(uuid, new)
        seen = self.follow(
            uuid, lambda state: state.status == 'UPDATE_COMPLETE',
            'the upgrade to be complete',
            lambda: moments.append(self.box.api.machines(release)))
        took = time.monotonic() - start
        self.tell(f'{took:.0f} s for {WORKERS} workers: {seen}')
        # then: it took longer than the limits, and went well, in order
        after = self.uids(release)
        self.assertGreater(took, 60 * LIMIT)
        self.assertLessEqual(
            {status for status, _ in seen},
            {'CREATE_COMPLETE', 'UPDATE_COMPLETE', 'UPDATE_IN_PROGRESS'})
        self.assertEqual((0, len(before)), (len(uids & after), len(after)))
        self.assertEqual([], upgrade_order.disorder(before, moments))
        self.assertEqual([], upgrade_order.skew(moments))
        self.assertEqual(
            [WORKERS - 1], list(upgrade_order.fewest(moments).values()))
        self.box.wait_nodes(release, 1 + WORKERS)
        self.assert_deleted(uuid)


def _cluster_goes(api, release):
    return all(cluster.going for cluster in api.objects(release, ('Cluster',)))


def _machines_go(api, release):
    return all(machine.going for machine in api.machines(release)
               if not machine.control_plane)


class DeletionTest(base.RobustnessTest):
    """A deletion outlives the API server, which is killed and comes back."""

    scenarios = [(f'{name}-{away}', {'come': come, 'away': away})
                 for name, come in (('cluster-goes', _cluster_goes),
                                    ('machines-go', _machines_go))
                 for away in (0, AWAY)]

    def test_it_ends_well(self):
        # given: a deletion that has come to this moment
        (uuid, release), = self.clusters({
            'name': 'doomed', 'node_count': 2,
            'cluster_template_id': self.user.make_template(
                flavor_id='slow.delete')})
        start = time.monotonic()
        self.user.ask('DELETE', f'clusters/{uuid}')
        waiting.wait_for(lambda: self.come(self.box.api, release), done=bool,
                         timeout=60, what='the deletion to come so far',
                         pace=waiting.Pace(0.05, 1, 0.05))
        # when: the API server is away for a while
        self.box.kill('kube-apiserver')
        dead = time.monotonic()
        seen = self.follow(
            uuid, lambda _look: time.monotonic() - dead >= self.away,
            'the API server to be missed')
        self.box.up()
        away = time.monotonic() - dead
        # then: it ends well, and nothing is left
        seen += self.follow(
            uuid, lambda state: not state.trouble and state.cluster is None,
            'the cluster to be gone')
        self.tell(f'gone after {time.monotonic() - start:.0f} s, '
                  f'{away:.0f} s without the API server: {seen}')
        self.assertEqual([], self.search.wait_gone(uuid))
        self.assertLessEqual({status for status, _ in seen},
                             {'DELETE_IN_PROGRESS', 'gone'})


class OptionsTest(Base):

    def test_clusters_outlive_the_options_that_they_were_made_with(self):
        repository = self.useFixture(chart_repository.ChartRepository(CHARTS))
        self.set_for_now(
            chart_name=chart_repository.NAME, chart_repository=repository.url,
            chart_version=OLD)
        credentials = self.user.credentials()
        # One of them names its chart.
        named = self.user.make_template(labels={
            'capi_helm_chart_version': OLD})
        clusters = self.clusters(
            {'name': 'named', 'cluster_template_id': named},
            *({'name': f'living-{n}'} for n in range(1, CLUSTERS)))
        before = {release: self.uids(release) for _, release in clusters}
        # when: all that new clusters are made of is another
        self.change_everything()
        for uuid, release in clusters:
            self.assert_only_added(uuid, release, before[release])
        # then: an upgrade to the same version moves one, and no other
        self.assert_all_replaced(*clusters[-1])
        for _uuid, release in clusters[:-1]:
            self.assertLess(before[release], self.uids(release))
        for uuid, _release in clusters:
            self.assert_deleted(uuid)
        self.assertEqual(credentials, self.user.credentials())

    def change_everything(self):
        """Another chart, overlay and label of all new clusters."""
        path = self.box.sandbox.directory / 'site.yaml'
        path.write_text(yaml.safe_dump({machines: {
            'nodeLabels': {'site': 'new'}} for machines in (
                'controlPlane', 'nodeGroupDefaults')}))
        conductor = self.box.process('magnum-conductor')
        self.set_for_now(
            chart_version=NEW,
            allowed_chart_versions=OLD,
            value_overlays=f'site:{path}', default_value_overlays='site',
            default_labels='boot_volume_size:33')
        self.assertFalse(conductor.is_running())

    def assert_only_added(self, uuid, release, before):
        start = time.monotonic()
        self.user.resize(uuid, 2)()
        after = self.uids(release)
        self.tell(f'resized in {time.monotonic() - start:.0f} s')
        self.assertEqual((before, 1), (before & after, len(after - before)))
        self.box.wait_nodes(release, 3)

    def assert_all_replaced(self, uuid, release):
        """The control: what was changed does replace nodes."""
        before, began = self.uids(release), []
        self.user.upgrade(uuid, self.user.make_template())

        def over(state):
            began.append(state.status == 'UPDATE_IN_PROGRESS')
            return any(began) and observations.is_complete(state.status)

        seen = self.follow(uuid, over, 'the upgrade to be complete')
        after = self.uids(release)
        self.tell(f'upgraded to the same version: {seen}')
        self.assertEqual((set(), len(before)),
                         (before & after, len(after)))
