# SPDX-License-Identifier: Apache-2.0

import contextlib
import dataclasses
import re
import threading

import fixtures
from oslo_config import cfg
from oslo_config import fixture as config_fixture
import testtools

from magnum_capi.driver.cloud import loadbalancers
from magnum_capi.driver.cloud import services
from magnum_capi.driver.desired import names
from magnum_capi.driver import failures
from magnum_capi.driver.helm import helm_errors
from magnum_capi.driver.keys import rotation
from magnum_capi.driver.keys import vault
from magnum_capi.driver import operations
from magnum_capi.driver import options
from magnum_capi.driver import reconcile
from magnum_capi.driver import settings
from magnum_capi.driver import upgrading
from magnum_capi.driver import watch
from magnum_capi.kube import lock
from magnum_capi.kube import rest
from tests.unit.driver import api_server
from tests.unit.driver import gate
from tests.unit.driver import objects
from tests.unit.driver import small_world


class Base(testtools.TestCase):

    server = api_server.ApiServer

    def setUp(self):
        super().setUp()
        self.logger = self.useFixture(fixtures.FakeLogger())
        self.api = self.useFixture(self.server())
        conf = cfg.ConfigOpts()
        conf.register_opts(options.OPTIONS, group='k8s_capi')
        self.useFixture(config_fixture.Config(conf)).config(
            group='k8s_capi', chart_name='/charts/sandbox-cluster',
            lock_timeout=0, failure_patience=0, retry_time=0,
            credential_settle=0, credential_bound=60)
        self.w = small_world.World(self.api, settings.Settings.of(conf))
        watch.forget(small_world.CLUSTER)
        self.useFixture(fixtures.MockPatchObject(
            rotation, 'check', self.w.cloud.check))
        # A new one takes longer than all the rest of a test.
        self.useFixture(fixtures.MockPatchObject(
            vault, 'key_pair', small_world.key_pair))

    def operations(self, cluster=None):
        return operations.Operations(
            self.w.runtime, self.w.store, cluster or self.w.store.row())

    def create(self, **cluster):
        """As the conductor does, with what it does after that."""
        self.w.store.clusters[small_world.CLUSTER].update(cluster)
        row = self.w.store.row()
        row.ca_cert_ref = 'ca'
        self.operations(row).create(60)
        return row

    def look(self, times=1):
        """The periodic status, as Magnum itself."""
        user, self.w.store.user = self.w.store.user, rotation.User()
        try:
            for _time in range(times):
                if small_world.CLUSTER in self.w.store.clusters:
                    row = self.w.store.row()
                    watch.Watch(self.w.runtime, self.w.store, row).update()
        finally:
            self.w.store.user = user

    def created(self):
        self.create()
        self.look()
        self.assertEqual('CREATE_COMPLETE', self.w.cluster.status,
                         self.w.cluster.status_reason)

    def resize(self, count, uuid=small_world.WORKERS, **kwargs):
        """As the conductor does; what it does after a failure, too."""
        group = self.w.store.row(uuid)
        group.node_count = count
        group.status = 'UPDATE_IN_PROGRESS'
        self.w.store.save(group)
        self.operations().change(group=group, resize=True, **kwargs)


class CreateTest(Base):

    def test_everything_is_there(self):
        row = self.create()
        self.assertEqual(small_world.RELEASE, row.stack_id)
        self.assertEqual('ca', self.w.cluster.ca_cert_ref)
        self.assertEqual(['ca', 'cloud-credentials', 'etcd', 'magnum',
                          'proxy', 'sa'], self.w.secrets())
        self.assertEqual(1, len(self.w.helm.upgrades))
        self.assertEqual(1, len(self.w.cloud.credentials))

    def test_credential_never_has_the_role_admin(self):
        self.create()
        self.assertEqual([['member']], self.w.cloud.roles)

    def test_key_of_service_accounts_is_the_clusters_own_and_stays(self):
        # E8: not the key of Magnum's client certificate.
        self.create()
        path = (f'/api/v1/namespaces/{small_world.NAMESPACE}/secrets/'
                f'{names.certificate(small_world.RELEASE, "sa")}')
        first = self.api.objects[path]['data']
        self.operations().create(60)
        self.assertEqual(first, self.api.objects[path]['data'])
        self.assertEqual('cluster.x-k8s.io/secret',
                         self.api.objects[path]['type'])

    def test_twice_is_once(self):
        self.create()
        self.operations().create(60)
        self.assertEqual(1, len(self.w.cloud.credentials))

    def test_failure_fails_the_node_groups_with_the_reason(self):
        self.w.store.node_groups[small_world.WORKERS]['flavor_id'] = 'tiny'
        row = self.w.store.row()
        e = self.assertRaises(failures.Failed, self.operations(row).create)
        self.assertIn('tiny is too small', e.what)
        self.assertEqual('CREATE_FAILED', self.w.group().status)
        self.assertIn('too small', self.w.group().status_reason)
        # It is no bug.
        self.assertNotIn('Traceback', self.logger.output)

    def test_failure_leaves_groups_alone_that_are_not_in_progress(self):
        self.w.store.node_groups[small_world.WORKERS]['flavor_id'] = 'tiny'
        self.w.store.add_group(status='CREATE_COMPLETE')
        self.assertRaises(failures.Failed, self.create)
        self.assertEqual(
            ['CREATE_FAILED', 'CREATE_FAILED', 'CREATE_COMPLETE'],
            [group['status'] for group in self.w.store.node_groups.values()])
        self.assertIsNone(self.w.group(small_world.OTHERS).status_reason)

    def test_timeout_of_the_request_is_kept(self):
        self.operations().create(90)
        self.assertEqual(90, self.w.cluster.create_timeout)
        self.operations().create(0)
        self.assertEqual(0, self.w.cluster.create_timeout)
        self.operations().create()
        self.assertEqual(0, self.w.cluster.create_timeout)

    def test_what_is_refused_leaves_nothing(self):
        self.w.store.templates[small_world.TEMPLATE]['network_driver'] = (
            'flannel')
        e = self.assertRaises(failures.Failed, self.create)
        # B.4.8
        self.assertIn("'flannel' is not supported", e.what)
        self.assertEqual([], self.w.left())
        self.assertEqual({}, self.w.cloud.credentials)

    def test_refusal_of_the_chart_is_the_reason(self):
        def refuse():
            raise helm_errors.ChartRefused(
                'helm upgrade failed', reason='nodeGroups: too many',
                where='/etc/magnum/kubeconfig')
        self.w.helm.before = refuse
        e = self.assertRaises(failures.Failed, self.create)
        self.assertEqual('nodeGroups: too many', str(e))

    def test_address_of_the_management_cluster_is_not_told(self):
        self.api.faults = [(403, {}, {'message': 'no'})] * 9
        e = self.assertRaises(failures.Failed, self.create)
        self.assertNotIn('127.0.0.1', str(e))

    def test_unexpected_error_is_logged_and_not_shown(self):
        self.w.helm.before = lambda: {}['secret thing']
        e = self.assertRaises(failures.Failed, self.create)
        self.assertNotIn('secret thing', str(e))
        self.assertIn('secret thing', self.logger.output)
        self.assertIn('Traceback', self.logger.output)

    def test_no_secret_in_the_log(self):
        self.create()
        self.look()
        self.assertNotIn('secret-id-0', self.logger.output)

    def test_deletion_that_was_asked_for_meanwhile_wins(self):
        # B.4.7: delete right behind create.
        row = self.w.store.row()
        self.w.store.clusters[small_world.CLUSTER]['status'] = (
            'DELETE_IN_PROGRESS')
        self.operations(row).create()
        self.assertEqual([], self.w.helm.upgrades)
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)

    def test_deletion_stops_a_creation_half_way(self):
        made = self.w.cloud.create_application_credential

        def delete(*args, **kwargs):
            self.w.store.clusters[small_world.CLUSTER]['status'] = (
                'DELETE_IN_PROGRESS')
            return made(*args, **kwargs)
        self.w.cloud.create_application_credential = delete
        self.create()
        self.assertEqual([], self.w.helm.upgrades)
        self.look()
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)
        self.assertEqual({}, self.w.cloud.credentials)

    def test_failure_does_not_overwrite_a_deletion(self):
        def fail():
            self.w.store.clusters[small_world.CLUSTER]['status'] = (
                'DELETE_IN_PROGRESS')
            raise helm_errors.ChartRefused('no', reason='no')
        self.w.helm.before = fail
        self.create()
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)

    def test_row_that_is_gone_is_no_failure(self):
        row = self.w.store.row()
        self.w.store.clusters.clear()
        self.operations(row).create()
        self.assertEqual([], self.w.left())

    def test_what_passes_is_left_to_the_status_once_a_credential_is_there(
            self):
        def fail():
            raise helm_errors.HelmUnreachable('no', reason='no answer')
        self.w.helm.before = fail
        self.create()
        self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)
        self.assertIn('Will be tried again', self.w.cluster.status_reason)
        self.w.helm.before = lambda: None
        self.look(2)
        self.assertEqual('CREATE_COMPLETE', self.w.cluster.status)
        self.assertEqual(1, len(self.w.cloud.credentials))


