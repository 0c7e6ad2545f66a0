# SPDX-License-Identifier: Apache-2.0

"""Reads a cluster from a file into the rows that Magnum would have. Pure.

This is for users who render with this driver and apply with Flux or Argo. The
fields have the names and meanings of Magnum's API; defaults that Magnum sets
when a cluster is created are set in the same way (magnum 23.0.0,
api/controllers/v1/cluster.py and conductor/utils.py).
"""

import collections.abc
import dataclasses
import typing
import uuid as uuids

from magnum_capi.driver.desired import label_types
from magnum_capi.driver.desired import spec

#: Sections of a description; ``cloud`` is read by ``described_cloud``.
SECTIONS = ('template', 'cluster', 'node_groups', 'cloud')

_Labels: typing.TypeAlias = collections.abc.Mapping[str, str]
_Taints: typing.TypeAlias = collections.abc.Sequence[
    collections.abc.Mapping[str, str]]


@dataclasses.dataclass(frozen=True)
class Template:
    """The relevant fields of a cluster template."""

    image_id: str
    external_network_id: str | None = None
    network_driver: str | None = None
    dns_nameserver: str | None = None
    http_proxy: str | None = None
    https_proxy: str | None = None
    no_proxy: str | None = None
    flavor_id: str | None = None
    master_flavor_id: str | None = None
    keypair_id: str | None = None
    fixed_network: str | None = None
    fixed_subnet: str | None = None
    floating_ip_enabled: bool = True
    labels: _Labels = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Cluster:
    """The relevant fields of a cluster; None: as in its template.

    :param uuid: determines names in Kubernetes.
    :param project_id: determines the namespace.
    :param labels: None: the template's.
    """

    uuid: str
    name: str
    project_id: str
    user_id: str | None = None
    keypair: str | None = None
    flavor_id: str | None = None
    master_flavor_id: str | None = None
    master_count: int = 1
    node_count: int = 1
    fixed_network: str | None = None
    fixed_subnet: str | None = None
    floating_ip_enabled: bool | None = None
    labels: _Labels | None = None
    status: str = 'CREATE_IN_PROGRESS'


@dataclasses.dataclass(frozen=True)
class NodeGroup:
    """The relevant fields of a node group.

    :param uuid: None: derived from the cluster's and the name.
    :param image_id: None: the template's.
    :param labels: None: the cluster's.
    """

    name: str
    uuid: str | None = None
    role: str = 'worker'
    node_count: int = 1
    min_node_count: int | None = None
    max_node_count: int | None = None
    flavor_id: str | None = None
    image_id: str | None = None
    labels: _Labels | None = None
    node_labels: _Labels | None = None
    node_taints: _Taints | None = None
    is_default: bool = False
    status: str = 'CREATE_IN_PROGRESS'


_Row = typing.TypeVar('_Row', Template, Cluster, NodeGroup)


def read(described: typing.Any
         ) -> tuple[Template, Cluster, tuple[NodeGroup, ...]]:
    """Read a description.

    If there is no node group with the role ``master``, or no default one of
    workers, it is derived from the cluster's fields.

    :param described: mapping of SECTIONS.
    :returns: with all defaults filled in.
    :raises spec.InvalidSpec: with all problems.
    """
    if not isinstance(described, dict):
        raise spec.InvalidSpec(['a description is a mapping of '
                                + ', '.join(SECTIONS)])
    problems = [f'{name}: there is no such section'
                for name in described if name not in SECTIONS]
    template = _made(Template, 'template', described.get('template'),
                     problems)
    cluster = _made(Cluster, 'cluster', described.get('cluster'), problems)
    groups = described.get('node_groups') or []
    if not isinstance(groups, list):
        problems.append('node_groups: it must be a list')
        groups = []
    rows = [_made(NodeGroup, f'node_groups[{index}]', group, problems)
            for index, group in enumerate(groups)]
    if problems or template is None or cluster is None:
        raise spec.InvalidSpec(problems)
    cluster = _completed(cluster, template)
    given = [row for row in rows if row is not None]
    complete = tuple(_group(group, cluster, template)
                     for group in (*_defaults(given, cluster), *given))
    problems += _repeated(complete)
    if problems:
        raise spec.InvalidSpec(problems)
    return template, cluster, complete


def known(kind: type[_Row],
          fields: collections.abc.Mapping[str, typing.Any]
          ) -> dict[str, typing.Any]:
    """The fields of an API response that a description can have."""
    names = {field.name for field in dataclasses.fields(kind)}
    return {name: value for name, value in fields.items()
            if name in names and value is not None}


