# SPDX-License-Identifier: Apache-2.0

"""What cannot be had is refused, with words that help, all at once."""

import dataclasses

import hypothesis
from hypothesis import strategies
import testtools

from magnum_capi.driver.desired import labels
from magnum_capi.driver.desired import node_groups
from magnum_capi.driver.desired import spec as spec_model
from magnum_capi.driver.desired import validation
from magnum_capi.driver.desired import versions
from magnum_capi import errors
from tests.unit.driver import objects

PROPERTY = hypothesis.settings(
    derandomize=True, database=None, deadline=None, max_examples=100)
UUID = '1f2c1f2c-0000-4000-8000-000000000001'
IMAGE = spec_model.Image(
    '1f2c1f2c-0000-4000-8000-00000000000a', 'v1.34.2', 'ubuntu')
SPEC = objects.cluster_spec(UUID, IMAGE)
GROUP, = SPEC.node_groups


def with_labels(spec=SPEC, **given):
    """A cluster whose labels Magnum copied into its node groups."""
    return dataclasses.replace(spec, labels=given, node_groups=tuple(
        dataclasses.replace(group, labels=given)
        for group in spec.node_groups))


def with_group(group=GROUP, spec=SPEC, **changes):
    return dataclasses.replace(spec, node_groups=(
        dataclasses.replace(group, labels=spec.labels, **changes),))


class ValidationCase(testtools.TestCase):

    def problems(self, spec, **kwargs):
        return self.assertRaises(
            spec_model.InvalidSpec, validation.check, spec, **kwargs).problems

    def assertRefused(self, spec, *words, **kwargs):
        problem, = self.problems(spec, **kwargs)
        for word in words:
            self.assertIn(word, problem)


class TestVersions(testtools.TestCase):

    def test_a_version_is_kept_whole(self):
        # B.4.16: it became 1.35.0.1.
        self.assertEqual('1.35.0-rc.1', str(versions.parse('v1.35.0-rc.1')))
        self.assertEqual('1.34.2+rke2r1',
                         str(versions.parse('1.34.2+rke2r1')))

    def test_what_is_no_version_is_refused(self):
        for text in ('', 'v', '1.35', 'v1.35.0.1', '1.35.0-', '01.2.3',
                     'vv1.2.3', '1.2.3\n', None, 1):
            self.assertRaises(ValueError, versions.parse, text)
            self.assertFalse(versions.is_version(text))

    def test_the_order_is_that_of_semantic_versions(self):
        ordered = ['1.9.0', '1.10.0-alpha', '1.10.0-alpha.1',
                   '1.10.0-alpha.beta', '1.10.0-beta.2', '1.10.0-beta.11',
                   '1.10.0-rc.1', '1.10.0', '1.10.1']

        self.assertEqual(ordered, [str(v) for v in sorted(
            map(versions.parse, reversed(ordered)))])

    def test_build_metadata_does_not_count(self):
        self.assertEqual(versions.parse('1.2.3+a'), versions.parse('v1.2.3'))

    @PROPERTY
    @hypothesis.given(strategies.from_regex(
        r'\A(0|[1-9]\d?)\.(0|[1-9]\d?)\.(0|[1-9]\d?)(-[a-z0-9]{1,3})?\Z'))
    def test_what_is_read_is_what_was_written(self, text):
        hypothesis.assume(text.isascii())

        self.assertEqual(text, str(versions.parse(f'v{text}')))


class TestImage(testtools.TestCase):

    def problems(self, properties):
        return self.assertRaises(
            spec_model.InvalidSpec, spec_model.image, 'i1',
            properties).problems

    def test_its_properties_are_read(self):
        self.assertEqual(
            spec_model.Image('i1', 'v1.35.0-rc.1', 'flatcar'),
            spec_model.image('i1', {'kube_version': 'v1.35.0-rc.1',
                                    'os_distro': 'flatcar'}))

    def test_an_image_without_properties_is_refused_with_their_names(self):
        # B.4.16: it was an AttributeError.
        for properties in (None, {}, {'kube_version': '', 'os_distro': None}):
            first, second = self.problems(properties)
            self.assertIn('kube_version', first)
            self.assertIn('os_distro', second)

    def test_a_version_that_is_none_is_refused(self):
        problem, = self.problems({'kube_version': 'latest',
                                  'os_distro': 'ubuntu'})

        self.assertIn("'latest'", problem)