class ChangeTest(Base):

    def test_cluster_that_is_being_created_still_is(self):
        self.create()
        self.resize(2)
        self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)

    def test_latest_rows_count(self):
        # In-memory facts, fault 4: quick resizes.
        self.created()
        self.w.store.node_groups[small_world.WORKERS]['node_count'] = 5
        stale = self.w.store.row(small_world.WORKERS)
        self.w.store.node_groups[small_world.WORKERS]['node_count'] = 2
        self.operations().change(group=stale)
        self.assertEqual(2, self.w.helm.upgrades[-1]['nodeGroups'][0][
            'machineCount'])

    def test_status_is_saved_before_the_lock_is_given_back(self):
        self.created()
        self.resize(3)
        self.assertEqual('UPDATE_IN_PROGRESS', self.w.cluster.status)

    def test_attribute_that_only_creations_refuse_is_in_no_ones_way(self):
        self.created()
        self.w.store.clusters[small_world.CLUSTER]['docker_volume_size'] = 5
        self.resize(2)
        self.look()
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)

    def test_busy_lock_leaves_it_to_the_status(self):
        self.created()
        reconciler = reconcile.Reconciler(
            self.w.runtime, self.w.store, self.w.store.row())
        with reconciler.held(0):
            self.resize(3)
        self.assertEqual(1, len(self.w.helm.upgrades))
        self.assertEqual('UPDATE_IN_PROGRESS', self.w.cluster.status)
        self.look(2)
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)
        self.assertEqual(3, self.w.helm.upgrades[-1]['nodeGroups'][0][
            'machineCount'])

    def test_refused_group_is_not_in_the_way_of_others(self):
        self.created()
        self.w.store.add_group(flavor_id='tiny')
        group = self.w.store.row(small_world.OTHERS)
        e = self.assertRaises(failures.Failed, self.operations().change,
                              group, group=group)
        self.assertIn('too small', str(e))
        self.w.store.node_groups[small_world.OTHERS]['status'] = (
            'CREATE_FAILED')
        self.resize(2)
        self.look()
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)

    def test_removed_group_goes_from_the_chart_and_then_from_magnum(self):
        self.created()
        self.w.store.add_group()
        group = self.w.store.row(small_world.OTHERS)
        self.operations().change(group, group=group)
        self.look()
        self.assertEqual('CREATE_COMPLETE',
                         self.w.group(small_world.OTHERS).status)
        group = self.w.store.row(small_world.OTHERS)
        group.status = 'DELETE_IN_PROGRESS'
        self.operations().change(group)
        self.assertEqual('DELETE_IN_PROGRESS',
                         self.w.group(small_world.OTHERS).status)
        self.assertEqual(1, len(self.w.helm.upgrades[-1]['nodeGroups']))
        self.look()
        self.assertNotIn(small_world.OTHERS, self.w.store.node_groups)

    def test_nodes_to_remove_are_marked_before_the_size_changes(self):
        self.w.store.node_groups[small_world.WORKERS]['node_count'] = 2
        self.created()
        group = names.node_group(small_world.WORKERS)
        for name in ('m1', 'm2'):
            self.w.helm.put('machines', {
                'metadata': {'name': name, 'labels': {
                    'cluster.x-k8s.io/cluster-name': small_world.RELEASE,
                    'cluster.x-k8s.io/deployment-name':
                    f'{small_world.RELEASE}-{group}'}},
                'spec': {'providerID': f'openstack:///server-{name}'},
                'status': {'nodeRef': {'name': f'node-{name}'}}})
        marks = []

        def look():
            marks.extend(
                obj['metadata']['name'] for path, obj in
                self.api.objects.items() if '/machines/' in path
                and 'cluster.x-k8s.io/delete-machine' in obj[
                    'metadata'].get('annotations', {}))
        self.w.helm.before = look
        self.resize(1, remove=('server-m2',))
        self.assertEqual(['m2'], marks)

    def test_nodes_to_remove_are_not_left_to_the_status(self):
        # It would not know them, and take others.
        self.created()
        reconciler = reconcile.Reconciler(
            self.w.runtime, self.w.store, self.w.store.row())
        with reconciler.held(0):
            self.assertRaises(failures.Failed, self.resize, 0,
                              remove=('server-m2',))
        self.look(2)
        self.assertEqual(1, len(self.w.helm.upgrades))

    def test_unknown_node_is_refused(self):
        self.created()
        e = self.assertRaises(failures.Failed, self.resize, 0,
                              remove=('nobody',))
        self.assertEqual('node nobody is not in the node group '
                         'default-worker', str(e))
        self.assertEqual(1, len(self.w.helm.upgrades))

    def test_stuck_release_is_repaired(self):
        # B.4.7: "another operation is in progress".
        self.created()
        self.w.helm.record(2, None, 'pending-upgrade')
        self.api.date += 1000
        self.resize(2)
        self.look()
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)
        self.assertIn('Repaired', self.logger.output)


