# SPDX-License-Identifier: Apache-2.0

"""What an application credential of a cluster is called and may do."""

import collections.abc

#: Roles that are never delegated, whatever an operator allows.
FORBIDDEN = frozenset(('admin',))

#: Longest name that Keystone takes (keystone/api/validation/
#: parameter_types.py); a description needs no more.
_LONGEST = 255


def name(cluster_uuid: str, token: str) -> str:
    """Name of a credential at Keystone.

    :param token: random; names are unique for a user.
    """
    return f'magnum-{cluster_uuid}-{token}'


def belongs(credential_name: str, cluster_uuid: str) -> bool:
    """Whether a credential at Keystone was made for a cluster.

    To be asked before one is deleted by an id that came from outside.
    magnum-capi-helm 1.3.0 adds nothing to the uuid (its
    common/app_creds.py, create_app_cred).
    """
    stem = f'magnum-{cluster_uuid}'
    return credential_name == stem or credential_name.startswith(f'{stem}-')


def description(cluster_name: str | None, cluster_uuid: str) -> str:
    """Description of a credential; its owner reads it in Keystone's list."""
    text = (f'Magnum cluster {cluster_name or cluster_uuid}: used by the '
            'cluster and its management cluster, removed with the cluster')
    return text[:_LONGEST]


def roles(of_user: collections.abc.Iterable[str],
          allowed: collections.abc.Iterable[str] | None = None
          ) -> list[str]:
    """Roles that a cluster's credential delegates.

    :param of_user: names of the user's roles in the project.
    :param allowed: names an operator allows; None: all but the forbidden.
    :returns: sorted; an empty one means that no credential can be made.

    Policies compare names of roles without case (oslo_policy/_checks.py,
    RoleCheck), so this does.
    """
    permitted = None if allowed is None else {
        role.casefold() for role in allowed}
    return sorted({
        role for role in of_user
        if role.casefold() not in FORBIDDEN
        and (permitted is None or role.casefold() in permitted)})