class TestCluster(ValidationCase):

    def test_a_usual_cluster_passes_and_its_labels_are_read(self):
        read = validation.check(
            with_labels(monitoring_enabled='true'), creating=True)

        self.assertTrue(read.monitoring_enabled)

    def test_all_problems_are_told_at_once(self):
        spec = dataclasses.replace(
            with_labels(nonsense='1'), network_driver='flannel',
            master_count=2)

        self.assertEqual(3, len(self.problems(spec)))

    def test_the_error_is_the_users(self):
        self.assertIsInstance(spec_model.InvalidSpec(['x']),
                              errors.UsageError)

    def test_flannel_is_refused_with_what_is_supported(self):
        # B.4.8: no CNI at all was installed, nodes were never ready.
        self.assertRefused(
            dataclasses.replace(SPEC, network_driver='flannel'),
            "'flannel'", 'calico and cilium')

    def test_supported_network_drivers_pass(self):
        for driver in ('calico', 'cilium', None):
            validation.check(dataclasses.replace(SPEC, network_driver=driver))

    def test_a_control_plane_is_odd(self):
        for count in (-1, 0, 2, 4):
            self.assertRefused(
                dataclasses.replace(SPEC, master_count=count), 'odd')

    def test_two_node_groups_have_two_uuids(self):
        self.assertRefused(
            dataclasses.replace(SPEC, node_groups=(GROUP, GROUP)),
            'same uuid')

    def test_texts_that_a_chart_would_misread_are_refused(self):
        for changes, word in (({'keypair': '123'}, 'keypair'),
                              ({'keypair': 'a: b'}, 'keypair'),
                              ({'master_flavor': '2'}, 'master flavor')):
            self.assertRefused(dataclasses.replace(SPEC, **changes), word)
        self.assertRefused(with_group(flavor='1'), 'default-worker', "'1'")

    def test_networks_are_uuids(self):
        self.assertRefused(
            dataclasses.replace(SPEC, fixed_network_id='net'), "'net'")
        # B.4.18: none is no mistake, the provider finds it.
        validation.check(dataclasses.replace(SPEC, external_network_id=None))

    def test_nameservers_are_addresses(self):
        self.assertRefused(dataclasses.replace(
            SPEC, dns_nameservers=('192.0.2.53', 'dns.example.org')),
            'dns.example.org')

    def test_a_proxy_cannot_write_more_than_a_proxy(self):
        secret = 'http://user:secret@proxy:1"\nExecStart=x'
        problem, = self.problems(dataclasses.replace(
            SPEC, proxies=spec_model.Proxies(http=secret)))

        self.assertIn('http_proxy', problem)
        self.assertNotIn('secret', problem)

    def test_usual_proxies_pass(self):
        validation.check(dataclasses.replace(SPEC, proxies=spec_model.Proxies(
            http='http://u:p%40ss@proxy.example.org:3128',
            https='http://[2001:db8::1]:3128/',
            no='.example.org,10.0.0.0/8,192.0.2.1')))

    def test_keystone_for_users_needs_its_url(self):
        spec = with_labels(keystone_auth_enabled='true')

        self.assertRefused(spec, 'keystone_auth_enabled')
        validation.check(dataclasses.replace(spec, auth_url='http://k'))

    def test_a_root_volumes_type_needs_its_size(self):
        self.assertRefused(
            dataclasses.replace(SPEC, labels={'boot_volume_type': 'ssd'}),
            'boot_volume_size')
        validation.check(with_labels(
            boot_volume_type='ssd', boot_volume_size='20'))

    def test_a_root_volume_needs_block_storage(self):
        spec = dataclasses.replace(
            SPEC, labels={'boot_volume_size': '20'},
            volumes=spec_model.Volumes(types=None))

        self.assertRefused(spec, 'no block storage')


class TestKubeTag(ValidationCase):

    def test_one_that_differs_from_the_image_is_refused_showing_both(self):
        for tag in ('v1.33.1', 'v1.35.0'):
            self.assertRefused(
                dataclasses.replace(SPEC, template_labels={'kube_tag': tag}),
                tag, 'v1.34.2', IMAGE.id)

    def test_one_that_is_the_images_passes_with_or_without_v(self):
        for tag in ('v1.34.2', '1.34.2'):
            validation.check(dataclasses.replace(
                SPEC, template_labels={'kube_tag': tag}))

    def test_the_one_of_a_new_cluster_counts(self):
        spec = with_labels(kube_tag='v1.33.1')

        self.assertRefused(spec, 'v1.33.1', creating=True)

    def test_the_copy_of_an_older_template_does_not(self):
        """After an upgrade Magnum still has it in the cluster."""
        validation.check(dataclasses.replace(
            with_labels(kube_tag='v1.33.1'),
            template_labels={'kube_tag': 'v1.34.2'}))


