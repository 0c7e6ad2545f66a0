# SPDX-License-Identifier: Apache-2.0

"""Finds the nodes that a change of a cluster's objects replaces. Pure.

The rules are those of Cluster API 1.11 and 1.12. A control plane is rolled
out because of its version, the name of its machine template, its
kubeadmConfigSpec or rolloutAfter (controlplane/kubeadm/internal/filters.go:
matchesMachineSpec); a MachineDeployment because of version, failure domain,
the names of its two templates or rolloutAfter (internal/controllers/
machinedeployment/mdutil/util.go: MachineTemplateUpToDate). Everything else is
propagated in place, or concerns new machines only. The contents of a template
count only through its name, in which charts put a hash.

Objects of node groups may be of v1beta1, of v1beta2, or of both versions.
"""

import collections.abc
import typing

CONTROL_PLANE = 'KubeadmControlPlane'
NODE_GROUP = 'MachineDeployment'

_Object: typing.TypeAlias = typing.Mapping[str, typing.Any]
_Facts: typing.TypeAlias = dict[str, typing.Any]


def replaced(now: collections.abc.Iterable[_Object],
             then: collections.abc.Iterable[_Object]
             ) -> dict[tuple[str, str], tuple[str, ...]]:
    """The parts of a cluster whose nodes are replaced, or go.

    :param now, then: objects as Helm renders them.
    :returns: what is rendered then, by kind and name; texts without values,
        which may be secret. A part that is new is not included.
    """
    old, new = _facts(now), _facts(then)
    found = {key: _changes(old[key], new.get(key)) for key in old}
    return {key: texts for key, texts in found.items() if texts}


def _changes(old: _Facts, new: _Facts | None) -> tuple[str, ...]:
    if new is None:
        return ('no such object',)
    if new.get('strategy') == 'OnDelete':
        return ()
    return tuple(f'another {field}' for field in old
                 if field != 'strategy' and old[field] != new[field])


def _facts(objects: collections.abc.Iterable[_Object]
           ) -> dict[tuple[str, str], _Facts]:
    readers = {CONTROL_PLANE: _of_control_plane, NODE_GROUP: _of_node_group}
    return {(one['kind'], one['metadata']['name']):
            readers[one['kind']](one.get('spec') or {})
            for one in objects if one['kind'] in readers}


def _of_control_plane(spec: _Object) -> _Facts:
    machines = spec.get('machineTemplate') or {}
    # v1beta1 has the reference a level higher.
    machines = {**machines, **(machines.get('spec') or {})}
    return {
        'version': spec.get('version'),
        'infrastructureRef': _reference(machines.get('infrastructureRef')),
        'kubeadmConfigSpec': spec.get('kubeadmConfigSpec'),
        'rolloutAfter': _after(spec)}


def _of_node_group(spec: _Object) -> _Facts:
    machine = (spec.get('template') or {}).get('spec') or {}
    bootstrap = machine.get('bootstrap') or {}
    return {
        'version': machine.get('version'),
        'failureDomain': machine.get('failureDomain'),
        'bootstrap.configRef': _reference(bootstrap.get('configRef')),
        'bootstrap.dataSecretName': bootstrap.get('dataSecretName'),
        'infrastructureRef': _reference(machine.get('infrastructureRef')),
        'rolloutAfter': _after(spec),
        'strategy': (spec.get('strategy') or (spec.get('rollout') or {}).get(
            'strategy') or {}).get('type')}


def _after(spec: _Object) -> typing.Any:
    return spec.get('rolloutAfter') or (spec.get('rollout') or {}).get('after')


def _reference(found: _Object | None) -> tuple[typing.Any, typing.Any] | None:
    """A reference, without the version of its API."""
    return (found.get('kind'), found.get('name')) if found else None
