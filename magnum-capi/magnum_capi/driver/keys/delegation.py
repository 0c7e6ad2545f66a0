# SPDX-License-Identifier: Apache-2.0

"""Name, description and roles of a cluster's application credential."""

import collections.abc

#: Roles that are never delegated, whatever an operator allows.
FORBIDDEN = frozenset(('admin',))

#: Longest name that Keystone accepts (keystone/api/validation/
#: parameter_types.py); descriptions have the same limit here.
_MAX_TEXT = 255


def name(cluster_uuid: str, token: str) -> str:
    """Name of a credential in Keystone.

    :param token: random; names are unique for a user.
    """
    return f'magnum-{cluster_uuid}-{token}'


def description(cluster_name: str | None, cluster_uuid: str) -> str:
    """Description of a credential; its owner sees it in Keystone's list."""
    text = (f'Magnum cluster {cluster_name or cluster_uuid}: used by the '
            'cluster and its management cluster, removed with the cluster')
    return text[:_MAX_TEXT]


def roles(of_user: collections.abc.Iterable[str],
          allowed: collections.abc.Iterable[str]) -> list[str]:
    """Roles that a cluster's credential delegates.

    :param of_user: names of the user's roles in the project.
    :param allowed: names that an operator allows.
    :returns: sorted; empty means that no credential can be created.

    Policies compare names of roles without regard to case
    (oslo_policy/_checks.py, RoleCheck), so this does, too.
    """
    permitted = {role.casefold() for role in allowed} - FORBIDDEN
    return sorted({role for role in of_user if role.casefold() in permitted})