class TestApiServer(ValidationCase):

    def test_a_floating_ip_is_the_clusters_wish_unless_a_label_says_so(self):
        # B.4.11: only the label counted.
        for enabled, label, wanted in (
                (True, None, True), (False, None, False),
                (False, True, True), (True, False, False)):
            self.assertIs(wanted, labels.floating_ip(
                dataclasses.replace(SPEC, floating_ip_enabled=enabled),
                labels.Labels(master_lb_floating_ip_enabled=label)))


class TestLabels(ValidationCase):

    def test_a_copied_mistake_is_told_once(self):
        self.assertRefused(with_labels(nonsense='1'), 'nonsense')

    def test_a_new_cluster_cannot_choose_the_chart(self):
        spec = with_labels(capi_helm_chart_version='0.1.0')

        self.assertRefused(spec, 'capi_helm_chart_version', creating=True)
        validation.check(spec)

    def test_a_node_groups_own_mistake_is_told(self):
        spec = dataclasses.replace(SPEC, node_groups=(dataclasses.replace(
            GROUP, labels={'boot_volume_size': 'big'}),))

        self.assertRefused(spec, 'boot_volume_size', "'big'")


class TestAutoscaling(ValidationCase):

    def bounds(self, given=None, scale_from_zero=False, **changes):
        return node_groups.bounds(
            dataclasses.replace(GROUP, **changes),
            labels.parse({'auto_scaling_enabled': 'true', **(given or {})}),
            scale_from_zero=scale_from_zero)

    def test_without_a_maximum_the_size_is_fixed(self):
        self.assertIsNone(self.bounds())
        self.assertIsNone(self.bounds(max=0))

    def test_without_autoscaling_the_size_is_fixed(self):
        self.assertIsNone(self.bounds({'auto_scaling_enabled': 'no'}, max=5))

    def test_the_default_group_takes_its_maximum_from_the_label(self):
        label = {'max_node_count': '5'}

        self.assertEqual((1, 5), self.bounds(label))
        self.assertEqual((1, 3), self.bounds(label, max=3))
        self.assertIsNone(self.bounds(label, is_default=False))
        self.assertEqual((1, 5), self.bounds(label, role='gpu'))
        self.assertIsNone(self.bounds(
            label, role=objects.as_read('master')))

    def test_no_minimum_is_one_node(self):
        # B.4.20: 0, the default of Magnum's API, was refused; and an empty
        # group would never grow again.
        self.assertEqual((1, 5), self.bounds(min=0, max=5))
        self.assertEqual((2, 5), self.bounds(min=2, max=5))

    def test_an_operator_may_let_groups_be_empty(self):
        self.assertEqual(
            (0, 5), self.bounds(min=0, max=5, scale_from_zero=True))

    def test_the_count_is_within_the_bounds(self):
        spec = with_labels(auto_scaling_enabled='true')
        for changes, words in (
                ({'count': 6, 'max': 5}, ('6', 'max_node_count 5')),
                ({'count': 1, 'min': 2, 'max': 5}, ('min_node_count 2',)),
                ({'count': 0, 'max': 5}, ('grow from',)),
                ({'count': 2, 'min': 4, 'max': 3}, ('less than',)),
                ({'count': -1}, ('node_count is -1',))):
            self.assertRefused(with_group(spec=spec, **changes),
                               "node group 'default-worker'", *words)
        for changes in ({'count': 5, 'max': 5}, {'count': 1, 'max': 1},
                        {'count': 3, 'min': 3, 'max': 3}):
            validation.check(with_group(spec=spec, **changes))

    def test_no_nodes_are_fine_without_autoscaling(self):
        validation.check(with_group(count=0))

    def test_a_group_of_the_default_minimum_passes(self):
        # B.4.20
        spec = with_labels(auto_scaling_enabled='true')

        validation.check(with_group(spec=spec, count=1, min=0, max=3))


