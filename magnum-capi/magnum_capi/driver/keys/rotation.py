# SPDX-License-Identifier: Apache-2.0


"""Carries out the steps that ``credentials`` decides.

Each step needs the lock of the cluster, and is recorded before anything
depends on it.
"""

import collections.abc
import contextlib
import dataclasses
import datetime
import secrets
import tempfile
import typing

from keystoneauth1 import exceptions as keystone_exceptions
from keystoneauth1.identity import v3
from keystoneauth1 import session as keystone_session
from oslo_log import log as logging

from magnum_capi.driver.cloud import openstack
from magnum_capi.driver.cloud import services
from magnum_capi.driver import config
from magnum_capi.driver.desired import names
from magnum_capi.driver import failures
from magnum_capi.driver.keys import app_credentials
from magnum_capi.driver.keys import credentials
from magnum_capi.driver.keys import delegation
from magnum_capi.driver.keys import state as state_module
from magnum_capi.driver.keys import vault as vault_module
from magnum_capi.driver.observed import addons
from magnum_capi.kube import kinds

LOG = logging.getLogger(__name__)

#: Returns credentials.State.adopted for an entry.
Adopted: typing.TypeAlias = collections.abc.Callable[
    [credentials.Entry], bool | None]

#: More steps than any rotation has.
_MAX_STEPS = 60
#: How often to request a new credential from Keystone.
_TRIES = 3


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


