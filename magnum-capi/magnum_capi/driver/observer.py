# SPDX-License-Identifier: Apache-2.0

"""Reads a cluster from the management cluster.

======================= ======== =========================================
part                    requests what it is
======================= ======== =========================================
the Cluster             1
``control_plane``       1        of the kind that the Cluster names
``machine_deployments`` 1        all, however many node groups there are
``machine_sets``        1
``machines``            1 or 2   the OpenStackServers of those that are no
                                 nodes yet, too
``addons``              0 to 3   one for each kind that the server knows
``leftovers``           0 to 3   OpenStackCluster, OpenStackMachines; the
                                 DevCluster of a server that knows it
``templates``           0 to 3   metadata of those that Helm keeps: one for
                                 each kind that the server knows
``events``              1        Warnings
``release``             1 or 2   labels of Helm's Secrets, and the content of
                                 the last one if it failed
======================= ======== =========================================

A cluster is read whole before anything is changed or called complete. Between
two such times, and for its health, what the cache has is enough: the Cluster,
its control plane, MachineDeployments and Machines. ``leftovers`` are read when
the Cluster of a deletion is gone, and ``templates`` when nothing else is left.
"""

import dataclasses
import typing

from oslo_log import log as logging

from magnum_capi.driver.desired import names
from magnum_capi.driver.helm import releases
from magnum_capi.driver.observed import addons
from magnum_capi.driver.observed import conditions
from magnum_capi.driver.observed import deletion
from magnum_capi.driver.observed import machines
from magnum_capi.driver.observed import snapshot
from magnum_capi.kube import client
from magnum_capi.kube import kinds
from magnum_capi.kube import rest

LOG = logging.getLogger(__name__)

#: Label that both charts put on all their objects, and the one that the addon
#: operator puts on its own.
_CHART_CLUSTER = 'capi.stackhpc.com/cluster'
_ADDON_CLUSTER = 'addons.stackhpc.com/cluster'

_Objects: typing.TypeAlias = tuple[kinds.Object, ...]

_COUNTS = ('replicas', 'readyReplicas', 'availableReplicas',
           'upToDateReplicas')


def whole(kube: client.Kube, namespace: str, name: str,
          deleting: bool) -> snapshot.Snapshot:
    """Read all of a cluster.

    :param name: of the Cluster and of the release.
    :param deleting: whether its deletion was requested.
    """
    found = dataclasses.replace(
        cached(kube, namespace, name),
        events=tuple(kube.events(namespace, name)),
        release=releases.state(kube, namespace, name))
    if not deleting:
        return dataclasses.replace(
            found, addons=_addons(kube, namespace, name),
            machine_sets=_labelled(kube, namespace, name, 'MachineSet'))
    if found.cluster is None:
        found = dataclasses.replace(
            found, leftovers=_leftovers(kube, namespace, name))
    if not deletion.left(found) and found.release is None:
        found = dataclasses.replace(
            found, templates=templates(kube, namespace, name))
    return found


def cluster_api(kube: client.Kube) -> str | None:
    """Version of the installed core provider, None: unknown.

    Only clusterctl and the operator of Cluster API record it.
    """
    try:
        found = [one.get('version') for one in kube.list('Provider', None)
                 if one.get('type') == 'CoreProvider']
        found += [conditions.status(one).get('installedVersion')
                  for one in kube.list('CoreProvider', None)]
    except (rest.Forbidden, rest.NotServed) as e:
        LOG.info('The version of Cluster API is not known: %s', e)
        return None
    return next(filter(None, found), None)


def cached(kube: client.Kube, namespace: str,
           name: str) -> snapshot.Snapshot:
    """Read the parts of a cluster that the cache has.

    :param kube: the cache, or a client of the server.
    """
    cluster = kube.get('Cluster', namespace, name)
    found = _labelled(kube, namespace, name, 'Machine')
    return snapshot.Snapshot(
        cluster, control_plane(kube, namespace, name, cluster),
        _machine_deployments(kube, namespace, name), machines=found,
        servers={} if all(map(machines.is_node, found))
        else _servers(kube, namespace, name))


