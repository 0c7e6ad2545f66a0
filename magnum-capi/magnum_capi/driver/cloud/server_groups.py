# SPDX-License-Identifier: Apache-2.0

"""Nova's server groups, which spread nodes over hosts, or keep them together.

Each is identified by its project and its name, which contains that of the
release: one that was made before a process died is found again, and foreign
ones are never deleted.
"""

import collections.abc
import typing

from magnum_capi.driver.cloud import services
from magnum_capi.driver.desired import names

_SERVICE = 'compute'
_PATH = '/os-server-groups'
_QUOTA = '/os-quota-sets'


def ensure(cloud: services.Services, name: str, policy: str) -> str:
    """Find a server group or create it, in the project of the session.

    Nova cannot change a policy: one with another policy, from before an
    upgrade, stays until its nodes need it no more.

    :param policy: of Nova, such as soft-anti-affinity.
    :returns: its id.
    :raises services.Denied: not permitted, or the quota is exhausted.
    :raises services.CloudError: (and its kinds) Nova refuses otherwise.
    """
    compute = cloud.proxy(_SERVICE)
    with services.asking(f'the server group {name}'):
        for found in _listed(compute):
            if found['name'] == name and policy in found['policies']:
                return str(found['id'])
        return str(compute.create_server_group(name=name, policy=policy).id)


def members_limit(cloud: services.Services, project_id: str) -> int | None:
    """How many servers a server group may have, by Nova's quota.

    Nova checks that when it builds a server, so that a machine would fail.

    :param project_id: of the cluster.
    :returns: None: there is no limit, or it is not known.
    :raises services.CloudUnreachable: Nova does not answer.
    """
    try:
        with services.asking('the quota of server groups'):
            answer = cloud.proxy(_SERVICE).get(f'{_QUOTA}/{project_id}')
            services.raise_for(answer)
            limit = answer.json()['quota_set'].get('server_group_members')
    except services.CloudUnreachable:
        raise
    except services.CloudError:
        # The policy of a cloud may not let members read it.
        return None
    return None if limit is None or limit < 0 else int(limit)


def delete(cloud: services.Services, naming: names.Naming,
           project_id: str) -> int:
    """Delete those of a cluster; needs a session that sees all projects.

    :param naming: of the cluster.
    :param project_id: of the cluster.
    :returns: how many there were.
    :raises services.CloudError: see :func:`ensure`.
    """
    if not cloud.has(_SERVICE):
        return 0
    compute = cloud.proxy(_SERVICE)
    with services.asking('the server groups of the cluster'):
        found = [group['id'] for group in _listed(compute, all_projects=True)
                 if group['project_id'] == project_id
                 and naming.has_server_group(group['name'])]
        for made in found:
            compute.delete_server_group(made)
    return len(found)


def delete_unused(cloud: services.Services, naming: names.Naming,
                  used: collections.abc.Container[str]) -> None:
    """Delete those of a cluster that it does not use any more.

    :param cloud: with a session for the project of the cluster.
    :param used: ids.
    :raises services.CloudError: see :func:`ensure`.
    """
    compute = cloud.proxy(_SERVICE)
    with services.asking('the server groups of the cluster'):
        for group in list(_listed(compute)):
            if (naming.has_server_group(group['name'])
                    and group['id'] not in used):
                compute.delete_server_group(group['id'])


def _listed(compute: typing.Any, all_projects: bool = False
            ) -> collections.abc.Iterator[dict[str, typing.Any]]:
    """All server groups, page by page; the SDK reads only one page."""
    offset = 0
    while True:
        # The first microversion that has the project; it has policies of any
        # kind, as a list.
        query = {'offset': offset, **(
            {'all_projects': 'True'} if all_projects else {})}
        answer = compute.get(_PATH, params=query, microversion='2.13')
        services.raise_for(answer)
        page = answer.json()['server_groups']
        if not page:
            return
        yield from page
        offset += len(page)
