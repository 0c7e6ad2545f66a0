# SPDX-License-Identifier: Apache-2.0

"""The versions of a sandbox's parts, and the origin of its drivers."""

import dataclasses
import json
import pathlib
import typing

import yaml

from magnum_capi import processes
from magnum_capi_tempest.management import inspection
from magnum_capi_tempest.toolchain import pins

if typing.TYPE_CHECKING:
    from magnum_capi_sandbox import box as boxes

#: Runs in Magnum's environment, whose drivers may not be importable.
_ASK = '''
import importlib.metadata as m, json
print(json.dumps({'magnum': m.version('magnum'), 'drivers': {
    e.name: [e.dist.name, e.dist.version]
    for e in m.entry_points(group='magnum.drivers') if e.dist}}))
'''


@dataclasses.dataclass(frozen=True)
class Made:
    """Versions of a sandbox.

    :param versions: by part, for display.
    :param drivers: name and version of the distribution of each driver.
    """

    versions: dict[str, str]
    drivers: dict[str, tuple[str, str]]


def made(box: 'boxes.Box') -> Made:
    """Ask a running sandbox for its versions.

    :raises UsageError: it is not up.
    :raises KubeError: the management cluster does not answer.
    """
    spec = box.spec()
    found = _ask(box)
    chart = yaml.safe_load(
        (pathlib.Path(spec.chart) / 'Chart.yaml').read_text())
    programs = pins.load().programs
    where = spec.infrastructure
    if spec.openstack:
        where = f'cluster-api-provider-openstack {programs["capo"].version}'
    return Made({
        'magnum': found['magnum'],
        'profile': spec.profile,
        'cluster_api': programs['clusterctl'].version,
        'infrastructure': where,
        # minikube's is of another version than that of the processes.
        'kube_apiserver': inspection.version(box.layout().kubeconfig),
        'chart': f'{chart["name"]} {chart["version"]}',
    }, _drivers(found))


def installed_drivers(box: 'boxes.Box') -> dict[str, tuple[str, str]]:
    """Name and version of the distribution of each driver of a sandbox.

    :raises UsageError: it is not up.
    """
    return _drivers(_ask(box))


class _Said(typing.TypedDict):
    """What Magnum's environment has."""

    magnum: str
    drivers: dict[str, tuple[str, str]]


def _ask(box: 'boxes.Box') -> _Said:
    found: _Said = json.loads(processes.run(
        [box.layout().magnum_env / 'bin' / 'python', '-c', _ASK],
        timeout=120))
    return found


def _drivers(found: _Said) -> dict[str, tuple[str, str]]:
    return {name: (whose, version)
            for name, (whose, version) in found['drivers'].items()}