class DeleteTest(Base):

    def test_rows_say_it_and_nothing_is_left(self):
        self.created()
        self.operations().delete()
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)
        self.assertEqual('DELETE_IN_PROGRESS', self.w.group().status)
        self.look()
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)
        self.assertEqual([], self.w.left())
        self.assertEqual({}, self.w.cloud.credentials)
        # Magnum itself deletes two of its four certificates.
        self.assertEqual([small_world.CLUSTER], self.w.store.dropped)

    def kept(self, *owners):
        """What Helm keeps of a worker that never was; returns its path."""
        path = (f'/apis/infrastructure.cluster.x-k8s.io/v1beta1/namespaces/'
                f'{small_world.NAMESPACE}/openstackmachinetemplates/t')
        self.api.put(path, {'metadata': {
            'labels': {'capi.stackhpc.com/cluster': small_world.RELEASE},
            'ownerReferences': [
                {'kind': 'Cluster', 'name': owner} for owner in owners]}})
        return path

    def test_template_that_nobody_owns_goes_with_the_cluster(self):
        # Deleted before Cluster API had adopted it, it stayed for ever.
        self.created()
        self.operations().delete()
        path = self.kept()
        self.look()
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)
        self.assertIn(('DELETE', path), self.api.calls())
        self.look(3)
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)
        self.assertEqual([], self.w.left())
        # There is no release any more for a helm to remove.
        self.assertEqual(1, self.w.helm.uninstalls)

    def test_template_with_an_owner_is_waited_for(self):
        self.created()
        self.operations().delete()
        path = self.kept(small_world.RELEASE)
        self.look(3)
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)
        self.assertNotIn(('DELETE', path), self.api.calls())
        del self.api.objects[path]
        self.look(3)
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)

    def test_templates_are_not_asked_for_by_other_operations(self):
        self.created()
        self.resize(3)
        self.look(3)
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)
        self.assertEqual([], [path for _method, path in self.api.calls()
                              if 'templates' in path])

    def test_record_of_the_credential_outlives_keystones_fault(self):
        # B.4.14: the id was gone before the credential.
        self.created()
        self.operations().delete()
        self.w.cloud.fault = services.CloudUnreachable('No answer')
        self.look()
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)
        self.assertIn('magnum', self.w.secrets())
        self.w.cloud.fault = None
        self.look()
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)
        self.assertEqual({}, self.w.cloud.credentials)

    def test_credential_that_cannot_be_removed_is_waited_for(self):
        self.created()
        self.operations().delete()
        self.w.cloud.fault = services.CloudUnreachable('No answer')
        self.w.later(days=61)
        self.look()
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)
        self.assertIn('application credential', self.w.cluster.status_reason)
        self.assertIn('magnum', self.w.secrets())

    def test_reasons_of_before_are_gone(self):
        self.created()
        for table in (self.w.store.clusters, self.w.store.node_groups):
            for row in table.values():
                row['status_reason'] = 'of before'
        self.operations().delete()
        self.assertEqual(
            [None] * 3, [row.status_reason for row in (
                self.w.cluster, self.w.group(small_world.MASTERS),
                self.w.group())])

    def test_lost_request_is_asked_for_again(self):
        self.created()
        self.w.store.clusters[small_world.CLUSTER]['status'] = (
            'DELETE_IN_PROGRESS')
        self.look(2)
        self.assertEqual(1, self.w.helm.uninstalls)
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)

    def test_helm_that_does_not_say_why_it_failed_is_asked_again(self):
        # helm 3.20, when the API server ends while it deletes.
        self.created()
        uninstall = self.w.helm.uninstall

        def fail(*args):
            raise helm_errors.HelmFailed(
                'helm uninstall failed',
                reason='failed to delete release: c1')
        self.w.helm.uninstall = fail
        self.operations().delete()
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)
        self.assertEqual(
            'Will be tried again: failed to delete release: c1',
            self.w.cluster.status_reason)
        self.w.helm.uninstall = uninstall
        self.look(2)
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)

    def overwritten(self):
        """As Magnum does when a resize ends after the deletion began."""
        self.w.store.clusters[small_world.CLUSTER]['status'] = (
            'UPDATE_IN_PROGRESS')

    def test_resize_that_ends_late_does_not_lose_it(self):
        self.created()
        self.operations().delete()
        self.overwritten()
        self.look()
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)
        self.assertEqual([], self.w.left())

    def test_resize_that_begins_late_changes_nothing(self):
        self.created()
        self.operations().delete()
        self.overwritten()
        self.resize(5)
        self.assertEqual(1, len(self.w.helm.upgrades))

    def test_who_had_the_lock_does_not_lose_it(self):
        self.created()
        hold, said = lock.Lock.hold, []

        def overwriting(*args):
            self.overwritten()
            return hold(*args)
        self.patch(lock.Lock, 'hold', overwriting)
        self.patch(self.w.helm, 'uninstall', lambda *args: said.append(
            self.w.cluster.status))
        self.operations().delete()
        self.assertEqual(['DELETE_IN_PROGRESS'], said)

    def test_who_keeps_the_lock_does_not_lose_it(self):
        self.created()

        def busy(*args):
            self.overwritten()
            self.w.store.node_groups[small_world.MASTERS]['status'] = (
                'UPDATE_IN_PROGRESS')
            raise lock.LockBusy('busy', holder='somebody')
        self.patch(lock.Lock, 'hold', busy)
        self.operations().delete()
        self.assertEqual(
            ('DELETE_IN_PROGRESS', 'DELETE_IN_PROGRESS'),
            (self.w.cluster.status,
             self.w.group(small_world.MASTERS).status))
        self.assertIn('tried again', self.w.cluster.status_reason)

    def deleting(self):
        """A cluster that waits for its parts; returns whose balancers go."""
        self.created()
        self.operations().delete()
        gone = objects.cluster()
        gone['metadata'].update(
            name=small_world.RELEASE,
            deletionTimestamp='2026-11-21T14:59:00Z')
        self.w.helm.put('clusters', gone)
        asked = []
        self.patch(loadbalancers, 'delete',
                   lambda *args: asked.append(args[1:]))
        return asked

    def test_load_balancers_of_services_go_with_the_cluster(self):
        # B.4.21
        asked = self.deleting()
        self.look(watch.THOROUGH)
        self.assertEqual([(small_world.RELEASE, small_world.PROJECT)], asked)

    def test_load_balancers_stay_unless_the_deletion_was_asked_for(self):
        # Somebody deletes the Cluster by hand.
        asked = self.deleting()
        for status in ('CREATE_IN_PROGRESS', 'UPDATE_IN_PROGRESS'):
            for table in (self.w.store.clusters, self.w.store.node_groups):
                for row in table.values():
                    row['status'] = status
            self.look(2 * watch.THOROUGH)
        self.assertEqual([], asked)

    def test_load_balancers_stay_when_the_operator_says_so(self):
        asked = self.deleting()
        self.w.runtime = dataclasses.replace(
            self.w.runtime, settings=dataclasses.replace(
                self.w.runtime.settings, delete_load_balancers=False))
        self.look(watch.THOROUGH)
        self.assertEqual([], asked)

    def test_load_balancers_wait_for_the_machines(self):
        asked = self.deleting()
        machine = objects.machine()
        machine['metadata']['labels'] = {
            names.CAPI_CLUSTER_NAME: small_world.RELEASE}
        self.w.helm.put('machines', machine)
        self.look(watch.THOROUGH)
        self.assertEqual([], asked)

    def test_cluster_that_never_was(self):
        self.operations().delete()
        self.look()
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)
        self.assertEqual([], self.w.left())

    def test_credential_whose_id_nobody_knows_is_found(self):
        # A conductor that died between Keystone's answer and the record.
        made = self.w.cloud.create_application_credential

        def die(*args, **kwargs):
            made(*args, **kwargs)
            raise KeyError
        self.w.cloud.create_application_credential = die
        self.assertRaises(failures.Failed, self.create)
        self.assertEqual(1, len(self.w.cloud.credentials))
        self.operations().delete()
        self.look()
        self.assertEqual({}, self.w.cloud.credentials)


