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

"""Client of ``/v1/clustertemplates``."""

from magnum_capi_tempest.services import base_client


class ClusterTemplatesClient(base_client.MagnumClient):
    """Cluster templates: create, list, show, update, delete."""

    def create_cluster_template(self, microversion=None, **template):
        """Create a template; Magnum wants coe and image_id at least."""
        return self.call('POST', 'clustertemplates', 201, template,
                         microversion)

    def list_cluster_templates(self, microversion=None, **params):
        """Return ``{'clustertemplates': [...]}``."""
        return self.call('GET', 'clustertemplates', 200, None, microversion,
                         params)

    def list_cluster_templates_detail(self, microversion=None, **params):
        """Return ``{'clustertemplates': [...]}``, the same once more."""
        return self.call('GET', 'clustertemplates/detail', 200, None,
                         microversion, params)

    def show_cluster_template(self, template, microversion=None):
        """Return a template by name or uuid."""
        return self.call(
            'GET', f'clustertemplates/{base_client.quote(template)}', 200,
            None, microversion)

    def update_cluster_template(self, template, patch, microversion=None):
        """Change a template by a JSON patch, a list of operations."""
        return self.call(
            'PATCH', f'clustertemplates/{base_client.quote(template)}', 200,
            patch, microversion)

    def delete_cluster_template(self, template, microversion=None):
        """Delete a template that no cluster uses."""
        return self.call(
            'DELETE', f'clustertemplates/{base_client.quote(template)}', 204,
            None, microversion)
