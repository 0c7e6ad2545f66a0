# SPDX-License-Identifier: Apache-2.0


"""Values of a chart: read and set by their paths, and merged. Pure.

A value overlay is merged over what the driver computed. Mappings are merged
key by key. For lists, this uses the terms of Kubernetes
(https://kubernetes.io/docs/reference/using-api/server-side-apply/
#merge-strategy): a list is atomic, and replaced, unless it is in the table
below. The lists in the table hold what clusters need to work, or what users
requested; an operator can only add to them.
"""

import copy
import typing

#: listType=map: items with the same value of this key are merged.
#: listType=set: missing items are added.
#: APPEND: all items are added; a command may have to run twice.
SET, APPEND = object(), object()

_KUBEADM = {'files': 'path', 'preKubeadmCommands': APPEND,
            'postKubeadmCommands': APPEND}

#: Lists by their paths. The value is SET, APPEND or the key of a map.
LISTS: dict[str, object] = {
    'addons.openstack.csiCinder.additionalStorageClasses': 'name',
    'apiServer.allowedCIDRs': SET,
    'apiServer.allowedCidrs': SET,
    'controlPlane.machineNetworking.ports': SET,
    **{f'{part}.kubeadmConfigSpec.{name}': kind
       for part in ('controlPlane', 'nodeGroupDefaults')
       for name, kind in _KUBEADM.items()},
}


def get(values: typing.Any, path: str) -> typing.Any:
    """The value at a path with dots; None: there is none."""
    for key in path.split('.'):
        values = (values or {}).get(key)
    return values


def put(values: dict[str, typing.Any], path: str, value: typing.Any) -> None:
    """Set a value; None: remove it, and what is empty then."""
    key, _, rest = path.partition('.')
    if rest:
        inner = values.get(key) or {}
        put(inner, rest, value)
        value = inner or None
    if value is None:
        values.pop(key, None)
    else:
        values[key] = copy.deepcopy(value)


class Misfit(ValueError):
    """An overlay would replace a mapping, or a list of the table."""


#: A file has only one of these (Cluster API, bootstrap/kubeadm, File).
_EITHER = ('content', 'contentFrom')


def merged(below: typing.Mapping[str, typing.Any],
           above: typing.Mapping[str, typing.Any],
           path: tuple[str, ...] = ()) -> dict[str, typing.Any]:
    """A mapping merged over another; neither is changed.

    :param path: keys that lead to the mappings.
    :raises Misfit: the overlay has another type; the message says where.
    """
    result = dict(below)
    for key, value in above.items():
        here = (*path, str(key))
        there = result.get(key)
        if '.'.join(here) in LISTS:
            result[key] = _list('.'.join(here), there or [], value)
        elif isinstance(value, dict) and isinstance(there, dict):
            result[key] = merged(there, value, here)
        elif isinstance(there, dict):
            raise Misfit(f'{".".join(here)} must be a mapping')
        else:
            result[key] = merged({}, value, here) if isinstance(
                value, dict) else copy.deepcopy(value)
    return result


def _list(where: str, below: list[typing.Any],
          above: typing.Any) -> list[typing.Any]:
    if not isinstance(above, list):
        raise Misfit(f'{where} must be a list')
    kind, result = LISTS[where], list(below)
    for item in copy.deepcopy(above):
        if kind is APPEND:
            result.append(item)
        elif kind is SET:
            result += [] if item in result else [item]
        else:
            _into_map(result, kind, item, where)
    return result


def _into_map(items: list[typing.Any], key: typing.Any, item: typing.Any,
              where: str) -> None:
    if not isinstance(item, dict) or key not in item:
        raise Misfit(f'{where}: every item needs "{key}"')
    for number, known in enumerate(items):
        if known[key] == item[key]:
            if any(name in item for name in _EITHER):
                known = {name: value for name, value in known.items()
                         if name not in _EITHER}
            items[number] = merged(known, item)
            return
    items.append(item)
