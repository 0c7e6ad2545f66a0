# SPDX-License-Identifier: Apache-2.0

"""The chart that drivers are pointed at.

No driver says that machines are containers. Real nodes therefore need a chart
with different defaults: a modified copy in the sandbox's folder.
"""

import collections.abc
import pathlib
import shutil
import typing

import yaml

from magnum_capi import errors
from magnum_capi import outfile
from magnum_capi_sandbox import infrastructure
from magnum_capi_sandbox import nodes

if typing.TYPE_CHECKING:
    from magnum_capi_sandbox import spec as specs

#: Defaults of the copy for each infrastructure, if nodes are containers: see
#: values.yaml of sandbox/charts/sandbox-cluster.
DEFAULTS = {
    infrastructure.MEMORY: {'infrastructure': nodes.DOCKER,
                            'docker': {'openStackMirror': True}},
    infrastructure.OPENSTACK: {'infrastructure': infrastructure.OPENSTACK,
                               'docker': {'servers': True}}}

_VALUES = 'values.yaml'


def check(chart: pathlib.Path, kind: str) -> None:
    """Check that a chart can make clusters of real nodes.

    :param kind: one of :data:`.infrastructure.KINDS`.
    :raises UsageError: it lacks the values for that.
    """
    missing = list(_missing(_values(chart), DEFAULTS[kind]))
    if missing:
        raise errors.UsageError(
            'This chart does not support containers as machines (its '
            f'{_VALUES} lacks {" and ".join(missing)})', where=chart,
            hint='Use sandbox/charts/sandbox-cluster, which is the default')


def _missing(
        values: collections.abc.Mapping[str, typing.Any],
        needed: collections.abc.Mapping[str, typing.Any],
        path: str = '') -> collections.abc.Iterator[str]:
    """Names of needed values that a chart does not have."""
    for name, value in needed.items():
        if name not in values:
            yield path + name
        elif isinstance(value, dict):
            yield from _missing(values[name] or {}, value, f'{path}{name}.')


def used(directory: pathlib.Path, spec: 'specs.Spec') -> pathlib.Path:
    """Path of the chart that drivers of a sandbox are pointed at."""
    if spec.machines.real:
        return directory / 'chart'
    return pathlib.Path(spec.chart)


def make(directory: pathlib.Path, spec: 'specs.Spec') -> None:
    """Make a fresh copy of the chart, if the sandbox needs one."""
    target = used(directory, spec)
    if not spec.machines.real:
        return
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(spec.chart, target)
    values = merged(_values(target), DEFAULTS[spec.infrastructure])
    outfile.write_private(
        target / _VALUES, yaml.safe_dump(values, sort_keys=False))


def merged(values: collections.abc.Mapping[str, typing.Any],
           changes: collections.abc.Mapping[str, typing.Any]
           ) -> dict[str, typing.Any]:
    """Values with changes merged in, recursively; pure."""
    result = dict(values)
    for name, value in changes.items():
        if isinstance(value, dict) and isinstance(result.get(name), dict):
            value = merged(result[name], value)
        result[name] = value
    return result


def _values(chart: pathlib.Path) -> dict[str, typing.Any]:
    try:
        found: dict[str, typing.Any] = yaml.safe_load(
            (chart / _VALUES).read_text())
    except (OSError, ValueError, yaml.YAMLError) as e:
        raise errors.UsageError(
            'The values of the chart cannot be read', where=chart / _VALUES,
            last_seen=' '.join(str(e).split())) from e
    return found if isinstance(found, dict) else {}
