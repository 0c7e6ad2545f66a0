# SPDX-License-Identifier: Apache-2.0

"""Which Kubernetes each release of Cluster API serves, in one table. Pure.

Cluster API accepts an unknown version of Kubernetes, and then a control plane
may never be ready. The table is that of the core provider, which counts for
the kubeadm providers, too (kubernetes-sigs/cluster-api,
docs/book/src/reference/versions.md, of the tags v1.9.11, v1.10.10, v1.11.9 and
v1.14.0).
"""

import dataclasses
import typing

from magnum_capi.driver.desired import versions


@dataclasses.dataclass(frozen=True)
class Served:
    """Minor releases of Kubernetes 1 that a release of Cluster API serves.

    :param first, last: of workload clusters, from its patch release 0 on.
    :param management: first of a management cluster.
    :param later: those that a patch release has added: its number by minor.
    :param patch: the last patch release that the table knows. A later one may
        serve more; None: there is none.
    """

    first: int
    management: int
    last: int
    later: typing.Mapping[int, int] = dataclasses.field(
        default_factory=dict)
    patch: int | None = None

    def newest(self, patch: int) -> int:
        """The newest minor that a patch release serves."""
        return max([self.last, *(minor for minor, since in self.later.items()
                                 if patch >= since)])

    def range(self, first: int, patch: int) -> str:
        """The minors from one to the newest that a patch release serves."""
        return f'1.{first} to 1.{self.newest(patch)}'

    def has(self, first: int, patch: int, minor: int) -> bool:
        """Whether a minor is one of these, or may be for all we know."""
        return first <= minor and (
            minor <= self.newest(patch)
            or self.patch is not None and patch > self.patch)


_TABLE = {
    (1, 9): Served(26, 28, 31, {32: 1}),
    (1, 10): Served(27, 29, 32, {33: 1}),
    (1, 11): Served(28, 30, 33, {34: 1}),
    (1, 12): Served(29, 31, 34, {35: 1, 36: 8}, 11),
    (1, 13): Served(30, 32, 35, {36: 1}, 5),
    (1, 14): Served(31, 33, 36, {}, 0),
}


def refusal(core: str | None, kubernetes: str) -> str:
    """Why Cluster API cannot serve a version; empty if it may be able to.

    :param core: version of the core provider; None: unknown.
    :param kubernetes: version of a control plane.
    """
    known = _known(core, kubernetes)
    if known is None:
        return ''
    release, served, version = known
    if served.has(served.first, release.patch, version.minor):
        return ''
    text = (f'Kubernetes {version} is not served by the installed Cluster API '
            f'{release}, which serves '
            f'{served.range(served.first, release.patch)}: choose an image of '
            'one of these')
    if version.minor < served.first:
        return text
    text += ', or have the operator upgrade Cluster API'
    since = served.later.get(version.minor)
    return text if since is None else (
        f'{text} to {release.major}.{release.minor}.{since}')


def management_refusal(core: str | None, kubernetes: str) -> str:
    """Why Cluster API cannot run there; empty if it may be able to.

    :param core: version of the core provider; None: unknown.
    :param kubernetes: version of the management cluster.
    """
    known = _known(core, kubernetes)
    if known is None:
        return ''
    release, served, version = known
    if served.has(served.management, release.patch, version.minor):
        return ''
    return (f'Cluster API {release} runs on Kubernetes '
            f'{served.range(served.management, release.patch)}, not on '
            f'{version}')


def served_by(core: str | None) -> str:
    """The minor releases that are served; empty: unknown."""
    if not versions.is_version(core):
        return ''
    release = versions.parse(core or '')
    served = _TABLE.get(release.release)
    return served.range(served.first, release.patch) if served else ''


_Known: typing.TypeAlias = tuple[versions.Version, Served, versions.Version]


def _known(core: str | None, kubernetes: str) -> _Known | None:
    if not (versions.is_version(core) and versions.is_version(kubernetes)):
        return None
    release, version = versions.parse(core or ''), versions.parse(kubernetes)
    served = _TABLE.get(release.release)
    return (release, served, version) if served else None
