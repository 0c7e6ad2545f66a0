# SPDX-License-Identifier: Apache-2.0

"""Clusters change hands, and come back."""

import base64
import copy
import io
import pathlib
import tarfile
import types

import fixtures
import yaml

from magnum_capi.driver.adoption import adopt
from magnum_capi.driver.adoption import rules
from magnum_capi.driver.desired import charts
from magnum_capi.driver.desired import names
from magnum_capi.driver import failures
from magnum_capi.driver.keys import app_credentials
from magnum_capi.driver.keys import cluster_secrets
from magnum_capi import errors
from tests.unit.driver.operations import test_desired_values
from tests.unit.driver import small_world

STACK = 'first-1-a2b3c4d5e6f7'
OTHER = '99999999-3c2d-4899-b017-d2b06c0ccd9f'
CHART = charts.Chart('openstack-cluster', 'https://charts.example',
                     '0.16.0')

#: As magnum-capi-helm gives them.
VALUES = {
    'kubernetesVersion': '1.34.2', 'machineImageId': 'ubuntu-34',
    'cloudCredentialsSecretName': f'{STACK}-cloud-credentials',
    'controlPlane': {'machineFlavor': 'm1', 'machineCount': 1},
    'nodeGroups': [{'name': 'default-worker', 'machineFlavor': 'm1',
                    'machineCount': 1}]}


class Base(test_desired_values.Base):
    """A cluster of magnum-capi-helm 1.3."""

    def setUp(self):
        super().setUp()
        world, store = self.w, self.w.store
        made = app_credentials.create(
            store.cloud.services, 'u1', f'magnum-{small_world.CLUSTER}', '',
            has=('member',), allowed=('member',))
        clouds = yaml.safe_dump(cluster_secrets.clouds(
            made.id, made.secret, region=None, interface='public', verify=True,
            auth_url=store.cloud.services.identity_url()))
        self.api.put(
            f'/api/v1/namespaces/{small_world.NAMESPACE}/secrets/'
            f'{names.credentials(STACK)}', {
                'kind': 'Secret', 'metadata': {'labels': {
                    names.CLUSTER_UUID: small_world.CLUSTER}},
                'data': {cluster_secrets.CLOUDS: base64.b64encode(
                    clouds.encode()).decode()}})
        world.helm.upgrade(STACK, CHART, VALUES, small_world.NAMESPACE)
        cluster = world.rows.clusters[small_world.CLUSTER]
        cluster.update(stack_id=STACK, status='CREATE_COMPLETE')
        world.rows.make_certificates(cluster)
        for group in world.rows.groups.values():
            group['status'] = 'CREATE_COMPLETE'
        self.template = world.rows.templates[small_world.TEMPLATE]
        self.template['driver'] = rules.FORMER
        self.others = []
        #: Called before the driver of the template is written.
        self.before = lambda: None

    def adoption(self):
        self.w.ask_as()
        return adopt.Adoption(
            self.w.runtime, self.rows, lambda project_id: self.w.store,
            self.name_driver)

    def rows(self):
        yield self.w.row()
        yield from self.others

    def name_driver(self, template, before, after):
        self.before()
        row = self.w.rows.templates[template]
        if row['driver'] != before:
            return False
        row['driver'] = after
        return True

    def show(self, undo=False):
        return self.adoption().show([self.w.row()], undo)[0]

    def adopt(self):
        return self.adoption().adopt([self.w.row()])[0]

    def undo(self):
        return self.adoption().undo([self.w.row()])[0]

    def adopted(self):
        self.assertEqual((adopt.ADOPTED, ()), (
            (found := self.adopt()).kind, found.why))
        self.w.ask_as('u1', 'member')

    def world(self):
        """All that there is, but not when node groups were written."""
        groups = {uuid: {**row, 'updated_at': None} for uuid, row
                  in self.w.rows.groups.items()}
        return copy.deepcopy((
            self.api.objects, self.w.rows.clusters, groups,
            self.w.rows.templates, self.w.cloud.credentials))

    def machines(self):
        return sorted(path.rpartition('/')[2] for path in self.api.objects
                      if '/machines/' in path)


