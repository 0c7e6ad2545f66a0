# SPDX-License-Identifier: Apache-2.0

"""Reads objects of Cluster API in both of their API versions.

The same object differs between v1beta1 and v1beta2: conditions of the new
vocabulary are under ``status.v1beta2`` in the old version, those of the old
one under ``status.deprecated.v1beta1`` in the new (Cluster API 1.14,
api/core/v1beta1 and v1beta2, ``*_types.go``). Older releases only have the old
vocabulary. Callers need not care: these functions use the newest vocabulary
that exists.
"""

import collections.abc
import dataclasses
import re

from magnum_capi.kube import kinds

#: Conditions that are good when False (Cluster API 1.14,
#: api/core/v1beta2/condition_consts.go and machine_types.go). All of the old
#: vocabulary are good when True.
WELL_WHEN_FALSE = frozenset((
    'Deleting', 'Paused', 'Remediating', 'RollingOut', 'ScalingDown',
    'ScalingUp', 'Updating'))

#: These sum up others, which are more specific.
_SUMMARIES = ('Available', 'Ready')

_FIRST_BULLET = re.compile(r'(^|:)\s*\*\s+')
_BULLET = re.compile(r'\s+\*\s+')


@dataclasses.dataclass(frozen=True)
class Condition:
    """A condition of an object, of either vocabulary."""

    type: str
    status: str
    reason: str = ''
    message: str = ''

    @property
    def well(self) -> bool:
        """Whether the condition has the value that it should finally have.

        "Unknown" is good where False is: such conditions report work, and
        none is known.
        """
        if self.type in WELL_WHEN_FALSE:
            return self.status != 'True'
        return self.status == 'True'

    def __str__(self) -> str:
        why = ': '.join(text for text in (self.reason, self.message) if text)
        text = f'{self.type} is {self.status}'
        return f'{text} ({why})' if why else text


@dataclasses.dataclass(frozen=True)
class Replicas:
    """Counts of machines; ``desired`` is None when the object has no count."""

    desired: int | None
    there: int
    updated: int
    ready: int
    available: int

    @property
    def settled(self) -> bool:
        """Whether exactly the desired machines exist, new and ready."""
        return (self.there == self.updated == self.ready == self.available
                == self.desired)


def one_line(text: str | None) -> str:
    """Message of a controller as one line, without bullets."""
    text = _FIRST_BULLET.sub(r'\1 ', text or '')
    return ' '.join(_BULLET.sub(', ', text).split())


def metadata(obj: kinds.Object) -> kinds.Object:
    return obj.get('metadata') or {}


def spec(obj: kinds.Object) -> kinds.Object:
    return obj.get('spec') or {}


def status(obj: kinds.Object) -> kinds.Object:
    return obj.get('status') or {}


def name(obj: kinds.Object) -> str:
    return metadata(obj).get('name') or ''


def labels(obj: kinds.Object) -> dict[str, str]:
    return metadata(obj).get('labels') or {}


def deleting(obj: kinds.Object) -> bool:
    return bool(metadata(obj).get('deletionTimestamp'))


def observed(obj: kinds.Object) -> bool:
    """Whether the status reflects the latest spec.

    Controllers only advance observedGeneration in a successful reconciliation,
    together with the rest of the status (Cluster API 1.14, core/reconcilers,
    ``patch.WithStatusObservedGeneration``).
    """
    return ((status(obj).get('observedGeneration') or 0)
            >= (metadata(obj).get('generation') or 0))


def newer(obj: kinds.Object) -> dict[str, Condition]:
    """Conditions of the v1beta2 vocabulary by type; none on old releases."""
    found = status(obj)
    if _new_shape(obj):
        return _by_type(found)
    return _by_type(found.get('v1beta2') or {})


def older(obj: kinds.Object) -> dict[str, Condition]:
    """Conditions of the v1beta1 vocabulary by type."""
    return _by_type(_deprecated(obj))


def problems(obj: kinds.Object) -> list[Condition]:
    """Conditions that are not good, the most specific first."""
    found = newer(obj) or older(obj)
    return sorted(
        (condition for condition in found.values() if not condition.well),
        key=lambda condition: (condition.type in _SUMMARIES,
                               condition.type in WELL_WHEN_FALSE))


def missing(obj: kinds.Object, new: collections.abc.Iterable[str],
            old: collections.abc.Iterable[str]) -> list[str]:
    """Conditions that must be True, but are not or do not exist.

    :param new: their types if the object has the v1beta2 vocabulary.
    :param old: their types otherwise.
    """
    found, types = newer(obj), new
    if not found:
        found, types = older(obj), old
    return [kind for kind in types
            if kind not in found or found[kind].status != 'True']


def replicas(obj: kinds.Object) -> Replicas:
    """Counts of a MachineDeployment, MachineSet or control plane."""
    found = status(obj)
    desired = spec(obj).get('replicas')
    there = found.get('replicas') or 0
    counts = found if _new_shape(obj) else found.get('v1beta2') or {}
    if _new_shape(obj) or counts:
        return Replicas(desired, there, *(
            counts.get(key) or 0 for key in (
                'upToDateReplicas', 'readyReplicas', 'availableReplicas')))
    # A KubeadmControlPlane of v1beta1 counts unavailable machines, and a
    # MachineSet of v1beta1 has no count of up-to-date ones.
    ready = found.get('readyReplicas') or 0
    updated = found.get('updatedReplicas')
    available = found.get('availableReplicas')
    if available is None:
        unavailable = found.get('unavailableReplicas')
        available = ready if unavailable is None else there - unavailable
    return Replicas(desired, there, there if updated is None else updated or 0,
                    ready, available)


def failure(obj: kinds.Object) -> str:
    """Why the controller has given up an object; empty when it has not.

    ``failureReason`` and ``failureMessage`` mean that manual work is needed;
    they end with v1beta1 (Cluster API 1.14,
    docs/proposals/20240916-improve-status-in-CAPI-resources.md).
    """
    found = _deprecated(obj)
    reason = found.get('failureReason') or ''
    message = one_line(found.get('failureMessage'))
    text = ': '.join(part for part in (reason, message) if part)
    if not text and status(obj).get('phase') == 'Failed':
        said = [str(condition) for condition in problems(obj)]
        return 'phase Failed' + (f', {said[0]}' if said else '')
    return text


def failure_of_cluster(cluster: kinds.Object) -> str:
    """Why a provider has given up a Cluster; empty when it has not.

    Cluster API never removes a failure that a provider reported once
    (core/reconcilers/cluster/cluster_controller_phases.go of 1.14,
    reconcileExternal). That of OpenStack reports a network or subnet that it
    does not find (0.14), and before 0.11 every error of the cloud (its issue
    2097). So a failure counts while the infrastructure is not ready.
    """
    ready = (newer(cluster) or older(cluster)).get('InfrastructureReady')
    return '' if ready and ready.well else failure(cluster)


def _new_shape(obj: kinds.Object) -> bool:
    version = (obj.get('apiVersion') or '').rpartition('/')[2]
    if version:
        return version not in ('v1alpha3', 'v1alpha4', 'v1beta1')
    return 'v1beta2' not in status(obj)


def _deprecated(obj: kinds.Object) -> kinds.Object:
    found = status(obj)
    if _new_shape(obj):
        return (found.get('deprecated') or {}).get('v1beta1') or {}
    return found


def _by_type(holder: kinds.Object) -> dict[str, Condition]:
    return {
        found['type']: Condition(
            found['type'], found.get('status') or 'Unknown',
            found.get('reason') or '', one_line(found.get('message')))
        for found in holder.get('conditions') or ()}