class UpgradeTest(Base):

    def upgrade(self, template=small_world.NEWER, **kwargs):
        upgrading.Upgrade(
            self.w.runtime, self.w.store, self.w.store.row(),
            self.w.store.template(template),
            self.w.store.row(small_world.WORKERS), **kwargs).run()

    def test_version_and_images_change(self):
        self.created()
        self.upgrade()
        self.assertEqual('1.35.0',
                         self.w.helm.upgrades[-1]['kubernetesVersion'])
        self.assertEqual(small_world.NEWER,
                         self.w.cluster.cluster_template_id)
        self.assertEqual('ubuntu-35', self.w.group().image_id)
        self.look(2)
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)
        self.assertEqual('v1.35.0', self.w.cluster.coe_version)

    def test_refusal_changes_nothing(self):
        self.created()
        before = dict(self.w.store.clusters[small_world.CLUSTER])
        self.w.store.templates[small_world.NEWER].update(
            image_id='ubuntu-37', network_driver='cilium')
        e = self.assertRaises(failures.NotViable, self.upgrade)
        self.assertIn('more than one minor version', str(e))
        self.assertIn('network_driver', str(e))
        self.assertEqual(before, self.w.store.clusters[small_world.CLUSTER])
        self.assertEqual(1, len(self.w.helm.upgrades))

    def test_version_that_the_control_plane_runs_counts(self):
        # Not that of the template, whose image may be another by now.
        self.created()
        path, = [path for path in self.api.objects
                 if '/kubeadmcontrolplanes/' in path]
        self.api.objects[path]['status']['version'] = 'v1.33.9'
        e = self.assertRaises(failures.NotViable, self.upgrade)
        self.assertIn('upgrade to 1.34 first', str(e))

    def upgrade_between(self, old, new):
        """Upgrade from a template that names one driver to another's."""
        self.created()
        self.w.store.templates[small_world.TEMPLATE]['driver'] = old
        self.w.store.templates[small_world.NEWER]['driver'] = new
        self.upgrade()
        self.assertEqual(small_world.NEWER,
                         self.w.cluster.cluster_template_id)

    def test_template_that_is_older_than_drivers_names(self):
        # Magnum has them since 23; what is used cannot be patched.
        self.upgrade_between(None, 'k8s_capi_v1')

    def test_template_that_names_no_driver(self):
        self.upgrade_between('k8s_capi_v1', None)

    def test_neither_template_names_a_driver(self):
        self.upgrade_between(None, None)

    def test_template_for_which_another_driver_is_taken_is_refused(self):
        self.created()
        self.w.store.templates[small_world.NEWER]['driver'] = None
        self.w.store.picked = 'other'
        e = self.assertRaises(failures.NotViable, self.upgrade)
        self.assertIn('driver cannot change from "k8s_capi_v1" to "other"',
                      str(e))

    def test_deletion_is_no_failed_upgrade(self):
        # What Magnum saves after other errors would end the deletion.
        self.created()
        self.operations().delete()
        self.assertRaises(failures.NotViable, self.upgrade)

    def test_deletion_while_it_is_checked_wins(self):
        self.created()
        image = self.w.cloud.image

        def delete(reference):
            self.w.store.clusters[small_world.CLUSTER]['status'] = (
                'DELETE_IN_PROGRESS')
            return image(reference)
        self.w.cloud.image = delete
        self.assertRaises(failures.NotViable, self.upgrade)
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)
        self.assertEqual(1, len(self.w.helm.upgrades))

    def test_glance_that_is_down_is_no_failed_upgrade(self):
        self.created()
        self.w.cloud.fault = services.CloudUnreachable('No answer')
        self.assertRaises(failures.NotViable, self.upgrade)
        self.assertEqual('CREATE_COMPLETE', self.w.cluster.status)

    def test_failure_restores_template_and_groups(self):
        # B.4.6
        self.created()

        def refuse():
            raise helm_errors.ChartRefused('no', reason='too many')
        self.w.helm.before = refuse
        e = self.assertRaises(failures.Failed, self.upgrade)
        self.assertEqual('too many', str(e))
        self.assertEqual(small_world.TEMPLATE,
                         self.w.cluster.cluster_template_id)
        self.assertEqual('ubuntu-34', self.w.group().image_id)
        self.assertEqual('CREATE_COMPLETE', self.w.group().status)

    def test_failure_is_told_although_the_memory_cannot_be_written(self):
        self.created()

        def refuse():
            self.api.fault_path = re.compile('.*/secrets/.*-magnum')
            self.api.faults = [(503, {}, {})] * 99
            raise helm_errors.ChartRefused('no', reason='too many')
        self.w.helm.before = refuse
        e = self.assertRaises(failures.Failed, self.upgrade)
        self.assertEqual('too many', str(e))
        self.assertEqual(('ubuntu-34', small_world.TEMPLATE), (
            self.w.group().image_id, self.w.cluster.cluster_template_id))
        self.assertIn('is still noted', self.logger.output)

    def test_label_that_contradicts_the_image_is_refused(self):
        self.created()
        self.w.store.templates[small_world.NEWER]['labels'] = {
            'kube_tag': 'v1.34.9'}
        e = self.assertRaises(failures.NotViable, self.upgrade)
        self.assertIn('the label kube_tag of the template says v1.34.9',
                      str(e))

    def strategy(self):
        return self.w.helm.upgrades[-1]['nodeGroups'][0].get(
            'rolloutStrategy')

    def created(self):
        self.w.store.node_groups[small_world.WORKERS]['node_count'] = 4
        super().created()

    def test_batches_are_those_of_the_request_until_it_is_over(self):
        self.created()
        self.assertIsNone(self.strategy())
        self.upgrade(batch=2)
        # It waits for the control plane.
        self.assertEqual({'type': 'OnDelete'}, self.strategy())
        self.look()
        batches = {'rollingUpdate': {'maxUnavailable': 2}}
        self.assertEqual(batches, self.strategy())
        # A resize meanwhile does not end them.
        self.resize(3)
        self.assertEqual(batches, self.strategy())
        self.look()
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)
        self.resize(2)
        self.assertIsNone(self.strategy())

    def test_batches_outlive_an_upgrade_that_is_lost(self):
        self.created()

        def fail():
            raise helm_errors.HelmUnreachable('no', reason='no answer')
        self.w.helm.before = fail
        self.upgrade(batch=2)
        self.w.helm.before = lambda: None
        self.look(2)
        self.assertEqual({'rollingUpdate': {'maxUnavailable': 2}},
                         self.strategy())

    def test_batches_of_no_node_are_refused(self):
        self.created()
        before = dict(self.w.store.clusters[small_world.CLUSTER])
        e = self.assertRaises(failures.NotViable, self.upgrade, batch=0)
        self.assertIn('max_batch_size is 0', str(e))
        self.assertEqual(before, self.w.store.clusters[small_world.CLUSTER])

    def slow(self):
        """Let helm or Glance take longer than somebody waits for it."""
        self.gate = self.useFixture(gate.Gate())
        return self.gate.stand

    def end(self):
        """Open the gate and wait for what works behind an answer."""
        self.gate.open()
        for thread in threading.enumerate():
            if thread.name == 'magnum-capi-upgrade':
                thread.join(gate.PATIENCE)

    def test_slow_helm_goes_on_behind_the_answer(self):
        self.created()
        self.w.helm.before = self.slow()
        self.upgrade()
        self.assertEqual('UPDATE_IN_PROGRESS', self.w.cluster.status)
        self.assertIn('goes on behind the answer', self.logger.output)
        # It has the lock, so that nobody else runs a helm.
        self.look()
        self.assertEqual(1, len(self.w.helm.upgrades))
        self.end()
        self.look(3)
        self.assertEqual(('UPDATE_COMPLETE', 'v1.35.0', 3), (
            self.w.cluster.status, self.w.cluster.coe_version,
            len(self.w.helm.upgrades)))

    def upgrade_failing_slowly(self, error):
        """Helm fails when nobody waits for the upgrade any more."""
        self.created()
        wait = self.slow()

        def refuse():
            wait()
            raise error
        self.w.helm.before = refuse
        self.upgrade()

    def test_what_passes_is_told_to_who_waits(self):
        self.created()

        def fail():
            raise helm_errors.HelmUnreachable('no', reason='no answer')
        self.w.helm.before = fail
        self.upgrade()
        self.assertEqual(
            ('UPDATE_IN_PROGRESS', 'Will be tried again: no answer'),
            (self.w.cluster.status, self.w.cluster.status_reason))

    def test_what_passes_behind_the_answer_writes_nothing_over_others(self):
        self.upgrade_failing_slowly(
            helm_errors.HelmUnreachable('no', reason='no answer'))
        self.w.store.clusters[small_world.CLUSTER][
            'status_reason'] = 'of somebody else'
        self.end()
        self.assertEqual('of somebody else', self.w.cluster.status_reason)

    def test_log_tells_of_no_upgrade_that_was_answered_in_time(self):
        self.created()
        self.upgrade()
        self.assertNotIn('behind the answer', self.logger.output)

    def test_failure_behind_the_answer_restores_and_is_told(self):
        self.w.store.add_group()
        self.upgrade_failing_slowly(
            helm_errors.ChartRefused('no', reason='too many'))
        self.end()
        for row in (self.w.cluster, self.w.group()):
            self.assertEqual(('UPDATE_FAILED', 'too many'),
                             (row.status, row.status_reason))
        # Magnum names only the one that it asked for.
        for uuid in (small_world.MASTERS, small_world.OTHERS):
            other = self.w.group(uuid)
            self.assertEqual(('CREATE_COMPLETE', None),
                             (other.status, other.status_reason))
        self.assertEqual(small_world.TEMPLATE,
                         self.w.cluster.cluster_template_id)
        self.assertEqual('ubuntu-34', self.w.group().image_id)

    def test_what_passes_behind_the_answer_is_left_to_the_status(self):
        self.upgrade_failing_slowly(
            helm_errors.HelmUnreachable('no', reason='no answer'))
        self.end()
        self.w.helm.before = lambda: None
        self.look(3)
        self.assertEqual(('UPDATE_COMPLETE', 'v1.35.0'), (
            self.w.cluster.status, self.w.cluster.coe_version))

    def test_failure_behind_the_answer_does_not_end_a_deletion(self):
        self.upgrade_failing_slowly(
            helm_errors.ChartRefused('no', reason='too many'))
        self.w.store.clusters[small_world.CLUSTER]['status'] = (
            'DELETE_IN_PROGRESS')
        self.end()
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)

    def test_lock_that_is_busy_is_a_refusal_that_changes_nothing(self):
        self.created()
        before = dict(self.w.store.clusters[small_world.CLUSTER])
        other = reconcile.Reconciler(
            self.w.runtime, self.w.store, self.w.store.row())
        with other.held(0):
            e = self.assertRaises(failures.NotViable, self.upgrade)
        self.assertIn('it cannot be checked now: ', str(e))
        self.assertEqual(before, self.w.store.clusters[small_world.CLUSTER])

    def test_lock_is_not_waited_for_longer_than_magnum_waits(self):
        self.created()
        waited = []

        def busy(_lock, timeout):
            waited.append(timeout)
            raise lock.LockBusy('busy', holder='somebody')
        self.patch(lock.Lock, 'hold', busy)
        for seconds in (60, 10):
            self.w.runtime = dataclasses.replace(
                self.w.runtime, settings=dataclasses.replace(
                    self.w.runtime.settings, lock_timeout=seconds))
            self.assertRaises(failures.NotViable, self.upgrade)
        self.assertEqual([15, 10], waited)

    def test_reasons_of_before_are_gone_while_it_goes_on(self):
        self.created()
        for table in (self.w.store.clusters, self.w.store.node_groups):
            for row in table.values():
                row['status_reason'] = 'of before'
        self.upgrade()
        self.assertEqual(
            [('UPDATE_IN_PROGRESS', None)] * 3,
            [(row.status, row.status_reason) for row in (
                self.w.cluster, self.w.group(small_world.MASTERS),
                self.w.group())])

    def test_slow_glance_is_a_refusal_that_changes_nothing(self):
        self.created()
        before = dict(self.w.store.clusters[small_world.CLUSTER])
        wait, image = self.slow(), self.w.cloud.image

        def slow_image(reference):
            wait()
            return image(reference)
        self.w.cloud.image = slow_image
        e = self.assertRaises(failures.NotViable, self.upgrade)
        self.assertIn('nothing was changed', str(e))
        self.end()
        self.assertEqual(before, self.w.store.clusters[small_world.CLUSTER])
        self.assertEqual(1, len(self.w.helm.upgrades))

    def test_image_that_cannot_be_used_is_refused_and_says_why(self):
        self.created()
        image = self.w.cloud.image
        for error, told in (
                (services.NotThere('There is no image'), 'does not exist'),
                (services.NotUsable('It cannot be booted',
                                    last_seen='status queued'),
                 'is queued, not active'),
                (services.NotUsable('Several images are called so'),
                 'is not usable, not active')):
            def refuse(reference, error=error):
                if reference == 'ubuntu-35':
                    raise error
                return image(reference)
            self.w.cloud.image = refuse
            e = self.assertRaises(failures.NotViable, self.upgrade)
            self.assertIn(told, str(e))
        self.assertEqual('CREATE_COMPLETE', self.w.cluster.status)

    def test_group_that_goes_is_not_upgraded(self):
        self.created()
        self.w.store.add_group(status='DELETE_IN_PROGRESS')
        self.upgrade()
        group = self.w.group(small_world.OTHERS)
        self.assertEqual(('ubuntu-34', 'DELETE_IN_PROGRESS'),
                         (group.image_id, group.status))

    def test_one_group_alone(self):
        self.created()
        self.w.cloud.images['other-34'] = ('v1.34.2', 'ubuntu')
        self.w.store.templates[small_world.NEWER]['image_id'] = 'other-34'
        self.w.store.add_group(status='CREATE_COMPLETE')
        upgrading.Upgrade(
            self.w.runtime, self.w.store, self.w.store.row(),
            self.w.store.template(small_world.NEWER),
            self.w.store.row(small_world.OTHERS)).run()
        self.assertEqual(['ubuntu-34', 'other-34'], [
            self.w.group(uuid).image_id
            for uuid in (small_world.WORKERS, small_world.OTHERS)])

    def test_group_with_an_image_of_its_own_keeps_it(self):
        self.created()
        self.w.cloud.images['special'] = ('v1.34.2', 'ubuntu')
        self.w.store.add_group(image_id='special', status='CREATE_COMPLETE')
        self.upgrade()
        self.assertEqual('special',
                         self.w.group(small_world.OTHERS).image_id)


