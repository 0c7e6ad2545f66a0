# SPDX-License-Identifier: Apache-2.0

"""What an operation on a cluster does not name, and so must leave alone.

Pure, but for :func:`view`. An operation names node groups: their rows in
Magnum and their objects in the management cluster change, and no others do.
An upgrade of a cluster names all of its groups, but changes no size.
"""

import collections.abc
import dataclasses

from magnum_capi_tempest.evidence import capi
from magnum_capi_tempest import json_types
from magnum_capi_tempest.tests.common import autoscaler
from magnum_capi_tempest.tests.common import factories
from magnum_capi_tempest.tests.common.management import graph
from magnum_capi_tempest.tests.common import observations

#: Kinds of Cluster API and its providers that say what machines there are.
CONTROL_PLANE, DEPLOYMENT = 'KubeadmControlPlane', 'MachineDeployment'
KINDS = (CONTROL_PLANE, DEPLOYMENT, 'OpenStackCluster')

#: Fields of a cluster in Magnum that no operation changes, and those that only
#: an upgrade changes.
_CLUSTER = ('name', 'keypair', 'api_address', 'master_lb_enabled',
            'floating_ip_enabled', 'fixed_network', 'fixed_subnet',
            'flavor_id', 'master_flavor_id')
_OF_TEMPLATE = ('cluster_template_id', 'coe_version', 'labels')

#: Fields of a node group in Magnum; an upgrade only changes the image.
_GROUP = ('name', 'role', 'is_default', 'flavor_id', 'node_count',
          'min_node_count', 'max_node_count')
_IMAGE = ('image_id',)


@dataclasses.dataclass(frozen=True)
class View:
    """What a cluster is to be, in Magnum and in the management cluster.

    :param cluster: its body.
    :param groups: bodies of its node groups, by uuid.
    :param objects: objects of :data:`KINDS`, by (kind, name).
    """

    cluster: json_types.Object
    groups: dict[str, json_types.Object]
    objects: dict[tuple[str, str], json_types.Object]

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of control plane nodes and of workers."""
        masters, workers = (sum(
            group['node_count'] for group in self.groups.values()
            if (group['role'] == 'master') is control_plane)
            for control_plane in (True, False))
        return masters, workers

    @property
    def is_autoscaled(self) -> bool:
        """Whether an autoscaler may change the number of workers."""
        value = (self.cluster.get('labels') or {}).get(
            'auto_scaling_enabled', '')
        return str(value).lower() in ('true', 't', '1', 'yes', 'y', 'on')

    def names(self, named: collections.abc.Collection[str]) -> set[str]:
        """Names of node groups.

        :param named: names or uuids.
        """
        return {group['name'] for uuid, group in self.groups.items()
                if uuid in named or group['name'] in named}


def view(magnum: factories.Magnum, management: capi.ManagementCluster | None,
         cluster_id: str) -> View:
    """Read a cluster.

    :param magnum: clients of a user who may see it.
    """
    cluster = magnum.clusters.show_cluster(cluster_id)
    groups = magnum.nodegroups.list_nodegroups(cluster_id)['nodegroups']
    objects = management.bodies(
        KINDS, observations.stack_id(cluster)) if management else []
    return View(cluster, {group['uuid']: group for group in groups},
                {(kind, obj['metadata']['name']): obj
                 for kind, obj in objects})


def faults(before: View, after: View | None,
           named: collections.abc.Collection[str] = (), upgraded: bool = False,
           late_version: bool = False) -> list[str]:
    """Return what has changed although no operation named it, a line each.

    :param after: a later view of the same cluster; None: it is gone.
    :param named: names or uuids of the node groups that were created, changed
        or deleted.
    :param upgraded: the whole cluster was upgraded.
    :param late_version: its driver may call an upgrade complete before Magnum
        shows the new version, so that the next operation brings it.
    """
    if not after:
        return ['it is gone']
    names = before.names(named) | after.names(named)
    fields = [field for field in _CLUSTER + (() if upgraded else _OF_TEMPLATE)
              if not (late_version and field == 'coe_version')]
    return [*_differences('it', before.cluster, after.cluster, fields),
            *_rows(before, after, names, upgraded),
            *_objects(before, after, names, upgraded)]


def _rows(before: View, after: View, names: set[str], upgraded: bool
          ) -> collections.abc.Iterator[str]:
    for uuid, group in before.groups.items():
        if group['name'] in names:
            continue
        what = f'node group {group["name"]}'
        if uuid not in after.groups:
            yield f'{what} is gone'
            continue
        fields = [field for field in _GROUP + (() if upgraded else _IMAGE)
                  if field != 'node_count' or not (
                      before.is_autoscaled and group.get('max_node_count'))]
        yield from _differences(what, group, after.groups[uuid], fields)
    for uuid in after.groups.keys() - before.groups.keys():
        if after.groups[uuid]['name'] not in names:
            yield f'node group {after.groups[uuid]["name"]} was created'


def _objects(before: View, after: View, names: set[str], upgraded: bool
             ) -> collections.abc.Iterator[str]:
    changed = []
    for (kind, name), obj in before.objects.items():
        later = after.objects.get((kind, name))
        if later and _wanted(obj, upgraded) == _wanted(later, upgraded):
            continue
        if kind == DEPLOYMENT and not upgraded:
            changed.append(obj)
        elif later:
            yield (f'the spec of {kind} {name} has changed: '
                   + _paths(_wanted(obj, upgraded), _wanted(later, upgraded)))
        elif not upgraded:
            yield f'{kind} {name} is gone'
    others = {group['name'] for group in before.groups.values()} - names
    wrong = [obj for obj in changed
             if any(_is_of(obj, name) for name in others)]
    # What belongs to which group does not always show.
    if not wrong and len(changed) > len(names):
        wrong = changed
    for obj in wrong:
        name = obj['metadata']['name']
        later = after.objects.get((DEPLOYMENT, name))
        yield f'{DEPLOYMENT} {name} ' + (
            'has changed: ' + _paths(obj['spec'], later['spec'])
            if later else 'is gone')


def _wanted(obj: json_types.Object, upgraded: bool) -> json_types.Object:
    """The part of an object's spec that may not change."""
    spec = obj.get('spec') or {}
    if upgraded:
        # Names of templates and the version change, and much in between.
        spec = {'replicas': spec.get('replicas')}
    if autoscaler.bounds(obj['metadata'])[1]:
        spec = {key: value for key, value in spec.items()
                if key != 'replicas'}
    return spec


def _is_of(obj: json_types.Object, group: str) -> bool:
    """Whether an object shows that it is of a node group."""
    metadata = obj['metadata']
    return (metadata['name'].endswith(f'-{group}')
            or group in (metadata.get('labels') or {}).values())


def _differences(what: str, before: json_types.Object,
                 after: json_types.Object,
                 fields: collections.abc.Iterable[str]
                 ) -> collections.abc.Iterator[str]:
    for field in fields:
        if field in before and field in after and (
                before[field] != after[field]):
            yield (f'{field} of {what} was {before[field]!r} and is '
                   f'{after[field]!r}')


def _paths(before: json_types.Object, after: json_types.Object) -> str:
    """The paths at which two specs differ, one text."""
    return ', '.join(path.removeprefix('.')
                     for path in graph.differences(before, after))