class TestNodeGroupImage(ValidationCase):

    def group(self, version):
        return with_group(image=dataclasses.replace(
            IMAGE, id='other', kube_version=version))

    def test_kubeadm_joins_the_same_minor_release(self):
        for version in ('v1.33.9', 'v1.35.0', 'v1.34.3', 'v2.34.2'):
            self.assertRefused(self.group(version), version[1:], '1.34.2')

    def test_an_older_patch_joins(self):
        for version in ('v1.34.2', 'v1.34.0', 'v1.34.2-rc.1'):
            validation.check(self.group(version))

    def test_a_group_that_is_behind_is_not_in_the_way_of_others(self):
        behind = self.group('v1.33.9')

        validation.check(behind, joining=())
        self.assertRefused(behind, '1.33.9', joining=[GROUP.uuid])

    def test_a_group_can_be_too_far_behind_or_ahead(self):
        for version in ('v1.30.0', 'v1.35.0'):
            self.assertRefused(self.group(version), version[1:], joining=())

    def test_an_image_without_a_version_is_refused(self):
        self.assertRefused(self.group('none'), 'other', 'kube_version')


class TestNodes(ValidationCase):

    def taint(self, **changes):
        return with_group(node_taints=({
            'key': 'example.org/gpu', 'value': 'yes',
            'effect': 'NoSchedule', **changes},))

    def test_usual_ones_pass(self):
        validation.check(self.taint())
        validation.check(self.taint(value=''))
        validation.check(with_group(node_labels={
            'example.org/gpu': 'a100', 'plain': '',
            'node.kubernetes.io/role': 'x'}))
        longest = '.'.join(['a' * 63] * 3 + ['a' * 61])
        validation.check(with_group(node_labels={f'{longest}/a': 'x'}))
        self.assertRefused(with_group(node_labels={f'{longest}a/a': 'x'}),
                           'is not a valid key')

    def test_what_kubernetes_would_refuse_is_refused(self):
        for key, value in (('a b', 'x'), ('', 'x'), ('/a', 'x'),
                           ('A/a', 'x'), ('a/b/c', 'x'), ('a', 'x y'),
                           ('a', 'x"'), ('a', 'x' * 64), ('x' * 64, 'a')):
            self.assertRefused(with_group(node_labels={key: value}),
                               'node_labels')
            self.assertRefused(self.taint(key=key, value=value),
                               'node_taints')

    def test_effects_are_those_of_kubernetes(self):
        self.assertRefused(self.taint(effect='Never'), "'Never'",
                           'PreferNoSchedule')

    def test_keys_of_the_driver_are_refused(self):
        for key in ('capi.stackhpc.com/node-group',
                    'magnum.openstack.org/role', 'a.magnum.openstack.org/b'):
            self.assertRefused(with_group(node_labels={key: 'x'}),
                               'belongs to the driver')


class TestClusterNetworks(ValidationCase):

    def test_networks_may_not_overlap(self):
        for given, words in (
                ({'calico_ipv4pool': '10.0.0.0/16'}, ('pods', 'nodes')),
                ({'service_cluster_ip_range': '172.16.8.0/24'},
                 ('pods', 'Services')),
                ({'fixed_subnet_cidr': '172.24.1.0/24'},
                 ('Services', 'nodes'))):
            self.assertRefused(with_labels(**given), 'overlap', *words,
                               creating=True)
            # A cluster that has them already can be changed.
            validation.check(with_labels(**given))

    def test_nodes_of_a_given_network_are_elsewhere(self):
        validation.check(with_labels(
            dataclasses.replace(SPEC, fixed_network_id=UUID),
            calico_ipv4pool='10.0.0.0/16'), creating=True)

    def test_labels_of_the_other_network_driver_are_refused(self):
        for name, text, driver in (
                ('cilium_ipv4pool', '10.1.0.0/16', None),
                ('cilium_hubble_ui_enabled', 'true', 'calico'),
                ('calico_ipv4pool', '10.1.0.0/16', 'cilium')):
            self.assertRefused(
                with_labels(dataclasses.replace(
                    SPEC, network_driver=driver), **{name: text}),
                f'label {name}', 'network driver is')

    def test_an_address_for_nothing_is_refused(self):
        self.assertRefused(
            with_labels(api_server_floating_ip='192.0.2.7',
                        master_lb_floating_ip_enabled='false'),
            'api_server_floating_ip')

    def test_an_allow_list_that_a_load_balancer_ignores_is_refused(self):
        ovn = with_labels(octavia_provider='ovn',
                          api_master_lb_allowed_cidrs='192.0.2.0/24')

        self.assertRefused(ovn, 'api_master_lb_allowed_cidrs', 'ovn',
                           creating=True)
        # A running cluster cannot change its labels.
        validation.check(ovn)
        validation.check(with_labels(octavia_provider='ovn'), creating=True)

    def test_a_zone_without_a_volume_is_refused(self):
        for problem in self.problems(with_labels(
                boot_volume_availability_zone='az2')):
            self.assertIn('boot_volume_availability_zone', problem)
