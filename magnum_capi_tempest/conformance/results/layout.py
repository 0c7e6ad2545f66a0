# SPDX-License-Identifier: Apache-2.0

"""The members of an archive to read, in the layouts of all Sonobuoys since
0.8: with and without leading ``./``, ``global/`` among the results, and a
folder for the version of the server.
"""

import re

#: Results of a plugin.
RESULT = re.compile(
    r'plugins/(?P<plugin>[^/]+)/(?:'
    r'(?P<definition>(?:definition|defintion)\.json)|'
    r'(?P<summary>sonobuoy_results\.yaml)|'
    r'(?P<error>(?:errors|results)/(?:(?P<node>[^/]+)/)?(?:.*/)?'
    r'error\.json)|'
    r'(?P<log>results/(?:global/)?e2e\.(?:log|txt))|'
    r'(?P<junit>results/(?:global/)?[^/]+\.xml))')
#: Documents about the cluster, and their short names.
DOCUMENTS = {
    'meta/clusterhealth.json': 'health',
    'meta/config.json': 'config', 'config.json': 'config',
    'meta/info.json': 'info',
    'serverversion.json': 'server',
    'serverversion/serverversion.json': 'server',
    'resources/cluster/core_v1_nodes.json': 'nodes',
    'resources/cluster/Nodes.json': 'nodes'}
DAEMON_SETS = re.compile(r'resources/ns/[^/]+/apps_v1_daemonsets\.json')
#: Each node has files, of which only the names are needed.
HOST = re.compile(r'hosts/([^/]+)/')


def wanted(name: str) -> bool:
    """Is the content of a member read?

    :param name: normalised, as in :class:`~.archive.Member`.
    """
    if name.rpartition('/')[2].startswith('._'):
        return False    # AppleDouble: a Mac packed it.
    return bool(name in DOCUMENTS or RESULT.fullmatch(name)
                or DAEMON_SETS.fullmatch(name))