class ChartVersionTest(Base):
    """A template names a version that the operator does not allow."""

    def setUp(self):
        super().setUp()
        self.w.runtime = dataclasses.replace(
            self.w.runtime, settings=dataclasses.replace(
                self.w.runtime.settings, chart=settings.Chart(
                    'openstack-cluster', 'https://charts', '1.2.3')))

    def labels(self, template):
        self.w.store.templates[template]['labels'] = {
            'capi_helm_chart_version': '1.2.4-pr.1'}

    def test_creation_makes_nothing(self):
        self.labels(small_world.TEMPLATE)
        e = self.assertRaises(failures.Failed, self.create)
        self.assertIn('1.2.4-pr.1', str(e))
        self.assertIn('Allowed: 1.2.3', str(e))
        self.assertEqual(([], {}, []), (
            self.w.left(), self.w.cloud.credentials, self.w.helm.upgrades))

    def test_upgrade_changes_nothing(self):
        self.created()
        self.labels(small_world.NEWER)
        before = dict(self.w.store.clusters[small_world.CLUSTER])
        e = self.assertRaises(
            failures.NotViable, upgrading.Upgrade(
                self.w.runtime, self.w.store, self.w.store.row(),
                self.w.store.template(small_world.NEWER),
                self.w.store.row(small_world.WORKERS)).run)
        self.assertIn('Allowed: 1.2.3', str(e))
        self.assertEqual(before, self.w.store.clusters[small_world.CLUSTER])
        self.assertEqual(1, len(self.w.helm.upgrades))

    def test_living_cluster_can_be_deleted(self):
        self.created()
        self.labels(small_world.TEMPLATE)
        self.operations().delete()
        self.look()
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)


