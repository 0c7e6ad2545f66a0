# SPDX-License-Identifier: Apache-2.0

"""Finds the nodes that a change of a cluster's objects replaces. Pure.

The rules are those of Cluster API 1.11 and 1.12. A control plane is rolled
out because of its version, the name of its machine template, its
kubeadmConfigSpec or rolloutAfter (controlplane/kubeadm/internal/filters.go:
matchesMachineSpec, matchClusterConfiguration, cleanupConfigFields); a
MachineDeployment because of version, failure domain, the names of its two
templates or rolloutAfter (internal/controllers/machinedeployment/mdutil/
util.go: MachineTemplateUpToDate, MachineTemplateDeepCopyRolloutFields).
Everything else is propagated in place, or concerns new machines only. The
contents of a template count only through its name, in which charts put a hash.

Objects may be of v1beta1 or v1beta2, or of both versions.
"""

import dataclasses
import typing

CONTROL_PLANE = 'KubeadmControlPlane'
NODE_GROUP = 'MachineDeployment'

#: Not compared: these are applied without new machines.
_IN_PLACE = (('clusterConfiguration', 'controlPlaneEndpoint'),
             ('clusterConfiguration', 'dns'),
             ('joinConfiguration', 'discovery'))

#: Lists of pairs in v1beta2 that are mappings in v1beta1.
_ARGUMENTS = ('extraArgs', 'kubeletExtraArgs')

_Object: typing.TypeAlias = typing.Mapping[str, typing.Any]
_Key: typing.TypeAlias = tuple[str, str]
_Objects: typing.TypeAlias = dict[_Key, _Object]


@dataclasses.dataclass(frozen=True)
class Rollout:
    """What happens to the nodes of a part of a cluster.

    :param kind: CONTROL_PLANE or NODE_GROUP.
    :param name: of the object.
    :param replaced: whether its nodes are replaced, or go.
    :param reasons: fields that change, with names and versions, but without
        other values, which may be secret.
    """

    kind: str
    name: str
    replaced: bool
    reasons: tuple[str, ...] = ()


def rollouts(now: typing.Iterable[_Object],
             then: typing.Iterable[_Object]) -> tuple[Rollout, ...]:
    """What happens to each part of a cluster, the control plane first.

    :param now, then: objects as Helm renders them.
    """
    old, new = _by_name(now), _by_name(then)
    return tuple(
        _rollout(key, old, new)
        for kind in (CONTROL_PLANE, NODE_GROUP)
        for key in dict.fromkeys((*old, *new)) if key[0] == kind)


def _by_name(objects: typing.Iterable[_Object]) -> _Objects:
    return {(one['kind'], one['metadata']['name']): one for one in objects}


def _rollout(key: _Key, now: _Objects, then: _Objects) -> Rollout:
    if key not in then:
        return Rollout(*key, True, ('is taken away',))
    if key not in now:
        return Rollout(*key, False, ('is new',))
    facts = _of_control_plane if key[0] == CONTROL_PLANE else _of_node_group
    old, new = facts(now[key]), facts(then[key])
    reasons = tuple(
        reason for field in old
        for reason in _reasons(field, old[field], new[field], now, then))
    if not reasons:
        return Rollout(*key, False, tuple(_later(new, now, then)))
    if _on_delete(then[key]):
        return Rollout(*key, False, (
            *reasons, 'its strategy is OnDelete: nodes that come later'))
    return Rollout(*key, True, reasons)


def _of_control_plane(found: _Object) -> _Object:
    spec = found.get('spec') or {}
    machines = spec.get('machineTemplate') or {}
    # v1beta1 has the reference a level higher.
    machines = {**machines, **(machines.get('spec') or {})}
    return {
        'version': spec.get('version'),
        'infrastructureRef': _reference(machines.get('infrastructureRef')),
        'kubeadmConfigSpec': _kubeadm(spec.get('kubeadmConfigSpec') or {}),
        'rolloutAfter': _after(spec)}


