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


def problems(given, **policy):
    try:
        labels.parse(objects.as_read(given), labels.Policy(**policy))
    except spec.InvalidSpec as e:
        return e.problems
    return ()


class TestParse(testtools.TestCase):

    #: Labels by name, as text and as value.
    ACCEPTED = (
        ('max_node_count', '7', 7), ('min_node_count', '3', 3),
        ('boot_volume_size', '20G', 20), ('boot_volume_size', '65536', 65536),
        ('kube_tag', 'v1.35.0-rc.1', 'v1.35.0-rc.1'),
        ('api_master_lb_allowed_cidrs', '10.0.0.0/8,192.0.2.1',
         ('10.0.0.0/8', '192.0.2.1/32')),
        ('extra_network_names', f'storage {UUID}', ('storage', UUID)),
        ('dns_cluster_domain', 'x' * 253, 'x' * 253),
        ('api_server_cert_sans', 'x.' * 126 + 'x', ('x.' * 126 + 'x',)),
        ('api_server_cert_sans',
         '*.k8s.example.org 192.0.2.7,2001:db8::7 api',
         ('*.k8s.example.org', '192.0.2.7', '2001:db8::7', 'api')),
        ('kubelet_extra_args',
         'max-pods=200  eviction-hard=memory.available<5%,x<1Gi',
         (('eviction-hard', 'memory.available<5%,x<1Gi'),
          ('max-pods', '200'))),
        ('container_infra_prefix', 'registry.example.org',
         'registry.example.org'),
        ('container_infra_prefix', 'r.example.org:5000/a/b_c/',
         'r.example.org:5000/a/b_c/'),
        *(('certificates_expiry_days', text, int(text))
          for text in ('0', '7', '364')),
        # Ten years and a thousand files.
        *((name, str(number), number) for name, *bounds in (
            ('audit_log_max_age', 1, 3650), ('audit_log_max_backup', 1, 1000),
            ('audit_log_max_size', 1, 10000)) for number in bounds),
        # The words that Magnum reads the same.
        *(('monitoring_enabled', text, value) for value, texts in (
            (True, ('true', 'TRUE', 'yes', 'on', '1')),
            (False, ('false', 'No', 'off', '0'))) for text in texts))

    def test_labels_are_values_of_their_types(self):
        for name, text, value in self.ACCEPTED:
            with self.subTest(name, text=text):
                read = labels.parse({name: text})
                self.assertEqual(value, getattr(read, name))
                self.assertEqual({name}, read.explicit)

    #: Labels by name, texts, and words of the problem.
    REFUSED = (
        # B.4.17: "flase" was True, and letters were cut from numbers.
        ('auto_healing_enabled', ('flase',), "'flase'", 'true or false'),
        ('monitoring_enabled', ('', ' true', 'ture', '2', 'enabled', 'None')),
        ('max_node_count', ('3x',), 'a whole number'),
        ('boot_volume_size', ('20GB/s',), 'a size in GiB'),
        ('boot_volume_size', ('65537',), 'from 0 to 65536'),
        # B.4.17: characters that a filter did not know were deleted.
        ('boot_volume_type', ('ssd;x', 'ssd\nroot: yes', 'ssd #', 'a: b',
                              '{a}', ''), 'a name'),
        ('boot_volum_size', ('3',), 'boot_volume_size'),
        ('ingress_controller', ('octavia',), 'nginx', 'traefik'),
        ('api_server_cert_sans', ('192.0.2', '1:2', 'a..b', 'A', '-a', '*',
                                  'a/b', 'a"b'), 'is none'),
        ('api_server_cert_sans', ('x.' * 126 + 'xx',)),
        # What has a meaning elsewhere does not pass.
        ('api_server_tls_cipher_suites', ('TLS_A --anonymous-auth',)),
        ('kubelet_tls_cipher_suites', ('tls_a',)),
        ('admission_control_list', ('AlwaysAdmit=true',)),
        ('dns_cluster_domain', ('Cluster.local', 'x' * 254)),
        ('oidc_issuer_url', ('http://example.org',)),
        ('oidc_client_id', ('a b',)), ('oidc_username_claim', ('"',)),
        ('oidc_groups_prefix', ('a\n',)),
        ('api_server_floating_ip', ('192.0.2.0/24',)),
        ('kubelet_extra_args', ('anonymous-auth=true', 'max-pods=1\u00a02'),
         'not one of the names'),
        ('kubelet_extra_args', ('max-pods', 'max-pods=', 'max-pods="1"'),
         'no valid value'),
        ('kubelet_extra_args', ('',), 'name=value'),
        ('kubelet_extra_args', ('max-pods=1 max-pods=2',), 'twice'),
        ('container_infra_prefix', (
            'https://r.example.org', 'r.example.org/a b', '"r"',
            'R.example.org', '')),
        ('certificates_expiry_days', ('1', '6', '365')),
        ('manila_csi_share_network_id', ('net',), 'a uuid'),
        ('api_master_lb_allowed_cidrs', ('10.0.0.1/8',), '10.0.0.0/8'),
        # Empty would be: everybody.
        ('api_master_lb_allowed_cidrs', ('10.0.0/8', '', ' , ')),
        ('fixed_subnet_cidr', ('10.0.0.0',)),
        ('service_cluster_ip_range', ('10.0.0.1/8',)),
        ('service_cluster_ip_range', ('fd00::/108',), 'IPv6'),
        ('kube_tag', ('1.35', 'latest', 'v1.35.0.1', 'v1.35.0 '), 'v1.34.2'),
        ('capi_helm_chart_version', ('v0.27.0',), '0.27.0'),
        ('audit_log_max_age', ('0', '3651'), 'from 1 to 3650'),
        ('audit_log_max_backup', ('0', '1001'), 'from 1 to 1000'),
        ('audit_log_max_size', ('0', '10001'), 'from 1 to 10000'),
        ('extra_network_names', ('a b a', '', ',', ' , ')),
        ('extra_network_names', ('a,123',), "'123'"))

    def test_a_typing_error_is_no_default(self):
        for name, texts, *words in self.REFUSED:
            for text in texts:
                with self.subTest(name, text=text):
                    problem, = problems({name: text})
                    for word in (name, *words):
                        self.assertIn(word, problem)

    def test_a_label_of_another_driver_is_refused_with_what_to_do(self):
        self.assertEqual(15, len(labels.REFUSED))
        self.assertEqual(set(), set(labels.REFUSED) & set(labels.REGISTRY))
        for name in labels.REFUSED:
            problem, = problems({name: 'x'})
            self.assertIn('magnum-cluster-api has it', problem)
            self.assertIn(labels.REFUSED[name], problem)

    def test_labels_that_go_together(self):
        ovn, several = {'octavia_provider': 'ovn'}, {'min_node_count': '3'}
        for given, word in (
                ({'manila_csi_enabled': 'true'}, 'manila_csi_share_type'),
                ({'oidc_issuer_url': 'https://example.org'}, 'goes with'),
                ({'oidc_client_id': 'c'}, 'goes with'),
                ({**several, 'max_node_count': '2'}, 'min_node_count 3'),
                ({**several, 'max_node_count': '3'}, None),
                ({**several, 'max_node_count': '4'}, None),
                # It has one algorithm.
                ({**ovn, 'octavia_lb_algorithm': 'ROUND_ROBIN'},
                 'SOURCE_IP_PORT'),
                ({**ovn, 'octavia_lb_algorithm': 'SOURCE_IP_PORT'}, None),
                ({'octavia_provider': 'amphora',
                  'octavia_lb_algorithm': 'ROUND_ROBIN'}, None)):
            with self.subTest(given):
                found = problems(given)
                self.assertEqual(1 if word else 0, len(found), found)
                self.assertIn(word or '', ''.join(found))

    def test_all_problems_are_reported_at_once_in_one_line(self):
        error = self.assertRaises(errors.UsageError, labels.parse, {
            'max_node_count': '-1', 'nonsense': '1',
            'octavia_lb_algorithm': 'RANDOM'})

        self.assertEqual(3, len(error.problems))
        self.assertNotIn('\n', str(error))
        self.assertIn("'nonsense'", str(error))

    def test_a_long_text_is_cut_in_messages(self):
        problem, = problems({'boot_volume_type': 'x' * 5000})

        self.assertLess(len(problem), 400)
        self.assertIn("xxx...'", problem)
        for text in (';', ';' * (labels._LONGEST_SHOWN - 2)):
            problem, = problems({'boot_volume_type': text})
            self.assertIn(f"'{text}' is not accepted", problem)

    def test_both_names_may_be_set_to_one_value_only(self):
        for older, present, count in (('500', '500', 0), ('500G', '500', 0),
                                      ('6', '5', 1), ('5', '6', 1)):
            self.assertEqual(count, len(problems({
                'etcd_volume_size': older,
                'etcd_blockdevice_size': present})))


