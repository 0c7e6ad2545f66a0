# SPDX-License-Identifier: Apache-2.0

"""Server groups of Nova, by which nodes are on different hosts, or on one.

Each is known by its name, which is made of that of the release: one that was
made before somebody died is found again, and nobody else's is ever deleted.
"""

import collections.abc
import typing

from magnum_capi.driver.cloud import services

_SERVICE = 'compute'
_PATH = '/os-server-groups'


def ensure(cloud: services.Services, name: str, policy: str) -> str:
    """Find a server group or make it, in the project of the session.

    One of another policy, of an earlier template, is replaced: Nova changes
    none. Servers that are in it stay where they are.

    :param policy: of Nova, as soft-anti-affinity.
    :returns: its id.
    :raises services.Denied: no right to it, or its quota is used up.
    :raises services.CloudError: (and its kinds) Nova refuses otherwise.
    """
    compute = cloud.proxy(_SERVICE)
    with services.asking(f'the server group {name}'):
        for found in _listed(compute):
            if found['name'] == name:
                if policy in found['policies']:
                    return str(found['id'])
                compute.delete_server_group(found['id'])
        return str(compute.create_server_group(name=name, policy=policy).id)


def delete(cloud: services.Services, release: str) -> int:
    """Delete those of a release, by a session that sees all projects.

    :returns: how many there were.
    :raises services.CloudError: see :func:`ensure`.
    """
    if not cloud.has(_SERVICE):
        return 0
    compute = cloud.proxy(_SERVICE)
    with services.asking('the server groups of the cluster'):
        found = [group['id'] for group in _listed(compute, all_projects=True)
                 if group['name'].startswith(f'{release}-')]
        for made in found:
            compute.delete_server_group(made)
    return len(found)


def delete_one(cloud: services.Services, made: str) -> None:
    """Delete one by its id; one that is gone is none."""
    compute = cloud.proxy(_SERVICE)
    with services.asking(f'the server group {made}'):
        compute.delete_server_group(made)


def _listed(compute: typing.Any, all_projects: bool = False
            ) -> collections.abc.Iterator[dict[str, typing.Any]]:
    """All of them, page by page, which the SDK does not ask for."""
    offset = 0
    while True:
        # The first microversion tells policies as a list, of any kind.
        query = {'offset': offset, **(
            {'all_projects': 'True'} if all_projects else {})}
        answer = compute.get(_PATH, params=query, microversion='2.1')
        services.raise_for(answer)
        page = answer.json()['server_groups']
        if not page:
            return
        yield from page
        offset += len(page)
