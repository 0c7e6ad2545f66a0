# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi driver adopt``: what it prints, and how it ends."""

import json

import fixtures

from magnum_capi.cli import driver_adopt
from tests.unit.cli import terminal
from tests.unit.driver.adoption import test_adopt
from tests.unit.driver import small_world


class AdoptTest(test_adopt.Base):

    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.MockPatchObject(
            driver_adopt, '_adoption', lambda args: self.adoption()))

    def call(self, *argv):
        """Exit code and standard output."""
        return terminal.command(driver_adopt.Adopt, *argv)[:2]

    def test_dry_run(self):
        before = self.world()
        code, out = self.call(small_world.CLUSTER)
        self.assertEqual(0, code)
        self.assertEqual(f'''\
Cluster First_1 {small_world.CLUSTER}: would be adopted
  release: {test_adopt.STACK}, revision 1
  chart: openstack-cluster 0.16.0
  credential: magnum-{small_world.CLUSTER}
  node group {small_world.WORKERS}: default-worker
  change: Magnum, cluster template template-1: driver k8s_capi_helm_v1 -> \
k8s_capi_v1
  change: Kubernetes, Secret {small_world.NAMESPACE}/\
{test_adopt.STACK}-magnum: written

1 would be adopted. Nothing was changed; use --apply to make the changes
''', out)
        self.assertEqual(before, self.world())

    def test_there_and_back(self):
        before = self.world()
        self.assertEqual((0, '1 adopted'), self.last('--all', '--apply'))
        self.assertEqual((0, '1 would be given back. Nothing was changed; '
                          'use --apply to make the changes'),
                         self.last('--all', '--undo'))
        self.assertEqual((0, '1 given back'),
                         self.last('--all', '--undo', '--apply'))
        self.assertEqual(before, self.world())

    def last(self, *argv):
        code, out = self.call(*argv)
        return code, out.splitlines()[-1]

    def test_refused(self):
        self.w.rows.clusters[small_world.CLUSTER]['status'] = (
            'UPDATE_IN_PROGRESS')
        code, out = self.call('--all', '--apply')
        self.assertEqual(1, code)
        self.assertIn(': refused\n  its status is UPDATE_IN_PROGRESS', out)

    def test_json(self):
        code, out = self.call('--all', '-f', 'json')
        self.assertEqual(0, code)
        found = json.loads(out)
        self.assertEqual(('would be adopted', {
            small_world.WORKERS: 'default-worker'}), (
            found['outcome'], found['node_groups']))

    def test_nothing_is_chosen(self):
        self.assertEqual(0, self.call('--all', '--undo')[0])
        for argv in ((), (small_world.CLUSTER, '--all')):
            self.assertEqual((2, ''), self.call(*argv))
