# SPDX-License-Identifier: Apache-2.0

"""Seeded defects of desired state, upgrades, credentials and status."""

import dataclasses
import pathlib
import types

import fixtures

from tests.unit.driver import small_world
from tests.unit.proofs.suite_defects import base
from tests.unit.proofs.suite_defects import stand_in

WORKERS = base.WORKERS
UUID = '0a1b2c3d-3c2d-4899-b017-d2b06c0ccd9f'
OTHERS = base.OTHERS


class UpgradesTest(base.Base):

    def groups(self, key):
        """A value of the node groups, of each revision behind the first."""
        return [[group.get(key) for group in values['nodeGroups']]
                for values in self.w.helm.upgrades[1:]]

    def test_all_at_once(self):
        self.upgraded('upgrades:AllAtOnce')
        self.assertEqual([[None]], self.groups('kubernetesVersion'))
        self.assertEqual([[None]], self.groups('rolloutStrategy'))

    def test_only_node_away(self):
        self.upgraded('upgrades:OnlyNodeAway')
        self.assertEqual([[{'type': 'OnDelete'}], [None]],
                         self.groups('rolloutStrategy'))

    def test_groups_at_once(self):
        self.w.store.add_group()
        self.upgraded('upgrades:GroupsAtOnce')
        self.assertEqual([['1.34.2', '1.34.2'], [None, None]],
                         self.groups('kubernetesVersion'))

    def test_nameless_refused(self):
        made = self.driver('upgrades:NamelessRefused')
        self.assertEqual(1, len(made.provides))
        store = made.Store.driver_of
        for driver in ('a', None):
            self.assertEqual(driver, store(None, types.SimpleNamespace(
                driver=driver)))

    def upgraded(self, reference, create=True):
        made = self.created(reference) if create else self.driver(reference)
        row = self.w.store.row()
        row.default_ng_worker = self.w.store.row(WORKERS)
        made.upgrade_cluster(
            None, row, self.w.store.template(small_world.NEWER), None,
            self.w.store.row(WORKERS))
        self.set_status('UPDATE_IN_PROGRESS')
        self.look(3)
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status,
                         self.w.cluster.status_reason)
        return self.w.helm.upgrades[0], self.w.helm.upgrades[-1]

    def test_without_a_defect(self):
        old, new = self.upgraded(base.HEALTHY)
        self.assertNotEqual(old['kubernetesVersion'],
                            new['kubernetesVersion'])

    def test_version_kept(self):
        old, new = self.upgraded('upgrades:VersionKept')
        self.assertEqual(old['kubernetesVersion'], new['kubernetesVersion'])

    def test_workers_kept(self):
        old, new = self.upgraded('upgrades:WorkersKept')
        self.assertNotEqual(old['kubernetesVersion'],
                            new['kubernetesVersion'])
        self.assertEqual([old['kubernetesVersion']], [
            group['kubernetesVersion'] for group in new['nodeGroups']])

    def test_any_version(self):
        self.w.store.templates[small_world.TEMPLATE]['image_id'] = 'ubuntu-35'
        for group in self.w.store.node_groups.values():
            group['image_id'] = 'ubuntu-35'
        self.w.store.templates[small_world.NEWER]['image_id'] = 'ubuntu-34'
        refusal = stand_in.modules()['credentials'].exception.NotSupported
        error = self.assertRaises(refusal, self.upgraded, base.HEALTHY)
        self.assertIn('not possible', str(error))
        self.w.store.clusters[small_world.CLUSTER]['status'] = (
            'CREATE_COMPLETE')

        _old, new = self.upgraded('upgrades:AnyVersion', create=False)

        self.assertEqual('1.34.2', new['kubernetesVersion'])


