# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

import testtools

from magnum_capi_tempest.driver.kubernetes import kinds
from tests.unit.driver import api_server

N = '/api/v1/namespaces/n'


class KindsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.api = self.useFixture(api_server.ApiServer())
        self.kube = self.api.kube()

    def test_server_prefers_the_version(self):
        self.assertEqual('cluster.x-k8s.io/v1beta2',
                         self.kube.kind('Cluster').api_version)

    def test_preferred_version_of_a_group_may_lack_a_kind(self):
        self.assertEqual('infrastructure.cluster.x-k8s.io/v1beta1',
                         self.kube.kind('OpenStackCluster').api_version)

    def test_only_v1beta1(self):
        api = self.useFixture(api_server.ApiServer(discovery={
            'kind': 'APIGroupDiscoveryList', 'items': [{
                'metadata': {'name': 'cluster.x-k8s.io'},
                'versions': [{'version': 'v1beta1', 'resources': [
                    {'resource': 'clusters'}]}]}]}))
        self.assertEqual('cluster.x-k8s.io/v1beta1',
                         api.kube().kind('Cluster').api_version)

    def test_older_server_is_asked_group_by_group(self):
        self.api.discovery = {
            'kind': 'APIGroupList', 'groups': [
                {'name': 'apps', 'preferredVersion': {'version': 'v1'},
                 'versions': [{'version': 'v1'}]},
                {'name': 'cluster.x-k8s.io',
                 'preferredVersion': {'version': 'v1beta1'},
                 'versions': [{'version': 'v1alpha4'},
                              {'version': 'v1beta1'}]}]}
        for version in ('v1alpha4', 'v1beta1'):
            self.api.put(f'/apis/cluster.x-k8s.io/{version}',
                         {'resources': [{'name': 'clusters'},
                                        {'name': 'clusters/status'}]})
        self.assertEqual('cluster.x-k8s.io/v1beta1',
                         self.kube.kind('Cluster').api_version)
        self.assertNotIn(('GET', '/apis/apps/v1'), self.api.calls())

    def test_asked_once_and_again_after_a_while(self):
        for _ in range(5):
            self.kube.kind('Cluster')
            self.kube.kind('HelmChartProxy')
        self.assertEqual(1, self.kube.requests)
        self.api.clock.now += 601
        self.kube.kind('Cluster')
        self.assertEqual(2, self.kube.requests)

    def test_builtin_kinds_need_no_discovery(self):
        self.assertEqual(f'{N}/secrets/s',
                         self.kube.kind('Secret').path('n', 's'))
        self.assertEqual('/api/v1/namespaces/n',
                         kinds.BUILT_IN['Namespace'].path(None, 'n'))
        self.assertEqual(0, self.kube.requests)