class ShowTest(Base):

    def test_changes_nothing(self):
        before = self.world()
        found = self.show()
        self.assertEqual((adopt.WOULD, []), (
            found.facts['outcome'], found.facts['why']))
        self.assertEqual(before, self.world())
        self.assertEqual(1, len(self.w.helm.upgrades))

    def test_secrets_are_not_shown(self):
        facts = str(self.show().facts)
        self.assertIn(f'magnum-{small_world.CLUSTER}', facts)
        self.assertNotIn(self.w.cloud.made[0].secret, facts)

    def test_next_change_that_would_replace_nodes(self):
        self.w.helm.own['0.16.0'] = {'workers': 'two'}
        found = self.show()
        self.assertEqual(adopt.REFUSED, found.kind)
        self.assertIn('would replace the nodes of MachineDeployment '
                      f'{STACK}-default-worker', found.why[0])

    def autoscaled(self, **fields):
        """A group that is autoscaled by an option of magnum-capi-helm."""
        values = copy.deepcopy(VALUES)
        values['nodeGroups'][0].update(
            autoscale='true', machineCountMin=1, machineCountMax=9)
        self.w.helm.upgrade(STACK, CHART, values, small_world.NAMESPACE)
        self.w.rows.groups[small_world.WORKERS].update(**fields)
        return self.show()

    def test_group_that_would_lose_its_autoscaler(self):
        # Its next change would remove the nodes that Magnum knows nothing of.
        found = self.autoscaled()
        self.assertEqual(adopt.REFUSED, found.kind)
        self.assertIn('its node group default-worker is autoscaled',
                      found.why[0])

    def test_group_that_keeps_its_autoscaler(self):
        found = self.autoscaled(
            labels={'auto_scaling_enabled': 'true'}, min_node_count=1,
            max_node_count=9)
        self.assertEqual((adopt.WOULD, ()), (found.kind, found.why))

    def test_label_that_this_driver_refuses(self):
        self.w.rows.clusters[small_world.CLUSTER]['labels'] = {
            'etcd_volume_size': 'much'}
        found = self.show()
        self.assertEqual(adopt.REFUSED, found.kind)
        self.assertIn('etcd_volume_size', found.why[0])


class ChartTest(Base):
    """The operator's chart is a file; it must be the one of the cluster."""

    def setUp(self):
        super().setUp()
        self.top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def files(self, name, version):
        own = 'openstack-cluster/Chart.yaml'
        return {
            # Those of dependencies do not count.
            'openstack-cluster/charts/addons/Chart.yaml':
            'name: addons\nversion: 0.0.1\n',
            own: f'name: {name}\nversion: {version}\n'}

    def folder(self, *args):
        for name, text in self.files(*args).items():
            path = self.top / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return self.top / 'openstack-cluster'

    def package(self, *args):
        path = self.top / 'chart.tgz'
        with tarfile.open(path, 'w:gz') as archive:
            for name, text in self.files(*args).items():
                member = tarfile.TarInfo(name)
                member.size = len(text)
                archive.addfile(member, io.BytesIO(text.encode()))
        return path

    def shown(self, path):
        self.configure(chart=charts.Chart(str(path)))
        return self.show()

    def test_same_version(self):
        for make in (self.folder, self.package):
            found = self.shown(make('openstack-cluster', '0.16.0'))
            self.assertEqual((adopt.WOULD, ()), (found.kind, found.why))

    def test_another_version_or_chart(self):
        for make in (self.folder, self.package):
            for args, text in ((('openstack-cluster', '0.17.0'), '0.17.0'),
                               (('another', '0.16.0'), 'another')):
                found = self.shown(make(*args))
                self.assertEqual(adopt.REFUSED, found.kind)
                self.assertIn(text, found.why[0])


