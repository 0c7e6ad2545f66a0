# SPDX-License-Identifier: Apache-2.0

"""The state of addons: deployed, in progress, or failed.

Two providers are supported. That of capi-helm-charts
(https://github.com/azimuth-cloud/cluster-api-addon-provider,
capi_addons/models/v1alpha1/base.py) has phases; that of the Cluster API
project (https://github.com/kubernetes-sigs/cluster-api-addon-provider-helm,
api/v1alpha1/helmchartproxy_types.go) has conditions and no phase at all.
"""

import collections.abc
import enum
import hashlib
import json
import typing

from magnum_capi.driver.observed import conditions
from magnum_capi.kube import kinds


class State(enum.Enum):

    DEPLOYED = 'deployed'
    FAILED = 'failed'
    WAITING = 'waiting'


#: Kinds with phases; everything else has conditions.
_PHASED = ('HelmRelease', 'Manifests')

_GROUP = 'addons.stackhpc.com'

#: ``data`` of a Secret, values in base64.
_Data: typing.TypeAlias = collections.abc.Mapping[str, str]


def of_cluster(objects: collections.abc.Iterable[kinds.Object],
               cluster: str) -> tuple[kinds.Object, ...]:
    """Addons of one cluster out of those of a namespace.

    Selects by ``spec.clusterName``, which the chart writes. The label
    ``addons.stackhpc.com/cluster`` is set by the provider: when that is down,
    no addon has it and none would seem to be desired.

    :param cluster: name of the Cluster.
    """
    return tuple(
        obj for obj in objects
        if conditions.spec(obj).get('clusterName') == cluster
        or conditions.labels(obj).get(f'{_GROUP}/cluster') == cluster)


def state(obj: kinds.Object) -> tuple[State, str]:
    """State of an addon, and an explanation.

    A phase is not tied to a generation: after a change of the spec it is the
    old one until the provider reconciles again. What the provider has handled
    is in an annotation, if it is the real one.
    """
    if conditions.deleting(obj):
        return State.WAITING, 'is being removed'
    found = conditions.status(obj)
    if obj.get('kind') in _PHASED or found.get('phase'):
        phase = found.get('phase') or 'Unknown'
        why = conditions.one_line(found.get('failureMessage'))
        if phase == 'Deployed':
            handled = _handled(obj)
            if handled is None or handled.get('spec') == obj.get('spec'):
                return State.DEPLOYED, ''
            return State.WAITING, 'its change is not yet seen by its provider'
        text = f'phase {phase}' + (f': {why}' if why else '')
        return (State.FAILED if phase == 'Failed' else State.WAITING), text
    if not conditions.observed(obj):
        return State.WAITING, 'its change is not yet seen by its controller'
    known = conditions.newer(obj) or conditions.older(obj)
    if 'Ready' not in known:
        return State.WAITING, 'it has no status yet'
    problems = conditions.problems(obj)
    if not problems:
        return State.DEPLOYED, ''
    return State.WAITING, str(problems[0])


def checksum(data: _Data) -> str:
    """Checksum that the provider records of a Secret that it watches.

    Source: capi_addons/operator.py, handle_config_event.
    """
    text = ';'.join(sorted(f'{key}={value}' for key, value in data.items()))
    return hashlib.sha256(text.encode()).hexdigest()


def uses_current_secret(
        objects: collections.abc.Iterable[kinds.Object], secret: str,
        data: _Data) -> tuple[bool, str] | None:
    """Whether the addons that use a Secret run with its present contents.

    :param objects: the addons of the cluster.
    :param secret: name of the Secret.
    :param data: of the Secret.
    :returns: None when no addon uses it; otherwise whether all do, and a text
        about the first one that does not.
    """
    users = [obj for obj in objects if f'{secret}.secret.{_GROUP}/uses'
             in conditions.labels(obj)]
    if not users:
        return None
    desired = checksum(data)
    for obj in users:
        where = f'{obj.get("kind", "addon")} {conditions.name(obj)}'
        if _note(obj, secret) != desired:
            return False, f'{where} was not notified of the new Secret'
        found, why = state(obj)
        if found is not State.DEPLOYED:
            return False, f'{where}: {why}'
        handled = _handled(obj)
        if handled is not None and _note(handled, secret) != desired:
            return False, f'{where} has not applied the new Secret yet'
    return True, ''


def _note(obj: kinds.Object, secret: str) -> str | None:
    return _notes(obj).get(f'secret.{_GROUP}/{secret}')


def _notes(obj: kinds.Object) -> dict[str, str]:
    return conditions.metadata(obj).get('annotations') or {}


def _handled(obj: kinds.Object) -> kinds.Object | None:
    """What the provider last handled of an addon; None when unknown.

    It records spec, labels and annotations of that time (kopf,
    AnnotationsDiffBaseStorage; capi_addons/operator.py, apply_settings).
    """
    try:
        found = json.loads(_notes(obj)[f'{_GROUP}/last-handled-configuration'])
    except (KeyError, TypeError, ValueError):
        return None
    return found if isinstance(found, dict) else None
