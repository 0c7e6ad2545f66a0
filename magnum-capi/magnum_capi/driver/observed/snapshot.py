# SPDX-License-Identifier: Apache-2.0

"""The observed state, as one look found it.

A look at the management cluster costs requests, so a snapshot may be partial:
a part that was not read is ``UNSEEN``, which means neither "none" nor "good".
Nothing is judged complete based on a part that was not read.
"""

import collections.abc
import dataclasses
import typing

from magnum_capi.kube import kinds


class _Unseen:
    """Type of UNSEEN."""

    def __repr__(self) -> str:
        return 'UNSEEN'


_ByName: typing.TypeAlias = collections.abc.Mapping[str, kinds.Object]

_Objects: typing.TypeAlias = tuple[kinds.Object, ...]

#: Value of a part of a snapshot that was not read. Type annotations assume
#: that a part was read: call ``seen`` first if that is not certain.
UNSEEN: typing.Any = _Unseen()


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
    """What one look at the management cluster found.

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
    :param leftovers: of the infrastructure; read for a deletion.
    :param templates: metadata and kind of those that Helm keeps; read when
        a deletion has left nothing else.
    :param events: of the cluster's objects, in any order.
    :param release: None when Helm has none.
    """

    cluster: kinds.Object | None
    control_plane: kinds.Object | None = UNSEEN
    machine_deployments: _ByName = UNSEEN
    machine_sets: _Objects = UNSEEN
    machines: _Objects = UNSEEN
    servers: _ByName = dataclasses.field(default_factory=dict)
    addons: _Objects = UNSEEN
    leftovers: _Objects = UNSEEN
    templates: _Objects = UNSEEN
    events: _Objects = ()
    release: Release | None = UNSEEN

    def seen(self, part: str) -> bool:
        """Whether a part was read."""
        return getattr(self, part) is not UNSEEN

    @typing.overload
    def get(self, part: typing.Literal['control_plane'],
            default: None) -> kinds.Object | None:
        ...

    @typing.overload
    def get(self, part: typing.Literal['release'],
            default: None) -> Release | None:
        ...

    @typing.overload
    def get(self, part: typing.Literal['machine_deployments'],
            default: _ByName) -> _ByName:
        ...

    @typing.overload
    def get(self, part: typing.Literal['machines', 'addons', 'leftovers',
                                       'templates']) -> _Objects:
        ...

    def get(self, part: str, default: typing.Any = ()) -> typing.Any:
        """A part, or the default when it was not read or is None."""
        found = getattr(self, part)
        return default if found is UNSEEN or found is None else found
