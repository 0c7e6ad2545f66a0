# SPDX-License-Identifier: Apache-2.0

"""What node groups keep until their turn in an upgrade or a move."""

import collections.abc
import typing

import yaml

from magnum_capi.driver.desired import replacement
from magnum_capi.driver import gather
from magnum_capi.driver.helm import releases
from magnum_capi.driver.observed import conditions
from magnum_capi.driver.observed import machines
from magnum_capi.driver import observer
from magnum_capi.driver import reconcile
from magnum_capi.kube import kinds


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


def replaced(reconciler: reconcile.Reconciler, plan: gather.Plan) -> set[str]:
    """Uuids of node groups whose nodes a plan replaces, if Helm applied it."""
    now = releases.applied(
        reconciler.runtime.kube, reconciler.namespace, reconciler.release)
    then = reconciler.run_helm(lambda helm: helm.preview(
        reconciler.release, plan.chart, plan.values, reconciler.namespace))
    names = {one.name for one in replacement.rollouts(
        _parsed(now or ''), _parsed(then)) if one.replaced}
    return {group.uuid for group in plan.spec.node_groups
            if reconciler.naming.machine_deployment(group.uuid) in names}


def _parsed(text: str) -> kinds.Objects:
    return [obj for obj in yaml.safe_load_all(text) if obj]