class RotateTest(Base):

    def test_both_are_valid_until_the_new_one_is_taken_up(self):
        # B.4.15: the old one was deleted at once.
        self.created()
        self.operations().rotate('u1')
        self.assertEqual({'id-0', 'id-1'}, set(self.w.cloud.credentials))
        self.assertEqual('UPDATE_IN_PROGRESS', self.w.cluster.status)
        self.look()
        self.assertEqual('UPDATE_IN_PROGRESS', self.w.cluster.status)
        self.w.later(seconds=61)
        self.look()
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)
        self.assertEqual({'id-1'}, set(self.w.cloud.credentials))

    def test_lock_is_not_waited_for_longer_than_magnum_waits(self):
        self.created()
        waited = []

        @contextlib.contextmanager
        def held(reconciler, timeout):
            waited.append(timeout)
            raise lock.LockBusy('busy', holder='somebody')
            yield
        self.patch(reconcile.Reconciler, 'held', held)
        self.w.runtime = dataclasses.replace(
            self.w.runtime, settings=dataclasses.replace(
                self.w.runtime.settings, lock_timeout=60, answer_timeout=49))
        self.assertRaises(failures.Failed, self.operations().rotate, 'u1')
        self.w.runtime = dataclasses.replace(
            self.w.runtime, settings=dataclasses.replace(
                self.w.runtime.settings, lock_timeout=24))
        self.assertRaises(failures.Failed, self.operations().rotate, 'u1')
        self.assertEqual([24.5, 24], waited)
        # Nobody else can bring in a credential of this user.
        self.assertEqual('CREATE_COMPLETE', self.w.cluster.status)

    def test_new_owner(self):
        self.created()
        self.w.store.user = rotation.User('u2', ('member',))
        self.operations().rotate('u2')
        self.assertEqual('u2', self.w.cluster.user_id)
        # B.4.15: the old one is still its first owner's.
        self.w.later(seconds=61)
        self.look()
        self.assertEqual({'id-1': 'u2'}, self.w.cloud.owners)

    def test_failure_keeps_the_old_one(self):
        self.created()
        self.w.store.user = rotation.User('u1', ('nothing',))
        self.assertRaises(failures.Failed, self.operations().rotate, 'u1')
        self.assertEqual({'id-0'}, set(self.w.cloud.credentials))
        self.assertEqual('CREATE_COMPLETE', self.w.cluster.status)

    def test_rotation_that_failed_is_told_by_the_next_operation(self):
        self.test_failure_keeps_the_old_one()
        self.resize(2)
        self.look()
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)
        self.assertIn('has to be asked for', self.w.cluster.status_reason)

    def test_rotation_after_one_that_failed(self):
        self.test_failure_keeps_the_old_one()
        self.w.store.user = rotation.User('u1', ('member',))
        self.operations().rotate('u1')
        self.w.later(seconds=61)
        self.look()
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)
        self.assertEqual(1, len(self.w.cloud.credentials))
        self.assertNotIn('id-0', self.w.cloud.credentials)

    def test_running_operation_is_not_ended(self):
        # B.4.15: it became UPDATE_COMPLETE.
        self.created()
        self.resize(3)
        path = next(p for p in self.api.objects if '/clusters/' in p)
        self.api.objects[path]['status']['observedGeneration'] = 0
        self.operations().rotate('u1')
        self.assertEqual('UPDATE_IN_PROGRESS', self.w.cluster.status)
        self.w.later(seconds=61)
        self.look(3)
        self.assertEqual('UPDATE_IN_PROGRESS', self.w.cluster.status)


