# SPDX-License-Identifier: Apache-2.0

import copy
import pathlib
import types
from unittest import mock

import fixtures
from keystoneauth1 import exceptions as keystone_exceptions
from openstack import exceptions as sdk_exceptions
import testtools
import yaml

from magnum_capi.driver.cloud import services
from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import spec
from magnum_capi.driver import gather
from magnum_capi.driver.gitops import by_hand
from magnum_capi.driver.gitops import described_cloud
from magnum_capi.driver.gitops import description
from magnum_capi.driver.gitops import rendering
from magnum_capi.driver.helm import helm
from magnum_capi.driver.helm import helm_errors
from magnum_capi import errors
from tests.unit.driver import base
from tests.unit.driver import fake_cloud
from tests.unit.driver import small_world


UUID = small_world.CLUSTER

DESCRIBED = {
    'template': {'image_id': 'ubuntu-34', 'dns_nameserver': '192.0.2.1',
                 'network_driver': 'calico', 'flavor_id': 'm1',
                 'labels': {'auto_healing_enabled': True}},
    'cluster': {'uuid': UUID, 'name': 'First_1',
                'project_id': small_world.PROJECT, 'user_id': 'u1',
                'master_flavor_id': 'm1'},
    'node_groups': [{'name': 'gpu', 'flavor_id': 'g1', 'node_count': 4}],
    'cloud': {'images': {'ubuntu-34': {
        'kube_version': 'v1.34.2', 'os_distro': 'ubuntu'}}}}


def described(**sections):
    """DESCRIBED with fields of its sections changed; None: left out."""
    found = copy.deepcopy(DESCRIBED)
    for name, fields in sections.items():
        if isinstance(fields, dict):
            found.setdefault(name, {}).update(fields)
        else:
            found[name] = fields
    return found


class DescriptionTest(base.TestCase):

    def problems(self, **sections):
        return self.assertRaises(
            spec.InvalidSpec, description.read,
            described(**sections)).problems

    def test_what_magnum_fills_in_is_filled_in(self):
        _template, cluster, groups = description.read(described())

        self.assertEqual(
            ('m1', {'auto_healing_enabled': 'true'}, True),
            (cluster.flavor_id, cluster.labels, cluster.floating_ip_enabled))
        self.assertEqual(
            [('default-master', 'master', 1, 'm1', 'ubuntu-34'),
             ('default-worker', 'worker', 1, 'm1', 'ubuntu-34'),
             ('gpu', 'worker', 4, 'g1', 'ubuntu-34')],
            [(g.name, g.role, g.node_count, g.flavor_id, g.image_id)
             for g in groups])
        self.assertEqual([cluster.labels] * 3, [g.labels for g in groups])

    def test_labels_of_a_cluster_take_the_place_of_the_templates(self):
        _template, cluster, _groups = description.read(described(
            cluster={'labels': {}}))
        self.assertEqual({}, cluster.labels)

    def test_uuids_of_node_groups_stay_the_same(self):
        first, second = (description.read(described())[2] for _ in range(2))
        self.assertEqual([g.uuid for g in first], [g.uuid for g in second])
        self.assertEqual(3, len({g.uuid for g in first}))

    def test_least_size_of_a_label_is_that_of_the_default_workers(self):
        for number, expected in ((2, [None, 2, None]), ('two', [None] * 3)):
            groups = description.read(described(cluster={
                'labels': {'min_node_count': number}}))[2]
            self.assertEqual(expected, [g.min_node_count for g in groups])

    def test_values_of_taints_are_texts(self):
        # YAML has other types for what kubectl takes without quotes.
        *_, group = description.read(described(node_groups=yaml.safe_load('''
            - name: gpu
              node_taints:
              - {key: gpu, value: true, effect: NoSchedule}
              - {key: generation, value: 3, effect: NoSchedule}
              - {key: slow, value: , effect: NoSchedule}''')))[2]
        self.assertEqual([
            {'key': 'gpu', 'value': 'true', 'effect': 'NoSchedule'},
            {'key': 'generation', 'value': '3', 'effect': 'NoSchedule'},
            {'key': 'slow', 'effect': 'NoSchedule'}], group.node_taints)

    def test_default_groups_that_are_described_are_not_made(self):
        groups = description.read(described(node_groups=yaml.safe_load('''
            - {name: m, role: master, node_count: 3}
            - {name: w, is_default: true}''')))[2]
        self.assertEqual([('m', 3), ('w', 1)], [
            (g.name, g.node_count) for g in groups])

    def test_default_groups_that_are_not_described_are_made(self):
        # A role may be any word, but only one is that of the control plane.
        for given, made in (
                ('[{name: a, role: gpu}]', ['default-master',
                                            'default-worker', 'a']),
                ('[{name: a, role: gpu, is_default: true}]',
                 ['default-master', 'a']),
                ('[{name: m, role: master, is_default: true}]',
                 ['default-worker', 'm'])):
            groups = description.read(described(
                node_groups=yaml.safe_load(given)))[2]
            self.assertEqual(made, [g.name for g in groups])
            self.assertEqual(made[:-1], [
                g.name for g in groups if g.name.startswith('default-')
                and g.is_default])

    def test_everything_that_is_wrong_is_said_with_its_place(self):
        self.assertEqual(
            ('clouds: there is no such section',
             'template.image: there is no such field',
             'template.image_id: it is missing',
             "cluster.node_count: 'two' is not a number",
             "cluster.uuid: 'x' is not a uuid",
             'node_groups[0].name: it is missing'),
            self.problems(
                clouds=1, template={'image': 'x', 'image_id': None},
                cluster={'node_count': 'two', 'uuid': 'x'},
                node_groups=[{}]))

    def test_uuid_is_as_magnum_writes_it(self):
        for uuid in (5, b'x', UUID.replace('-', ''), f'{{{UUID}}}',
                     UUID[:2] + '-' + UUID[2:]):
            self.assertIn(f'cluster.uuid: {uuid!r} is not a uuid',
                          self.problems(cluster={'uuid': uuid}))
        _template, cluster, _groups = description.read(described(
            cluster={'uuid': UUID.upper()}))
        self.assertEqual(UUID.upper(), cluster.uuid)

    def test_taints_are_a_list_of_mappings(self):
        for wrong in ({}, 'a', ['a'], [{'key': 'a'}, 1]):
            self.assertEqual(
                (f'node_groups[0].node_taints: {wrong!r} is not a list of '
                 'mappings',),
                self.problems(node_groups=[
                    {'name': 'a', 'node_taints': wrong}]))

    def test_one_name_for_two_groups_is_refused(self):
        self.assertIn(
            "node_groups: several have the name 'a'",
            self.problems(node_groups=[{'name': 'a'}, {'name': 'a'}]))

    def test_no_form_of_a_file_is_a_traceback(self):
        for wrong in (None, [], 'text', {'template': 1, 'cluster': [],
                                         'node_groups': {}}):
            self.assertRaises(spec.InvalidSpec, description.read, wrong)


