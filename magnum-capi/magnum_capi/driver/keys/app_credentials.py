# SPDX-License-Identifier: Apache-2.0

"""Application credentials of users, with which clusters access the cloud.

https://docs.openstack.org/keystone/latest/user/application_credentials.html:
only the user can create one; it has no more roles than the user; it ends with
the user, and when the user loses any of its roles.
"""

import collections.abc
import dataclasses

from openstack import exceptions as sdk_exceptions

from magnum_capi.driver.cloud import services
from magnum_capi.driver.keys import delegation


@dataclasses.dataclass(frozen=True)
class Credential:
    """An application credential.

    :param secret: only known at creation; otherwise empty.
    :param roles: names of its roles, only from :func:`get`.
    """

    id: str
    name: str
    secret: str = dataclasses.field(default='', repr=False)
    roles: tuple[str, ...] = ()


def create(cloud: services.Services, user_id: str, name: str,
           description: str, *, has: collections.abc.Collection[str],
           allowed: collections.abc.Collection[str]) -> Credential:
    """Create an application credential of a user, as that user.

    :param cloud: that user's.
    :param has: names of the user's roles.
    :param allowed: names of roles that it may get.
    :returns: with its secret.
    :raises services.NotUsable: the user has no allowed role.
    :raises services.Conflict: the user has one of this name.
    """
    roles = delegation.roles(has, allowed)
    if not roles:
        raise services.NotUsable(
            'The user has no role that a cluster may have',
            last_seen='roles ' + (', '.join(sorted(has)) or 'none'),
            hint='Needed: one of ' + ', '.join(allowed))
    with services.asking(f'the application credential {name}'):
        made = cloud.proxy('identity').create_application_credential(
            user_id, name, description=description, unrestricted=False,
            roles=[{'name': role} for role in roles])
    return Credential(made.id, made.name, made.secret)


def get(cloud: services.Services, user_id: str,
        credential_id: str) -> Credential | None:
    """Return a Credential without its secret, None if there is none."""
    with services.asking(f'the application credential {credential_id}'):
        try:
            found = cloud.proxy('identity').get_application_credential(
                user_id, credential_id)
        except sdk_exceptions.NotFoundException:
            return None
    return Credential(found.id, found.name, roles=tuple(
        role['name'] for role in found.roles or ()))


def find(cloud: services.Services, user_id: str,
         prefix: str) -> tuple[Credential, ...]:
    """Return the Credentials of a user whose names have a prefix."""
    with services.asking(f'the application credentials of {user_id}'):
        try:
            return tuple(
                Credential(c.id, c.name) for c in
                cloud.proxy('identity').application_credentials(user_id)
                if c.name.startswith(prefix))
        except sdk_exceptions.NotFoundException:
            # The user is gone, and so are its credentials.
            return ()


def delete(cloud: services.Services, user_id: str,
           credential_id: str) -> bool:
    """Delete an application credential.

    :returns: whether there was one.
    :raises services.Denied: it still exists; never treat this as success.
    """
    with services.asking(f'the application credential {credential_id}'):
        try:
            cloud.proxy('identity').delete_application_credential(
                user_id, credential_id, ignore_missing=False)
        except sdk_exceptions.NotFoundException:
            return False
    return True
