# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi driver charts``: what it prints, and how it ends."""

import io
import json
from unittest import mock

import fixtures

from magnum_capi.cli import driver_charts
from magnum_capi.driver.helm import helm_errors
from tests.unit.driver.moving import test_site
from tests.unit.driver.operations import test_pins
from tests.unit.driver import small_world


class CommandTest(test_site.Base):

    def setUp(self):
        super().setUp()
        self.err = self.useFixture(fixtures.StringStream('err')).stream
        self.useFixture(fixtures.MonkeyPatch('sys.stderr', self.err))
        self.useFixture(fixtures.MockPatchObject(
            driver_charts, '_site', lambda args: self.site))

    def call(self, kind, *argv):
        """Exit code and standard output."""
        app = mock.Mock(stdout=io.StringIO(), options=mock.Mock(debug=False))
        made = kind(app, None)
        arguments = made.get_parser('x').parse_args([*argv])
        return made.run(arguments), app.stdout.getvalue()

    def charts(self, *argv):
        return self.call(driver_charts.Charts, *argv)

    def move(self, *argv):
        return self.call(driver_charts.Move, *argv)

    def said(self):
        self.err.seek(0)
        return self.err.read()

    def assert_refused(self, text, *argv):
        self.assertEqual((2, ''), self.move(*argv))
        self.assertIn(text, self.said())
        self.assert_unchanged()


class ChartsTest(CommandTest):

    def test_json(self):
        code, out = self.charts('-f', 'json')
        self.assertEqual(0, code)
        self.assertEqual([{
            'Chart': 'openstack-cluster', 'Version': '0.26.1',
            'Target': '0.27.0', 'Behind': 'chart',
            'Cluster': small_world.CLUSTER, 'Name': 'First_1',
            'Project': small_world.PROJECT, 'Status': 'CREATE_COMPLETE',
        }], json.loads(out))

    def test_table(self):
        _code, out = self.charts()
        self.assertIn('| openstack-cluster | 0.26.1  | 0.27.0 |', out)


class MoveTest(CommandTest):

    def test_without_apply_nothing_is_changed(self):
        code, out = self.move('--all')
        self.assertEqual(0, code)
        self.assertIn(f'Cluster First_1 {small_world.CLUSTER}: would be '
                      'moved\n  chart: openstack-cluster 0.26.1 -> '
                      'openstack-cluster 0.27.0\n'
                      '  control plane: nodes stay\n'
                      '  node group default-worker: nodes stay\n'
                      '--- Secret/', out)
        self.assertTrue(out.endswith(
            '\n1 would be moved. Nothing was changed; '
            'use --apply to move them\n'))
        self.assertNotIn('geheim', out)
        self.assert_unchanged()

    def test_nodes_that_are_replaced_are_told(self):
        self.w.helm.own['0.27.0'] = {'plane': '/etc/two'}
        self.assertIn('control plane: nodes are REPLACED '
                      '(kubeadmConfigSpec.files)\n', self.move('--all')[1])

    def test_apply(self):
        code, out = self.move(small_world.CLUSTER, '--apply')
        self.assertEqual(0, code)
        self.assertIn('default-worker: nodes stay', out)
        self.assertTrue(out.endswith('\n1 moved\n'))
        self.assertEqual(test_pins.NEW, self.applied()[0])
        self.assertIn(f'1/1 First_1 {small_world.CLUSTER}', self.said())

    def test_wait(self):
        code, out = self.move('--all', '--apply', '--wait', '1')
        self.assertEqual(1, code)
        self.assertIn('UPDATE_IN_PROGRESS', out)
        self.assertTrue(out.endswith('\n1 pending\n'))

    def test_json(self):
        code, out = self.move('--all', '-f', 'json')
        found = json.loads(out)
        self.assertEqual(
            (0, 1, small_world.CLUSTER, 'would be moved',
             'openstack-cluster 0.27.0'),
            (code, out.count('\n'), found['cluster'], found['outcome'],
             found['to']))
        self.assertEqual(
            {'part': 'control plane', 'replaced': False, 'reasons': []},
            found['nodes'][0])

    def test_one_that_fails_is_told_by_the_exit_code(self):
        self.fails(helm_errors.ChartRefused('bad', reason='no such value'))
        code, out = self.move('--all', '--apply')
        self.assertEqual(1, code)
        self.assertIn(': failed: no such value\n', out)

    def test_one_that_is_refused_keeps_no_other_from_its_turn(self):
        first = mock.Mock(uuid='u', project_id='p')
        first.name = 'broken'
        self.site._rows = lambda: [first, self.w.store.row()]
        code, out = self.move('--all', '--apply')
        self.assertEqual(1, code)
        self.assertIn('Cluster broken u: failed: ', out)
        self.assertEqual(test_pins.NEW, self.applied()[0])
        self.assertTrue(out.endswith('1 failed, 1 moved\n'))

    def test_cluster_as_the_options_say_is_no_failure(self):
        self.configure(chart=test_pins.OLD)
        self.assertEqual(
            (0, f'Cluster First_1 {small_world.CLUSTER}: as the options say\n'
             '1 as the options say\n'), self.move('--all'))

    def test_only_those_of_a_version(self):
        self.assertEqual((0, 'No cluster was selected\n'),
                         self.move('--all', '--from', '0.25.0'))
        self.assertIn('1 would be moved',
                      self.move('--all', '--from', '0.26.1')[1])

    def test_version_that_is_not_allowed_is_refused_at_once(self):
        self.assert_refused('Allowed: 0.27.0, 0.26.1', '--all', '--apply',
                            '--to', '0.28.0')

    def test_neither_clusters_nor_all(self):
        self.assert_refused('or use --all', '--apply')
        self.assert_refused('or use --all', '--apply', '--all',
                            small_world.CLUSTER)

    def test_wait_without_apply(self):
        self.assert_refused('--wait needs --apply', '--all', '--wait', '1')

    def test_cluster_that_does_not_exist(self):
        self.assert_refused(test_site.OTHER, test_site.OTHER,
                            small_world.CLUSTER, '--apply')
