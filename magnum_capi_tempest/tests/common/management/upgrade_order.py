# SPDX-License-Identifier: Apache-2.0


"""Was an upgrade in order? Judged from the machines over time. Pure.

The order is that of Kubernetes (https://kubernetes.io/releases/
version-skew-policy/#supported-component-upgrade-order): API servers first,
and no kubelet newer than any of them.
"""

import collections.abc
import re
import typing

from magnum_capi_tempest.tests.common.management import capi_objects

#: The machines of a cluster, or of a group of it, at one moment.
Moment: typing.TypeAlias = collections.abc.Sequence[capi_objects.Machine]

#: States of the machines of a group.
OLD, MOVING, NEW = 'old', 'moving', 'new'

#: Name of the control plane among the groups.
CONTROL_PLANE = 'the control plane'


def groups(machines: Moment) -> dict[str, list[capi_objects.Machine]]:
    """Return lists of capi_objects.Machine by the name of their group."""
    found: dict[str, list[capi_objects.Machine]] = {}
    for machine in machines:
        name = CONTROL_PLANE if machine.control_plane else machine.group
        found.setdefault(name, []).append(machine)
    return found


def state(before: Moment, machines: Moment) -> str:
    """Return whether machines are the old ones, new ones, or a mix.

    A machine that is being deleted does not count if all others are there.
    """
    old = {machine.name for machine in before}
    stay = [machine for machine in machines if not machine.going]
    names = {machine.name for machine in stay}
    if names == old and len(stay) == len(machines):
        return OLD
    done = not names & old and len(stay) == len(before) and all(
        machine.phase == 'Running' for machine in stay)
    return NEW if done else MOVING


def disorder(before: Moment, moments: collections.abc.Iterable[Moment]
             ) -> list[str]:
    """Return what was out of order, texts without duplicates.

    :param before: the machines before the upgrade.
    :param moments: the machines since, in chronological order.
    """
    known = groups(before)
    found: dict[str, bool] = {}
    for machines in moments:
        now = groups(machines)
        states = {name: state(old, now.get(name, []))
                  for name, old in known.items()}
        plane = states.pop(CONTROL_PLANE)
        begun = sorted(n for n, is_ in states.items() if is_ != OLD)
        moving = sorted(n for n, is_ in states.items() if is_ == MOVING)
        if plane != NEW and begun:
            found[f'{", ".join(begun)} before {CONTROL_PLANE} is new'] = True
        if len(moving) > 1:
            found[f'{" and ".join(moving)} at the same time'] = True
    return list(found)


def skew(moments: collections.abc.Iterable[Moment]) -> list[str]:
    """Return which kubelets were newer than an API server; texts."""
    found: dict[str, bool] = {}
    for machines in moments:
        now = groups(machines)
        planes = now.pop(CONTROL_PLANE, [])
        for name, workers in now.items():
            for plane in planes:
                found |= {
                    f'{name} has {worker.version} beside {plane.version} of '
                    f'{CONTROL_PLANE}': True for worker in workers
                    if numbers(worker.version) > numbers(plane.version)}
    return list(found)


def fewest(moments: collections.abc.Iterable[Moment]) -> dict[str, int]:
    """Return the lowest number of machines in service, by group of workers."""
    found: dict[str, int] = {}
    for machines in moments:
        now = groups(machines)
        for name in {*found, *now}:
            works = sum(m.phase == 'Running' and not m.going
                        for m in now.get(name, ()))
            found[name] = min(works, found.get(name, works))
    found.pop(CONTROL_PLANE, None)
    return found


def numbers(version: str) -> tuple[int, ...]:
    """Return the numbers in a version of Kubernetes, for comparison."""
    return tuple(map(int, re.findall('[0-9]+', version)[:3]))
