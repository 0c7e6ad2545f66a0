# SPDX-License-Identifier: Apache-2.0

"""Kubernetes that the installed Cluster API does not serve."""

import copy

from magnum_capi.driver import failures
from tests.lib import kube_server
from tests.unit.driver import base

CLUSTERCTL = 'clusterctl.cluster.x-k8s.io', 'v1alpha3', 'providers'
OPERATOR = 'operator.cluster.x-k8s.io', 'v1alpha2', 'coreproviders'


class ServedTest(base.TestCase):

    def installed(self, version, known=CLUSTERCTL):
        """Cluster API was installed by clusterctl, or by its operator."""
        group, served, plural = known
        self.api.discovery = copy.deepcopy(kube_server.DISCOVERY)
        self.api.discovery['items'].append(
            {'metadata': {'name': group}, 'versions': [
                {'version': served, 'resources': [{'resource': plural}]}]})
        path = f'/apis/{group}/{served}/namespaces/capi-system/{plural}'
        if known is CLUSTERCTL:
            for name, kind, one in (
                    ('bootstrap-kubeadm', 'BootstrapProvider', 'v1.2.3'),
                    ('cluster-api', 'CoreProvider', version)):
                self.api.put(f'{path}/{name}', {
                    'kind': 'Provider', 'type': kind, 'version': one})
        else:
            self.api.put(f'{path}/cluster-api', {
                'kind': 'CoreProvider', 'spec': {'version': 'v1.2.3'},
                'status': {'installedVersion': version}})
        self.w.restart()

    def test_creation_is_refused_and_leaves_nothing(self):
        for known in (CLUSTERCTL, OPERATOR):
            self.installed('v1.10.10', known)
            e = self.assertRaises(failures.Failed, self.create)
            self.assertIn('Kubernetes 1.34.2 is not served by the installed '
                          'Cluster API 1.10.10, which serves 1.27 to 1.33',
                          str(e))
            self.assertEqual([], self.w.helm.upgrades)

    def test_upgrade_is_refused_and_changes_nothing(self):
        self.installed('v1.11.9')
        self.created()
        e = self.assertRaises(failures.NotViable, self.request_upgrade)
        self.assertIn('Kubernetes 1.35.0 is not served', str(e))
        self.assertEqual('CREATE_COMPLETE', self.w.cluster.status)

    def test_served_versions_are_created_and_upgraded(self):
        self.installed('v1.14.0')
        self.created()
        self.upgrade()
        self.check_status(3)
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)

    def test_what_a_cluster_runs_is_not_in_its_way(self):
        # Cluster API was upgraded, and serves newer ones only.
        self.created()
        self.installed('v1.10.10')
        self.resize(2)
        self.check_status()
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)

    def test_without_the_right_to_read_it_nothing_is_refused(self):
        self.installed('v1.10.10')
        self.api.faults = [(403, {}, {'kind': 'Status',
                                      'reason': 'Forbidden'})]
        self.api.fault_path = kube_server.re.compile('.*/providers$')
        self.create()
        self.assertEqual(1, len(self.w.helm.upgrades))
