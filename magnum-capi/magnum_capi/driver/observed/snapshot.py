# SPDX-License-Identifier: Apache-2.0

"""What is there, as one look found it.

A look at the management cluster costs requests, so a snapshot may be partial:
a part that was not read is ``UNSEEN``, which is neither "none" nor "well".
Nothing is judged complete on a part that nobody looked at.
"""

import collections.abc
import dataclasses


class _Unseen:
    """Type of UNSEEN."""

    def __repr__(self):
        return 'UNSEEN'


#: Value of a part of a snapshot that was not read.
UNSEEN = _Unseen()


@dataclasses.dataclass(frozen=True)
class Release:
    """State of a Helm release.

    :param status: as Helm says it (Helm 3, pkg/release/status.go):
        ``deployed``, ``failed``, ``pending-install``, ``pending-upgrade``,
        ``pending-rollback``, ``uninstalling``, ``uninstalled``,
        ``superseded``, ``unknown``.
    :param revision: number of the last revision.
    :param digest: of the chart and values that were applied, if known.
    :param description: Helm's text about the last revision.
    """

    status: str
    revision: int = 0
    digest: str | None = None
    description: str = ''


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """What one look at the management cluster found: plain dicts.

    :param cluster: the Cluster, None when there is none.
    :param control_plane: the KubeadmControlPlane, None when there is none.
    :param machine_deployments: by node group name as in Kubernetes
        (``names.node_group``).
    :param machine_sets: all of the cluster. They tell which template each
        machine was made of, exactly and at once.
    :param machines: all of the cluster.
    :param addons: HelmReleases, Manifests, HelmChartProxies of the cluster.
    :param leftovers: of the infrastructure; read for a deletion.
    :param templates: metadata and kind of those that Helm keeps; read when
        a deletion has left nothing else.
    :param events: of the cluster's objects, any order.
    :param release: None when Helm knows none.
    """

    cluster: dict | None
    control_plane: dict | None = UNSEEN
    machine_deployments: collections.abc.Mapping = UNSEEN
    machine_sets: tuple = UNSEEN
    machines: tuple = UNSEEN
    addons: tuple = UNSEEN
    leftovers: tuple = UNSEEN
    templates: tuple = UNSEEN
    events: tuple = ()
    release: Release | None = UNSEEN

    def seen(self, part) -> bool:
        """Whether a part was read."""
        return getattr(self, part) is not UNSEEN

    def get(self, part, default=()):
        """A part, or the default when it was not read or is None."""
        found = getattr(self, part)
        return default if found is UNSEEN or found is None else found
