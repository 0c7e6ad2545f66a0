# SPDX-License-Identifier: Apache-2.0

"""Who owns a cluster: its credential, and the key pair of its nodes.

Both are a user's, and end with that user. Whoever changes or deletes the
cluster next brings in new ones, so that it outlives its first owner. The rules
of a credential's life are those of :mod:`credentials`: each step here needs
the lock of the cluster, and is recorded before anything depends on it.
"""

import collections.abc
import dataclasses
import datetime
import secrets as random_secrets
import typing

from oslo_log import log as logging

from magnum_capi.driver.cloud import keypairs
from magnum_capi.driver.cloud import services
from magnum_capi.driver import config
from magnum_capi.driver.desired import credentials
from magnum_capi.driver.desired import state as state_module
from magnum_capi.driver import failures
from magnum_capi.driver.keys import app_credentials
from magnum_capi.driver.keys import cluster_secrets
from magnum_capi.driver.observed import addons
from magnum_capi.kube import kinds

if typing.TYPE_CHECKING:
    from magnum_capi.driver import store as store_module

LOG = logging.getLogger(__name__)

#: How often to request a new credential from Keystone.
_TRIES = 3


@dataclasses.dataclass(frozen=True)
class Wait:
    """What a rotation waits for.

    :param long: it may take so long that an operation does not wait for it:
        for a user, or for addons that are overdue. The cluster works with the
        credential that it has.
    """

    reason: str
    long: bool = False


_NO_TOKEN = Wait('a member of its project must request a new credential', True)


