# SPDX-License-Identifier: Apache-2.0

"""Finds abnormal conditions of an object. Pure."""

import dataclasses

from magnum_capi_tempest import json_types

#: Kinds whose conditions explain why a cluster is not ready.
EXPLAINING = (
    'Cluster', 'KubeadmControlPlane', 'MachineDeployment', 'Machine',
    'OpenStackCluster', 'OpenStackMachine', 'OpenStackServer', 'HelmRelease',
    'Manifests')

#: Conditions that should be False. Cluster API 1.14,
#: api/core/v1beta2/*_types.go; all v1beta1 conditions should be True.
_WELL_WHEN_FALSE = frozenset((
    'Deleting', 'Paused', 'Remediating', 'RollingOut', 'ScalingDown',
    'ScalingUp', 'Updating'))

#: Phases of addons that are normal.
_WELL_PHASES = frozenset(('Deployed', 'Provisioned', 'Running'))


@dataclasses.dataclass(frozen=True, order=True)
class Condition:
    """An abnormal condition."""

    kind: str
    name: str
    type: str
    status: str
    reason: str
    message: str

    def __str__(self) -> str:
        why = ': '.join(t for t in (self.reason, self.message) if t)
        return (f'{self.kind} {self.name} {self.type}={self.status}'
                + (f' ({why})' if why else ''))


def bad(kind: str, obj: json_types.Object) -> list[Condition]:
    """Return the abnormal conditions of an object.

    All conditions of a Node but Ready are pressures and faults, which should
    be False, also those that others add to the kubelet's.

    Supports both forms of Cluster API: ``status.conditions`` is v1beta1 or
    v1beta2, depending on the version of the API that answered; with v1beta1,
    the newer ones are under ``status.v1beta2``
    (docs/proposals/20240916-improve-status-in-CAPI-resources.md).

    :returns: sorted list of Condition.
    """
    name = obj['metadata']['name']
    status = obj.get('status') or {}
    conditions = (status.get('conditions') or []) + (
        (status.get('v1beta2') or {}).get('conditions') or [])
    found = {
        Condition(kind, name, c['type'], c['status'], c.get('reason') or '',
                  ' '.join((c.get('message') or '').split()))
        for c in conditions
        if c['status'] != (
            'False' if c['type'] in _WELL_WHEN_FALSE
            or kind == 'Node' and c['type'] != 'Ready' else 'True')}
    phase = status.get('phase')
    if (kind in ('HelmRelease', 'Manifests') and phase
            and phase not in _WELL_PHASES):
        found.add(Condition(kind, name, 'phase', phase, '',
                            status.get('failureMessage') or ''))
    return sorted(found)
