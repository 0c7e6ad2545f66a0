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


"""The namespace of a project's clusters, which many clusters share."""

from magnum_capi_tempest.driver.wanted import names
from tests.unit.driver import small_world
from tests.unit.driver import test_converge


class NamespaceTest(test_converge.Base):

    def test_it_is_marked_with_the_project_and_no_cluster(self):
        self.create()

        found = self.api.objects[f'/api/v1/namespaces/'
                                 f'{small_world.NAMESPACE}']
        self.assertEqual({names.PROJECT_ID: small_world.PROJECT},
                         found['metadata'].get('labels'))
