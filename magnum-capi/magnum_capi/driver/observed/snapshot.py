# SPDX-License-Identifier: Apache-2.0

"""The observed state: what the management cluster had when it was read."""

import collections.abc
import dataclasses
import typing

from magnum_capi.kube import kinds


_ByName: typing.TypeAlias = collections.abc.Mapping[str, kinds.Object]

_Objects: typing.TypeAlias = tuple[kinds.Object, ...]


@dataclasses.dataclass(frozen=True)
class Release:
    """State of a Helm release.

    :param status: Helm's term (Helm 3, pkg/release/status.go):
        ``deployed``, ``failed``, ``pending-install``, ``pending-upgrade``,
        ``pending-rollback``, ``uninstalling``, ``uninstalled``,
        ``superseded``, ``unknown``.
    :param digest: of the applied chart and values, if known.
    :param description: why the last revision failed, in one line, if known.
    """

    status: str
    digest: str | None = None
    description: str = ''


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """What was read of a cluster.

    :param cluster: the Cluster, None when there is none.
    :param control_plane: of any kind; None when there is none.
    :param machine_deployments: by node group name as in Kubernetes
        (``names.node_group``).
    :param machine_sets: all of the cluster. They show, exactly and without
        delay, from which template each machine was made.
    :param machines: all of the cluster.
    :param servers: OpenStackServers by name; empty when all machines are
        nodes, or when the provider has no such kind.
    :param addons: HelmReleases, Manifests, HelmChartProxies of the cluster.
    :param leftovers: of the infrastructure, when the Cluster of a deletion is
        gone.
    :param templates: metadata and kind of those that Helm keeps, when a
        deletion has left nothing else.
    :param events: of the cluster's objects, in any order.
    :param release: None when Helm has none.
    """

    cluster: kinds.Object | None
    control_plane: kinds.Object | None = None
    machine_deployments: _ByName = dataclasses.field(default_factory=dict)
    machine_sets: _Objects = ()
    machines: _Objects = ()
    servers: _ByName = dataclasses.field(default_factory=dict)
    addons: _Objects = ()
    leftovers: _Objects = ()
    templates: _Objects = ()
    events: _Objects = ()
    release: Release | None = None