class RenderingTest(base.TestCase):

    def rendered(self, **sections):
        found = described(**sections)
        return rendering.render(
            *description.read(found),
            described_cloud.DescribedCloud(found['cloud']),
            self.w.runtime.settings)

    def test_values_are_those_that_magnum_would_have_made(self):
        self.w.store.templates[small_world.TEMPLATE]['labels'] = {
            'auto_healing_enabled': 'true'}
        self.created()

        groups = [{'name': name, 'uuid': uuid, 'role': role,
                   'is_default': True} for name, uuid, role in (
            ('default-master', small_world.MASTERS, 'master'),
            ('default-worker', small_world.WORKERS, 'worker'))]
        self.assertEqual(self.w.helm.upgrades[-1],
                         self.rendered(node_groups=groups).values)

    def test_release_namespace_and_secret(self):
        found = self.rendered()

        self.assertEqual(
            (small_world.RELEASE, small_world.NAMESPACE,
             names.credentials(small_world.RELEASE)),
            (found.release, found.namespace, found.credentials))
        self.assertEqual(found.credentials,
                         found.values['cloudCredentialsSecretName'])
        self.assertNotIn('clouds', found.values)

    def test_password_of_a_proxy_is_not_rendered(self):
        url = 'http://squid:S3cret@proxy:3128'
        self.assertIsNone(self.rendered().proxies)
        found = self.rendered(template={'http_proxy': url})
        file, = found.values['controlPlane']['kubeadmConfigSpec']['files']

        self.assertNotIn('S3cret', repr(found))
        self.assertEqual(found.proxies,
                         file['contentFrom']['secret']['name'])

    def test_manifests_are_helms(self):
        self.assertIn(small_world.RELEASE, rendering.manifests(
            self.rendered(), self.w.helm))

    def test_what_the_driver_refuses_is_refused(self):
        e = self.assertRaises(spec.InvalidSpec, self.rendered,
                              template={'network_driver': 'flannel'})
        self.assertIn('flannel', str(e))

    def test_new_cluster_is_checked_as_one(self):
        e = self.assertRaises(spec.InvalidSpec, self.rendered,
                              cluster={'labels': {'kube_tag': 'v1.30.0'}})
        self.assertIn('label kube_tag: it says v1.30.0', str(e))

    def test_cloud_that_is_no_cloud(self):
        for cloud, text in (
                (1, 'cloud: it must be a mapping'),
                ({'images': []}, 'cloud.images: it must be a mapping'),
                ({'images': {'a': 1}}, 'cloud.images.a: it must'),
                ({'images': {'a': {'b': 1}}}, 'cloud.images.a.b: there is'),
                ({'image': {}}, 'cloud.image: there is no such field'),
                ({'volume_types': 'ssd'}, 'cloud.volume_types: it must')):
            e = self.assertRaises(spec.InvalidSpec,
                                  described_cloud.DescribedCloud, cloud)
            self.assertIn(text, str(e))

    def test_networks_and_volume_types_of_a_description(self):
        network = '1f2c1f2c-0000-4000-8000-00000000000c'
        values = self.rendered(
            template={'external_network_id': 'public'},
            cloud={'networks': {'public': network},
                   'volume_types': ['ssd']}).values

        self.assertEqual(network,
                         values['clusterNetworking']['externalNetworkId'])
        self.assertEqual('ssd', values['addons']['openstack']['csiCinder'][
            'defaultStorageClass']['volumeType'])


