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

"""What is attached to a test that failed.

testtools carries details with the failure into subunit, HTML and the
terminal. On success nothing is asked for. Every text passes through
:func:`magnum_capi_tempest.redact.redact`.
"""

import json

from tempest.lib import exceptions as lib_exc
from testtools import content
import urllib3.exceptions

from magnum_capi_tempest import errors
from magnum_capi_tempest import redact

#: What asking for evidence may raise. Evidence that cannot be had is said so
#: in its place: it must never replace the failure that it explains.
_UNAVAILABLE = (lib_exc.TempestException, urllib3.exceptions.HTTPError,
                errors.MagnumCapiError, OSError, KeyError)


def text(value):
    """Return testtools content of a str, or of anything JSON can write."""
    if not isinstance(value, str):
        value = json.dumps(value, indent=1, sort_keys=True, default=str)
    return content.text_content(redact.redact(value))


def collect(clusters, nodegroups, cluster_id, explain=None):
    """Ask what there is to know of a cluster.

    :param explain: function of a stack_id, see waiters.ClusterWaiter.
    :returns: dict of detail names and values for :func:`text`.
    """
    found = {}

    def ask(name, function):
        try:
            found[name] = function()
        except _UNAVAILABLE as e:
            found[name] = f'not available: {type(e).__name__}: {e}'

    ask('cluster', lambda: dict(clusters.show_cluster(cluster_id)))
    ask('node groups', lambda: [
        dict(nodegroups.show_nodegroup(cluster_id, group['uuid']))
        for group in nodegroups.list_nodegroups(cluster_id)['nodegroups']])
    cluster = found['cluster']
    stack_id = isinstance(cluster, dict) and (
        cluster.get('stack_id') or cluster.get('cluster_id'))
    if explain and stack_id:
        ask('Cluster API conditions', lambda: '\n'.join(
            map(str, explain(stack_id))) or 'all as they should be')
    return {f'{name} of {cluster_id}': value
            for name, value in found.items()}
