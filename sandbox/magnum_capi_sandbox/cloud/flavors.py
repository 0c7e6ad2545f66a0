# SPDX-License-Identifier: Apache-2.0
"""The Nova flavors of a sandbox, and what machines of a flavor do.

The flavor is the one thing that every Magnum driver passes on to the machines
of Cluster API, so it carries the sandbox's knobs: with any driver, a cluster
or node group with the flavor ``fault.failed`` gets machines that fail. The
program ``capi`` reads the behaviours and documents them.
"""

import dataclasses
import typing


@dataclasses.dataclass(frozen=True)
class Flavor:
    """A Nova flavor; its id is its name.

    :param ram: MiB.
    :param disk: GiB.
    :param behaviour: what the program ``capi`` does with its machines.
    """

    name: str
    ram: int = 4096
    vcpus: int = 2
    disk: int = 20
    behaviour: typing.Mapping[str, typing.Any] = dataclasses.field(
        default_factory=dict)


#: "m1.tiny" is deliberately below the minimum that magnum-capi-helm accepts.
FLAVORS = (
    Flavor('m1.tiny', ram=512, vcpus=1, disk=1),
    Flavor('m1.small', ram=2048),
    Flavor('m1.medium', ram=4096, disk=40),
    Flavor('m1.large', ram=8192, vcpus=4, disk=80),
    Flavor('slow.create', behaviour={'createDelay': '20s'}),
    Flavor('slow.node', behaviour={'nodeReadyDelay': '20s'}),
    Flavor('slow.delete', behaviour={'deleteDelay': '20s'}),
    Flavor('slow.minute', behaviour={
        'nodeReadyDelay': '70s', 'deleteDelay': '70s'}),
    Flavor('slow.addons', behaviour={'addonDelay': '20s'}),
    Flavor('fault.failed', behaviour={
        'failure': 'No valid host was found. There are not enough hosts '
                   'available.'}),
    # More than a host has, so that it is Nova's scheduler that refuses.
    Flavor('fault.no-host', vcpus=300, behaviour={
        'failure': 'No valid host was found.'}),
    Flavor('fault.build', behaviour={'createDelay': f'{24 * 3600}s'}),
    Flavor('fault.crash', behaviour={'lifetime': '60s'}),
    Flavor('fault.no-node', behaviour={'node': 'absent'}),
    Flavor('fault.not-ready', behaviour={'node': 'not-ready'}),
    Flavor('fault.addons', behaviour={'addonPhase': 'Failed'}),
)


def extra_specs(flavor: Flavor) -> dict[str, str]:
    """What the sandbox's compute driver of Nova does with such servers.

    This is the servers' part of a flavor's behaviour.
    """
    names = {'createDelay': 'create_delay', 'deleteDelay': 'delete_delay',
             'failure': 'failure'}
    return {f'sandbox:{names[k]}': str(v).removesuffix('s')
            if k != 'failure' else v
            for k, v in flavor.behaviour.items() if k in names}


def behaviours() -> dict[str, typing.Any]:
    """The document that the program ``capi`` reads (``--behaviours``)."""
    return {'flavors': {f.name: dict(f.behaviour)
                        for f in FLAVORS if f.behaviour}}
