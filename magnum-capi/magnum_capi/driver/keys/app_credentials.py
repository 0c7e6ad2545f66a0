# SPDX-License-Identifier: Apache-2.0

"""Application credentials of users, with which clusters access the cloud.

https://docs.openstack.org/keystone/latest/user/application_credentials.html:
only the user can create one; it has no more roles than the user; it ends with
the user, and when the user loses any of its roles.
"""

import collections.abc
import contextlib
import dataclasses
import tempfile

from keystoneauth1 import exceptions as keystone_exceptions
from keystoneauth1.identity import v3
from keystoneauth1 import session as keystone_session
from openstack import exceptions as sdk_exceptions

from magnum_capi.driver.cloud import services
from magnum_capi.driver.desired import credentials
from magnum_capi.driver.keys import cluster_secrets

#: Roles that are never delegated, whatever an operator allows.
FORBIDDEN = frozenset(('admin',))

#: Longest name that Keystone accepts (keystone/api/validation/
#: parameter_types.py); descriptions have the same limit here.
_MAX_TEXT = 255


@dataclasses.dataclass(frozen=True)
class User:
    """The user whose token is available.

    :param id: in Keystone; None: only Magnum's own token.
    :param roles: names of the token's roles in the project.
    """

    id: str | None = None
    roles: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Access:
    """How clusters access the cloud.

    :param auth_url: of Keystone, for clusters; None: not in the catalog.
    :param cacert: PEM text; None if certificates are not verified.
    """

    auth_url: str | None
    cacert: str | None
    region: str | None = None
    interface: str = 'public'
    verify: bool = True


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
    given = roles(has, allowed)
    if not given:
        raise services.NotUsable(
            'The user has no role that a cluster may have',
            last_seen='roles ' + (', '.join(sorted(has)) or 'none'),
            hint='Needed: one of ' + ', '.join(allowed))
    with services.asking(f'the application credential {name}'):
        made = cloud.proxy('identity').create_application_credential(
            user_id, name, description=description, unrestricted=False,
            roles=[{'name': role} for role in given])
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


def auth(data: cluster_secrets.Data) -> v3.ApplicationCredential | None:
    """The credential of a cluster, for a session; None: there is none."""
    found = cluster_secrets.auth(data)
    return v3.ApplicationCredential(**found) if found else None


def check(data: cluster_secrets.Data, cacert: str | None,
          timeout: float) -> str:
    """Ask Keystone, as the cluster does, whether its credential is valid.

    :param cacert: path of the CA certificates of the cloud, for a cluster
        that has none.
    :param timeout: seconds.
    :returns: credentials.VALID, INVALID, UNTRUSTED or UNKNOWN.
    """
    found = auth(data)
    if found is None:
        return credentials.UNKNOWN
    with _authorities(data, cacert) as verify:
        session = keystone_session.Session(
            auth=found, verify=verify, timeout=timeout)
        try:
            session.get_token()
        except (keystone_exceptions.Unauthorized,
                keystone_exceptions.NotFound):
            return credentials.INVALID
        except keystone_exceptions.SSLError as e:
            # OpenSSL's text; TLS may also fail for want of an answer.
            return (credentials.UNTRUSTED
                    if 'certificate verify failed' in str(e)
                    else credentials.UNKNOWN)
        except keystone_exceptions.ClientException:
            return credentials.UNKNOWN
        return credentials.VALID


@contextlib.contextmanager
def _authorities(data: cluster_secrets.Data, cacert: str | None
                 ) -> collections.abc.Iterator[str | bool]:
    """What a session verifies certificates with: a path, or whether."""
    own = cluster_secrets.cacert(data)
    if not cluster_secrets.verify(data):
        yield False
    elif own is None:
        yield cacert or True
    else:
        with tempfile.NamedTemporaryFile('w', suffix='.pem') as file:
            file.write(own)
            file.flush()
            yield file.name
