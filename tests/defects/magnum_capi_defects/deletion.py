# SPDX-License-Identifier: Apache-2.0

"""Defects of a deletion."""

import time

from magnum_capi import waiting
from magnum_capi_defects import doors
from magnum_capi_defects import taps

#: Additional seconds of a slow deletion.
LONGER = 70


@taps.seen_by('ClusterLifecycleTest.test_create_use_resize_delete', '!=')
class CredentialLeft(taps.Tapped):
    """The application credential outlives its cluster."""

    def sends(self, method, cluster, request):
        if (request.method == 'DELETE' and cluster.status.startswith('DELETE')
                and '/application_credentials/' in request.path):
            return doors.Answer(204, b'')


@taps.seen_by('ClusterLifecycleTest.test_create_use_resize_delete',
              'nothing to be left of cluster.*Secret')
class SecretsLeft(taps.Tapped):
    """The Secrets of a cluster outlive it in the management cluster."""

    def sends(self, method, cluster, request):
        if (request.method == 'DELETE' and cluster.status.startswith('DELETE')
                and '/secrets' in request.path):
            return doors.Answer()


@taps.seen_by('ClusterLifecycleTest.test_create_use_resize_delete',
              'to be deleted.*DELETE_IN_PROGRESS', build_timeout='60')
class DeletesSlowly(taps.Tapped):
    """Magnum learns much later that a cluster is gone."""

    _gone = {}

    def saves(self, method, cluster, row):
        if taps.is_cluster(row) and row.status == 'DELETE_COMPLETE':
            since = self._gone.setdefault(row.uuid, time.monotonic())
            if time.monotonic() - since < LONGER:
                row.status = 'DELETE_IN_PROGRESS'


@taps.seen_by('ClusterLifecycleTest.test_create_use_resize_delete',
              'nothing to be left of cluster')
class MachinesLeft(taps.Tapped):
    """A cluster is only deleted in Magnum: its machines keep running."""

    def delete_cluster(self, context, cluster):
        """Nothing."""

    def update_cluster_status(self, context, cluster, use_admin_ctx=False):
        if cluster.status == 'DELETE_IN_PROGRESS':
            cluster.status = 'DELETE_COMPLETE'
            return
        super().update_cluster_status(context, cluster, use_admin_ctx)


@taps.seen_by('DeleteDuringCreateTest.test_nothing_is_left', 'to be deleted')
class DeletionLost(taps.Tapped):
    """A deletion during the creation never ends; a second one does."""

    _lost = set()

    def delete_cluster(self, context, cluster):
        if cluster.status == 'CREATE_IN_PROGRESS':
            self._lost.add(cluster.uuid)
            return
        self._lost.discard(cluster.uuid)
        super().delete_cluster(context, cluster)

    def update_cluster_status(self, context, cluster, use_admin_ctx=False):
        if cluster.uuid not in self._lost:
            super().update_cluster_status(context, cluster, use_admin_ctx)


@taps.seen_by('DeleteDuringCreateTest.test_nothing_is_left',
              'nothing to be left of cluster')
class CreationOutlives(taps.Tapped):
    """A deletion during the creation is complete before it has begun."""

    _gone = set()

    def delete_cluster(self, context, cluster):
        if cluster.status == 'CREATE_IN_PROGRESS':
            # Otherwise the creation stops, and nothing is made.
            waiting.wait_for(
                lambda: self._is_made(cluster), timeout=30,
                done=bool, what='the Cluster of a creation')
            self._gone.add(cluster.uuid)
            return
        super().delete_cluster(context, cluster)

    def _is_made(self, cluster):
        cluster.refresh()
        return cluster.stack_id and taps.of_cluster(cluster, 'clusters')

    def update_cluster_status(self, context, cluster, use_admin_ctx=False):
        if cluster.uuid in self._gone:
            cluster.status = 'DELETE_COMPLETE'
            return
        super().update_cluster_status(context, cluster, use_admin_ctx)


@taps.seen_by('ClusterLifecycleTest.test_create_use_resize_delete',
              'nothing to be left of cluster.*KubeadmConfigTemplate')
class TemplatesLeft(taps.Tapped):
    """A template that nobody owns outlives its cluster."""

    def delete_cluster(self, context, cluster):
        for found in taps.of_cluster(cluster, 'clusters'):
            group = f'bootstrap.{taps.CAPI}'
            version = taps.kube('GET', f'/apis/{group}')['preferredVersion'][
                'groupVersion']
            namespace = found['metadata']['namespace']
            taps.kube('POST', f'/apis/{version}/namespaces/{namespace}/'
                      'kubeadmconfigtemplates', {
                          'apiVersion': version,
                          'kind': 'KubeadmConfigTemplate',
                          'metadata': {'name': f'{cluster.stack_id}-left'},
                          # One without properties is refused.
                          'spec': {'template': {'spec': {
                              'format': 'cloud-config'}}}})
        super().delete_cluster(context, cluster)
