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

"""Defects of upgrades."""

from magnum_capi_defects import parts
from magnum_capi_tempest.driver import upgrading

#: Values of the chart that make the version of all machines.
_VERSION = ('kubernetesVersion', 'machineImageId')

_first = {}


def _old(release, values):
    """The version with which a cluster was made, as values."""
    return _first.setdefault(
        release, {key: values[key] for key in _VERSION})


class VersionKept(parts.Seeded):
    """An upgrade is complete, and everything has the version it had."""

    Helm = parts.valued(lambda release, values: (
        values | _old(release, values)))


class WorkersKept(parts.Seeded):
    """An upgrade is complete, and only the control plane has the version."""

    Helm = parts.valued(lambda release, values: values | {'nodeGroups': [
        group | _old(release, values) for group in values['nodeGroups']]})


class _Blind(upgrading.Upgrade):

    def _refuse(self, rows, state):
        """Nothing: whatever is asked for is viable."""


class AnyVersion(parts.Seeded):
    """An upgrade to any version is tried, to an older one, too."""

    def upgrade_cluster(self, context, cluster, cluster_template,
                        max_batch_size, nodegroup, scale_manager=None,
                        rollback=False):
        _Blind(self._world(), self._store(context), cluster,
               cluster_template, nodegroup or cluster.default_ng_worker,
               max_batch_size).run()
