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

from magnum_capi_tempest.evidence import kube
from magnum_capi_tempest.tests import details
from tests.unit.services import scripted_magnum


class TextTest(testtools.TestCase):

    def test_values_become_json(self):
        self.assertEqual('{\n "a": 1\n}', details.text({'a': 1}).as_text())

    def test_secrets_go(self):
        shown = details.text({'labels': {'password': 'hunter2'}}).as_text()

        self.assertNotIn('hunter2', shown)
        self.assertIn('password', shown)


class CollectTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.magnum = self.useFixture(scripted_magnum.ScriptedMagnum())
        self.magnum.answers = [
            (200, {'uuid': 'c', 'stack_id': 's'}),
            (200, {'nodegroups': [{'uuid': 'g'}]}),
            (200, {'uuid': 'g', 'status': 'CREATE_FAILED'})]

    def collect(self, explain=None):
        return details.collect(self.magnum.client('ClustersClient'),
                               self.magnum.client('NodegroupsClient'), 'c',
                               explain)

    def test_cluster_and_node_groups(self):
        self.assertEqual(
            {'cluster of c': {'uuid': 'c', 'stack_id': 's'},
             'node groups of c': [{'uuid': 'g', 'status': 'CREATE_FAILED'}]},
            self.collect())

    def test_conditions(self):
        found = self.collect(lambda stack_id: [f'{stack_id} is bad'])

        self.assertEqual('s is bad', found['Cluster API conditions of c'])

    def test_good_conditions_are_said_too(self):
        found = self.collect(lambda stack_id: [])

        self.assertEqual('all as they should be',
                         found['Cluster API conditions of c'])

    def test_what_cannot_be_had_does_not_hide_the_rest(self):
        def explain(stack_id):
            raise kube.KubeReadFailed('dead')

        found = self.collect(explain)

        self.assertIn('dead', found['Cluster API conditions of c'])
        self.assertEqual('c', found['cluster of c']['uuid'])

    def test_a_cluster_that_is_gone(self):
        self.magnum.answers = [(404, {})]

        found = self.collect(lambda stack_id: self.fail('not to be asked'))

        self.assertIn('NotFound', found['cluster of c'])
        self.assertIn('NotFound', found['node groups of c'])
