# SPDX-License-Identifier: Apache-2.0

"""Defects of a deletion."""

import dataclasses
import time

from magnum_capi.driver import deletion
from magnum_capi.driver.helm import helm
from magnum_capi.driver.observed import verdicts
from magnum_capi.driver import status_check
from magnum_capi_defects import parts

#: Additional seconds of a slow deletion.
LONGER = 70


class _RemovesNothing:
    """Replaces the Rotation of a cluster's credentials."""

    def remove(self, state):
        pass


class CredentialLeft(parts.Seeded):
    """The application credential outlives its cluster."""

    class StatusCheck(status_check.StatusCheck):

        class _Deletion(deletion.Deletion):

            def finish(self, state):
                self._reconciler.rotation = _RemovesNothing
                return super().finish(state)

        def __init__(self, *args):
            super().__init__(*args)
            self._deletion = self._Deletion(self._reconciler)


class SecretsLeft(parts.Seeded):
    """The Secrets of a cluster outlive it in the management cluster."""

    class StatusCheck(status_check.StatusCheck):

        def __init__(self, *args):
            super().__init__(*args)
            self._reconciler.vault.remove = lambda: None


class DeletesSlowly(parts.Seeded):
    """Magnum learns much later that a cluster is gone."""

    class StatusCheck(parts.FalseVerdict):

        _gone = {}

        def told(self, rows, verdict):
            if verdict.status != 'DELETE_COMPLETE':
                return verdict
            since = self._gone.setdefault(rows.cluster.uuid,
                                          time.monotonic())
            if time.monotonic() - since >= LONGER:
                return verdict
            return dataclasses.replace(
                verdict, status='DELETE_IN_PROGRESS', groups={
                    key: verdicts.GroupVerdict('DELETE_IN_PROGRESS')
                    for key in verdict.groups})


class MachinesLeft(parts.Seeded):
    """A cluster is only deleted in Magnum: its machines keep running."""

    class Helm(helm.Helm):

        def uninstall(self, release, namespace):
            return False

    class StatusCheck(parts.FalseVerdict):

        def told(self, rows, verdict):
            if rows.operation != 'DELETE':
                return verdict
            return verdicts.Verdict('DELETE_COMPLETE')


class DeletionLost(parts.Seeded):
    """A deletion during the creation never ends; a second one does."""

    _lost = set()

    class StatusCheck(status_check.StatusCheck):

        def update(self):
            if self._cluster.uuid not in DeletionLost._lost:
                super().update()

    def delete_cluster(self, context, cluster):
        if cluster.status == 'CREATE_IN_PROGRESS':
            self._lost.add(cluster.uuid)
            return
        self._lost.discard(cluster.uuid)
        super().delete_cluster(context, cluster)


class CreationOutlives(parts.Seeded):
    """A deletion during the creation is complete before it has begun."""

    _gone = set()

    def delete_cluster(self, context, cluster):
        if cluster.status == 'CREATE_IN_PROGRESS':
            self._gone.add(cluster.uuid)
            return
        super().delete_cluster(context, cluster)

    def update_cluster_status(self, context, cluster, use_admin_ctx=False):
        if cluster.uuid in self._gone:
            cluster.status = 'DELETE_COMPLETE'
            return
        super().update_cluster_status(context, cluster, use_admin_ctx)


class TemplatesLeft(parts.Seeded):
    """A template that nobody owns outlives its cluster."""

    def update_cluster_status(self, context, cluster, use_admin_ctx=False):
        super().update_cluster_status(context, cluster, use_admin_ctx)
        if cluster.status != 'DELETE_COMPLETE':
            return
        self._runtime().kube.apply({
            'kind': 'KubeadmConfigTemplate',
            'metadata': {'name': f'{cluster.stack_id}-left',
                         'namespace': parts.namespace(cluster)},
            'spec': {'template': {'spec': {}}}})
