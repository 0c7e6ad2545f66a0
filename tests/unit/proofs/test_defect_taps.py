# SPDX-License-Identifier: Apache-2.0

"""What the seeded drivers have in common: hooks around Magnum's methods.

Magnum and the driver are the least that the hooks need.
"""

import importlib
import json
import pathlib
import subprocess
import sys
import types
from unittest import mock

import fixtures
import testtools

from magnum_capi import driver as driver_package

DEFECTS = pathlib.Path(__file__).resolve().parents[2] / 'defects'

REQUESTS = ('create_cluster', 'update_cluster', 'delete_cluster',
            'resize_cluster', 'upgrade_cluster', 'create_nodegroup',
            'update_nodegroup', 'delete_nodegroup', 'rotate_credential',
            'rotate_ca_certificate')


class Row:
    """A row of a table, saved column by column as Magnum's objects are."""

    table: dict = {}

    def __init__(self):
        self.__dict__['_changed'] = set()

    def __setattr__(self, name, value):
        self._changed.add(name)
        self.__dict__[name] = value

    @staticmethod
    def _from_db_object(row, values):
        row.__dict__.update(values)
        return row

    @classmethod
    def get(cls, uuid):
        return cls._from_db_object(cls(), cls.table[uuid])

    def obj_what_changed(self):
        return set(self._changed)

    def obj_reset_changes(self, fields):
        self._changed.difference_update(fields)

    def save(self):
        for name in self._changed:
            self.table[self.uuid][name] = self.__dict__[name]
        self._changed.clear()

    def destroy(self):
        del self.table[self.uuid]


class Cluster(Row):

    @property
    def nodegroups(self):
        return [self.groups.get(uuid) for uuid in sorted(self.groups.table)]


class TapsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.Cluster = type('Cluster', (Cluster,), {'table': {'c': {
            'uuid': 'c', 'stack_id': 'release', 'create_timeout': 60,
            'status': 'UPDATE_IN_PROGRESS', 'status_reason': 'some'}}})
        self.Group = type('Group', (Row,), {'table': {
            name: {'uuid': name, 'role': role, 'node_count': 1,
                   'status': 'UPDATE_IN_PROGRESS', 'status_reason': None}
            for name, role in (('m', 'master'), ('w', 'worker'))}})
        self.Cluster.groups = self.Group
        #: What the driver does in each of Magnum's methods.
        self.act = mock.Mock()
        self.taps = self.imported()
        self.cluster = self.Cluster.get('c')

    def imported(self):
        """The module taps, with a driver that does nothing but ``act``."""
        def method(name):
            return lambda _, context, cluster, *args: self.act(cluster)

        driver = type('Driver', (), {
            name: method(name)
            for name in (*REQUESTS, 'update_cluster_status')})
        driver.get_monitor = lambda _, context, cluster: (
            types.SimpleNamespace(
                data={'health_status': 'HEALTHY'},
                poll_health_status=lambda: self.act(cluster)))
        stand_ins = {
            'magnum': {'objects': types.SimpleNamespace(
                Cluster=self.Cluster, NodeGroup=self.Group,
                ClusterTemplate=type('Template', (Row,), {}))},
            'magnum.common': {'clients': None},
            'magnum_capi_helm': {'kubernetes': None},
            'openstack': {'connection': None}}
        modules = {name: types.ModuleType(name) for name in stand_ins}
        for name, content in stand_ins.items():
            vars(modules[name]).update(content)
        patches = (mock.patch.dict(sys.modules, modules),
                   mock.patch.object(
                       driver_package, 'driver', create=True,
                       new=types.SimpleNamespace(Driver=driver)))
        for patch in patches:
            patch.start()
            self.addCleanup(patch.stop)
        self.useFixture(fixtures.MonkeyPatch(
            'sys.path', [str(DEFECTS), *sys.path]))
        return importlib.import_module('magnum_capi_defects.taps')

    def resize(self, driver, *rows):
        driver.resize_cluster(None, self.cluster, *rows)

    def test_what_a_driver_sees_is_not_saved(self):
        class Blind(self.taps.Tapped):
            def sees(_, method, cluster, row):
                row.node_count = row.create_timeout = 0

        def act(cluster):
            group = self.Group.get('w')
            self.assertEqual((0, 0),
                             (group.node_count, cluster.create_timeout))
            group.status = cluster.status = 'UPDATE_COMPLETE'
            group.save()
            cluster.save()

        self.act.side_effect = act
        self.resize(Blind())

        saved = self.Group.table['w']
        self.assertEqual((1, 'UPDATE_COMPLETE'),
                         (saved['node_count'], saved['status']))
        self.assertEqual((60, 'UPDATE_COMPLETE'), (
            self.Cluster.table['c']['create_timeout'],
            self.Cluster.table['c']['status']))
        self.assertEqual(1, self.Group.get('w').node_count)

    def test_rows_among_the_arguments_are_seen_as_well(self):
        class Blind(self.taps.Tapped):
            def sees(_, method, cluster, row):
                if self.taps.is_worker(row):
                    row.node_count = 7

        group = self.Group.get('w')
        group.node_count = 3
        self.resize(Blind(), 3, group)
        self.assertEqual(7, group.node_count)

    def test_what_is_saved_is_changed_first(self):
        class Hiding(self.taps.Tapped):
            def saves(_, method, cluster, row):
                if self.taps.is_cluster(row):
                    row.status = 'UPDATE_COMPLETE'
                return self.taps.is_cluster(row)

        def act(cluster):
            for row in (cluster, self.Group.get('w')):
                row.status = 'UPDATE_FAILED'
                row.save()

        self.act.side_effect = act
        Hiding().update_cluster_status(None, self.cluster)

        self.assertEqual('UPDATE_COMPLETE', self.Cluster.table['c']['status'])
        self.assertEqual('UPDATE_IN_PROGRESS',
                         self.Group.table['w']['status'])

    def test_and_so_is_what_is_left_to_magnum_to_save(self):
        class Hiding(self.taps.Tapped):
            def saves(_, method, cluster, row):
                row.status = 'UPDATE_COMPLETE'

        def act(cluster):
            cluster.status = 'UPDATE_FAILED'

        self.act.side_effect = act
        self.resize(Hiding())
        self.assertEqual('UPDATE_COMPLETE', self.cluster.status)

    def test_a_row_is_kept(self):
        class Keeping(self.taps.Tapped):
            def removes(_, method, cluster, group):
                return group.uuid != 'w'

        def act(cluster):
            for uuid in ('m', 'w'):
                self.Group.get(uuid).destroy()

        self.act.side_effect = act
        Keeping().update_cluster_status(None, self.cluster)
        self.assertEqual(['w'], list(self.Group.table))

    def test_values_are_those_of_the_last_request(self):
        program = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path, 'helm')
        program.write_text('#!/bin/sh\ncat\n')
        program.chmod(0o700)
        said = []
        self.act.side_effect = lambda cluster: said.append(
            json.loads(subprocess.run(
                [str(program)], input='{"a": 0}', text=True, check=True,
                stdout=subprocess.PIPE).stdout))

        class Telling(self.taps.Tapped):
            def values(_, method, cluster, values):
                return values | {'method': method, 'of': cluster.uuid}

        driver = Telling()
        self.resize(driver)
        driver.update_cluster_status(None, self.cluster)

        self.assertEqual(
            [{'a': 0, 'method': 'resize_cluster', 'of': 'c'}] * 2, said)

    def test_the_data_of_the_monitor_are_changed(self):
        class Ill(self.taps.Tapped):
            def polled(_, cluster, data):
                return {**data, 'health_status': 'UNHEALTHY'}

            def saves(_, method, cluster, row):
                return method != self.taps.POLL

        def act(cluster):
            cluster.status_reason = 'other'
            cluster.save()

        self.act.side_effect = act
        monitor = Ill().get_monitor(None, self.cluster)
        monitor.poll_health_status()

        self.assertEqual({'health_status': 'UNHEALTHY'}, monitor.data)
        self.assertEqual('some', self.Cluster.table['c']['status_reason'])

    def test_a_driver_without_a_monitor_has_none(self):
        class Unwatched(self.taps.Tapped):
            pass

        with mock.patch.object(self.taps.driver.Driver, 'get_monitor',
                               return_value=None):
            self.assertIsNone(Unwatched().get_monitor(None, self.cluster))

    def test_an_ignored_request_is_complete_at_the_next_check(self):
        driver = self.taps.Ignoring()
        driver.ignore(self.cluster)

        driver.update_cluster_status(None, self.cluster)

        self.act.assert_not_called()
        self.assertEqual(['UPDATE_COMPLETE'] * 3, [
            row['status'] for row in (
                *self.Group.table.values(), self.Cluster.table['c'])])
        driver.update_cluster_status(None, self.cluster)
        self.act.assert_called_once_with(self.cluster)
