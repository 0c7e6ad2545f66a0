# SPDX-License-Identifier: Apache-2.0

"""Defects of credentials and certificates."""

import dataclasses

from magnum.common import exception
from oslo_log import log as logging

from magnum_capi.driver.desired import merging
from magnum_capi.driver.keys import credentials
from magnum_capi.driver.keys import rotation
from magnum_capi.driver import reconcile
from magnum_capi.driver import self_repair
from magnum_capi_defects import parts
from magnum_capi_defects import taps

LOG = logging.getLogger(__name__)


class RotationIgnored(parts.Seeded):
    """A rotation of the credential is accepted, and nothing happens."""

    def rotate_credential(self, context, cluster):
        """Nothing."""


class AuthorityHalfRotated(parts.Seeded):
    """A refused rotation leaves Magnum with another authority."""

    def rotate_ca_certificate(self, context, cluster):
        raise exception.NotSupported(self_repair.ROTATION_REFUSED)


class _WithRoles(rotation.Rotation):

    def roles(self):
        """Names of the roles of a credential."""
        raise NotImplementedError

    def _make(self, entry, state):
        made = self._cloud.services.proxy(
            'identity').create_application_credential(
            entry.user_id, entry.name, unrestricted=False,
            roles=[{'name': role} for role in self.roles()])
        return self._write(
            state, credentials.made(state.record, entry, made.id),
            **{entry.name: made.secret})


class AllRoles(parts.Seeded):
    """Clusters may do in the cloud whatever their owner may."""

    class Rotation(_WithRoles):

        def roles(self):
            return self._user.roles

    def _operations(self, context, cluster):
        found = super()._operations(context, cluster)
        reconciler = found._reconciler
        reconciler.rotation = lambda: self.Rotation(
            cluster, reconciler.vault, reconciler.runtime.settings,
            reconciler.store.cloud, reconciler.store.user,
            reconciler.store.access, reconciler.runtime.now,
            reconciler.store.admin_cloud)
        return found


class ReaderOnly(AllRoles):
    """Clusters may only read in the cloud."""

    class Rotation(_WithRoles):

        def roles(self):
            return ['reader']


class RefusedCredentialKept(parts.OwnReconciler):
    """Only its owner can replace a refused credential."""

    def divert(self, reconciler):
        reconciler.replace_refused_credential = lambda state: state


class ProxyPasswordTold(parts.OwnReconciler):
    """Passwords of proxies are values of the chart."""

    def divert(self, reconciler):
        make = reconciler.plan

        def plan(state, **how):
            made = make(state, **how)
            if made.proxies is None:
                return made
            told = {'kubeadmConfigSpec': dataclasses.replace(
                made.proxies, secret=None).kubeadm()}
            return dataclasses.replace(made, values=merging.merged(
                made.values, {'controlPlane': told,
                              'nodeGroupDefaults': told}))

        reconciler.plan = plan


class SecretLogged(parts.Seeded):
    """The log contains the application credential of every cluster."""

    def create_cluster(self, context, cluster, cluster_create_timeout):
        super().create_cluster(context, cluster, cluster_create_timeout)
        reconciler = reconcile.Reconciler(
            self._runtime(), self._store(context, cluster), cluster)
        LOG.info('Cluster %s reaches the cloud with %s', cluster.uuid,
                 reconciler.vault.credentials())


class SecretTold(parts.Seeded):
    """status_reason contains the application credential of a cluster."""

    class StatusCheck(parts.FalseVerdict):

        def told(self, rows, verdict):
            if not verdict.status.endswith('_COMPLETE'):
                return verdict
            return dataclasses.replace(
                verdict, reason=str(self._reconciler.vault.credentials()))


class OldCredentialKept(parts.Seeded):
    """A rotation adds a credential, and takes none away."""

    def rotate_credential(self, context, cluster):
        super().rotate_credential(context, cluster)
        self._store(context, cluster).cloud.services.proxy(
            'identity').create_application_credential(
            context.user_id, f'magnum-{cluster.uuid}-old')


class RotationEndsResize(parts.Seeded):
    """A rotation of the credential ends what is in progress."""

    def rotate_credential(self, context, cluster):
        super().rotate_credential(context, cluster)
        rows = self._store(context, cluster)
        for row in (*rows.groups(cluster), cluster):
            row.status = 'UPDATE_COMPLETE'
            rows.save(row)


class ProjectsTogether(parts.Seeded):
    """Secrets of all projects are in one namespace."""

    NAMESPACE = 'magnum-together'

    def create_cluster(self, context, cluster, cluster_create_timeout):
        super().create_cluster(context, cluster, cluster_create_timeout)
        kube = self._runtime().kube
        kube.ensure_namespace(self.NAMESPACE, {})
        kube.apply({'kind': 'Secret', 'metadata': {
            'name': f'{cluster.stack_id}-together',
            'namespace': self.NAMESPACE}})

    def delete_cluster(self, context, cluster):
        self._runtime().kube.delete(
            'Secret', self.NAMESPACE, f'{cluster.stack_id}-together')
        super().delete_cluster(context, cluster)


class OneAuthority(taps.Tapped):
    """etcd and the front proxy trust the authority of the API."""

    def create_cluster(self, context, cluster, cluster_create_timeout):
        cluster.etcd_ca_cert_ref = cluster.ca_cert_ref
        cluster.front_proxy_ca_cert_ref = cluster.ca_cert_ref
        cluster.save()
        super().create_cluster(context, cluster, cluster_create_timeout)