class WishesTest(base.Base):

    def values(self, reference, **group):
        self.w.store.node_groups[WORKERS].update(group)
        self.created(reference)
        return self.w.helm.upgrades[-1]

    def test_node_labels_lost(self):
        wanted = {'node_labels': {'a': 'b'}, 'node_taints': [
            {'key': 'c', 'value': 'd', 'effect': 'NoSchedule'}]}
        group, = self.values(
            'desired_state:NodeLabelsLost', **wanted)['nodeGroups']
        self.assertNotIn('nodeLabels', group)
        self.assertIn('kubeadmConfigSpec', group)

    def test_node_taints_lost(self):
        group, = self.values('desired_state:NodeTaintsLost', node_taints=[
            {'key': 'c', 'value': 'd', 'effect': 'NoSchedule'}])['nodeGroups']
        self.assertIn('nodeLabels', group)
        self.assertNotIn('kubeadmConfigSpec', group)

    def test_group_flavor_ignored(self):
        self.created('desired_state:GroupFlavorIgnored')
        self.w.store.add_group(flavor_id='m2')
        self.made.create_nodegroup(
            None, self.w.store.row(), self.w.store.row(OTHERS))
        self.assertEqual(1, len({
            group['machineFlavor'] for group in
            self.w.helm.upgrades[-1]['nodeGroups']}))

    def test_allow_list_lost(self):
        for reference, there in (('desired_state:AllowListLost', False),
                                 (base.HEALTHY, True)):
            self.driver(reference)
            self.create(labels={
                'api_master_lb_allowed_cidrs': '192.0.2.0/24'})
            values = self.w.helm.upgrades[-1]
            self.assertIs(there, '192.0.2.0/24' in str(values))
            self.assertIn('enableLoadBalancer', values['apiServer'])

    def test_lists_replaced(self):
        path = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path) / 'overlay'
        path.write_text('apiServer: {allowedCIDRs: [203.0.113.0/24]}')
        self.w.runtime = dataclasses.replace(
            self.w.runtime, settings=dataclasses.replace(
                self.w.runtime.settings, value_overlays={'o': str(path)}))
        users = {'api_master_lb_allowed_cidrs': '192.0.2.0/24'}
        for reference, overlay, there in (
                ('desired_state:ListsReplaced', 'o', ['203.0.113.0/24']),
                ('desired_state:ListsReplaced', '', ['192.0.2.0/24']),
                (base.HEALTHY, 'o', ['192.0.2.0/24', '203.0.113.0/24'])):
            # A living cluster keeps the overlays that it was made of.
            self.api.objects.clear()
            self.driver(reference)
            self.w.store.templates[small_world.TEMPLATE]['labels'] = {
                'capi_helm_values': overlay} if overlay else {}
            self.create(labels=users)
            self.assertEqual(there, self.w.helm.upgrades[-1]['apiServer'][
                'allowedCIDRs'])

    def test_floating_ip_forced(self):
        values = self.values('desired_state:FloatingIpForced')
        self.assertIs(True, values['apiServer']['associateFloatingIP'])

    def test_extra_network_lost(self):
        labels = {'extra_network_names': 'more'}
        # Magnum gives those of a cluster to its node groups.
        self.w.store.node_groups[WORKERS]['labels'] = labels
        for reference, there in ((base.HEALTHY, True),
                                 ('desired_state:ExtraNetworkLost', False)):
            self.driver(reference)
            self.create(labels=labels)
            self.assertIs(there, 'more' in str(
                self.w.helm.upgrades[-1]['nodeGroups']))

    def test_bounds_frozen(self):
        labels = {'auto_scaling_enabled': 'true'}
        for bound in (3, 4):
            self.w.store.node_groups[WORKERS].update(
                min_node_count=1, max_node_count=bound, labels=labels)
            self.driver('desired_state:BoundsFrozen')
            self.create(labels=labels)
        group, = self.w.helm.upgrades[-1]['nodeGroups']
        self.assertEqual(3, group['machineCountMax'])

    def test_not_repaired(self):
        values = self.values('desired_state:NotRepaired')
        self.assertEqual(
            [False, False],
            [found['healthCheck']['enabled'] for found in (
                values['controlPlane'], *values['nodeGroups'])])


