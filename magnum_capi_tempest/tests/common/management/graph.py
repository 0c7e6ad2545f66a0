# SPDX-License-Identifier: Apache-2.0

"""How the objects of a cluster are related: owners, finalizers, versions.

Pure. The rules are those of Cluster API's own tests
(ownerreference_helpers.go, finalizers_helpers.go and
resourceversion_helpers.go in test/framework of v1.14). For kinds that they do
not cover, what was there before must come back.
"""

import collections.abc
import typing

from magnum_capi_tempest import json_types
from magnum_capi_tempest.tests.common.management import capi_objects

#: An owner: its apiVersion, kind and name, and whether it is the controller.
Owner: typing.TypeAlias = tuple[str, str, str, bool]

#: The possible kinds of an owner, and whether that is the controller.
Rule: typing.TypeAlias = tuple[tuple[str, ...], bool]

_Part = typing.TypeVar('_Part', Owner, str)

#: Kind -> (possible kinds of its owner, whether that is its controller). For
#: kinds of infrastructure providers, the end of the name decides.
_OWNERS: dict[str, Rule] = {
    'MachineDeployment': (('Cluster',), False),
    'MachineSet': (('MachineDeployment',), True),
    'Machine': (('MachineSet', 'KubeadmControlPlane', 'MachinePool'), True),
    'MachineHealthCheck': (('Cluster',), False),
    'MachinePool': (('Cluster',), False),
    'KubeadmControlPlane': (('Cluster',), False),
    'KubeadmConfig': (('Machine', 'MachinePool'), True),
    'KubeadmConfigTemplate': (('Cluster', 'ClusterClass'), False),
}
_INFRASTRUCTURE = 'infrastructure.cluster.x-k8s.io'
_OWNERS_OF_ENDS: tuple[tuple[str, Rule], ...] = (
    ('MachineTemplate', (('Cluster', 'ClusterClass'), False)),
    ('Machine', (('Machine',), True)),
    ('Cluster', (('Cluster',), False)),
)

_FINALIZERS = {
    'Cluster': 'cluster.cluster.x-k8s.io',
    'Machine': 'machine.cluster.x-k8s.io',
    'MachineSet': 'cluster.x-k8s.io/machineset',
    'MachineDeployment': 'cluster.x-k8s.io/machinedeployment',
    'KubeadmControlPlane': 'kubeadm.controlplane.cluster.x-k8s.io',
}

#: Owners of Secrets that Cluster API itself sets.
SECRET_OWNERS = frozenset(('KubeadmControlPlane', 'KubeadmConfig'))

#: Ends of the names of Secrets without an owner that "clusterctl move" takes
#: along with their cluster, and the label of all others that it takes
#: (setSoftOwnership in cmd/clusterctl/client/cluster/objectgraph.go, and
#: util/secret/consts.go).
_MOVED_ENDS = frozenset(('ca', 'etcd', 'kubeconfig', 'proxy', 'sa'))
_MOVE = 'clusterctl.cluster.x-k8s.io/move'

#: Begin of the names of Secrets with Helm's releases, which a driver can make
#: again.
_RELEASE = 'sh.helm.release.v1.'

#: Fields that the API server changes with every other change.
_BOOKKEEPING = frozenset(('resourceVersion', 'managedFields', 'generation'))


def owners(body: json_types.Object) -> frozenset[Owner]:
    """Return an object's owners: {(apiVersion, kind, name, controller)}."""
    return frozenset(
        (ref['apiVersion'], ref['kind'], ref['name'],
         bool(ref.get('controller')))
        for ref in body['metadata'].get('ownerReferences') or ())


def finalizers(body: json_types.Object) -> frozenset[str]:
    """Return the finalizers of an object, a frozenset."""
    return frozenset(body['metadata'].get('finalizers') or ())


def rule(kind: str, body: json_types.Object) -> Rule | None:
    """Return (kinds of its owner, whether that is its controller), or None.

    :param kind: of the object.
    """
    if kind in _OWNERS:
        return _OWNERS[kind]
    if body.get('apiVersion', _INFRASTRUCTURE).startswith(_INFRASTRUCTURE):
        for end, found in _OWNERS_OF_ENDS:
            if kind.endswith(end) and kind != end:
                return found
    return None