class WatchTest(Base):

    def test_complete_says_where_and_what(self):
        self.created()
        self.assertEqual('https://192.0.2.7:6443',
                         self.w.cluster.api_address)
        self.assertEqual('v1.34.2', self.w.cluster.coe_version)
        self.assertEqual('CREATE_COMPLETE', self.w.group().status)

    def test_a_busy_cluster_costs_one_request_and_no_lock(self):
        self.create()
        path = next(p for p in self.api.objects if '/clusters/' in p)
        self.api.objects[path]['status']['observedGeneration'] = 0
        self.look(2)
        self.api.seen.clear()
        self.look()
        self.assertEqual([('GET', path)], self.api.calls())

    def test_lost_creation_without_a_credential_fails_with_the_cure(self):
        self.look()
        self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)
        self.w.later(seconds=61)
        self.look()
        self.assertEqual('CREATE_FAILED', self.w.cluster.status)
        self.assertIn('create it again', self.w.cluster.status_reason)
        self.assertEqual('CREATE_FAILED', self.w.group().status)

    def test_creation_that_holds_the_lock_is_not_disturbed(self):
        self.w.later(seconds=61)
        reconciler = reconcile.Reconciler(
            self.w.runtime, self.w.store, self.w.store.row())
        with reconciler.held(0):
            self.look()
        self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)
        self.assertNotIn('no status', self.logger.output)

    def test_row_that_goes_while_it_is_looked_at_is_no_error(self):
        self.create()
        looking = watch.Watch(self.w.runtime, self.w.store, self.w.store.row())
        held = looking._reconciler.held

        def go(timeout):
            self.w.store.clusters.clear()
            return held(timeout)
        looking._reconciler.held = go
        looking.update()
        self.assertNotIn('no status', self.logger.output)

    def test_right_that_is_missing_is_an_error_in_the_log(self):
        self.create()
        self.api.faults = [(403, {}, {'message': 'no'})] * 9
        self.look()
        self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)
        self.assertIn('no status: The management cluster does not allow '
                      'this', self.logger.output)

    def test_api_that_is_not_served_is_told_by_who_has_the_lock(self):
        self.create()
        row = self.w.store.row()
        other = reconcile.Reconciler(self.w.runtime, self.w.store, row)
        self.api.fault_path = re.compile('.*/clusters/')
        for held, told in ((True, False), (False, True)):
            self.api.faults = [api_server.UNKNOWN_PATH] * 9
            with other.held(0) if held else contextlib.nullcontext():
                self.look()
            self.assertEqual(told, 'Waiting: ' in (
                self.w.cluster.status_reason or ''))
        # What is told already needs no lock.
        self.api.seen.clear()
        self.api.faults = [api_server.UNKNOWN_PATH] * 9
        self.look()
        self.assertEqual([], [path for _, path in self.api.calls()
                              if '/leases' in path])

    def died(self):
        """A creation whose conductor died when helm was to begin."""
        def die():
            raise SystemExit
        self.w.helm.before = die
        self.assertRaises(SystemExit, self.create)
        self.w.helm.before = lambda: None

    def test_lost_creation_with_a_credential_goes_on(self):
        self.died()
        self.look()
        self.assertEqual(small_world.RELEASE, self.w.cluster.stack_id)
        self.look()
        self.assertEqual('CREATE_COMPLETE', self.w.cluster.status)
        self.assertEqual(1, len(self.w.cloud.credentials))

    def test_lost_creation_that_meets_what_passes_says_so(self):
        self.died()

        def slow():
            raise helm_errors.HelmTimeout('slow', reason='timeout')
        self.w.helm.before = slow
        for _time in range(2):
            self.look()
            self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)
            self.assertEqual('Will be tried again: timeout',
                             self.w.cluster.status_reason)
        self.w.helm.before = lambda: None
        self.look(2)
        self.assertEqual('CREATE_COMPLETE', self.w.cluster.status)

    def test_lost_creation_that_its_owner_deletes_meanwhile_ends(self):
        self.died()

        def delete():
            self.w.store.clusters[small_world.CLUSTER]['status'] = (
                'DELETE_IN_PROGRESS')
            raise failures.Stopped('deleted')
        self.w.helm.before = delete
        self.look()
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)
        self.assertIsNone(self.w.cluster.status_reason)

    def test_lost_creation_whose_credential_was_not_applied_goes_on(self):
        def die(*_args):
            raise SystemExit
        with fixtures.MonkeyPatch(
                'magnum_capi.driver.keys.vault.Vault'
                '.write_credentials', die):
            self.assertRaises(SystemExit, self.create)
        self.look(2)
        self.assertEqual('CREATE_COMPLETE', self.w.cluster.status)
        self.assertEqual(1, len(self.w.cloud.credentials))

    def test_lock_that_a_dead_conductor_left_is_taken_over(self):
        # Each look asks once and does not wait.
        self.create()
        reconciler = reconcile.Reconciler(
            self.w.runtime, self.w.store, self.w.store.row())
        dead = lock.Lock(self.w.runtime.kube, reconciler.namespace,
                         reconciler.release, duration=30, background=False)
        dead.acquire(0)
        now = [1000]
        self.patch(lock.time, 'monotonic', lambda: now[0])
        for _time in range(3):
            self.look()
            self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)
            now[0] += 11
        self.look()
        self.assertEqual('CREATE_COMPLETE', self.w.cluster.status)

    def test_resumed_creation_that_is_refused_fails(self):
        self.died()

        def refuse():
            raise helm_errors.ChartRefused(
                'helm failed', reason='The chart wants a zone')
        self.w.helm.before = refuse
        self.look()
        self.assertEqual('CREATE_FAILED', self.w.cluster.status)
        self.assertEqual('The chart wants a zone',
                         self.w.cluster.status_reason)

    def test_create_timeout_ends_what_cannot_go_on(self):
        # B.4.5
        self.create()
        path = next(p for p in self.api.objects if '/clusters/' in p)
        self.api.objects[path]['status']['observedGeneration'] = 0
        self.w.later(minutes=61)
        self.look(3)
        self.assertEqual('CREATE_FAILED', self.w.cluster.status)
        self.assertIn('Not finished within 60 minutes',
                      self.w.cluster.status_reason)

    def test_time_of_an_update_counts_from_its_request(self):
        self.created()
        self.w.later(hours=5)
        self.resize(2)
        path = next(p for p in self.api.objects if '/clusters/' in p)
        self.api.objects[path]['status']['observedGeneration'] = 0
        self.look(3)
        self.assertEqual('UPDATE_IN_PROGRESS', self.w.cluster.status)

    def test_rows_that_changed_meanwhile_are_judged_by_the_next_look(self):
        self.create()
        group = self.w.store.node_groups[small_world.WORKERS]
        row = self.w.store.row()
        looking = watch.Watch(self.w.runtime, self.w.store, row)
        held = looking._reconciler.held

        def change(timeout):
            group['node_count'] = 5
            return held(timeout)
        looking._reconciler.held = change
        looking.update()
        self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)
        self.assertEqual(1, len(self.w.helm.upgrades))

    def test_memory_that_somebody_removed_needs_a_user(self):
        self.created()
        self.w.store.node_groups[small_world.WORKERS]['node_count'] = 3
        self.w.store.clusters[small_world.CLUSTER]['status'] = (
            'UPDATE_IN_PROGRESS')
        path = next(p for p in self.api.objects if p.endswith('-magnum'))
        del self.api.objects[path]
        self.look()
        self.assertEqual('UPDATE_FAILED', self.w.cluster.status)
        self.assertEqual('a new credential has to be asked for by a user',
                         self.w.cluster.status_reason)

    def test_management_cluster_that_is_away_changes_nothing(self):
        self.create()
        self.api.faults = [(503, {}, {})] * 99
        self.look()
        self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)
        self.assertIn('no status now', self.logger.output)

    def test_ended_operations_cost_nothing(self):
        self.created()
        self.api.seen.clear()
        self.look()
        self.assertEqual([], self.api.calls())


