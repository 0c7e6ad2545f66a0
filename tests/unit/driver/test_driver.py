# SPDX-License-Identifier: Apache-2.0


"""What Magnum calls, with the arguments that it gives by position.

Rows, helm and the management cluster are those of the small world.
"""

from unittest import mock

from magnum_capi.driver.desired import names
from magnum_capi.driver import failures
from magnum_capi.driver import reconcile
from tests.lib import magnum_api
from tests.unit.driver import base
from tests.unit.driver import small_world


WORKERS, OTHERS = small_world.WORKERS, small_world.OTHERS


class DriverTestCase(base.TestCase):

    def setUp(self):
        super().setUp()
        driver = self.w.driver
        self.w.contexts, self._made = [], driver.store.Store
        for holder, name, value in (
                (driver.Driver, '_runtime',
                 lambda made, options=None: self.w.runtime),
                (driver.store, 'Store', self.store)):
            patch = mock.patch.object(holder, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        self.driver = driver.Driver()
        self.w.rows.make_certificates(
            self.w.rows.clusters[small_world.CLUSTER])

    def store(self, context, options, project_id):
        self.assertEqual(self.w.cluster.project_id, project_id)
        self.w.contexts.append(context)
        return self._made(context, self.w.runtime.options, project_id)

    def call(self, method, *args):
        """As the conductor does, which saves the cluster after it."""
        row = self.w.row()
        getattr(self.driver, method)(self.w.context, row, *args)
        self.w.store.save(row)

    def settle(self, status):
        self.check_status(3)
        self.assertEqual(status, self.w.cluster.status,
                         self.w.cluster.status_reason)

    def check_status(self, times=1):
        for _time in range(times):
            if small_world.CLUSTER in self.w.rows.clusters:
                self.driver.update_cluster_status(None, self.w.row())

    def create(self):
        self.call('create_cluster', 60)
        self.settle('CREATE_COMPLETE')

    def group(self, uuid=WORKERS, **fields):
        """A row as the conductor has changed it, not saved."""
        row = self.w.row(uuid)
        for name, value in fields.items():
            setattr(row, name, value)
        return row


class LifeTest(DriverTestCase):

    def test_who_looks_sees_all_projects(self):
        self.create()
        self.w.contexts.clear()

        self.check_status()

        self.assertTrue(self.w.contexts and all(
            c.is_admin and c.all_tenants for c in self.w.contexts))

    def test_resize_of_what_the_autoscaler_changes_too(self):
        labels = {'auto_scaling_enabled': 'true'}
        self.w.rows.clusters[small_world.CLUSTER]['labels'] = labels
        self.w.rows.groups[WORKERS].update(
            min_node_count=1, max_node_count=5, labels=labels)
        self.create()
        for method, count, args in (
                ('update_cluster', 2, ()),
                ('resize_cluster', 3, (None, 3, None))):
            self.w.store.save(self.group(node_count=count))
            self.call(method, *args)
            self.assertEqual(count, self.w.helm.replicas(
                small_world.RELEASE, names.node_group(WORKERS)))

    def test_rotate_credential(self):
        self.create()
        self.w.ask_as('u2', 'member')

        self.call('rotate_credential')

        self.assertEqual('u2', self.w.cluster.user_id)
        self.assertEqual([0, 1], self.w.credentials())

    def test_rotation_while_another_operation_runs_is_a_conflict(self):
        self.create()
        reconciler = reconcile.Reconciler(
            self.w.runtime, self.w.store, self.w.row())
        with reconciler.locked(0):
            e = self.assertRaises(magnum_api.Conflict, self.call,
                                  'rotate_credential')

        self.assertIn('has not ended', str(e))
        self.assertEqual(409, e.kwargs['code'])


class ServerGroupsTest(DriverTestCase):

    def test_of_others_stay_when_a_cluster_goes(self):
        for table in (self.w.rows.clusters, self.w.rows.groups):
            for row in table.values():
                row['labels'] = {'server_group_policies': 'affinity'}
        self.create()
        plane, workers = sorted(
            name for name, *_ in self.w.cloud.server_groups.values())
        self.w.cloud.server_groups.update({
            # A creation that was cut off has made it.
            'own': (names.server_group(
                small_world.RELEASE, names.node_group(OTHERS)), 'affinity',
                small_world.PROJECT),
            'project': (plane, 'affinity', 'another project'),
            # Another driver's cluster "<release>-c", and somebody's own.
            'cluster': (names.server_group(
                f'{small_world.RELEASE}-c', 'control-plane'), 'affinity',
                small_world.PROJECT),
            'groups': (names.server_group(
                f'{small_world.RELEASE}-c', names.node_group(WORKERS)),
                'affinity', small_world.PROJECT),
            'made by hand': (f'{small_world.RELEASE}-databases', 'affinity',
                             small_world.PROJECT)})

        self.call('delete_cluster')
        self.settle('DELETE_COMPLETE')

        self.assertEqual({'project', 'cluster', 'groups', 'made by hand'},
                         set(self.w.cloud.server_groups))


class ErrorsTest(DriverTestCase):

    def test_a_failure_says_why(self):
        self.w.rows.groups[WORKERS].update(flavor_id='tiny')

        e = self.assertRaises(magnum_api.MagnumException, self.call,
                              'create_cluster', 60)

        self.assertEqual(500, e.code)
        self.assertIn('tiny is too small', str(e))

    def test_signs_of_percent_are_no_fields(self):
        with mock.patch.object(
                self.w.driver.operations.Operations, 'delete',
                side_effect=failures.Failed('100 %(done)s %')):
            e = self.assertRaises(magnum_api.MagnumException, self.call,
                                  'delete_cluster')

        self.assertIn('100 %(done)s %', str(e))

    def test_an_upgrade_that_cannot_be_is_refused_as_wrong(self):
        self.create()
        with mock.patch.object(
                self.w.driver.upgrading.Upgrade, 'run',
                side_effect=failures.NotViable('from 50 % to nothing')):
            e = self.assertRaises(
                magnum_api.NotSupported, self.call, 'upgrade_cluster',
                self.w.store.template(small_world.NEWER), 1, None)

        self.assertEqual(400, e.code)
        self.assertRegex(
            str(e), '^The upgrade is not possible: .*from 50 % to nothing')

    def assertRegex(self, text, pattern):
        self.assertThat(text, base.testtools.matchers.MatchesRegex(
            pattern))

    def test_certificates_cannot_be_rotated(self):
        # The conductor has made new ones already.
        row, before = self.w.row(), dict(self.w.rows.certificates)
        self.w.rows.make_certificates(row)

        self.assertRaises(
            magnum_api.NotSupported, self.driver.rotate_ca_certificate,
            self.w.context, row)

        self.assertEqual((self.w.cluster.ca_cert_ref, before), (
            row.ca_cert_ref, self.w.rows.certificates))

    def test_there_are_no_federations(self):
        for name in ('create', 'update', 'delete'):
            self.assertRaises(
                NotImplementedError,
                getattr(self.driver, f'{name}_federation'), None, None)


class MonitorTest(DriverTestCase):

    def test_it_looks_as_administrator(self):
        self.create()
        self.w.contexts.clear()

        monitor = self.driver.get_monitor(self.w.context, self.w.row())
        monitor.poll_health_status()

        self.assertEqual('HEALTHY', monitor.data['health_status'])
        self.assertTrue(all(c.is_admin and c.all_tenants
                            for c in self.w.contexts))

    def test_none_with_a_wrong_configuration(self):
        self.w.conf.register_opts(
            self.w.driver.config.OPTIONS, 'k8s_capi')
        self.w.conf.set_override(
            'default_value_overlays', ['none'], 'k8s_capi')

        self.assertIsNone(self.driver.get_monitor(
            self.w.context, self.w.row()))
        self.assertIn('default_value_overlays', self.logger.output)


class ProvidesTest(DriverTestCase):

    def test_what_magnum_reads_of_it(self):
        # magnum stable/2026.1, conductor/handlers/cluster_conductor.py: any
        # other driver gets a trust, which an application credential cannot
        # make.
        self.assertIs(False, self.driver.needs_trust)
        self.assertFalse(self.driver.beta)

    def provided(self, **options):
        self.w.conf.register_opts(
            self.w.driver.config.OPTIONS, 'k8s_capi')
        for name, value in options.items():
            self.w.conf.set_override(name, value, 'k8s_capi')
        found = self.driver.provides
        self.assertEqual({('vm', 'kubernetes')}, {
            (one['server_type'], one['coe']) for one in found})
        return [one['os'] for one in found]

    #: What image-builder makes images of, and the other driver serves.
    OWN = ['ubuntu', 'flatcar', 'debian', 'rocky', 'rockylinux']

    def test_more_of_the_operator_each_once(self):
        self.assertEqual(
            [*self.OWN, 'suse'],
            self.provided(extra_os_distros=['suse', 'ubuntu']))

    def test_a_wrong_configuration_takes_no_driver_from_magnum(self):
        self.assertEqual(
            self.OWN,
            self.provided(extra_os_distros=['suse'],
                          default_value_overlays=['none']))
        self.assertIn('default_value_overlays', self.logger.output)

    def test_numbers_of_control_plane_nodes(self):
        for count in (1, 3, 5):
            self.driver.validate_master_resize(count)
        for count in (0, 2, 4, -1):
            self.assertRaises(magnum_api.MasterNGSizeInvalid,
                              self.driver.validate_master_resize, count)