class AdoptTest(Base):

    def test_what_is_written(self):
        before = self.world()
        self.adopted()
        secret = (f'/api/v1/namespaces/{small_world.NAMESPACE}/secrets/'
                  f'{STACK}-magnum')
        self.assertEqual({secret}, set(self.api.objects) - set(before[0]))
        self.assertEqual(before[0], {
            path: found for path, found in self.api.objects.items()
            if path != secret})
        self.assertEqual(before[1:3], (
            self.w.rows.clusters, self.w.rows.groups))
        self.assertEqual(names.DRIVER, self.template['driver'])
        self.assertEqual(1, len(self.w.helm.upgrades))

    def test_there_and_back(self):
        before = self.world()
        self.adopted()
        shown = self.show(undo=True)
        self.assertEqual(adopt.WOULD_RETURN, shown.kind)
        self.assertEqual(adopt.RETURNED, self.undo().kind)
        self.assertEqual(before, self.world())

    def test_template_without_a_driver(self):
        self.template['driver'] = None
        before = self.world()
        self.adopted()
        self.assertEqual(names.DRIVER, self.template['driver'])
        self.undo()
        self.assertEqual(before, self.world())

    def test_image_of_a_cluster_that_was_upgraded(self):
        row = self.w.rows.groups[small_world.WORKERS]
        row['image_id'] = 'gone'
        before = self.world()
        self.adopted()
        self.assertEqual('ubuntu-34', row['image_id'])
        self.undo()
        self.assertEqual(before, self.world())

    def test_operation_that_began_meanwhile(self):
        def begin():
            self.w.rows.clusters[small_world.CLUSTER]['status'] = (
                'UPDATE_IN_PROGRESS')
        self.before = begin
        found = self.adopt()
        self.assertEqual(adopt.REFUSED, found.kind)
        self.assertIn('in the meantime', found.why[0])
        self.assertEqual(rules.FORMER, self.template['driver'])
        self.assertNotIn('magnum', self.secrets())

    def test_helm_that_ran_meanwhile(self):
        row = self.w.rows.groups[small_world.WORKERS]
        row['image_id'] = 'gone'
        self.before = lambda: self.w.helm.record(2, None, release=STACK)
        self.assertEqual(adopt.REFUSED, self.adopt().kind)
        self.assertEqual((rules.FORMER, 'gone'),
                         (self.template['driver'], row['image_id']))

    def test_one_that_was_interrupted_is_repeated(self):
        def die():
            raise KeyboardInterrupt
        self.before = die
        self.assertRaises(KeyboardInterrupt, self.adopt)
        self.assertIn('magnum', self.secrets())
        self.before = lambda: None
        self.adopted()

    def test_one_that_was_interrupted_between_rows_is_repeated(self):
        self.w.cloud.images['ubuntu-33'] = {'kube_version': 'v1.33.0'}
        row = self.w.rows.groups[small_world.WORKERS]
        row['image_id'] = 'ubuntu-33'
        before = self.world()
        kind = self.w.stores.Store
        save = kind.save
        for saved in (False, True):
            def die(store, row):
                if saved:
                    save(store, row)
                raise KeyboardInterrupt
            kind.save = die
            self.assertRaises(KeyboardInterrupt, self.adopt)
        kind.save = save
        self.adopted()
        self.assertEqual('ubuntu-34', row['image_id'])
        self.undo()
        self.assertEqual(before, self.world())

    def test_images_are_as_before_if_the_template_changed(self):
        row = self.w.rows.groups[small_world.WORKERS]
        row['image_id'] = 'gone'
        self.before = lambda: self.template.update(driver='other')
        self.assertEqual(adopt.REFUSED, self.adopt().kind)
        self.assertEqual('gone', row['image_id'])

    def secrets(self):
        return [path.rpartition('-')[2] for path in self.api.objects
                if f'/secrets/{STACK}-' in path]


class TogetherTest(Base):
    """Magnum finds the driver of a cluster by its template."""

    def setUp(self):
        super().setUp()
        self.others = [types.SimpleNamespace(
            uuid=OTHER, name='other', project_id=small_world.PROJECT,
            stack_id='other-x', status='CREATE_COMPLETE', user_id='u1',
            cluster_template_id=small_world.TEMPLATE)]

    def test_one_alone_or_nobody_is_refused(self):
        for asked, named in ((small_world.CLUSTER, OTHER),
                             ('nobody', 'nobody')):
            e = self.assertRaises(errors.UsageError, self.adoption().chosen,
                                  [asked])
            self.assertIn(named, str(e))

    def test_all_that_can_be(self):
        found = self.adoption().chosen()
        self.assertEqual([[small_world.CLUSTER, OTHER]], [
            [row.uuid for row in rows] for rows in found])
        self.assertEqual([], self.adoption().chosen(undo=True))
        self.template['driver'] = names.DRIVER
        self.assertEqual([], self.adoption().chosen())
        self.assertEqual(1, len(self.adoption().chosen(undo=True)))
        self.template['driver'] = rules.FORMER
        self.others = []
        self.assertEqual([[small_world.CLUSTER]], [
            [row.uuid for row in rows] for rows in self.adoption().chosen()])

    def test_all_or_none(self):
        before = self.world()
        # Its row is not in the database any more.
        self.w.rows.clusters[OTHER] = {
            **self.w.rows.clusters[small_world.CLUSTER], 'uuid': OTHER,
            'stack_id': 'other-x'}
        row = self.w.row(OTHER)
        del self.w.rows.clusters[OTHER]
        found = self.adoption().adopt([self.w.row(), row])
        self.assertEqual([adopt.REFUSED, adopt.FAILED],
                         [one.kind for one in found])
        self.assertEqual(before, self.world())


