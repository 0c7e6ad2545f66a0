# SPDX-License-Identifier: Apache-2.0

"""Labels are read strictly, and merged as Magnum merges them."""

import hypothesis
from hypothesis import strategies
import testtools
import yaml

from magnum_capi.driver.desired import label_types
from magnum_capi.driver.desired import labels
from magnum_capi.driver.desired import spec
from magnum_capi import errors
from tests.unit.driver import objects

PROPERTY = hypothesis.settings(
    derandomize=True, database=None, deadline=None, max_examples=100)
UUID = '1f2c1f2c-0000-4000-8000-00000000000c'


class LabelsCase(testtools.TestCase):

    def problems(self, given, **policy):
        return self.assertRaises(
            spec.InvalidSpec, labels.parse, given,
            labels.Policy(**policy)).problems

    def assertRefused(self, name, text, *words):
        problem, = self.problems({name: text})
        for word in (name, *words):
            self.assertIn(word, problem)


class TestParse(LabelsCase):

    def test_without_labels_there_are_defaults(self):
        read = labels.parse({})

        self.assertEqual(labels.Labels(), read)
        self.assertTrue(read.auto_healing_enabled)
        self.assertFalse(read.auto_scaling_enabled)
        self.assertEqual((), read.api_master_lb_allowed_cidrs)

    def test_labels_are_values_of_their_types(self):
        read = labels.parse({
            'auto_scaling_enabled': 'True', 'max_node_count': '7',
            'boot_volume_size': '20G', 'kube_tag': 'v1.35.0-rc.1',
            'api_master_lb_allowed_cidrs': '10.0.0.0/8,192.0.2.1',
            'csi_cinder_reclaim_policy': 'Delete',
            'extra_network_names': f'storage {UUID}'})

        self.assertEqual(
            (True, 7, 20, 'v1.35.0-rc.1', ('10.0.0.0/8', '192.0.2.1/32'),
             'Delete', ('storage', UUID)),
            (read.auto_scaling_enabled, read.max_node_count,
             read.boot_volume_size, read.kube_tag,
             read.api_master_lb_allowed_cidrs,
             read.csi_cinder_reclaim_policy, read.extra_network_names))
        self.assertIn('max_node_count', read.given)
        self.assertNotIn('min_node_count', read.given)

    def test_a_typing_error_is_no_default(self):
        # B.4.17: "flase" was True, and letters were cut from numbers.
        self.assertRefused('auto_healing_enabled', 'flase', "'flase'",
                           'true or false')
        self.assertRefused('max_node_count', '3x', 'a whole number')
        self.assertRefused('boot_volume_size', '20GB/s', 'a size in GiB')

    def test_nothing_is_deleted_from_what_was_written(self):
        # B.4.17: characters that a filter did not know were deleted.
        for text in ('ssd;x', 'ssd\nroot: yes', 'ssd #', 'a: b', '{a}', ''):
            self.assertRefused('boot_volume_type', text, 'a name')

    def test_an_unknown_label_is_refused_with_the_one_that_is_meant(self):
        self.assertRefused('boot_volum_size', '3', 'boot_volume_size')

    def test_a_label_of_another_driver_is_refused_with_what_to_do(self):
        self.assertEqual(15, len(labels.REFUSED))
        for name in labels.REFUSED:
            self.assertRefused(name, 'x', 'magnum-cluster-api has it',
                               labels.REFUSED[name])

    def test_hosts_are_names_or_addresses(self):
        read = labels.parse({'api_server_cert_sans': (
            '*.k8s.example.org 192.0.2.7,2001:db8::7 api')})
        self.assertEqual(('*.k8s.example.org', '192.0.2.7', '2001:db8::7',
                          'api'), read.api_server_cert_sans)
        for text in ('192.0.2', '1:2', 'a..b', 'A', '-a', '*', 'a/b', 'a"b'):
            self.assertRefused('api_server_cert_sans', text, 'is none')

    def test_texts_let_nothing_pass_that_has_a_meaning_elsewhere(self):
        for name, text in (
                ('api_server_tls_cipher_suites', 'TLS_A --anonymous-auth'),
                ('kubelet_tls_cipher_suites', 'tls_a'),
                ('admission_control_list', 'AlwaysAdmit=true'),
                ('dns_cluster_domain', 'Cluster.local'),
                ('oidc_issuer_url', 'http://example.org'),
                ('oidc_client_id', 'a b'), ('oidc_username_claim', '"'),
                ('oidc_groups_prefix', 'a\n'), ('audit_log_max_age', '0'),
                ('api_server_floating_ip', '192.0.2.0/24'),
                ('service_cluster_ip_range', '10.0.0.1/8')):
            problems = self.problems({name: text})
            self.assertIn(f'label {name}', problems[0])

    def test_texts_are_as_long_as_a_domain_at_most(self):
        for name, text in (('dns_cluster_domain', 'x' * 253),
                           ('api_server_cert_sans', 'x.' * 126 + 'x')):
            self.assertEqual(253, len(text))
            labels.parse({name: text})
            self.assertRefused(name, text + 'x')

    def test_arguments_of_kubelets_are_some_by_name(self):
        read = labels.parse({'kubelet_extra_args': (
            'max-pods=200  eviction-hard=memory.available<5%,x<1Gi')})
        self.assertEqual(
            (('eviction-hard', 'memory.available<5%,x<1Gi'),
             ('max-pods', '200')), read.kubelet_extra_args)
        for text, word in (
                ('anonymous-auth=true', 'not one of the names'),
                ('max-pods', 'no valid value'),
                ('max-pods=', 'no valid value'),
                ('max-pods=1\u00a02', 'not one of the names'),
                ('max-pods="1"', 'no valid value'), ('', 'name=value'),
                ('max-pods=1 max-pods=2', 'twice')):
            self.assertRefused('kubelet_extra_args', text, word)

    def test_expiry_of_certificates_is_never_or_a_week(self):
        for text in ('0', '7', '364'):
            self.assertEqual(int(text), labels.parse({
                'certificates_expiry_days': text}).certificates_expiry_days)
        for text in ('1', '6'):
            self.assertRefused('certificates_expiry_days', text, 'from 7')
        self.assertRefused('certificates_expiry_days', '365')

    def test_registry_of_images_is_a_host_with_a_path(self):
        for text in ('registry.example.org', 'r.example.org:5000/a/b_c/'):
            self.assertEqual(text, labels.parse({
                'container_infra_prefix': text}).container_infra_prefix)
        for text in ('https://r.example.org', 'r.example.org/a b', '"r"',
                     'R.example.org', ''):
            self.assertRefused('container_infra_prefix', text)

    def test_shares_have_a_type(self):
        self.assertIn('manila_csi_share_type', self.problems({
            'manila_csi_enabled': 'true'})[0])
        read = labels.parse({'manila_csi_enabled': 'true'}, labels.Policy(
            {'manila_csi_share_type': 'default'}))
        self.assertEqual('default', read.manila_csi_share_type)
        self.assertRefused('manila_csi_share_network_id', 'net', 'a uuid')

    def test_users_of_a_provider_belong_to_a_client(self):
        for name, text in (('oidc_issuer_url', 'https://example.org'),
                           ('oidc_client_id', 'c')):
            self.assertIn('goes with', self.problems({name: text})[0])

    def test_the_operator_may_let_labels_pass(self):
        read = labels.parse({'calico_tag': 'x'}, labels.Policy(
            ignored=frozenset(['calico_tag'])))

        self.assertEqual(labels.Labels(), read)

    def test_all_problems_are_told_at_once(self):
        problems = self.problems({
            'max_node_count': '-1', 'nonsense': '1',
            'octavia_lb_algorithm': 'RANDOM'})

        self.assertEqual(3, len(problems))

    def test_the_error_is_one_line_of_the_users_fault(self):
        error = self.assertRaises(
            errors.UsageError, labels.parse, {'a': '1', 'b': '2'})

        self.assertNotIn('\n', str(error))
        self.assertIn("'a'", str(error))
        self.assertIn("'b'", str(error))

    def test_a_long_text_is_cut_in_messages(self):
        problem, = self.problems({'boot_volume_type': 'x' * 5000})

        self.assertLess(len(problem), 400)
        self.assertIn("xxx...'", problem)

    def test_a_text_that_fits_is_whole_in_messages(self):
        for text in (';', ';' * (labels._LONGEST_SHOWN - 2)):
            problem, = self.problems({'boot_volume_type': text})
            self.assertIn(f"'{text}' is not accepted", problem)

    def test_the_allow_list_is_checked(self):
        self.assertRefused('api_master_lb_allowed_cidrs', '10.0.0.1/8',
                           '10.0.0.0/8')
        self.assertRefused('api_master_lb_allowed_cidrs', '10.0.0/8')
        # Empty would be: everybody.
        self.assertRefused('api_master_lb_allowed_cidrs', '')
        self.assertRefused('api_master_lb_allowed_cidrs', ' , ')

    def test_a_network_has_a_length(self):
        self.assertRefused('fixed_subnet_cidr', '10.0.0.0')
        self.assertRefused('service_cluster_ip_range', 'fd00::/108', 'IPv6')
        self.assertEqual('10.1.0.0/16', labels.parse(
            {'fixed_subnet_cidr': '10.1.0.0/16'}).fixed_subnet_cidr)

    def test_enumerations_name_their_words(self):
        self.assertRefused('ingress_controller', 'octavia', 'nginx',
                           'traefik')

    def test_the_provider_ovn_has_one_algorithm(self):
        ovn = objects.as_read({'octavia_provider': 'ovn',
                               'octavia_lb_algorithm': 'SOURCE_IP_PORT'})

        problem, = self.problems({**ovn,
                                  'octavia_lb_algorithm': 'ROUND_ROBIN'})

        self.assertIn('SOURCE_IP_PORT', problem)
        self.assertEqual('ovn', labels.parse(ovn).octavia_provider)
        self.assertEqual('ROUND_ROBIN', labels.parse({
            'octavia_provider': 'amphora',
            'octavia_lb_algorithm': 'ROUND_ROBIN'}).octavia_lb_algorithm)

    def test_bounds_that_contradict_each_other_are_refused(self):
        problem, = self.problems({'min_node_count': '3',
                                  'max_node_count': '2'})

        self.assertIn('min_node_count 3', problem)
        for most in ('3', '4'):
            self.assertEqual(3, labels.parse({
                'min_node_count': '3',
                'max_node_count': most}).min_node_count)

    def test_a_version_is_whole(self):
        for text in ('1.35', 'latest', 'v1.35.0.1', 'v1.35.0 '):
            self.assertRefused('kube_tag', text, 'v1.34.2')
        self.assertRefused('capi_helm_chart_version', 'v0.27.0', '0.27.0')

    def test_audit_logs_are_bounded_to_ten_years_and_a_thousand_files(self):
        for name, least, most in (('audit_log_max_age', 1, 3650),
                                  ('audit_log_max_backup', 1, 1000),
                                  ('audit_log_max_size', 1, 10000)):
            for number in (least, most):
                self.assertEqual(number, getattr(labels.parse(
                    {name: str(number)}), name))
            for number in (least - 1, most + 1):
                self.assertRefused(name, str(number),
                                   f'from {least} to {most}')

    def test_numbers_have_bounds(self):
        self.assertRefused('boot_volume_size', '65537', 'from 0 to 65536')
        self.assertRaises(ValueError, label_types.Int(1, 3).read, '4')
        self.assertRaises(ValueError, label_types.Int(1, 3).read, '0')
        self.assertEqual(3, label_types.Int(1, 3).read('3'))

    def test_a_name_stands_once_in_a_list(self):
        self.assertRefused('extra_network_names', 'a b a')
        self.assertRefused('extra_network_names', 'a,123', "'123'")


