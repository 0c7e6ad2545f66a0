# SPDX-License-Identifier: Apache-2.0

"""Deletes volumes of a cluster's claims, and security groups of its Services.

Their controllers were deleted with the machines of the cluster, so they would
leak. Cinder's CSI plugin and the cloud controller manager mark what they
create with the name of the cluster (cloud-provider-openstack,
pkg/csi/cinder/controllerserver.go and pkg/openstack/loadbalancer.go).
"""

import re

from openstack import exceptions as sdk_exceptions
from oslo_log import log as logging

from magnum_capi.driver.cloud import services

LOG = logging.getLogger(__name__)

#: Metadata of a volume; its value is the name of the cluster.
CLUSTER = 'cinder.csi.openstack.org/cluster'
#: Metadata of a volume that its owner keeps, if it is "true"; that of
#: cluster-api-janitor-openstack. The reclaim policy of a PersistentVolume is
#: not in Cinder.
KEEP = 'janitor.capi.azimuth-cloud.com/keep'
_FREE = ('available', 'error')
#: Answers of Cinder about one volume, after which the others are tried.
_REFUSED = (400, 403, 404, 409)


def delete(cloud: services.Services, cluster: str,
           project_id: str) -> tuple[str, ...]:
    """Delete the volumes of a cluster. Does not wait.

    One that its owner keeps stays. A volume that has snapshots, or is attached
    to a server (which cannot be the cluster's), is in use and stays; so does
    one that Cinder has failed to delete. What Cinder refuses is logged.

    :param cluster: name of the Cluster.
    :returns: ids of volumes that are still being detached from servers of the
        cluster; call again until there are none.
    """
    if not cloud.has('block-storage'):
        return ()
    cinder = cloud.proxy('block-storage')
    left = []
    with services.asking('the volumes of the cluster'):
        for volume in list(cinder.volumes(all_projects=True,
                                          project_id=project_id)):
            metadata = volume.metadata or {}
            if metadata.get(CLUSTER) != cluster or (
                    metadata.get(KEEP) == 'true'):
                continue
            if volume.status in _FREE:
                try:
                    cinder.delete_volume(volume.id)
                except sdk_exceptions.HttpException as e:
                    # It has snapshots, is in a group or being transferred.
                    if e.status_code not in _REFUSED:
                        raise
                    LOG.warning('Cluster %s: its volume %s stays: %s',
                                cluster, volume.id, e.details or e)
            elif volume.status == 'detaching':
                left.append(volume.id)
            elif volume.status == 'error_deleting':
                LOG.warning('Cluster %s: its volume %s stays: Cinder could '
                            'not delete it', cluster, volume.id)
    return tuple(left)


def delete_security_groups(cloud: services.Services, cluster: str,
                           project_id: str) -> tuple[()]:
    """Delete security groups of Services whose load balancers are gone.

    One that a port still uses stays: its load balancer is being deleted.

    :returns: nothing to wait for; a port may belong to a server that is not
        the cluster's.
    """
    if not cloud.has('network'):
        return ()
    neutron = cloud.proxy('network')
    text = re.compile(r'Security Group for \S+ Service LoadBalancer in '
                      r'cluster ' + re.escape(cluster))
    with services.asking('the security groups of the cluster'):
        for group in list(neutron.security_groups(project_id=project_id)):
            if text.fullmatch(group.description or ''):
                try:
                    neutron.delete_security_group(group.id)
                except sdk_exceptions.ConflictException:
                    pass
    return ()