def _made(kind: type[_Row], where: str, given: typing.Any,
          problems: list[str]) -> _Row | None:
    """The object for a section; None if there are problems."""
    if not isinstance(given, dict):
        problems.append(f'{where}: it must be a mapping')
        return None
    fields = {field.name: field for field in dataclasses.fields(kind)}
    begin = len(problems)
    problems += [f'{where}.{name}: there is no such field'
                 for name in given if name not in fields]
    problems += [
        f'{where}.{name}: it is missing' for name, field in fields.items()
        if field.default is dataclasses.MISSING
        and field.default_factory is dataclasses.MISSING
        and given.get(name) in (None, '')]
    given = {name: value for name, value in given.items()
             if value is not None}
    for name, value in given.items():
        form = _FORMS.get(fields[name].type) if name in fields else None
        if form and not form[0](value):
            problems.append(f'{where}.{name}: {value!r} is not {form[1]}')
    for name in ('labels', 'node_labels'):
        if isinstance(given.get(name), dict):
            given[name] = {str(key): _text(value)
                           for key, value in given[name].items()}
    if isinstance(given.get('node_taints'), list):
        given['node_taints'] = [
            {key: _text(value) for key, value in taint.items()
             if value is not None} if isinstance(taint, dict) else taint
            for taint in given['node_taints']]
    if 'uuid' in given and not label_types.is_uuid(str(given['uuid'])):
        problems.append(f'{where}.uuid: {given["uuid"]!r} is not a uuid')
    return kind(**given) if len(problems) == begin else None


def _text(value: typing.Any) -> str:
    """A value of a label or taint, as Magnum's client sends it."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def _completed(cluster: Cluster, template: Template) -> Cluster:
    filled = {'floating_ip_enabled': template.floating_ip_enabled,
              'keypair': template.keypair_id, 'labels': template.labels,
              **{name: getattr(template, name) for name in (
                  'flavor_id', 'master_flavor_id', 'fixed_network',
                  'fixed_subnet')}}
    return dataclasses.replace(cluster, **{
        name: value for name, value in filled.items()
        if getattr(cluster, name) is None})


def _defaults(groups: collections.abc.Sequence[NodeGroup], cluster: Cluster
              ) -> collections.abc.Iterator[NodeGroup]:
    if not any(group.role == 'master' for group in groups):
        yield NodeGroup(
            'default-master', role='master', node_count=cluster.master_count,
            flavor_id=cluster.master_flavor_id, is_default=True)
    if not any(group.is_default and group.role != 'master'
               for group in groups):
        yield NodeGroup('default-worker', node_count=cluster.node_count,
                        min_node_count=_least(cluster.labels or {}),
                        is_default=True)


def _least(labels: _Labels) -> int | None:
    """What Magnum reads from a label; another text is refused later."""
    text = labels.get('min_node_count', '')
    return int(text) if text.isdecimal() else None


def _group(group: NodeGroup, cluster: Cluster,
           template: Template) -> NodeGroup:
    made = uuids.uuid5(uuids.UUID(cluster.uuid), group.name)
    return dataclasses.replace(
        group, uuid=group.uuid or str(made),
        flavor_id=group.flavor_id or cluster.flavor_id,
        image_id=group.image_id or template.image_id,
        labels=cluster.labels if group.labels is None else group.labels)


def _repeated(groups: tuple[NodeGroup, ...]
              ) -> collections.abc.Iterator[str]:
    for field in ('name', 'uuid'):
        values = [getattr(group, field) for group in groups]
        for value in sorted({v for v in values if values.count(v) > 1}):
            yield f'node_groups: several have the {field} {value!r}'


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_Form: typing.TypeAlias = tuple[collections.abc.Callable[[object], bool], str]
_STRING: _Form = (lambda value: isinstance(value, str), 'a text')
_NUMBER: _Form = (_is_number, 'a number')
_FLAG: _Form = (lambda value: isinstance(value, bool), 'true or false')
_MAPPING: _Form = (lambda value: isinstance(value, dict), 'a mapping')
_LIST: _Form = (lambda value: isinstance(value, list) and all(
    isinstance(item, dict) for item in value), 'a list of mappings')
#: Check and description by type of a field.
_FORMS: dict[typing.Any, _Form] = {
    str: _STRING, str | None: _STRING, int: _NUMBER, int | None: _NUMBER,
    bool: _FLAG, bool | None: _FLAG, _Labels: _MAPPING,
    _Labels | None: _MAPPING, _Taints | None: _LIST}