class TestOlderNames(LabelsCase):

    def test_they_mean_the_same(self):
        read = labels.parse({
            'etcd_volume_size': '5', 'etcd_volume_type': 'ssd',
            'extra_network_name': 'storage'})

        self.assertEqual((5, 'ssd', ('storage',)), (
            read.etcd_blockdevice_size, read.etcd_blockdevice_volume_type,
            read.extra_network_names))
        self.assertIn('etcd_blockdevice_size', read.given)

    def test_both_may_be_set_to_one_value_only(self):
        for older, present in (('500', '500'), ('500G', '500')):
            self.assertEqual(500, labels.parse({
                'etcd_volume_size': older,
                'etcd_blockdevice_size': present}).etcd_blockdevice_size)
        for older, present in (('6', '5'), ('5', '6')):
            problem, = self.problems({'etcd_volume_size': older,
                                      'etcd_blockdevice_size': present})
            self.assertIn('etcd_blockdevice_size', problem)

    def test_one_wins_over_a_default_under_the_present_name(self):
        read = labels.parse({'etcd_volume_size': '5'}, labels.Policy(
            defaults={'etcd_blockdevice_size': '0'}))

        self.assertEqual(5, read.etcd_blockdevice_size)


class TestDefaults(LabelsCase):

    def test_labels_win_over_the_operators_defaults(self):
        policy = labels.Policy(defaults={
            'monitoring_enabled': 'true', 'octavia_provider': 'ovn'})
        read = labels.parse({'octavia_provider': 'amphora'}, policy)

        self.assertTrue(read.monitoring_enabled)
        self.assertEqual('amphora', read.octavia_provider)
        self.assertEqual({'octavia_provider'}, read.given)

    def test_defaults_are_checked_like_labels(self):
        problem, = self.problems({}, defaults={'monitoring_enabled': 'si'})

        self.assertIn('monitoring_enabled', problem)


