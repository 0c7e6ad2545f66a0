# SPDX-License-Identifier: Apache-2.0

"""Client of ``/v1/clusters``, its actions, and ``/v1/credentials``."""

import typing

from magnum_capi_tempest import json_types
from magnum_capi_tempest.services import base_client


class ClustersClient(base_client.MagnumClient):
    """Clusters: create, list, show, change, delete; their credentials."""

    def create_cluster(self, microversion: str | None = None,
                       **cluster: typing.Any) -> base_client.Body:
        """Ask for a cluster; Magnum 23 needs name and cluster_template_id.

        :returns: ``{'uuid': ...}``. The row may not exist yet: the conductor
            creates it after the answer was sent
            (magnum/api/controllers/v1/cluster.py, cluster_create_async).
        """
        return self.call('POST', 'clusters', 202, cluster, microversion)

    def list_clusters(self, microversion: str | None = None,
                      **params: typing.Any) -> base_client.Body:
        """Return ``{'clusters': [...]}``, summaries only."""
        return self.call('GET', 'clusters', 200, None, microversion, params)

    def list_clusters_detail(self, microversion: str | None = None,
                             **params: typing.Any) -> base_client.Body:
        """Return ``{'clusters': [...]}`` with all fields."""
        return self.call('GET', 'clusters/detail', 200, None, microversion,
                         params)

    def show_cluster(self, cluster: str, microversion: str | None = None
                     ) -> base_client.Body:
        """Return a cluster by name or uuid."""
        return self.call('GET', f'clusters/{base_client.quote(cluster)}', 200,
                         None, microversion)

    def update_cluster(self, cluster: str, patch: base_client.Patch,
                       microversion: str | None = None) -> base_client.Body:
        """Change a cluster.

        :param patch: JSON patch, a list of
            ``{'op': 'replace', 'path': '/node_count', 'value': 2}``.
        """
        return self.call('PATCH', f'clusters/{base_client.quote(cluster)}',
                         202, patch, microversion)

    def resize_cluster(self, cluster: str, microversion: str | None = None,
                       **request: typing.Any) -> base_client.Body:
        """Ask for another number of nodes (microversion 1.7).

        :param request: node_count, optional nodegroup, nodes_to_remove.
        """
        return self._action(cluster, 'resize', request, microversion)

    def upgrade_cluster(self, cluster: str, microversion: str | None = None,
                        **request: typing.Any) -> base_client.Body:
        """Move to another cluster template (microversion 1.8).

        :param request: cluster_template, optional nodegroup, max_batch_size.
        """
        return self._action(cluster, 'upgrade', request, microversion)

    def rotate_credential(self, cluster: str, microversion: str | None = None
                          ) -> base_client.Body:
        """Have the credential of a cluster replaced (microversion 1.12).

        The answer is sent once the driver has done its part; Magnum waits.
        """
        return self.call('PATCH',
                         f'credentials/{base_client.quote(cluster)}', 202,
                         None, microversion)

    def delete_cluster(self, cluster: str, microversion: str | None = None
                       ) -> base_client.Body:
        """Ask for the end of a cluster; show it until that raises NotFound."""
        return self.call('DELETE', f'clusters/{base_client.quote(cluster)}',
                         204, None, microversion)

    def _action(self, cluster: str, action: str, request: json_types.Object,
                microversion: str | None) -> base_client.Body:
        return self.call(
            'POST', f'clusters/{base_client.quote(cluster)}/actions/{action}',
            202, request, microversion)
