# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi.cli import discovery as cli
from magnum_capi.discovery import translate

HEAT = {
    'uuid': 'u', 'name': 'old', 'driver': 'k8s_fedora_coreos_v1',
    'image_id': 'fcos', 'cluster_distro': 'fedora-coreos',
    'coe': 'kubernetes', 'server_type': 'vm', 'flavor_id': 'm1',
    'master_flavor_id': 'm2', 'external_network_id': 'net',
    'network_driver': 'flannel', 'docker_volume_size': 20,
    'docker_storage_driver': 'overlay2', 'http_proxy': 'http://p:1',
    'volume_driver': 'cinder', 'fixed_network': None, 'public': False,
    'tags': 'production,gpu',
    'labels': {'kube_tag': 'v1.28.9-rancher1', 'boot_volume_size': '20',
               'auto_healing_enabled': 'true', 'etcd_tag': 'v3.5',
               'ingress_controller': 'octavia', 'fixed_subnet_cidr': 'x'}}


class TranslateTest(testtools.TestCase):

    def of(self, driver, judge, proxies):
        return translate.translate(HEAT, driver, judge, 'ubuntu-capi',
                                   proxies)

    def test_for_the_driver_of_this_project(self):
        found = self.of('k8s_capi_v1', cli._judge_own, True)
        self.assertEqual({
            'name': 'old-k8s_capi_v1', 'driver': 'k8s_capi_v1',
            'image_id': 'ubuntu-capi', 'coe': 'kubernetes',
            'server_type': 'vm', 'flavor_id': 'm1', 'master_flavor_id': 'm2',
            'external_network_id': 'net', 'network_driver': 'calico',
            'http_proxy': 'http://p:1', 'public': False,
            'tags': 'production,gpu',
            'labels': {'auto_healing_enabled': 'true',
                       'boot_volume_size': '20'}}, found.template)
        self.assertEqual(
            {'docker_volume_size', 'docker_storage_driver', 'volume_driver',
             'kube_tag', 'etcd_tag', 'ingress_controller',
             'fixed_subnet_cidr'}, {row.name for row in found.lost})
        for row in found.lost:
            self.assertTrue(row.note, row)

    def test_for_magnum_capi_helm(self):
        found = self.of('k8s_capi_helm_v1', cli._judge_helm, False)
        self.assertNotIn('http_proxy', found.template)
        # It reads values with a default where they are no good.
        self.assertEqual(
            {'auto_healing_enabled', 'boot_volume_size', 'fixed_subnet_cidr'},
            set(found.template['labels']))

    def test_nothing_is_forgotten(self):
        # What a template shows has a row, unless it is nothing to a driver.
        found = self.of('k8s_capi_v1', cli._judge_own, True)
        self.assertEqual(
            {'uuid', 'name', 'cluster_distro', 'fixed_network', 'labels'},
            set(HEAT) - {row.name for row in found.rows})
