# SPDX-License-Identifier: Apache-2.0

"""Requests that are accepted in error, or refused in error."""

import dataclasses

from magnum.common import exception

from magnum_capi.driver import store
from magnum_capi_defects import parts

#: A version for images that do not say theirs.
GUESSED = 'v1.34.2'


class ImageVersionGuessed(parts.Seeded):
    """An image without a version counts as one of some version."""

    class Store(store.Store):

        @property
        def cloud(self):
            return _Guessing(super().cloud)


class _Guessing:
    """A cloud whose images all have a version."""

    def __init__(self, cloud):
        self._cloud = cloud

    def __getattr__(self, name):
        return getattr(self._cloud, name)

    def image(self, reference):
        found = self._cloud.image(reference)
        return dataclasses.replace(
            found, kube_version=found.kube_version or GUESSED)


class MalformedLabelIgnored(parts.Seeded):
    """A label that is no boolean counts as not set."""

    class Store(store.Store):

        def reload(self, cluster):
            found = super().reload(cluster)
            cluster.labels = {
                name: text for name, text in (cluster.labels or {}).items()
                if not name.endswith('_enabled')
                or text.lower() in ('true', 'false')}
            cluster.obj_reset_changes(['labels'])
            return found


class AnyNetworkDriver(parts.Seeded):
    """A network driver that the chart does not have counts as calico."""

    class Store(store.Store):

        def template(self, uuid):
            found = super().template(uuid)
            if found.network_driver == 'flannel':
                found.network_driver = 'calico'
            return found


class ExternalNetworkNeeded(parts.Seeded):
    """A cluster without an external network is refused."""

    def create_cluster(self, context, cluster, cluster_create_timeout):
        template = self._store(context, cluster).template(
            cluster.cluster_template_id)
        if not template.external_network_id:
            raise exception.MagnumException('external_network_id is missing')
        super().create_cluster(context, cluster, cluster_create_timeout)


class GroupNamesRefused(parts.Seeded):
    """Names of node groups are those of Kubernetes, of three letters."""

    def create_nodegroup(self, context, cluster, nodegroup):
        name = nodegroup.name
        if len(name) < 3 or not name.replace('-', '').isalnum():
            raise exception.MagnumException(f'{name}: no name of a group')
        super().create_nodegroup(context, cluster, nodegroup)


class MinimumNeeded(parts.Seeded):
    """A node group without a minimum of nodes is refused."""

    def create_nodegroup(self, context, cluster, nodegroup):
        if not nodegroup.min_node_count:
            raise exception.MagnumException('min_node_count is missing')
        super().create_nodegroup(context, cluster, nodegroup)