def _of_node_group(found: _Object) -> _Object:
    spec = found.get('spec') or {}
    machine = (spec.get('template') or {}).get('spec') or {}
    bootstrap = machine.get('bootstrap') or {}
    return {
        'version': machine.get('version'),
        'failureDomain': machine.get('failureDomain'),
        'bootstrap.configRef': _reference(bootstrap.get('configRef')),
        'bootstrap.dataSecretName': bootstrap.get('dataSecretName'),
        'infrastructureRef': _reference(machine.get('infrastructureRef')),
        'rolloutAfter': _after(spec)}


def _after(spec: _Object) -> typing.Any:
    return spec.get('rolloutAfter') or (spec.get('rollout') or {}).get('after')


def _on_delete(found: _Object) -> bool:
    spec = found.get('spec') or {}
    strategy = spec.get('strategy') or (
        spec.get('rollout') or {}).get('strategy') or {}
    return bool(strategy.get('type') == 'OnDelete')


@dataclasses.dataclass(frozen=True)
class _Reference:
    """A reference that ignores the version of the API."""

    group: str
    kind: str
    name: str

    def __str__(self) -> str:
        return f'{self.kind} {self.name}'


def _reference(found: _Object | None) -> _Reference | None:
    if not found:
        return None
    group = found.get('apiGroup') or (
        found.get('apiVersion') or '').rpartition('/')[0]
    return _Reference(group, found.get('kind', ''), found.get('name', ''))


def _kubeadm(spec: _Object) -> typing.Any:
    spec = _plain(spec)
    for part, field in _IN_PLACE:
        if part in spec:
            spec[part].pop(field, None)
    # Leave out parts that are empty now.
    return _plain(spec)


def _plain(value: typing.Any, key: str = '') -> typing.Any:
    """A value without empty parts, in a form that fits both versions."""
    if key in _ARGUMENTS and isinstance(value, list):
        value = {one.get('name'): one.get('value') for one in value}
    if isinstance(value, dict):
        made = {name: _plain(one, name) for name, one in value.items()}
        return {name: one for name, one in made.items()
                if one not in (None, {}, [])}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value


def _reasons(field: str, old: typing.Any, new: typing.Any, now: _Objects,
             then: _Objects) -> typing.Iterator[str]:
    if old == new:
        return
    if isinstance(old, dict):
        for path in changed(old, new, (field,)):
            yield path
    elif isinstance(old, _Reference) and isinstance(new, _Reference):
        paths = _content(old, now), _content(new, then)
        fields = list(changed(*paths)) if all(paths) else []
        why = f' ({", ".join(fields)})' if fields else ''
        yield f'{field}: {old} -> {new}{why}'
    else:
        yield f'{field}: {_said(old)} -> {_said(new)}'


def _later(facts: _Object, now: _Objects,
           then: _Objects) -> typing.Iterator[str]:
    """Changes in templates that keep their names."""
    for reference in facts.values():
        if isinstance(reference, _Reference):
            for path in changed(_content(reference, now),
                                _content(reference, then)):
                yield (f'{reference} changes in place, for nodes that come '
                       f'later: {path}')


def _content(reference: _Reference, objects: _Objects) -> typing.Any:
    found = objects.get((reference.kind, reference.name)) or {}
    return _plain(found.get('spec') or {})


def changed(old: _Object, new: _Object,
            path: tuple[str, ...] = ()) -> typing.Iterator[str]:
    """Paths of differences; a list is compared as a whole."""
    for name in sorted({*old, *new}):
        one, other = old.get(name), new.get(name)
        if one == other:
            continue
        if isinstance(one, dict) and isinstance(other, dict):
            yield from changed(one, other, (*path, name))
        else:
            yield '.'.join((*path, name))


def _said(value: typing.Any) -> str:
    return 'nothing' if value is None else str(value)
