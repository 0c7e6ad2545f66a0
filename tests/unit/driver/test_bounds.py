# SPDX-License-Identifier: Apache-2.0

"""Bounds: what options, names and lists take, and what they do not."""

import dataclasses

from oslo_config import cfg
import testtools

from magnum_capi.driver import config
from magnum_capi.driver.desired import names
from magnum_capi.driver.observed import conditions
from magnum_capi import errors
from magnum_capi.kube import rest
from tests.unit.driver import api_server

#: Options by the least that they take, and a little less than it.
LEAST = {
    'minimum_flavor_ram': (0, -1), 'minimum_flavor_vcpus': (0, -1),
    'connect_timeout': (0.1, 0.09), 'read_timeout': (0.1, 0.09),
    'retry_time': (0, -0.1), 'openstack_timeout': (1, 0.9),
    'helm_timeout': (5, 4), 'answer_timeout': (1, 0.9),
    'helm_history': (2, 1), 'helm_processes': (1, 0),
    'lock_duration': (6, 5), 'lock_timeout': (0, -1),
    'credential_settle': (0, -1), 'credential_bound': (0, -1),
    'credential_check_interval': (0, -1), 'failure_patience': (0, -1),
    'progress_timeout': (0, -1), 'lost_after': (1, 0)}

#: What an operator has who sets nothing, and relies on with an update.
AS_DELIVERED = {
    'kubeconfig_file': '', 'namespace_prefix': 'magnum',
    'management_cidrs': (),
    'allowed_chart_versions': (), 'extra_charts': {}, 'value_overlays': {},
    'default_value_overlays': (), 'extra_os_distros': (),
    'registries_file': None,
    'minimum_flavor_ram': 2048, 'minimum_flavor_vcpus': 2,
    'credential_roles': ('member', 'reader', 'load-balancer_member',
                         'creator'),
    'credential_interface': 'public', 'delete_load_balancers': True,
    'delete_volumes': True,
    'connect_timeout': 5, 'read_timeout': 30, 'retry_time': 30,
    'openstack_timeout': 60, 'helm_binary': 'helm', 'helm_timeout': 120,
    'answer_timeout': 50, 'helm_history': 10, 'helm_processes': 4,
    'helm_registry_config': None,
    'chart_cache': None, 'lock_duration': 30, 'lock_timeout': 60,
    'credential_settle': 30, 'credential_bound': 900,
    'credential_check_interval': 300, 'failure_patience': 300,
    'progress_timeout': 60, 'lost_after': 60, 'default_labels': {},
    'ignored_labels': (), 'scale_from_zero': False,
    'csi_cinder_default_volume_type': None,
    'csi_cinder_allowed_topologies': ()}


class OptionsTest(testtools.TestCase):

    def read(self, name, value):
        conf = cfg.ConfigOpts()
        config.Options.read(conf)
        conf.set_override(name, value, 'k8s_capi')
        return config.Options.read(conf)

    def test_the_least_and_less(self):
        for name, (least, less) in LEAST.items():
            self.assertEqual(
                least, getattr(self.read(name, least), name))
            self.assertRaises((ValueError, errors.UsageError),
                              self.read, name, less)

    def test_as_delivered(self):
        found = dataclasses.asdict(config.Options.read(cfg.ConfigOpts()))
        # The default chart has a test of its own.
        for name in ('chart_name', 'chart_repository', 'chart_version'):
            del found[name]
        self.assertEqual(AS_DELIVERED, found)

    def test_no_interface_but_those_of_a_catalog(self):
        for interface in ('public', 'internal', 'admin'):
            self.assertEqual(interface, self.read(
                'credential_interface', interface).credential_interface)
        self.assertRaises((ValueError, errors.UsageError), self.read,
                          'credential_interface', 'publicURL')


class NamespaceTest(testtools.TestCase):

    def test_the_longest_is_kept_and_a_longer_one_is_hashed(self):
        for prefix in ('m', 'magnum', 'p' * 30):
            project = 'a' * (63 - len(prefix) - 1)
            self.assertEqual(f'{prefix}-{project}',
                             names.namespace(project, prefix))
            longer = names.namespace(project + 'a', prefix)
            self.assertTrue(longer.startswith(f'{prefix}-h-'))
            self.assertLessEqual(len(longer), 63)

    def test_the_longest_prefix(self):
        self.assertRaises(ValueError, names.namespace, 'p', 'p' * 31)


class ReplicasTest(testtools.TestCase):

    def test_those_that_are_not_available_are_taken_away(self):
        for there, unavailable in ((3, 0), (3, 1), (4, 1), (5, 2), (2, 2)):
            found = conditions.replicas({
                'spec': {'replicas': there}, 'status': {
                    'replicas': there, 'readyReplicas': there,
                    'unavailableReplicas': unavailable}})
            self.assertEqual(there - unavailable, found.available)


class AbsenceTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.api = self.useFixture(api_server.ApiServer())
        self.kube = self.api.kube()

    def test_what_may_not_be_listed_is_not_nothing(self):
        self.kube.kind('Machine')
        self.api.faults = [(403, {}, {})]

        self.assertRaises(rest.Forbidden, self.kube.list, 'Machine', 'n')

    def test_a_namespace_that_goes_is_in_the_way(self):
        self.api.put('/api/v1/namespaces/n', {'metadata': {
            'deletionTimestamp': '2026-11-21T15:00:00Z'}})

        e = self.assertRaises(rest.Conflict, self.kube.ensure_namespace,
                              'n', {})

        self.assertEqual(409, e.status)
