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


def with_labels(given=None, **changes):
    """A cluster whose labels Magnum copied into its node groups."""
    spec = dataclasses.replace(SPEC, labels=given or {}, **changes)
    return with_group(spec)


def with_group(spec=SPEC, **changes):
    return dataclasses.replace(spec, node_groups=(dataclasses.replace(
        GROUP, labels=spec.labels, **changes),))


class ValidationCase(testtools.TestCase):

    def problems(self, spec, **kwargs):
        return self.assertRaises(
            spec_model.InvalidSpec, validation.check, spec, **kwargs).problems

    def assertRefused(self, spec, *words, **kwargs):
        problem, = self.problems(spec, **kwargs)
        for word in words:
            self.assertIn(word, problem)


class TestVersions(testtools.TestCase):

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
        # Build metadata does not count, and is kept.
        self.assertEqual(versions.parse('1.2.3+a'), versions.parse('v1.2.3'))
        self.assertEqual('1.34.2+rke2r1',
                         str(versions.parse('1.34.2+rke2r1')))

    # B.4.16: it became 1.35.0.1.
    @hypothesis.example('1.35.0-rc.1')
    @PROPERTY
    @hypothesis.given(strategies.from_regex(
        r'\A(0|[1-9]\d?)\.(0|[1-9]\d?)\.(0|[1-9]\d?)(-[a-z0-9]{1,3})?\Z'))
    def test_what_is_read_is_what_was_written(self, text):
        hypothesis.assume(text.isascii())

        self.assertEqual(text, str(versions.parse(f'v{text}')))


class TestImage(testtools.TestCase):

    def test_an_image_without_them_is_refused_with_their_names(self):
        # B.4.16: it was an AttributeError.
        both = ('kube_version', 'os_distro')
        for properties, words in (
                (None, both), ({}, both),
                ({'kube_version': '', 'os_distro': None}, both),
                ({'kube_version': 'latest', 'os_distro': 'ubuntu'},
                 ("'latest'",))):
            found = self.assertRaises(
                spec_model.InvalidSpec, spec_model.image, 'i1',
                properties).problems
            self.assertEqual(len(words), len(found))
            for word, problem in zip(words, found):
                self.assertIn(word, problem)


