# SPDX-License-Identifier: Apache-2.0

"""What node groups keep until their turn in an upgrade."""

import collections.abc
import typing

from magnum_capi.driver.observed import conditions
from magnum_capi.driver.observed import machines
from magnum_capi.driver import observer
from magnum_capi.driver import reconcile


def current_images(reconciler: reconcile.Reconciler,
                   groups: collections.abc.Iterable[typing.Any],
                   image_of: collections.abc.Callable[[typing.Any], str]
                   ) -> dict[str, tuple[str, str]]:
    """What the machines of node groups are made of now.

    Their image may no longer be in Glance.

    :param groups: rows.
    :param image_of: returns the image id of a row, for groups where no
        machine template has it.
    :returns: see state.State.held; groups without machines keep nothing.
    """
    kube = reconciler.runtime.kube
    seen = observer.look(kube, reconciler.namespace, reconciler.release,
                         ('machine_deployments',), thorough=True)
    held = {}
    for group in groups:
        deployment = seen.machine_deployments.get(
            reconciler.naming.node_group(group.uuid))
        if not deployment:
            continue
        made_of = conditions.spec(
            conditions.spec(deployment).get('template') or {})
        template = made_of.get('infrastructureRef') or {}
        image_id = template.get('kind') == 'OpenStackMachineTemplate' and (
            machines.image_id(kube.get(
                template['kind'], reconciler.namespace, template['name'])))
        held[group.uuid] = (image_id or image_of(group),
                            made_of.get('version', '').removeprefix('v'))
    return held