def misowned(objects: collections.abc.Iterable[capi_objects.Found]
             ) -> list[str]:
    """Return what is wrong with the owners of objects, a list of sentences."""
    found = []
    for obj in objects:
        wanted = rule(obj.kind, obj.body)
        if not wanted:
            continue
        kinds, controller = wanted
        mine = owners(obj.body)
        if not any(kind in kinds and (is_controller or not controller)
                   for _, kind, _, is_controller in mine):
            found.append(
                f'{obj} is not {"controlled" if controller else "owned"} by '
                f'a {" or ".join(kinds)}, but by {_named(mine)}')
    return found


def unfinalized(objects: collections.abc.Iterable[capi_objects.Found]
                ) -> list[str]:
    """Return which objects lack their finalizer, a list of sentences."""
    return [f'{obj} lacks the finalizer {_FINALIZERS[obj.kind]}'
            for obj in objects if obj.kind in _FINALIZERS
            and _FINALIZERS[obj.kind] not in finalizers(obj.body)]


def lost(before: collections.abc.Iterable[capi_objects.Found],
         after: collections.abc.Iterable[capi_objects.Found],
         part: collections.abc.Callable[
             [json_types.Object], frozenset[_Part]]) -> list[str]:
    """Return what objects had before and have lost, a list of sentences.

    Objects that are gone altogether are not counted.

    :param part: :func:`owners` or :func:`finalizers`.
    """
    now = {obj.path: part(obj.body) for obj in after}
    return [f'{obj} has lost {_named(part(obj.body) - now[obj.path])}'
            for obj in before
            if obj.path in now and part(obj.body) - now[obj.path]]


def left_by_move(secrets: collections.abc.Iterable[capi_objects.Found],
                 stack_id: str) -> list[str]:
    """Return the Secrets that "clusterctl move" leaves, a list of sentences.

    :param secrets: of a cluster.
    :param stack_id: name of its Cluster.
    """
    return [f'{secret} has no owner, and lacks the label {_MOVE}'
            for secret in secrets
            if not secret.name.startswith(_RELEASE)
            and not owners(secret.body)
            and _MOVE not in (secret.body['metadata'].get('labels') or {})
            and secret.name not in {
                f'{stack_id}-{end}' for end in _MOVED_ENDS}]


def changes(before: collections.abc.Iterable[capi_objects.Found],
            after: collections.abc.Iterable[capi_objects.Found]) -> list[str]:
    """Return what changed between two moments, a list of sentences.

    An object has changed if its resourceVersion has.
    """
    old = {obj.path: obj for obj in before}
    new = {obj.path: obj for obj in after}
    return [
        *(f'{new[path]} is new' for path in sorted(new.keys() - old)),
        *(f'{old[path]} is gone' for path in sorted(old.keys() - new)),
        *(f'{new[path]} was written: '
          + (', '.join(differences(old[path].body, new[path].body))
             or 'nothing else changed')
          for path in sorted(new.keys() & old)
          if _version(new[path]) != _version(old[path]))]


def differences(before: object, after: object, where: str = '') -> list[str]:
    """Return the paths of the differences between two bodies, sorted.

    Values are omitted: some are secrets.
    """
    if isinstance(before, dict) and isinstance(after, dict):
        return sorted(
            path for key in before.keys() | after.keys()
            if not (where == '.metadata' and key in _BOOKKEEPING)
            for path in differences(before.get(key), after.get(key),
                                    f'{where}.{key}'))
    return [] if before == after else [where]


def _version(obj: capi_objects.Found) -> str:
    return str(obj.body['metadata']['resourceVersion'])


def _named(some: collections.abc.Iterable[Owner | str]) -> str:
    return ', '.join(sorted(
        f'{one[1]} {one[2]}' if isinstance(one, tuple) else one
        for one in some)) or 'nobody'