class TestBooleans(LabelsCase):

    def test_words_are_those_that_magnum_reads_the_same(self):
        for text, value in (('true', True), ('TRUE', True), ('yes', True),
                            ('on', True), ('1', True), ('false', False),
                            ('No', False), ('off', False), ('0', False)):
            self.assertIs(value, labels.parse(
                {'monitoring_enabled': text}).monitoring_enabled)

    def test_anything_else_is_refused(self):
        for text in ('', ' true', 'ture', '2', 'enabled', 'None'):
            self.assertRefused('monitoring_enabled', text)


class TestPlain(testtools.TestCase):
    """Charts write names without quotes."""

    @PROPERTY
    @hypothesis.given(strategies.one_of(
        strategies.text(alphabet='0123456789abcdefxoEyesnulTt_.-+ #:@/',
                        max_size=12),
        strategies.from_regex(r'\A[0-9a-fxobe_.+-]{1,10}\Z'),
        strategies.text(max_size=8)))
    def test_what_is_plain_is_the_same_string_in_yaml(self, text):
        hypothesis.assume(label_types.plain(text))

        self.assertEqual({'key': text}, yaml.safe_load(f'key: {text}\n'))

    def test_what_yaml_takes_for_something_else_is_not(self):
        for text in ('2', '1.0', '1e3', '0x1f', '0o7', '1_000', 'yes', 'Null',
                     '2024-01-01', '~', '-', ' a', 'a ', 'a: b', 'a #b'):
            self.assertFalse(label_types.plain(text), text)

    def test_usual_names_are(self):
        for text in ('m1.small', '2C-4GB', '__DEFAULT__', 'fast ssd',
                     'gp3/encrypted', 'a', 'user@example.org'):
            self.assertTrue(label_types.plain(text), text)