class ByHandTest(base.TestCase):

    def setUp(self):
        super().setUp()
        self.answers, self.missing = {}, 404
        magnum = types.SimpleNamespace(get=self.get)
        self.patch(by_hand, '_connection', lambda name: types.SimpleNamespace(
            container_infrastructure_management=magnum))
        self.patch(by_hand, '_cloud',
                   lambda connection, settings: self.w.cloud)

    def get(self, path, headers):
        answer = self.answers.get(path)
        return mock.Mock(status_code=200 if answer else self.missing,
                         json=lambda: answer, headers={})

    def of_magnum(self, uuid=UUID):
        return by_hand.of_magnum(uuid, None, self.w.runtime.settings,
                                 gather.Defaults())

    def serve(self):
        """What Magnum's API shows of the small world's cluster."""
        store = self.w.store
        uuid = f'/clusters/{UUID}'
        self.answers = {
            uuid: {**store.clusters[UUID], 'links': []},
            f'/clustertemplates/{small_world.TEMPLATE}': {
                **store.templates[small_world.TEMPLATE], 'public': False},
            f'{uuid}/nodegroups': {'nodegroups': [
                {'uuid': group} for group in store.node_groups]},
            **{f'{uuid}/nodegroups/{group}': {**fields, 'cluster_id': UUID}
               for group, fields in store.node_groups.items()}}

    def test_values_of_a_living_cluster_are_those_that_it_has(self):
        self.created()
        self.serve()
        self.assertEqual(self.w.helm.upgrades[-1], self.of_magnum().values)

    def test_living_cluster_with_a_group_of_an_earlier_minor_release(self):
        # Its nodes have joined before the upgrade of the others.
        self.w.store.add_group(image_id='ubuntu-33')
        self.w.cloud.images['ubuntu-33'] = ('v1.33.1', 'ubuntu')
        self.serve()
        self.assertIn('1.33.1', [
            group.get('kubernetesVersion')
            for group in self.of_magnum().values['nodeGroups']])

    def test_labels_of_a_living_cluster_and_its_groups_are_their_own(self):
        self.created()
        self.serve()
        cluster = self.answers[f'/clusters/{UUID}']
        group = self.answers[
            f'/clusters/{UUID}/nodegroups/{small_world.WORKERS}']
        # Only what is new has to agree with its image.
        cluster['labels'] = {'auto_healing_enabled': 'false',
                             'kube_tag': 'v1.30.0'}
        group['labels'] = {'availability_zone': 'two'}

        values = self.of_magnum().values

        self.assertFalse(values['controlPlane']['healthCheck']['enabled'])
        self.assertEqual('two', values['nodeGroups'][0]['failureDomain'])

    def test_cluster_of_another_driver_is_refused(self):
        self.created()
        self.serve()
        self.answers[f'/clusters/{UUID}']['stack_id'] = 'first-abc'
        e = self.assertRaises(errors.UsageError, self.of_magnum)
        self.assertIn('Another driver', str(e))

    def test_cluster_that_magnum_has_not(self):
        e = self.assertRaises(errors.UsageError, self.of_magnum, 'nobody')
        self.assertEqual('There is no cluster nobody in Magnum', str(e))

    def test_magnum_that_does_not_answer_says_nothing_of_the_cluster(self):
        self.missing = 503
        e = self.assertRaises(services.CloudUnreachable, self.of_magnum)
        self.assertEqual('No answer about cluster ' + UUID, e.what)

    def test_what_the_cloud_has_not_is_the_descriptions_mistake(self):
        for wrong, text in (
                ({'image_id': 'nope'}, 'There is no image nope'),
                ({'flavor_id': 'tiny'}, 'The flavor tiny is too small')):
            e = self.assertRaises(
                errors.UsageError, by_hand.of_description,
                described(template=wrong, cloud=None), None,
                self.w.runtime.settings, gather.Defaults())
            self.assertEqual(text, str(e))

    def test_refusal_of_the_chart_is_an_error(self):
        self.patch(helm.Helm, 'template', mock.Mock(
            side_effect=helm_errors.ChartRefused('no', reason='too many')))
        found = by_hand.of_description(
            described(), None, self.w.runtime.settings, gather.Defaults())
        self.assertRaises(helm_errors.ChartRefused, by_hand.manifests,
                          found, self.w.runtime.settings)


