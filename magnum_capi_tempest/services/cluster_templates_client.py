# SPDX-License-Identifier: Apache-2.0

"""Client of ``/v1/clustertemplates``."""

import typing

from magnum_capi_tempest.services import base_client


class ClusterTemplatesClient(base_client.MagnumClient):
    """Cluster templates: create, list, show, update, delete."""

    def create_cluster_template(self, microversion: str | None = None,
                                **template: typing.Any) -> base_client.Body:
        """Create a template; Magnum wants coe and image_id at least."""
        return self.call('POST', 'clustertemplates', 201, template,
                         microversion)

    def list_cluster_templates(self, microversion: str | None = None,
                               **params: typing.Any) -> base_client.Body:
        """Return ``{'clustertemplates': [...]}``."""
        return self.call('GET', 'clustertemplates', 200, None, microversion,
                         params)

    def list_cluster_templates_detail(self, microversion: str | None = None,
                                      **params: typing.Any
                                      ) -> base_client.Body:
        """Return ``{'clustertemplates': [...]}``, the same once more."""
        return self.call('GET', 'clustertemplates/detail', 200, None,
                         microversion, params)

    def show_cluster_template(self, template: str,
                              microversion: str | None = None
                              ) -> base_client.Body:
        """Return a template by name or uuid."""
        return self.call(
            'GET', f'clustertemplates/{base_client.quote(template)}', 200,
            None, microversion)

    def update_cluster_template(self, template: str, patch: base_client.Patch,
                                microversion: str | None = None
                                ) -> base_client.Body:
        """Change a template by a JSON patch, a list of operations."""
        return self.call(
            'PATCH', f'clustertemplates/{base_client.quote(template)}', 200,
            patch, microversion)

    def delete_cluster_template(self, template: str,
                                microversion: str | None = None
                                ) -> base_client.Body:
        """Delete a template that no cluster uses."""
        return self.call(
            'DELETE', f'clustertemplates/{base_client.quote(template)}', 204,
            None, microversion)