class TestCluster(ValidationCase):

    def test_all_problems_are_reported_at_once_and_are_the_users(self):
        # Also one that Magnum copied into every node group, once.
        e = self.assertRaises(
            errors.UsageError, validation.check, with_labels(
                {'nonsense': '1'}, network_driver='flannel', master_count=2))

        self.assertEqual(3, len(e.problems))

    #: Changes of the cluster, and words of the problem.
    REFUSED = (
        # B.4.8: no CNI at all was installed, nodes were never ready.
        ({'network_driver': 'flannel'}, "'flannel'", 'calico and cilium'),
        *(({'master_count': count}, 'odd') for count in (-1, 0, 2, 4)),
        ({'node_groups': (GROUP, GROUP)}, 'same uuid'),
        # Charts would misread them.
        ({'keypair': '123'}, 'keypair'), ({'keypair': 'a: b'}, 'keypair'),
        ({'master_flavor': '2'}, 'master flavor'),
        ({'fixed_network_id': 'net'}, "'net'"),
        ({'dns_nameservers': ('192.0.2.53', 'dns.example.org')},
         'dns.example.org'),
        ({'labels': {'keystone_auth_enabled': 'true'}},
         'keystone_auth_enabled'),
        # A root volume's type needs its size, and that block storage.
        ({'labels': {'boot_volume_type': 'ssd'}}, 'boot_volume_size'),
        ({'labels': {'boot_volume_size': '20'},
          'volumes': spec_model.Volumes(types=None)}, 'no block storage'),
        *(({'template_labels': {'kube_tag': tag}}, tag, 'v1.34.2', IMAGE.id)
          for tag in ('v1.33.1', 'v1.35.0')))

    def test_what_is_refused(self):
        for changes, *words in self.REFUSED:
            with self.subTest(changes):
                self.assertRefused(
                    dataclasses.replace(SPEC, **changes), *words)
        self.assertRefused(with_group(flavor='1'), 'default-worker', "'1'")

    def test_what_passes(self):
        for changes in (
                *({'network_driver': driver}
                  for driver in ('calico', 'cilium', None)),
                # B.4.18: none is no mistake, the provider finds it.
                {'external_network_id': None},
                {'proxies': spec_model.Proxies(
                    http='http://u:p%40ss@proxy.example.org:3128',
                    https='http://[2001:db8::1]:3128/',
                    no='.example.org,10.0.0.0/8,192.0.2.1')},
                {'given': {'keystone_auth_enabled': 'true'},
                 'auth_url': 'http://k'},
                {'given': {'boot_volume_type': 'ssd',
                           'boot_volume_size': '20'}},
                *({'template_labels': {'kube_tag': tag}}
                  for tag in ('v1.34.2', '1.34.2')),
                # After an upgrade Magnum still has the copy of an older
                # template in the cluster.
                {'given': {'kube_tag': 'v1.33.1'},
                 'template_labels': {'kube_tag': 'v1.34.2'}}):
            validation.check(with_labels(**changes))

    def test_a_proxy_cannot_write_more_than_a_proxy(self):
        secret = 'http://user:secret@proxy:1"\nExecStart=x'
        problem, = self.problems(dataclasses.replace(
            SPEC, proxies=spec_model.Proxies(http=secret)))

        self.assertIn('http_proxy', problem)
        self.assertNotIn('secret', problem)

    def test_what_only_a_new_cluster_is_refused(self):
        """One that has it already can be changed."""
        allowed = {'api_master_lb_allowed_cidrs': '192.0.2.0/24'}
        for given, *words in (
                ({'kube_tag': 'v1.33.1'}, 'v1.33.1'),
                ({'capi_helm_chart_version': '0.1.0'},
                 'capi_helm_chart_version'),
                ({'calico_ipv4pool': '10.0.0.0/16'}, 'overlap', 'pods',
                 'nodes'),
                ({'service_cluster_ip_range': '172.16.8.0/24'}, 'overlap',
                 'pods', 'Services'),
                ({'fixed_subnet_cidr': '172.24.1.0/24'}, 'overlap',
                 'Services', 'nodes'),
                # A load balancer would ignore the list.
                ({'octavia_provider': 'ovn', **allowed},
                 'api_master_lb_allowed_cidrs', 'ovn')):
            with self.subTest(given):
                self.assertRefused(with_labels(given), *words, creating=True)
                validation.check(with_labels(given))
        validation.check(with_labels({'octavia_provider': 'ovn'}),
                         creating=True)
        # Nodes of a given network are elsewhere.
        validation.check(with_labels(
            {'calico_ipv4pool': '10.0.0.0/16'}, fixed_network_id=UUID),
            creating=True)

    def test_labels_that_others_contradict(self):
        for given, driver, *words in (
                ({'cilium_ipv4pool': '10.1.0.0/16'}, None,
                 'network driver is'),
                ({'cilium_hubble_ui_enabled': 'true'}, 'calico',
                 'network driver is'),
                ({'calico_ipv4pool': '10.1.0.0/16'}, 'cilium',
                 'network driver is'),
                ({'api_server_floating_ip': '192.0.2.7',
                  'master_lb_floating_ip_enabled': 'false'}, None)):
            with self.subTest(given):
                self.assertRefused(
                    with_labels(given, network_driver=driver),
                    f'label {next(iter(given))}', *words)
        for problem in self.problems(with_labels(
                {'boot_volume_availability_zone': 'az2'})):
            self.assertIn('boot_volume_availability_zone', problem)

    def test_a_floating_ip_is_the_clusters_wish_unless_a_label_says_so(self):
        # B.4.11: only the label counted.
        for enabled, label, wanted in (
                (True, None, True), (False, None, False),
                (False, True, True), (True, False, False)):
            self.assertIs(wanted, labels.floating_ip(
                dataclasses.replace(SPEC, floating_ip_enabled=enabled),
                labels.Labels(master_lb_floating_ip_enabled=label)))


