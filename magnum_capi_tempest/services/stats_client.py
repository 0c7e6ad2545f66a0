# SPDX-License-Identifier: Apache-2.0

"""Client of ``/v1/stats`` (microversion 1.4)."""

from magnum_capi_tempest.services import base_client


class StatsClient(base_client.MagnumClient):
    """How many clusters and nodes there are."""

    def show_stats(self, microversion=None, **params):
        """Return ``{'clusters': 1, 'nodes': 2}`` of a project_id, or all."""
        return self.call('GET', 'stats', 200, None, microversion, params)
