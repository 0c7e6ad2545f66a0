# SPDX-License-Identifier: Apache-2.0

"""Who owns a cluster: its credential, and the key pair of its nodes.

Both are a user's, and end with that user. Whoever changes or deletes the
cluster next brings in new ones, so that it outlives its first owner.
"""

import collections.abc
import typing

from oslo_log import log as logging

from magnum_capi.driver.cloud import keypairs
from magnum_capi.driver.cloud import services
from magnum_capi.driver import config
from magnum_capi.driver.keys import app_credentials
from magnum_capi.driver.keys import credentials
from magnum_capi.driver.keys import delegation
from magnum_capi.driver.keys import rotation
from magnum_capi.driver.keys import state as state_module
from magnum_capi.driver.keys import vault

if typing.TYPE_CHECKING:
    from magnum_capi.driver import store as store_module

LOG = logging.getLogger(__name__)


class Ownership:
    """The ownership of one cluster.

    :param cluster: Magnum's row.
    :param secrets: of the cluster.
    :param rotate: makes the Rotation of its application credentials.
    :param check_lock: raises an error unless the lock of the cluster is held.
    """

    def __init__(self, store: 'store_module.Store', cluster: typing.Any,
                 secrets: vault.Vault, options: config.Options,
                 rotate: collections.abc.Callable[[], rotation.Rotation],
                 check_lock: collections.abc.Callable[[], None]) -> None:
        self._store = store
        self._cluster = cluster
        self._vault = secrets
        self._options = options
        self._rotation = rotate
        self._check_lock = check_lock

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
            self.hand_on_keypair()
        state = state_module.with_record(
            state, credentials.rotate(state.record))
        self._check_lock()
        state = self._vault.write_state(state)
        state = self._rotation().ensure_credential(state, new=True)
        self._cluster.user_id = user.id
        self._store.save(self._cluster)
        return state

    def check(self) -> str:
        """Ask Keystone about our credential. Call with the lock held.

        If the cluster does not trust the certificate that Keystone shows,
        because the cloud has got another authority, it gets the CA
        certificates that Magnum trusts now. Without them nothing is created
        or deleted.

        :returns: see rotation.check.
        """
        data = self._vault.credentials() or {}
        found = self.ask(data)
        if found != credentials.UNTRUSTED:
            return found
        cacert = self._store.cacert()
        if cacert is None:
            return found
        found = self.ask(vault.with_cacert(data, cacert))
        if found in (credentials.VALID, credentials.INVALID):
            LOG.warning('Cluster %s: it does not trust the certificates of '
                        'the cloud; it gets the CA certificates that Magnum '
                        'trusts', self._cluster.uuid)
            self._check_lock()
            self._vault.write_cacert(data, cacert)
        return found

    def ask(self, data: vault.Data) -> str:
        """Ask Keystone about a credential; changes nothing.

        :param data: of the Secret that the cluster reads.
        :returns: see rotation.check.
        """
        return rotation.check(data, self._store.cacert_file(),
                              self._options.openstack_timeout)

    def hand_on_keypair(self) -> None:
        """Give the user, as the next owner, the key pair of the nodes.

        Without it, Nova refuses new nodes. Call this before the user makes a
        credential, so that it is not forgotten.

        :raises services.CloudUnreachable: Nova does not answer.
        """
        cluster, user = self._cluster, self._store.user
        if not cluster.keypair or user.id in (None, cluster.user_id):
            return
        try:
            keypairs.hand_on(
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
        offered = delegation.roles(
            self._store.user.roles, self._options.credential_roles)
        return ({role.casefold() for role in found.roles}
                < {role.casefold() for role in offered})