class TestPolicy(testtools.TestCase):

    def test_labels_win_over_the_operators_defaults(self):
        policy = labels.Policy(defaults={
            'monitoring_enabled': 'true', 'octavia_provider': 'ovn',
            'etcd_blockdevice_size': '0', 'manila_csi_share_type': 'default'})
        read = labels.parse({
            'octavia_provider': 'amphora', 'manila_csi_enabled': 'true',
            # An older name, too.
            'etcd_volume_size': '5'}, policy)

        self.assertTrue(read.monitoring_enabled)
        self.assertEqual(('amphora', 'default', 5), (
            read.octavia_provider, read.manila_csi_share_type,
            read.etcd_blockdevice_size))
        self.assertNotIn('monitoring_enabled', read.explicit)

    def test_defaults_are_checked_like_labels(self):
        problem, = problems({}, defaults={'monitoring_enabled': 'si'})

        self.assertIn('monitoring_enabled', problem)

    def test_the_operator_may_let_labels_pass(self):
        read = labels.parse({'calico_tag': 'x'}, labels.Policy(
            ignored=frozenset(['calico_tag'])))

        self.assertEqual(labels.Labels(), read)


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

    def test_what_is_and_what_is_not(self):
        for text in ('2', '1.0', '1e3', '0x1f', '0o7', '1_000', 'yes', 'Null',
                     '2024-01-01', '~', '-', ' a', 'a ', 'a: b', 'a #b'):
            self.assertFalse(label_types.plain(text), text)
        for text in ('m1.small', '2C-4GB', '__DEFAULT__', 'fast ssd',
                     'gp3/encrypted', 'a', 'user@example.org'):
            self.assertTrue(label_types.plain(text), text)


