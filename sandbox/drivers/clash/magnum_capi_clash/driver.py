# SPDX-License-Identifier: Apache-2.0
"""magnum-capi-helm's driver under other names, each with one peculiarity."""

from magnum.common import exception
from magnum_capi_helm import driver
from magnum_capi_helm import driver_utils
from magnum_capi_helm import helm

#: Prefix of the stack ids (Helm releases) of Alias.
PREFIX = 'alias-'

#: Annotation of the Clusters of Alias, a value in each revision of a release.
ANNOTATIONS = {'magnum-capi-clash/driver': 'k8s_capi_alias_v1'}

#: Suffix of the Secret that Alias makes when it deletes a cluster.
DELETION = '-alias-deletion'


def _types(*distros):
    return [{'server_type': 'vm', 'os': distro, 'coe': 'kubernetes'}
            for distro in distros]


def _guarded(name):
    """The inherited operation, only for clusters of Alias."""
    inherited = getattr(driver.Driver, name)

    def operation(self, context, cluster, *args, **kwargs):
        # A cluster without a stack id is new.
        if cluster.stack_id and not cluster.stack_id.startswith(PREFIX):
            raise exception.NotSupported(
                f'{name}: k8s_capi_alias_v1 has not made the cluster '
                f'{cluster.uuid} (stack {cluster.stack_id})')
        return inherited(self, context, cluster, *args, **kwargs)

    return operation


class _MarkingHelm(helm.Client):
    """Helm that writes in every revision which driver has run it."""

    def install_or_upgrade(self, release_name, chart_ref, *values, **kwargs):
        return super().install_or_upgrade(
            release_name, chart_ref, *values,
            {'clusterAnnotations': ANNOTATIONS}, **kwargs)


class Alias(driver.Driver):
    """A second driver for a cluster type, with clusters of both side by side.

    magnum-capi-helm accepts every cluster. This driver only accepts its own,
    and marks what it does (``driver_marks`` in tempest.conf), so that a test
    notices when Magnum calls the wrong driver.
    """

    provides = _types('ubuntu', 'rocky', 'debian')

    def __init__(self):
        super().__init__()
        self._helm_client = _MarkingHelm()

    update_cluster_status = _guarded('update_cluster_status')
    update_cluster = _guarded('update_cluster')
    resize_cluster = _guarded('resize_cluster')
    upgrade_cluster = _guarded('upgrade_cluster')
    create_nodegroup = _guarded('create_nodegroup')
    update_nodegroup = _guarded('update_nodegroup')
    delete_nodegroup = _guarded('delete_nodegroup')
    rotate_credential = _guarded('rotate_credential')

    def delete_cluster(self, context, cluster):
        if (cluster.stack_id or '').startswith(PREFIX):
            # It has the labels by which all Secrets of a cluster are deleted.
            self._k8s_client.apply_secret(
                f'{cluster.stack_id}{DELETION}',
                {'metadata': {'labels': self._k8s_resource_labels(cluster)}},
                driver_utils.cluster_namespace(cluster))
        _guarded('delete_cluster')(self, context, cluster)

    def _generate_release_name(self, cluster):
        if cluster.stack_id:
            return
        super()._generate_release_name(cluster)
        name, _, random = cluster.stack_id.rpartition('-')
        # No longer than magnum-capi-helm's: host names are made of it.
        cluster.stack_id = f'{PREFIX}{name[:30 - len(PREFIX)]}-{random}'
        cluster.save()


class Beta(driver.Driver):
    """Shadows Alias for rocky, and must be enabled."""

    beta = True
    provides = _types('rocky')


class Disabled(driver.Driver):
    """[drivers]disabled_drivers names it."""

    provides = _types('ubuntu')


class Lenient(driver.Driver):
    """Shadows Alias for debian, and validates nothing."""

    provides = _types('debian')

    def validate_master_size(self, node_count):
        pass
