# SPDX-License-Identifier: Apache-2.0


"""The namespace of a project's clusters, which many clusters share."""

from magnum_capi.driver.desired import names
from tests.unit.driver import base
from tests.unit.driver import small_world


class NamespaceTest(base.TestCase):

    def test_it_is_marked_with_the_project_and_no_cluster(self):
        self.create()

        found = self.api.objects[f'/api/v1/namespaces/'
                                 f'{small_world.NAMESPACE}']
        self.assertEqual({names.PROJECT_ID: small_world.PROJECT},
                         found['metadata'].get('labels'))