class TestMerged(testtools.TestCase):

    def test_labels_of_the_cluster_count_as_magnum_merged_them(self):
        # POST /clusters with labels and without merge_labels: nothing is
        # inherited.
        self.assertEqual(
            {'monitoring_enabled': 'true'},
            labels.merged({'monitoring_enabled': 'true'},
                          {'auto_healing_enabled': 'false'}))
        self.assertEqual({}, labels.merged(None, None))

    def test_what_belongs_to_the_template_comes_from_the_present_one(self):
        # After an upgrade the cluster has copies of the older template's.
        copies = {'kube_tag': 'v1.34.2', 'capi_helm_chart_version': '0.26.0',
                  'octavia_provider': 'ovn'}

        self.assertEqual(
            {'kube_tag': 'v1.35.0', 'octavia_provider': 'ovn'},
            labels.merged(copies, {'kube_tag': 'v1.35.0',
                                   'octavia_provider': 'amphora'}))

    def test_a_new_cluster_cannot_choose_the_chart(self):
        template = {'capi_helm_chart_version': '0.27.0',
                    'kube_tag': 'v1.34.2'}
        problem, = labels.misplaced(
            {**template, 'capi_helm_chart_version': '0.1.0'}, template)

        self.assertIn('capi_helm_chart_version', problem)
        self.assertIn('only the template', problem)
        # Copies that Magnum made are no problem, and another version is
        # judged by what the image has.
        for given in ({}, template, {'kube_tag': 'v1.34.3'}):
            self.assertEqual((), labels.misplaced(
                objects.as_read(given), template))


class TestNodeGroup(testtools.TestCase):

    def read(self, group, cluster):
        return labels.node_group(labels.parse(cluster), group, cluster)

    def test_what_it_did_not_inherit_it_does_not_have(self):
        # POST nodegroups with labels and without merge_labels.
        read = self.read({'availability_zone': 'az2'}, {
            'boot_volume_size': '20', 'octavia_provider': 'ovn'})

        self.assertEqual((None, 'az2', 'ovn'), (
            read.boot_volume_size, read.availability_zone,
            read.octavia_provider))
        self.assertEqual({'availability_zone', 'octavia_provider'},
                         read.explicit)

    def test_defaults_go_with_labels_of_the_cluster(self):
        for defaults, cluster in (
                ({'manila_csi_enabled': 'true'},
                 {'manila_csi_share_type': 'nfs'}),
                ({'oidc_issuer_url': 'https://id.example.org'},
                 {'oidc_client_id': 'kubernetes'}),
                ({'oidc_client_id': 'kubernetes'},
                 {'oidc_issuer_url': 'https://id.example.org'})):
            policy = labels.Policy(defaults | {'boot_volume_size': '20'})
            read = labels.node_group(
                labels.parse(cluster, policy), cluster, cluster, policy)
            self.assertEqual(20, read.boot_volume_size)

    def test_it_cannot_differ_in_what_counts_for_a_cluster(self):
        error = self.assertRaises(
            spec.InvalidSpec, self.read,
            {'octavia_provider': 'ovn', 'boot_volume_size': 'x'}, {})

        self.assertEqual(2, len(error.problems))
        self.assertIn('whole cluster', error.problems[0])


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
