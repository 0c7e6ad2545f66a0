# SPDX-License-Identifier: Apache-2.0

"""Deletes load balancers that Services of a cluster left behind.

Cluster API deletes the machines, and with them the cloud controller manager
that would have deleted the load balancers. Their ports keep the cluster's
network from being deleted.
"""

import collections.abc
import re
import typing

from openstack import exceptions as sdk_exceptions

from magnum_capi.driver.cloud import services

#: States in which Octavia refuses changes of a load balancer.
_IMMUTABLE = ('PENDING_CREATE', 'PENDING_UPDATE', 'PENDING_DELETE')


def delete(cloud: services.Services, cluster: str,
           project_id: str) -> tuple[str, ...]:
    """Delete load balancers and floating IPs of a cluster's Services.

    Only those of the project that have the name and description that
    cloud-provider-openstack uses for this cluster, and that no other cluster
    shares. A floating IP that is no longer one of such a load balancer stays:
    its owner keeps it (annotation ``loadbalancer.openstack.org/
    keep-floatingip`` of a Service) or uses it elsewhere. Does not wait.

    :param cluster: name of the cluster for its cloud controller manager, which
        is that of the Cluster.
    :returns: names of the load balancers that still exist; call again until
        there are none.
    """
    if not cloud.has('load-balancer'):
        return ()
    octavia = cloud.proxy('load-balancer')
    with services.asking('the load balancers of the cluster'):
        found = [balancer for balancer in octavia.load_balancers(
            project_id=project_id) if is_of_cluster(balancer, cluster)
            and balancer.provisioning_status != 'DELETED']
    # Before their ports go, which show whose they are.
    _delete_floating_ips(cloud, cluster, project_id, {
        balancer.vip_port_id for balancer in found if balancer.vip_port_id})
    with services.asking('the load balancers of the cluster'):
        for balancer in found:
            if balancer.provisioning_status in _IMMUTABLE:
                continue
            try:
                octavia.delete_load_balancer(balancer.id, cascade=True)
            except sdk_exceptions.ConflictException:
                # It has just become immutable.
                pass
    return tuple(balancer.name for balancer in found)


def _delete_floating_ips(cloud: services.Services, cluster: str,
                         project_id: str,
                         ports: collections.abc.Container[str]) -> None:
    """Delete floating IPs of Services.

    :param ports: ids of ports of load balancers that are deleted.
    """
    if not ports:
        return
    neutron = cloud.proxy('network')
    with services.asking('the floating IPs of the cluster'):
        for address in list(neutron.ips(project_id=project_id)):
            if (_address_text(cluster).fullmatch(address.description or '')
                    and address.port_id in ports):
                neutron.delete_ip(address.id)


def is_of_cluster(balancer: typing.Any, cluster: str) -> bool:
    """Whether a load balancer belongs only to Services of this cluster.

    cloud-provider-openstack, pkg/openstack/loadbalancer.go: the name is
    ``kube_service_<cluster>_<namespace>_<service>``, the description
    ``Kubernetes external service <namespace>/<service> from cluster
    <cluster>``, and the tags are the names of all Services that use it.
    """
    start = f'kube_service_{cluster}_'
    return ((balancer.name or '').startswith(start)
            and _balancer_text(cluster).fullmatch(balancer.description or '')
            is not None
            and all(tag.startswith(start) for tag in balancer.tags or ()
                    if tag.startswith('kube_service_')))


def _balancer_text(cluster: str) -> re.Pattern[str]:
    return re.compile(r'Kubernetes external service \S+ from cluster '
                      + re.escape(cluster))


def _address_text(cluster: str) -> re.Pattern[str]:
    return re.compile(r'Floating IP for Kubernetes external service \S+ from '
                      r'cluster ' + re.escape(cluster))
