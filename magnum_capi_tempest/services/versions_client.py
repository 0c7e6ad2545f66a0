# SPDX-License-Identifier: Apache-2.0

"""Client of what Magnum says about itself, without a token."""

import json

from tempest.lib.common import rest_client

from magnum_capi_tempest.services import base_client


class VersionsClient(base_client.MagnumClient):
    """The versions of the API, and its range of microversions."""

    def list_versions(self):
        """Return ``{'versions': [{'id': 'v1', 'min_version': ...}]}``.

        Sent without a token: a client asks this before it has one.
        """
        response, text = self.raw_request(
            self._get_base_version_url(), 'GET')
        self.expected_success(200, int(response.status))
        return rest_client.ResponseBody(response, json.loads(text))

    def show_version(self, microversion=None):
        """Return what ``/v1`` has, links to all resources."""
        return self.call('GET', '', 200, None, microversion)
