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

"""Client of ``/v1/stats`` (microversion 1.4)."""

from magnum_capi_tempest.services import base_client


class StatsClient(base_client.MagnumClient):
    """How many clusters and nodes there are."""

    def show_stats(self, microversion=None, **params):
        """Return ``{'clusters': 1, 'nodes': 2}`` of a project_id, or all."""
        return self.call('GET', 'stats', 200, None, microversion, params)
