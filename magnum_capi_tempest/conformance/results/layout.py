# SPDX-License-Identifier: Apache-2.0

"""The members of an archive to read, as Sonobuoy has named them since 0.16.

Earlier ones do not know Kubernetes 1.17, the oldest that is supported.
"""

import re

#: Results of a plugin.
RESULT = re.compile(
    r'plugins/(?P<plugin>[^/]+)/(?:'
    r'(?P<definition>(?:definition|defintion)\.json)|'
    r'(?P<summary>sonobuoy_results\.yaml)|'
    r'(?P<error>errors/(?:(?P<node>[^/]+)/)?error\.json)|'
    r'(?P<log>results/global/e2e\.log)|'
    r'(?P<junit>results/global/[^/]+\.xml))')
#: Documents about the cluster, and their short names.
DOCUMENTS = {
    'meta/clusterhealth.json': 'health',
    'meta/config.json': 'config',
    'meta/info.json': 'info',
    'serverversion.json': 'server',
    'resources/cluster/core_v1_nodes.json': 'nodes'}
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
