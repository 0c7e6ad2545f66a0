# SPDX-License-Identifier: Apache-2.0

"""Which Kubernetes a release of Cluster API serves."""

import testtools

from magnum_capi.driver.desired import cluster_api


class RefusalTest(testtools.TestCase):

    def refused(self, core, kubernetes):
        return cluster_api.refusal(core, kubernetes)

    def test_what_the_table_of_the_release_has_is_served(self):
        for core, kubernetes in (
                ('v1.14.0', 'v1.31.0'), ('v1.14.0', 'v1.36.4'),
                ('v1.12.8', 'v1.36.0'), ('v1.12.11', 'v1.29.3'),
                ('v1.9.0', '1.31.2'), ('v1.14.0', 'v1.36.0-rc.1')):
            self.assertEqual('', self.refused(core, kubernetes))

    def test_too_old_and_too_new(self):
        self.assertEqual(
            'Kubernetes 1.30.9 is not served by the installed Cluster API '
            '1.14.0, which serves 1.31 to 1.36: choose an image of one of '
            'these', self.refused('v1.14.0', 'v1.30.9'))
        self.assertEqual(
            'Kubernetes 1.37.0 is not served by the installed Cluster API '
            '1.14.0, which serves 1.31 to 1.36: choose an image of one of '
            'these, or have the operator upgrade Cluster API',
            self.refused('v1.14.0', 'v1.37.0'))
        self.assertIn('serves 1.28 to 1.34: choose', self.refused(
            'v1.11.9', 'v1.35.0'))

    def test_new_enough_patch_release_is_named(self):
        self.assertEqual(
            'Kubernetes 1.36.0 is not served by the installed Cluster API '
            '1.12.7, which serves 1.29 to 1.35: choose an image of one of '
            'these, or have the operator upgrade Cluster API to 1.12.8',
            self.refused('v1.12.7', 'v1.36.0'))

    def test_what_nobody_can_know_is_not_refused(self):
        # A later patch release may serve a later Kubernetes.
        for core in ('v1.14.1', 'v1.13.6', 'v1.15.0', 'v2.0.0', 'v1.8.5',
                     'main', '', None):
            self.assertEqual('', self.refused(core, 'v1.37.0'))
        self.assertNotEqual('', self.refused('v1.14.9', 'v1.30.0'))
        self.assertEqual('', self.refused('v1.14.0', 'latest'))


class ManagementTest(testtools.TestCase):

    def test_only_newer_ones_run_cluster_api(self):
        for core, kubernetes, served in (
                ('v1.14.0', 'v1.33.1', True), ('v1.14.0', 'v1.32.9', False),
                ('v1.14.0', 'v1.36.0', True), ('v1.14.0', 'v1.37.0', False),
                ('v1.15.0', 'v1.20.0', True)):
            found = cluster_api.management_refusal(core, kubernetes)
            self.assertEqual(served, not found, found)
        self.assertEqual(
            'Cluster API 1.14.0 runs on Kubernetes 1.33 to 1.36, not on '
            '1.32.9', cluster_api.management_refusal('v1.14.0', 'v1.32.9'))