class TestNames(testtools.TestCase):

    def test_as_many_as_there_are_each_once(self):
        for count in (1, 2, 300):
            names = tuple(f'n-{number}' for number in range(count))
            for between in (',', ' ', ', '):
                self.assertEqual(
                    names, label_types.Names().read(between.join(names)))
            self.assertRaises(ValueError, label_types.Names().read,
                              ','.join((*names, 'n-0')))
        for nothing in ('', ',', ' , '):
            self.assertRaises(ValueError, label_types.Names().read, nothing)


class TestMerged(testtools.TestCase):

    def test_labels_of_the_cluster_count_as_magnum_merged_them(self):
        # POST /clusters with labels and without merge_labels: nothing is
        # inherited.
        self.assertEqual(
            {'monitoring_enabled': 'true'},
            labels.merged({'monitoring_enabled': 'true'},
                          {'auto_healing_enabled': 'false'}))

    def test_what_belongs_to_the_template_comes_from_the_present_one(self):
        # After an upgrade the cluster has copies of the older template's.
        copies = {'kube_tag': 'v1.34.2', 'capi_helm_chart_version': '0.26.0',
                  'octavia_provider': 'ovn'}

        self.assertEqual(
            {'kube_tag': 'v1.35.0', 'octavia_provider': 'ovn'},
            labels.merged(copies, {'kube_tag': 'v1.35.0',
                                   'octavia_provider': 'amphora'}))

    def test_nothing_is_nothing(self):
        self.assertEqual({}, labels.merged(None, None))

    def test_a_new_cluster_cannot_choose_the_chart(self):
        problem, = labels.misplaced(
            {'capi_helm_chart_version': '0.1.0', 'kube_tag': 'v1.34.2'},
            {'capi_helm_chart_version': '0.27.0'})

        self.assertIn('capi_helm_chart_version', problem)
        self.assertIn('only the template', problem)

    def test_copies_that_magnum_made_are_no_problem(self):
        same = {'capi_helm_chart_version': '0.27.0', 'kube_tag': 'v1.34.2'}

        self.assertEqual((), labels.misplaced(same, same))
        self.assertEqual((), labels.misplaced({}, same))

    def test_version_that_differs_is_judged_by_what_the_image_has(self):
        self.assertEqual((), labels.misplaced(
            objects.as_read({'kube_tag': 'v1.34.3'}),
            {'kube_tag': 'v1.34.2'}))


