# SPDX-License-Identifier: Apache-2.0

"""The features of each version of a chart, in one table.

The published chart renames values between its versions, and Helm silently
accepts names that a chart does not know: an allow-list under the old name has
no effect. The table was read from the tags of azimuth-cloud's
capi-helm-charts.
"""

import dataclasses
import typing

from magnum_capi.driver.desired import kubeadm
from magnum_capi.driver.desired import labels as label_rules
from magnum_capi.driver.desired import spec as spec_model
from magnum_capi.driver.desired import versions

SANDBOX = 'sandbox-cluster'
PUBLISHED = 'openstack-cluster'


@dataclasses.dataclass(frozen=True)
class Chart:
    """A chart, and where it comes from.

    :param name: name in the repository, oci:// reference, or a path.
    :param repository: URL, None for OCI and paths.
    :param version: None for a path.
    :param digest: of the content at a path that a cluster was made of, else
        None.
    """

    name: str
    repository: str | None = None
    version: str | None = None
    digest: str | None = None

    @property
    def is_path(self) -> bool:
        return self.name.startswith('/')

    @property
    def is_oci(self) -> bool:
        return self.name.startswith('oci://')

    def __str__(self) -> str:
        where = f' of {self.repository}' if self.repository else ''
        version = f' {self.version}' if self.version else ''
        return f'{self.name}{version}{where}'


@dataclasses.dataclass(frozen=True)
class Features:
    """What the driver must know about a chart.

    :param allowed_cidrs: keys of apiServer with the allow-list.
    :param dashboard: key of addons, None: the chart has no dashboard.
    :param ingress: ingress controllers.
    :param dns_inside: nameservers are read from
        clusterNetworking.internalNetwork. The published chart always did so,
        although its documentation named clusterNetworking (before 0.16).
    :param autoscale_min: smallest machineCountMin that the chart accepts.
    :param kubeadm: whether the chart accepts settings for kubeadm, OIDC and
        addons of other kinds.
    :param server_groups: whether nodes can be in server groups.
    :param expiry: whether the control plane is rolled out before its
        certificates expire.
    :param reloader: whether the chart can restart addons that use the
        credential when it changes.
    :param outdated: whether it may only stay where it is. Its API servers have
        a flag that Kubernetes 1.33 does not (``--cloud-provider``, before
        0.15.0), or wait for Keystone's webhook, which runs in the cluster
        that waits for them (since 1.29; pull request 600 of
        capi-helm-charts).
    """

    allowed_cidrs: tuple[str, ...]
    dashboard: str | None
    ingress: tuple[str, ...]
    dns_inside: bool
    autoscale_min: int = 0
    kubeadm: bool = True
    expiry: bool = False
    server_groups: bool = True
    reloader: bool = False
    outdated: bool = False


#: The oldest version for new clusters and upgrades.
_PRESENT = '0.16.1'

#: The version of openstack-cluster that introduced each feature. Older ones
#: make objects of infrastructure.cluster.x-k8s.io/v1alpha7, which the provider
#: no longer serves.
_SINCE: tuple[tuple[str, dict[str, typing.Any]], ...] = (
    ('0.11.0', {'allowed_cidrs': ('allowedCidrs',),
                'dashboard': 'kubernetesDashboard', 'ingress': ('nginx',),
                'dns_inside': True, 'autoscale_min': 1, 'outdated': True}),
    (_PRESENT, {'outdated': False}),
    ('0.17.0', {'reloader': True}),
    ('0.20.0', {'dashboard': None}),
    ('0.23.0', {'ingress': ('nginx', 'traefik')}),
    ('0.24.0', {'allowed_cidrs': ('allowedCIDRs',)}),
    ('0.26.0', {'autoscale_min': 0}),
    # After 0.27.0, the newest tag when this was read.
    ('0.27.1-0', {'dashboard': 'headlamp', 'expiry': True}),
)
OLDEST = _SINCE[0][0]

_SANDBOX = Features(('allowedCIDRs',), None, ('nginx',), dns_inside=False,
                    kubeadm=False)


def features(name: str, version: str | None = None) -> Features:
    """Features of a chart.

    :param name: its name, path or oci:// reference; the part after the last
        slash counts.
    :param version: None: unknown, like that of a folder. Then it counts as
        the newest, and the allow-list is given under both names.
    :raises spec.InvalidSpec: the version is invalid or too old.
    """
    if name.rstrip('/').rpartition('/')[2] == SANDBOX:
        return _SANDBOX
    found: dict[str, typing.Any] = {}
    all_cidrs: tuple[str, ...] = ()
    wanted = _version(name, version) if version else None
    for since, changes in _SINCE:
        if wanted and wanted < versions.parse(since):
            break
        found |= changes
        all_cidrs += changes.get('allowed_cidrs', ())
    if not found:
        raise spec_model.InvalidSpec([
            f'chart {name} {version} is too old, {OLDEST} is the oldest that '
            'can be used'])
    if not wanted:
        found['allowed_cidrs'] = all_cidrs
    return Features(**found)


def version_of(metadata: object) -> str | None:
    """Version of a chart that is a folder or package; None: unknown.

    In a checkout of the published chart it is 0.1.0.

    :param metadata: content of its Chart.yaml.
    """
    if not isinstance(metadata, dict) or metadata.get('name') != PUBLISHED:
        return None
    version = str(metadata.get('version'))
    known = versions.is_version(version) and (
        versions.parse(version) >= versions.parse(OLDEST))
    return version if known else None


def refusals(labels: label_rules.Labels,
             chart: Features) -> tuple[str, ...]:
    """What labels request but a chart does not support."""
    found = []
    # If it is only a default, the cluster has no dashboard.
    if (labels.kube_dashboard_enabled and not chart.dashboard
            and 'kube_dashboard_enabled' in labels.explicit):
        found.append('label kube_dashboard_enabled: this version of the chart '
                     'has no dashboard')
    if labels.ingress_controller not in ('none', *chart.ingress):
        found.append(
            f'label ingress_controller: {labels.ingress_controller} is not in '
            f'this version of the chart, only {" and ".join(chart.ingress)}')
    if (not chart.expiry and labels.certificates_expiry_days
            and 'certificates_expiry_days' in labels.explicit):
        found.append('label certificates_expiry_days: this version of the '
                     'chart does not take it')
    if (not chart.server_groups and labels.server_group_policies not in (
            None, 'none') and 'server_group_policies' in labels.explicit):
        found.append('label server_group_policies: this chart does not take '
                     'it')
    if not chart.kubeadm:
        found += [f'label {name}: this chart does not take it'
                  for name in (*kubeadm.LABELS, 'oidc_issuer_url',
                               'cilium_hubble_ui_enabled',
                               'manila_csi_enabled')
                  if name in labels.explicit and getattr(labels, name)]
    return tuple(found)


def unfit(chart: Features) -> tuple[str, ...]:
    """Why a control plane of this chart might never be ready.

    For a chart that is chosen now, not for that of a running cluster.
    """
    if not chart.outdated:
        return ()
    return (f'this version of the chart can only be kept; {_PRESENT} is the '
            'oldest for new clusters and upgrades',)


def _version(name: str, version: str) -> versions.Version:
    try:
        return versions.parse(version)
    except ValueError as e:
        raise spec_model.InvalidSpec([f'chart {name}: {e}']) from None