class TestAutoscaling(ValidationCase):

    def test_bounds(self):
        label = {'max_node_count': '5'}
        off = {'auto_scaling_enabled': 'no'}
        for given, changes, expected in (
                # Without a maximum, or autoscaling, the size is fixed.
                ({}, {}, None), ({}, {'max': 0}, None),
                (off, {'max': 5}, None),
                # The default group takes its maximum from the label.
                (label, {}, (1, 5)), (label, {'max': 3}, (1, 3)),
                (label, {'is_default': False}, None),
                (label, {'role': 'gpu'}, (1, 5)),
                (label, {'role': objects.as_read('master')}, None),
                # B.4.20: 0, the default of Magnum's API, was refused; and
                # an empty group would never grow again.
                ({}, {'min': 0, 'max': 5}, (1, 5)),
                ({}, {'min': 2, 'max': 5}, (2, 5))):
            with self.subTest(given, changes=changes):
                self.assertEqual(expected, self.bounds(given, **changes))
        # An operator may let groups be empty.
        self.assertEqual((0, 5), self.bounds(
            {}, scale_from_zero=True, min=0, max=5))

    def bounds(self, given, scale_from_zero=False, **changes):
        return node_groups.bounds(
            dataclasses.replace(GROUP, **changes),
            labels.parse({'auto_scaling_enabled': 'true', **given}),
            scale_from_zero=scale_from_zero)

    def test_the_count_is_within_the_bounds(self):
        spec = with_labels({'auto_scaling_enabled': 'true'})
        for changes, words in (
                ({'count': 6, 'max': 5}, ('6', 'max_node_count 5')),
                ({'count': 1, 'min': 2, 'max': 5}, ('min_node_count 2',)),
                ({'count': 0, 'max': 5}, ('grow from',)),
                ({'count': 2, 'min': 4, 'max': 3}, ('less than',)),
                ({'count': -1}, ('node_count is -1',))):
            self.assertRefused(with_group(spec, **changes),
                               "node group 'default-worker'", *words)
        # B.4.20: the default minimum is 0.
        for changes in ({'count': 5, 'max': 5}, {'count': 1, 'max': 1},
                        {'count': 3, 'min': 3, 'max': 3},
                        {'count': 1, 'min': 0, 'max': 3}):
            validation.check(with_group(spec, **changes))
        # No nodes are fine without autoscaling.
        validation.check(with_group(count=0))


class TestNodeGroup(ValidationCase):

    def group(self, version):
        return with_group(image=dataclasses.replace(
            IMAGE, id='other', kube_version=version))

    def test_kubeadm_joins_the_same_minor_release(self):
        for version in ('v1.33.9', 'v1.35.0', 'v1.34.3', 'v2.34.2'):
            self.assertRefused(self.group(version), version[1:], '1.34.2')
        for version in ('v1.34.2', 'v1.34.0', 'v1.34.2-rc.1'):
            validation.check(self.group(version))
        self.assertRefused(self.group('none'), 'other', 'kube_version')

    def test_a_group_that_is_behind_is_not_in_the_way_of_others(self):
        behind = self.group('v1.33.9')

        validation.check(behind, joining=())
        self.assertRefused(behind, '1.33.9', joining=[GROUP.uuid])
        # It can be too far behind or ahead.
        for version in ('v1.30.0', 'v1.35.0'):
            self.assertRefused(self.group(version), version[1:], joining=())

    def test_its_own_mistake_is_reported(self):
        self.assertRefused(dataclasses.replace(SPEC, node_groups=(
            dataclasses.replace(GROUP, labels={'boot_volume_size': 'big'}),)),
            'boot_volume_size', "'big'")

    def taint(self, **changes):
        return with_group(node_taints=({
            'key': 'example.org/gpu', 'value': 'yes',
            'effect': 'NoSchedule', **changes},))

    def test_usual_labels_and_taints_pass(self):
        validation.check(self.taint())
        validation.check(self.taint(value=''))
        longest = '.'.join(['a' * 63] * 3 + ['a' * 61])
        validation.check(with_group(node_labels={
            'example.org/gpu': 'a100', 'plain': '', f'{longest}/a': 'x',
            'node.kubernetes.io/role': 'x'}))
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
        self.assertRefused(self.taint(effect='Never'), "'Never'",
                           'PreferNoSchedule')

    def test_keys_of_the_driver_are_refused(self):
        for key in ('capi.stackhpc.com/node-group',
                    'magnum.openstack.org/role', 'a.magnum.openstack.org/b'):
            self.assertRefused(with_group(node_labels={key: 'x'}),
                               'belongs to the driver')