class TestNodeGroup(testtools.TestCase):

    def read(self, group, cluster):
        return labels.node_group(labels.parse(cluster), group, cluster)

    def test_it_has_its_own_labels_and_the_clusters(self):
        cluster = {'boot_volume_size': '20', 'octavia_provider': 'ovn'}
        read = self.read(cluster | {'boot_volume_size': '50'}, cluster)

        self.assertEqual((50, 'ovn'),
                         (read.boot_volume_size, read.octavia_provider))
        self.assertEqual({*cluster}, read.given)

    def test_what_it_did_not_inherit_it_does_not_have(self):
        # POST nodegroups with labels and without merge_labels.
        read = self.read({'availability_zone': 'az2'}, {
            'boot_volume_size': '20', 'octavia_provider': 'ovn'})

        self.assertEqual((None, 'az2', 'ovn'), (
            read.boot_volume_size, read.availability_zone,
            read.octavia_provider))
        self.assertEqual({'availability_zone', 'octavia_provider'},
                         read.given)

    def test_it_cannot_differ_in_what_counts_for_a_cluster(self):
        error = self.assertRaises(
            spec.InvalidSpec, self.read,
            {'octavia_provider': 'ovn', 'boot_volume_size': 'x'}, {})

        self.assertEqual(2, len(error.problems))
        self.assertIn('whole cluster', error.problems[0])

    def test_a_copy_of_the_templates_labels_is_no_problem(self):
        cluster = {'kube_tag': 'v1.34.2', 'min_node_count': '1'}

        self.assertEqual(labels.parse(cluster), self.read(cluster, cluster))


class TestTable(testtools.TestCase):

    def test_names_are_those_of_magnum_and_of_the_other_driver(self):
        """Templates can move: the labels of magnum-capi-helm 1.4.0."""
        theirs = set('''
            api_master_lb_allowed_cidrs auto_healing_enabled
            auto_scaling_enabled boot_volume_size boot_volume_type
            capi_helm_chart_version csi_cinder_allow_volume_expansion
            csi_cinder_availability_zone csi_cinder_fstype
            csi_cinder_reclaim_policy csi_cinder_volume_binding_mode
            etcd_blockdevice_size etcd_blockdevice_type
            etcd_blockdevice_volume_az etcd_blockdevice_volume_type
            etcd_volume_size etcd_volume_type extra_network_name
            extra_network_names fixed_subnet_cidr keystone_auth_enabled
            kube_dashboard_enabled master_lb_floating_ip_enabled
            max_node_count min_node_count monitoring_enabled
            octavia_lb_algorithm octavia_lb_healthcheck octavia_provider
            '''.split())

        self.assertEqual(theirs, {
            name for name, field in labels.REGISTRY.items()
            if field.metadata['helm']})

    def test_labels_that_are_refused_are_no_labels(self):
        self.assertEqual(set(), set(labels.REFUSED) & set(labels.REGISTRY))

    def test_defaults_are_values_that_a_label_can_have(self):
        for name, field in labels.REGISTRY.items():
            value = field.default
            if value not in (None, ()):
                read = labels.parse({name: str(value)})
                self.assertEqual(value, getattr(read, name), name)
