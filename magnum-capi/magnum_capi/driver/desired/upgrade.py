# SPDX-License-Identifier: Apache-2.0

"""Rules for upgrades to another template. Pure.

Magnum compares neither drivers nor versions. A refusal must come before
anything is changed, as ``exception.NotSupported``: the API then answers 400
and the status stays (magnum/conductor/handlers/cluster_conductor.py). An
upgrade is refused if it cannot be undone or cannot work; the refusal lists all
problems at once.
"""

import dataclasses
import types
import typing

from magnum_capi.driver.desired import cluster_api
from magnum_capi.driver.desired import versions

#: Minors that a kubelet may be older than its API server; never newer
#: (https://kubernetes.io/releases/version-skew-policy/#kubelet, since 1.28).
KUBELET_MINORS = 3
#: Before that.
_KUBELET_MINORS_OLD = 2
_KUBELET_MINORS_SINCE = (1, 28)

#: Minors that a control plane may go forward at once
#: (https://kubernetes.io/releases/version-skew-policy/, "Supported component
#: upgrade order": skipping minor versions is unsupported; so is kubeadm).
STEP = 1


@dataclasses.dataclass(frozen=True)
class Template:
    """A cluster template, and what its row does not say.

    :param row: Magnum's.
    :param driver: name of the driver that serves it, even if Magnum selects
        it by the type of cluster; None when there is none.
    :param kube_version: property of its image, None when it has none.
    :param problem: why its image cannot be used; empty: it can.
    """

    row: typing.Any
    driver: str | None
    kube_version: str | None
    problem: str = ''


#: Fields of templates that an existing cluster cannot change, and why. Without
#: those that have no effect: master_lb_enabled, volume_driver.
FIXED = {
    'driver': 'another driver does not know the cluster',
    'coe': 'it is another kind of cluster',
    'server_type': 'machines are made differently',
    'network_driver': 'the network of running pods cannot be replaced',
    'external_network_id': 'addresses are taken from it',
    'fixed_network': 'machines and load balancers are in it',
    'fixed_subnet': 'machines and load balancers are in it',
    'tls_disabled': 'certificates are made at creation',
}


def refusals(present: Template, target: Template, running: str | None,
             pinned: typing.Mapping[str, str] = types.MappingProxyType({}),
             core: str | None = None) -> list[str]:
    """Why a cluster cannot be upgraded; empty when it can.

    :param present: the cluster's present template.
    :param target: the template to upgrade to.
    :param running: version of its control plane, None when unknown.
    :param pinned: Kubernetes versions of node groups with their own image,
        which an upgrade of the cluster does not change, by their names.
    :param core: version of Cluster API, None when unknown.
    :returns: one text per problem.
    """
    return [
        *_fixed(present, target),
        *_image(target),
        *_versions(present, target, running, pinned, core),
    ]


def skew(control_plane: str, workers: str) -> str:
    """Why workers cannot run with a control plane; empty when they can.

    :param control_plane: version of the control plane.
    :param workers: version of the workers' image.
    """
    try:
        plane = versions.parse(control_plane)
        kubelet = versions.parse(workers)
    except ValueError as problem:
        return str(problem)
    if kubelet.major != plane.major:
        return f'{kubelet} and {plane} are of different major versions'
    if kubelet > plane:
        return (f'workers of {kubelet} would be newer than the control plane '
                f'of {plane}')
    allowed = (KUBELET_MINORS if kubelet.release >= _KUBELET_MINORS_SINCE
               else _KUBELET_MINORS_OLD)
    if plane.minor - kubelet.minor > allowed:
        return (f'workers of {kubelet} would be more than {allowed} minor '
                f'versions older than the control plane of {plane}')
    return ''


def _fixed(present: Template, target: Template) -> list[str]:
    found = []
    for field, why in FIXED.items():
        old, new = (template.driver if field == 'driver' else getattr(
            template.row, field) for template in (present, target))
        if old != new:
            found.append(
                f'{field} cannot change from {_quote(old)} to {_quote(new)}: '
                f'{why}')
    return found


def _image(target: Template) -> list[str]:
    version, tag = target.kube_version, (target.row.labels or {}).get(
        'kube_tag')
    if target.problem:
        return [f'the template: {target.problem}']
    if not version:
        return [f'image {target.row.image_id} of the template has no property '
                'kube_version']
    if tag and not _same(tag, version):
        return [f'the label kube_tag of the template says {tag}, but its '
                f'image {target.row.image_id} has kube_version {version}']
    return []


def _versions(present: Template, target: Template, running: str | None,
              pinned: typing.Mapping[str, str],
              core: str | None) -> list[str]:
    new_text = target.kube_version
    old_text = running or present.kube_version
    if not new_text:
        return []
    try:
        new = versions.parse(new_text)
    except ValueError as problem:
        return [f'kube_version of image {target.row.image_id}: {problem}']
    found = []
    if old_text:
        found += _step(old_text, new)
    if not old_text or not _same(old_text, new_text):
        found += filter(None, [cluster_api.refusal(core, new_text)])
    for name, version in pinned.items():
        why = skew(new_text, version)
        if why:
            found.append(
                f'node group {name}: {why}; upgrade or remove it first')
    return found


def _step(old_text: str, new: versions.Version) -> list[str]:
    try:
        old = versions.parse(old_text)
    except ValueError as problem:
        return [f'version of the cluster: {problem}']
    if new < old:
        return [f'{new} is older than {old}: a control plane cannot be '
                'downgraded']
    if new.major != old.major or new.minor - old.minor > STEP:
        return [f'{new} is more than one minor version newer than {old}: '
                f'upgrade to {old.major}.{old.minor + 1} first']
    return []


def _same(one: str, other: str) -> bool:
    try:
        return versions.parse(one) == versions.parse(other)
    except ValueError:
        return one == other


def _quote(value: typing.Any) -> str:
    return 'nothing' if value is None else f'"{value}"'
