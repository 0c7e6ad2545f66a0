# SPDX-License-Identifier: Apache-2.0

"""Client of ``/v1/mservices``."""

from magnum_capi_tempest.services import base_client


class MservicesClient(base_client.MagnumClient):
    """Magnum's own services."""

    def list_mservices(self, microversion: str | None = None
                       ) -> base_client.Body:
        """Return ``{'mservices': [...]}`` with host, binary and state."""
        return self.call('GET', 'mservices', 200, None, microversion)