class ConfigurationTest(testtools.TestCase):

    def of(self, text):
        path = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path) / 'magnum.conf'
        path.write_text(text)
        return by_hand.configuration([str(path)])

    def test_options_of_magnum_that_count(self):
        found, defaults = self.of(
            '[k8s_capi]\nhelm_history = 3\n[cinder]\n'
            'default_boot_volume_size = 12\ndefault_boot_volume_type = fast')
        self.assertEqual((3, 12, 'fast'), (
            found.helm_history, defaults.boot_size, defaults.boot_type))

    def test_nothing_set(self):
        _settings, defaults = self.of('')
        self.assertEqual((0, None), (defaults.boot_size, defaults.boot_type))

    def test_what_cannot_be_read_is_the_users_mistake(self):
        for text in ('[cinder]\ndefault_boot_volume_size = large', 'nothing',
                     '[k8s_capi]\nlock_duration = 1'):
            self.assertRaises(errors.UsageError, self.of, text)
        self.assertRaises(errors.UsageError, by_hand.configuration,
                          ['/nonexistent/magnum.conf'])

    def test_file_that_is_no_text_is_the_users_mistake(self):
        path = self.useFixture(fixtures.TempDir()).join('magnum.conf')
        pathlib.Path(path).write_bytes(b'[cinder]\n# \xff\n')
        self.assertRaises(errors.UsageError, by_hand.configuration, [path])


class ConnectionTest(base.TestCase):

    def asked(self, interface, region):
        """Where things of a cloud are asked for that is configured so."""
        cloud = self.useFixture(fake_cloud.FakeCloud())
        cloud.answers['GET', '/flavors/m1'] = 200, {'flavor': {
            'id': 'm1', 'name': 'm1', 'ram': 1, 'vcpus': 1, 'disk': 1}}
        session = cloud.session()
        regions = []
        catalog = session.auth.get_endpoint

        def get_endpoint(*args, **kwargs):
            regions.append((kwargs.get('interface'),
                            kwargs.get('region_name')))
            return catalog(*args, **kwargs)
        session.auth.get_endpoint = get_endpoint
        connection = types.SimpleNamespace(
            session=session, config=types.SimpleNamespace(
                get_interface=lambda: interface,
                get_region_name=lambda: region))
        found = by_hand._cloud(connection, self.w.runtime.settings)
        self.assertTrue(found.services.has('network'))
        return regions[-1]

    def test_cloud_is_asked_where_clouds_yaml_says(self):
        self.assertEqual(('internal', 'one'), self.asked('internal', 'one'))
        self.assertEqual(('public', None), self.asked(None, ''))

    def test_no_cloud_is_the_users_mistake(self):
        for error in (sdk_exceptions.ConfigException('Cloud x.'),
                      keystone_exceptions.NoMatchingPlugin('x')):
            self.patch(by_hand.openstacksdk, 'connect',
                       mock.Mock(side_effect=error))
            e = self.assertRaises(
                errors.UsageError, by_hand.of_description,
                described(cloud=None), 'x', self.w.runtime.settings,
                gather.Defaults())
            self.assertIn('--os-cloud', str(e))