class ForeignClusterTest(Base):
    """Another driver has made it, and its template names ours by now."""

    FOREIGN = 'mine-abcdefghijkl'

    def setUp(self):
        super().setUp()
        self.w.store.clusters[small_world.CLUSTER].update(
            stack_id=self.FOREIGN, status='CREATE_COMPLETE')

    def assert_refused(self, function, *args, **kwargs):
        e = self.assertRaises(failures.Failed, function, *args, **kwargs)
        self.assertIn('Another driver has made this cluster', str(e))

    def test_nothing_is_done_to_it(self):
        self.assert_refused(self.operations().delete)
        self.assert_refused(self.resize, 3)
        self.assert_refused(self.operations().rotate, 'user')
        self.assertEqual(self.FOREIGN, self.w.cluster.stack_id)
        self.assertNotEqual('DELETE_IN_PROGRESS', self.w.cluster.status)

    def test_it_is_not_taken_for_gone(self):
        self.w.store.clusters[small_world.CLUSTER]['status'] = \
            'DELETE_IN_PROGRESS'
        self.look(3)
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)
        self.assertIn('Another driver', self.logger.output)


class ToldTest(testtools.TestCase):

    def test_places_of_the_operator_are_left_out(self):
        told = failures.told(rest.Unreachable(
            'The management cluster did not answer',
            where='GET https://10.0.0.1/x', last_seen='refused'))
        self.assertEqual('The management cluster did not answer', told)

    def test_addresses_of_services_that_do_not_answer_are_left_out(self):
        told = failures.told(services.CloudUnreachable(
            'No answer about images', last_seen='HTTPConnectionPool'
            '(host=10.0.0.1): refused', hint='Try again'))
        self.assertEqual('No answer about images. Try again', told)

    def test_status_of_a_service_is_told(self):
        told = failures.told(services.CloudUnreachable(
            'No answer about images', status=503,
            last_seen='Server Error for url: http://10.0.0.1/'))
        self.assertEqual('No answer about images: 503', told)