def control_plane(kube: client.Kube, namespace: str, name: str,
                  cluster: kinds.Object | None) -> kinds.Object | None:
    """The control plane of a cluster, None when there is none.

    :param name: of the release.
    :param cluster: the Cluster, which names its control plane. If it is None
        or names none: kubeadm's, as both charts make it.
    """
    ref = conditions.spec(cluster or {}).get('controlPlaneRef') or {}
    kind = ref.get('kind') or 'KubeadmControlPlane'
    found = kube.get(kind, namespace,
                     ref.get('name') or names.control_plane(name))
    return None if found is None else {'kind': kind, **found}


def is_busy(cluster: kinds.Object | None) -> bool:
    """Whether the Cluster itself shows that it is not finished.

    False means nothing: its numbers lag behind those of its parts. They exist
    since Cluster API 1.9, for v1beta1 readers under ``status.v1beta2``
    (docs/proposals/20240916-improve-status-in-CAPI-resources.md).
    """
    if cluster is None:
        return False
    metadata, status = cluster['metadata'], cluster.get('status') or {}
    if metadata.get('deletionTimestamp'):
        return True
    if status.get('observedGeneration', 0) < metadata.get('generation', 0):
        return True
    newer = status.get('v1beta2') or status
    for part in ('controlPlane', 'workers'):
        counts = newer.get(part)
        if not isinstance(counts, dict):
            continue
        desired = counts.get('desiredReplicas')
        if desired is not None and any(
                counts.get(key, desired) != desired for key in _COUNTS):
            return True
    return False


def _machine_deployments(kube: client.Kube, namespace: str, name: str
                         ) -> dict[str, kinds.Object]:
    start = f'{name}-'
    return {
        md['metadata']['name'].removeprefix(start): md
        for md in _labelled(kube, namespace, name, 'MachineDeployment')}


def _labelled(kube: client.Kube, namespace: str, name: str,
              kind: str) -> _Objects:
    return tuple(kube.list(kind, namespace, {names.CAPI_CLUSTER_NAME: name}))


def _servers(kube: client.Kube, namespace: str, name: str
             ) -> dict[str, kinds.Object]:
    try:
        return {server['metadata']['name']: server for server in _labelled(
            kube, namespace, name, 'OpenStackServer')}
    except rest.Forbidden:
        # The RBAC role may be from before they were read.
        return {}


def _addons(kube: client.Kube, namespace: str, name: str) -> _Objects:
    found: kinds.Objects = []
    for kind, label in (('HelmRelease', _CHART_CLUSTER),
                        ('Manifests', _CHART_CLUSTER),
                        ('HelmChartProxy', _ADDON_CLUSTER)):
        # Items of lists have no kind.
        found += [{'kind': kind, **addon}
                  for addon in kube.list(kind, namespace, {label: name})]
    return addons.of_cluster(found, name)


def _leftovers(kube: client.Kube, namespace: str, name: str
               ) -> _Objects:
    # Cluster API labels what it adopts; an infrastructure cluster that it has
    # not adopted is found by name.
    found: list[tuple[str, kinds.Object | None]] = [
        ('OpenStackMachine', obj) for obj in _labelled(
            kube, namespace, name, 'OpenStackMachine')]
    found += [(kind, kube.get(kind, namespace, name))
              for kind in ('OpenStackCluster', 'DevCluster')]
    return tuple({'kind': kind, **obj} for kind, obj in found if obj)


def templates(kube: client.Kube, namespace: str, name: str
              ) -> tuple[kinds.Object, ...]:
    """The templates that Helm made for a cluster, with their kinds.

    Cluster API adopts those that are in use, and removes them with the
    Cluster; nobody removes the others. Only their metadata are read.

    :param name: of the Cluster and of the release.
    """
    found = [{**obj, 'kind': kind}
             for kind in ('OpenStackMachineTemplate', 'KubeadmConfigTemplate',
                          'DevMachineTemplate')
             for obj in kube.list_metadata(
                 kind, namespace, {_CHART_CLUSTER: name})]
    return tuple(obj for obj in found if deletion.belongs(obj, name))