class LifeTest(Base):

    def test_only_an_adopted_one_is_touched(self):
        self.template['driver'] = names.DRIVER
        e = self.assertRaises(failures.Failed, self.resize, 2)
        self.assertIn('Another driver', str(e))

    def test_resize(self):
        self.adopted()
        self.resize(2)
        self.check_status(2)
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status,
                         self.w.cluster.status_reason)
        expected = copy.deepcopy(VALUES)
        expected['nodeGroups'][0]['machineCount'] = 2
        self.assertEqual(expected, self.w.helm.upgrades[-1])
        self.assertEqual(CHART, self.w.helm.charts[-1])
        found = self.undo()
        self.assertEqual((adopt.REFUSED, (
            'it was changed since it was adopted',)), (found.kind, found.why))

    def test_new_node_group_has_a_name_of_this_driver(self):
        self.adopted()
        self.w.add_group(status='CREATE_IN_PROGRESS')
        self.operations().change(self.w.row(small_world.OTHERS))
        self.check_status(2)
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status,
                         self.w.cluster.status_reason)
        self.assertEqual(
            ['default-worker', names.node_group(small_world.OTHERS)],
            [one['name'] for one in self.w.helm.upgrades[-1]['nodeGroups']])

    def test_upgrade_leaves_the_values_behind(self):
        self.adopted()
        self.upgrade()
        self.check_status(6)
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status,
                         self.w.cluster.status_reason)
        values = self.w.helm.upgrades[-1]
        self.assertEqual(('1.35.0', 'ubuntu', ['default-worker']), (
            values['kubernetesVersion'], values['osDistro'],
            [one['name'] for one in values['nodeGroups']]))

    def test_upgrade_keeps_what_no_cluster_can_change(self):
        # "OpenStackCluster...: spec: Forbidden: cannot be modified"
        storage = {
            'name': 'lvm', 'availabilityZone': 'one', 'fstype': 'xfs',
            'reclaimPolicy': 'Delete', 'volumeBindingMode': 'Immediate'}
        fixed = {
            'apiServer': {'associateFloatingIP': True,
                          'enableLoadBalancer': True,
                          'loadBalancerProvider': 'ovn'},
            'clusterNetworking': {'internalNetwork': {
                'nodeCidr': '10.1.0.0/24', 'networkFilter': None}},
            'addons': {'openstack': {'csiCinder': {
                'defaultStorageClass': storage}}}}
        self.w.cloud.types.add('block-storage')
        # Magnum-capi-helm does not read it.
        self.w.rows.clusters[small_world.CLUSTER][
            'floating_ip_enabled'] = False
        self.w.helm.upgrade(STACK, CHART, {**VALUES, **fixed},
                            small_world.NAMESPACE)
        self.adopted()
        self.configure(default_labels={
            'octavia_provider': 'amphora', 'calico_ipv4pool': '10.2.0.0/16',
            'auto_healing_enabled': 'false'})
        for change in (lambda: self.resize(2), self.upgrade):
            change()
            self.check_status(6)
            values = self.w.helm.upgrades[-1]
            self.assertEqual(fixed['apiServer'], values['apiServer'])
            self.assertNotIn('kubeNetwork', values)
            self.assertEqual('10.1.0.0/24', values['clusterNetworking'][
                'internalNetwork']['nodeCidr'])
            self.assertEqual(
                storage, {name: values['addons']['openstack']['csiCinder'][
                    'defaultStorageClass'][name] for name in storage})
        self.assertFalse(values['controlPlane']['healthCheck']['enabled'])

    def test_rotation_removes_the_credential_that_was_found(self):
        self.adopted()
        self.operations().rotate('u1')
        self.w.later(seconds=120)
        self.check_status(3)
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status,
                         self.w.cluster.status_reason)
        self.assertEqual([1], self.w.credentials())

    def test_deletion_whose_conductor_dies_at_the_end(self):
        self.adopted()
        self.operations().delete()
        kind = self.w.stores.Store
        save = kind.save

        def die(store, row):
            if getattr(row, 'status', '') == 'DELETE_COMPLETE':
                raise failures.ClusterGone('killed')
            save(store, row)
        kind.save = die
        self.check_status(3)
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)
        kind.save = save
        self.check_status(3)
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)
        self.assertEqual({}, self.w.cloud.credentials)
        self.assertEqual([], self.w.left())