class CredentialsTest(base.Base):

    def test_all_roles(self):
        self.created('credentials:AllRoles')
        self.assertEqual([{'admin', 'member'}],
                         [set(roles) for roles in self.w.cloud.roles])

    def test_rotation_ignored(self):
        made = self.created('credentials:RotationIgnored')
        before = dict(self.w.cloud.credentials)
        made.rotate_credential(None, self.w.store.row())
        self.look(3)
        self.assertEqual(before, self.w.cloud.credentials)

    def test_secret_told(self):
        self.created('credentials:SecretTold')
        self.assertIn('clouds.yaml', self.w.cluster.status_reason)

    def test_secret_logged(self):
        self.created('credentials:SecretLogged')
        self.assertIn("reaches the cloud with {'", self.logger.output)


class ReconcilerTest(base.Base):
    """What requests do otherwise."""

    def credentials_after_a_refusal(self, reference):
        self.created(reference)
        self.w.cloud.credentials.clear()
        self.resize(2)
        return len(self.w.cloud.credentials)

    def test_refused_credential_is_replaced(self):
        self.assertEqual(1, self.credentials_after_a_refusal(base.HEALTHY))

    def test_refused_credential_kept(self):
        self.assertEqual(0, self.credentials_after_a_refusal(
            'credentials:RefusedCredentialKept'))

    def test_proxy_password_told(self):
        self.w.store.templates[small_world.TEMPLATE][
            'http_proxy'] = 'http://u:S3cret@proxy:1'
        self.created('credentials:ProxyPasswordTold')
        self.assertIn('S3cret', str(self.w.helm.upgrades))

    def test_labels_ignored(self):
        self.created('desired_state:LabelsIgnored',
                     labels={'auto_haeling_enabled': 'true'})

    def test_attributes_ignored(self):
        self.w.store.templates[small_world.TEMPLATE][
            'insecure_registry'] = 'registry.example.org:5000'
        self.created('desired_state:AttributesIgnored')

    def test_made_anew(self):
        self.created('upgrades:MadeAnew')
        self.w.cloud.images['ubuntu-34'] = ('v1.34.9', 'ubuntu')
        self.resize(2)
        self.assertEqual('1.34.9',
                         self.w.helm.upgrades[-1]['kubernetesVersion'])

    def test_others_networks_seen(self):
        everything = small_world.Cloud()
        everything.networks['private'] = [UUID, UUID.replace('1', '2')]
        self.w.cloud.networks['private'] = [UUID]
        made = self.driver('desired_state:OthersNetworksSeen')
        own, admins = self.w.store, small_world.Store(everything, 'u1')
        admins.__dict__.update({**vars(own), 'cloud': everything})
        made._store = lambda context, cluster: own
        made.of_no_project = lambda: admins
        refused = stand_in.modules()['credentials'].exception.MagnumException
        e = self.assertRaises(refused, self.create, fixed_network='private')
        self.assertIn('Several networks', str(e))


class LookingTest(base.Base):

    def test_secrets_left(self):
        self.created('deletion:SecretsLeft')
        self.delete()
        self.look(3)
        self.assertNotEqual([], self.w.secrets())
        self.assertEqual({}, self.w.cloud.credentials)

    def test_always_healthy(self):
        made = self.created('periodic_status:AlwaysHealthy')
        self.api.objects.clear()
        monitor = made.get_monitor(None, self.w.store.row())
        monitor.poll_health_status()
        self.assertEqual('HEALTHY', monitor.data['health_status'])

    def test_restless(self):
        made = self.created('periodic_status:Restless')
        cluster, = [obj for path, obj in self.api.objects.items()
                    if '/clusters/' in path]
        self.assertNotIn('example.com/last-look', str(cluster))
        made.get_monitor(None, self.w.store.row()).poll_health_status()
        cluster, = [obj for path, obj in self.api.objects.items()
                    if '/clusters/' in path]
        self.assertIn('example.com/last-look', str(cluster))