class Rotation:
    """The application credentials of one cluster.

    :param cluster: Magnum's row.
    :param cloud: of ``user``, or of Magnum.
    :param now: aware.
    :param deleter: of Magnum: only an administrator deletes credentials of
        other users.
    :param check: raises when the lock is lost.
    """

    def __init__(self, cluster: typing.Any, vault: vault_module.Vault,
                 options: config.Options, cloud: openstack.Cloud,
                 user: User, access: collections.abc.Callable[[], Access],
                 now: collections.abc.Callable[[], datetime.datetime],
                 deleter: collections.abc.Callable[[], openstack.Cloud],
                 check: collections.abc.Callable[[], None] = lambda: None
                 ) -> None:
        self._cluster = cluster
        self._vault = vault
        self._options = options
        self._cloud = cloud
        self._user = user
        self._access = access
        self._now = now
        self._deleter = deleter
        self._check = check
        self._found: dict[str, dict[str, str]] = {}
        self._gone: frozenset[str] = frozenset()
        self._tries = 0

    def ensure_credential(self, state: state_module.State,
                          new: bool = False) -> state_module.State:
        """Take steps until the cluster has a credential to use.

        :param new: until it has the one that was requested last.
        :returns: as written to the Secret.
        :raises failures.Failed: a user's token is needed.
        """
        def enough(found: state_module.State) -> bool:
            used = credentials.in_use(found.record)
            return used is not None and not (new and (
                used.outgoing or used != found.record[-1]))
        return self._walk(state, credentials.KEEP, enough)[0]

    def go_on(self, state: state_module.State,
              adopted: Adopted | None = None
              ) -> tuple[state_module.State, credentials.Step]:
        """Take as many steps as possible.

        :returns: the state, and the last step: DONE or WAIT.
        """
        return self._walk(state, credentials.KEEP, None, adopted)

    def remove(self, state: state_module.State) -> None:
        """Remove all credentials; the record is empty afterwards.

        Those that are not in the record are found by name: the Secret with the
        record may have been lost.
        """
        users = {self._cluster.user_id, *(
            entry.user_id for entry in state.record)}
        self._walk(state, credentials.REMOVE, None)
        cloud = self._deleter().services
        for user_id in sorted(filter(None, users)):
            for found in app_credentials.find(
                    cloud, user_id,
                    delegation.name(self._cluster.uuid, '')):
                self._check()
                app_credentials.delete(cloud, user_id, found.id)

    def _walk(self, state: state_module.State, wish: str,
              enough: collections.abc.Callable[
                  [state_module.State], bool] | None,
              adopted: Adopted | None = None
              ) -> tuple[state_module.State, credentials.Step]:
        for _time in range(_MAX_STEPS):
            if enough and enough(state):
                return state, credentials.Step(credentials.DONE)
            used = credentials.in_use(state.record)
            step = credentials.next_step(credentials.State(
                record=state.record, wish=wish, now=self._now(),
                user_id=self._user.id, fresh=self._fresh,
                found=self._found, gone=self._gone,
                adopted=adopted(used) if adopted and used and used.stage
                == credentials.APPLIED and len(state.record) > 1 else None,
                settle=self._options.credential_settle,
                bound=self._options.credential_bound))
            if step.kind == credentials.DONE:
                return state, step
            if step.entry is None or step.kind == credentials.WAIT:
                if enough:
                    raise failures.Failed(step.reason)
                return state, step
            self._check()
            state = self._do(step, step.entry, state)
        raise failures.Failed('the application credentials of the cluster '
                              'cannot be reconciled')

    def _fresh(self) -> str:
        return delegation.name(self._cluster.uuid, secrets.token_hex(4))

    def _do(self, step: credentials.Step, entry: credentials.Entry,
            state: state_module.State) -> state_module.State:
        kind = step.kind
        if kind == credentials.LOOK:
            self._found[entry.user_id] = {
                found.name: found.id for found in app_credentials.find(
                    self._deleter().services, entry.user_id,
                    delegation.name(self._cluster.uuid, ''))}
        if kind == credentials.MAKE:
            return self._make(entry, state)
        if step.id is not None:
            app_credentials.delete(self._deleter().services,
                                   entry.user_id, step.id)
            self._gone |= {step.id}
        if kind == credentials.APPLY:
            self._apply(entry, state)
        if step.record is None:
            return state
        return self._write(state, step.record)

    def _make(self, entry: credentials.Entry,
              state: state_module.State) -> state_module.State:
        # Forget earlier lookups: they do not include what is created now.
        self._found = {}
        self._tries += 1
        try:
            made = app_credentials.create(
                self._cloud.services, entry.user_id, entry.name,
                delegation.description(self._cluster.name,
                                       self._cluster.uuid),
                has=self._user.roles, allowed=self._options.credential_roles)
        except services.Conflict:
            # If the lock was lost, do not delete what its next holder created.
            if (self._tries >= _TRIES
                    or self._vault.state().record != state.record):
                raise
            LOG.warning(
                'Cluster %s: Keystone has its new application credential %s '
                'already, from a request whose answer was lost; it is '
                'deleted and made again', self._cluster.uuid, entry.name)
            return state
        return self._write(
            state, credentials.made(state.record, entry, made.id),
            **{entry.name: made.secret})

    def _apply(self, entry: credentials.Entry,
               state: state_module.State) -> None:
        access = self._access()
        self._vault.write_credentials(vault_module.clouds(
            entry.id, state.secrets[entry.name], auth_url=access.auth_url,
            region=access.region, interface=access.interface,
            verify=access.verify), access.cacert)

    def _write(self, state: state_module.State, record: credentials.Record,
               **made: str) -> state_module.State:
        return self._vault.write_state(
            state_module.with_record(state, record, **made))


def adoption(vault: vault_module.Vault, release: str,
             found: collections.abc.Iterable[kinds.Object]) -> Adopted:
    """Derive credentials.State.adopted from the addons.

    :param found: the addons of the cluster.
    """
    def adopted(entry: credentials.Entry) -> bool | None:
        data = vault.credentials()
        if data is None:
            return False
        return credentials.adopted(
            vault_module.applied_id(data), entry,
            addons.uses_current_secret(
                found, names.credentials(release), data))
    return adopted


def auth(data: vault_module.Data) -> v3.ApplicationCredential | None:
    """The credential of a cluster, for a session; None: there is none."""
    found = vault_module.auth(data)
    return v3.ApplicationCredential(**found) if found else None


def check(data: vault_module.Data, cacert: str | None,
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
def _authorities(data: vault_module.Data, cacert: str | None
                 ) -> collections.abc.Iterator[str | bool]:
    """What a session verifies certificates with: a path, or whether."""
    own = vault_module.cacert(data)
    if not vault_module.verify(data):
        yield False
    elif own is None:
        yield cacert or True
    else:
        with tempfile.NamedTemporaryFile('w', suffix='.pem') as file:
            file.write(own)
            file.flush()
            yield file.name