class Ownership:
    """The ownership of one cluster.

    :param cluster: Magnum's row.
    :param secrets: of the cluster.
    :param now: aware.
    :param check_lock: raises an error unless the lock of the cluster is held.
    """

    def __init__(self, store: 'store_module.Store', cluster: typing.Any,
                 secrets: cluster_secrets.ClusterSecrets,
                 options: config.Options,
                 now: collections.abc.Callable[[], datetime.datetime],
                 check_lock: collections.abc.Callable[[], None]) -> None:
        self._store = store
        self._cluster = cluster
        self._secrets = secrets
        self._options = options
        self._now = now
        self._check_lock = check_lock

    def ensure_credential(self, state: state_module.State,
                          new: bool = False) -> state_module.State:
        """Have a credential that the cluster can use.

        :param new: the one that was requested last.
        :returns: as written to the Secret.
        :raises failures.Failed: a user's token is needed.
        """
        if new or credentials.in_use(state.record) is None:
            state, wait = self._complete(state)
            if wait and (new or credentials.in_use(state.record) is None):
                raise failures.Failed(wait.reason)
        return state

    def settle(self, state: state_module.State,
               found: collections.abc.Iterable[kinds.Object]
               ) -> tuple[state_module.State, Wait | None]:
        """Finish a rotation, as far as possible.

        :param found: the addons of the cluster.
        :returns: the state as written, and what it waits for.
        """
        state, wait = self._complete(state)
        if wait or len(state.record) < 2:
            return state, wait
        last = state.record[-1]
        age = (self._now() - (last.applied_at or self._now())).total_seconds()
        if age < self._options.credential_settle:
            return state, Wait('the new credential was just applied')
        is_late = age >= self._options.credential_bound
        taken_up = self._is_taken_up(last, found)
        if not taken_up and not (taken_up is None and is_late):
            return state, Wait('the new credential is applied but not yet '
                               'taken up', is_late)
        for old in state.record[:-1]:
            state = self._drop(state, old)
        return state, None

    def remove(self, state: state_module.State) -> None:
        """Remove all credentials; the record is empty afterwards.

        Those that are not in the record are found by name: the Secret with the
        record may have been lost.
        """
        users = {self._cluster.user_id, *(
            entry.user_id for entry in state.record)}
        for entry in state.record:
            state = self._drop(state, entry)
        for user_id in sorted(filter(None, users)):
            self._delete_named(
                user_id, app_credentials.name(self._cluster.uuid, ''))

    def _complete(self, state: state_module.State
                  ) -> tuple[state_module.State, Wait | None]:
        """Apply what was begun, and a new credential if one is needed."""
        user = self._store.user
        while True:
            entry = credentials.begun(state.record)
            if entry is None:
                if state.record and not state.record[-1].outgoing:
                    return state, None
                if user.id is None:
                    return state, _NO_TOKEN
                entry = credentials.Entry(app_credentials.name(
                    self._cluster.uuid, random_secrets.token_hex(4)), user.id)
                state = self._write(state, (*state.record, entry))
                state = self._make(state, entry)
            elif entry.stage == credentials.MADE:
                state = self._apply(state, entry)
            elif entry.outgoing or user.id not in (None, entry.user_id):
                # No longer needed, or needed for another user.
                state = self._drop(state, entry)
            elif user.id is None:
                return state, _NO_TOKEN
            else:
                state = self._make(state, entry)

    def _make(self, state: state_module.State,
              entry: credentials.Entry) -> state_module.State:
        for tries in range(1, _TRIES + 1):
            self._check_lock()
            try:
                made = app_credentials.create(
                    self._store.cloud.services, entry.user_id, entry.name,
                    app_credentials.description(
                        self._cluster.name, self._cluster.uuid),
                    has=self._store.user.roles,
                    allowed=self._options.credential_roles)
                break
            except services.Conflict:
                # Its secret is lost: the answer was, or the process died. If
                # the lock was lost, do not delete what its next holder made.
                if (tries == _TRIES
                        or self._secrets.state().record != state.record):
                    raise
                LOG.warning(
                    'Cluster %s: Keystone has its new application credential '
                    '%s already, from a request whose answer was lost; it is '
                    'deleted and made again', self._cluster.uuid, entry.name)
                self._delete(entry)
        return self._write(state, credentials.changed(
            state.record, entry, stage=credentials.MADE, id=made.id),
            **{entry.name: made.secret})

    def _apply(self, state: state_module.State,
               entry: credentials.Entry) -> state_module.State:
        access = self._store.access()
        self._check_lock()
        self._secrets.write_credentials(cluster_secrets.clouds(
            entry.id, state.secrets[entry.name], auth_url=access.auth_url,
            region=access.region, interface=access.interface,
            verify=access.verify), access.cacert)
        return self._write(state, credentials.changed(
            state.record, entry, stage=credentials.APPLIED,
            applied_at=self._now()))

    def _drop(self, state: state_module.State,
              entry: credentials.Entry) -> state_module.State:
        """Delete a credential in Keystone, then its entry and its secret."""
        self._delete(entry)
        return self._write(state, credentials.without(state.record, entry))

    def _delete(self, entry: credentials.Entry) -> None:
        """Delete a credential in Keystone; without an id by its name."""
        if entry.id is None:
            # Names are only unique per user.
            self._delete_named(entry.user_id, entry.name)
            return
        self._check_lock()
        app_credentials.delete(self._store.admin_cloud().services,
                               entry.user_id, entry.id)

    def _delete_named(self, user_id: str, prefix: str) -> None:
        # Only an administrator deletes credentials of other users.
        cloud = self._store.admin_cloud().services
        for found in app_credentials.find(cloud, user_id, prefix):
            self._check_lock()
            app_credentials.delete(cloud, user_id, found.id)

    def _write(self, state: state_module.State, record: credentials.Record,
               **made: str) -> state_module.State:
        return self._secrets.write_state(
            state_module.with_record(state, record, **made))

    def _is_taken_up(self, entry: credentials.Entry,
                     found: collections.abc.Iterable[kinds.Object]
                     ) -> bool | None:
        """Whether a credential is in use by all readers, None: unknown.

        Cluster API's provider reads the Secret in each reconciliation, so for
        it the Secret is sufficient. Addons run in the workload cluster with a
        copy, which their provider replaces.
        """
        data = self._secrets.credentials() or {}
        if cluster_secrets.applied_id(data) != entry.id:
            return False
        used = addons.uses_current_secret(
            found, self._secrets.credentials_name, data)
        return None if used is None else used[0]

    def replace_refused(
            self, state: state_module.State) -> state_module.State:
        """If Keystone refuses our credential, make one for the present user.

        An application credential ends with its user, and when the user loses
        any of its roles. Without a valid one nothing is created or deleted.
        For a deletion also if it lacks a role.

        :param state: as written to the Secret.
        :returns: as written to the Secret.
        :raises services.CloudError: Keystone makes none for this user.
        """
        user, used = self._store.user, credentials.in_use(state.record)
        if user.id is None or used is None:
            return state
        if self.check() == credentials.INVALID:
            why = 'Keystone refuses'
        elif state.operation == 'DELETE' and self._lacks_role(used):
            why = 'the user has more roles than'
        else:
            return state
        LOG.warning('Cluster %s: %s the application credential %s; user %s '
                    'brings in a new one', self._cluster.uuid, why, used.id,
                    user.id)
        if state.operation != 'DELETE':
            self.copy_keypair()
        state = state_module.with_record(
            state, credentials.rotate(state.record))
        self._check_lock()
        state = self._secrets.write_state(state)
        state = self.ensure_credential(state, new=True)
        self._cluster.user_id = user.id
        self._store.save(self._cluster)
        return state

    def check(self) -> str:
        """Ask Keystone about our credential. Call with the lock held.

        If the cluster does not trust the certificate that Keystone shows,
        because the cloud has got another authority, it gets the CA
        certificates that Magnum trusts now. Without them nothing is created
        or deleted.

        :returns: see app_credentials.check.
        """
        data = self._secrets.credentials() or {}
        found = self.ask(data)
        if found != credentials.UNTRUSTED:
            return found
        cacert = self._store.cacert()
        if cacert is None:
            return found
        found = self.ask(cluster_secrets.with_cacert(data, cacert))
        if found in (credentials.VALID, credentials.INVALID):
            LOG.warning('Cluster %s: it does not trust the certificates of '
                        'the cloud; it gets the CA certificates that Magnum '
                        'trusts', self._cluster.uuid)
            self._check_lock()
            self._secrets.write_cacert(data, cacert)
        return found

    def ask(self, data: cluster_secrets.Data) -> str:
        """Ask Keystone about a credential; changes nothing.

        :param data: of the Secret that the cluster reads.
        :returns: see app_credentials.check.
        """
        return app_credentials.check(
            data, self._store.cacert_file(), self._options.openstack_timeout)

    def copy_keypair(self) -> None:
        """Give the user, as the next owner, the key pair of the nodes.

        Without it, Nova refuses new nodes. Call this before the user makes a
        credential, so that it is not forgotten.

        :raises services.CloudUnreachable: Nova does not answer.
        """
        cluster, user = self._cluster, self._store.user
        if not cluster.keypair or user.id in (None, cluster.user_id):
            return
        try:
            keypairs.copy(
                cluster.keypair, cluster.user_id, self._store.cloud.services,
                lambda: self._store.admin_cloud().services)
        except services.CloudUnreachable:
            raise
        except services.CloudError as e:
            LOG.warning('Cluster %s: its keypair %s is not one of user %s, so '
                        'it can get no nodes: %s', cluster.uuid,
                        cluster.keypair, user.id, e)

    def _lacks_role(self, used: credentials.Entry) -> bool:
        """Whether the user can give a credential with more roles.

        A cluster whose creation failed for want of a role cannot be deleted
        without it either (cluster-api-provider-openstack, issue 1792), and
        Magnum rotates no credential of such a cluster (magnum 23.0.0,
        magnum/conductor/handlers/credential_conductor.py).
        """
        try:
            found = app_credentials.get(
                self._store.admin_cloud().services, used.user_id,
                used.id or '')
        except services.CloudError as e:
            LOG.warning('Cluster %s: the roles of its application credential '
                        'are not known: %s', self._cluster.uuid, e)
            return False
        if found is None:
            return False
        # One with other roles may not be better.
        offered = app_credentials.roles(
            self._store.user.roles, self._options.credential_roles)
        return ({role.casefold() for role in found.roles}
                < {role.casefold() for role in offered})
