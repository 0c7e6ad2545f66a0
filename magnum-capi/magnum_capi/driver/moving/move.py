# SPDX-License-Identifier: Apache-2.0

"""An operator moves a cluster to what the options of the driver say now.

Seen beforehand: what Helm would change, and which nodes Cluster API would
replace because of it. Done as an upgrade is: with the lock, what is wanted
written down first, so that a move whose process dies is resumed by whichever
conductor looks next; and in its order, the control plane first. Kubernetes,
the images and the networks of the cluster stay.
"""

import collections.abc
import dataclasses
import typing

from magnum_capi.driver.desired import pins as pins_module
from magnum_capi.driver.desired import replacement
from magnum_capi.driver.desired import rows as rows_module
from magnum_capi.driver import failures
from magnum_capi.driver import gather
from magnum_capi.driver.helm import releases
from magnum_capi.driver.keys import state as state_module
from magnum_capi.driver.moving import difference
from magnum_capi.driver.moving import standing
from magnum_capi.driver import reconcile
from magnum_capi.driver import turns
from magnum_capi import errors

_REASON = 'The operator moves it to another chart or other options'

#: Row of a node group, its status and the reason of it.
_Before: typing.TypeAlias = tuple[typing.Any, str, str | None]


class Refused(errors.MagnumCapiError):
    """The cluster cannot be moved now; nothing was changed."""


class Pending(errors.MagnumCapiError):
    """It is written down that it moves; a conductor tries it again."""


@dataclasses.dataclass(frozen=True)
class Preview:
    """What a move changes.

    :param made_of: what it is made of now.
    :param rollouts: by what people call the part.
    :param difference: text; see difference.difference.
    """

    made_of: pins_module.Pins
    plan: gather.Plan
    rollouts: dict[str, replacement.Rollout]
    difference: str


class Move:
    """The move of one cluster.

    :param store: of Magnum itself.
    :param cluster: Magnum's row.
    :param version: of the chart, None: as template and options say.
    """

    def __init__(self, runtime: reconcile.Runtime, store: reconcile.Store,
                 cluster: typing.Any, version: str | None = None) -> None:
        self._runtime = runtime
        self._store = store
        self._cluster = cluster
        self._version = version
        self._reconciler = reconcile.Reconciler(runtime, store, cluster)

    def standing(self) -> standing.Standing:
        """What the cluster is made of, and would be."""
        cluster, target, problem = self._cluster, None, ''
        made_of = self._made_of(self._reconciler.vault.state())
        try:
            target = self._target(self._reconciler.rows())
        except errors.UsageError as e:
            problem = f'cannot be told: {e}'
        return standing.Standing(
            cluster.uuid, cluster.name, cluster.project_id,
            cluster.status or '', made_of, target, problem)

    def preview(self) -> Preview | None:
        """What would change; nothing is, and nobody waits.

        :returns: None when the cluster is as the options say.
        :raises Refused: it cannot be moved now.
        :raises MagnumCapiError: ``failures.told`` has the text.
        """
        if not self._store.reload(self._cluster):
            raise failures.Stopped('The cluster is not in Magnum')
        self._reconciler.refuse_foreign()
        return self._preview(self._reconciler.rows(),
                             self._reconciler.vault.state())

    def run(self, show: collections.abc.Callable[[Preview], None]) -> bool:
        """Move it, as far as handing it to Cluster API.

        :param show: called before anything is changed.
        :returns: whether there was anything to do.
        :raises Refused: it cannot be moved now.
        :raises Pending: Helm has not taken it yet.
        :raises failures.Failed: Helm did not take it.
        :raises MagnumCapiError: ``failures.told`` has the text. Nothing was
            changed.
        """
        with self._reconciler.held(self._runtime.settings.lock_timeout):
            rows = self._reconciler.rows()
            state = self._reconciler.vault.state()
            found = self._preview(rows, state)
            if found is None:
                return False
            show(found)
            self._move(rows, state, found)
        return True

    def _made_of(self, state: state_module.State) -> pins_module.Pins:
        return state.before or self._reconciler.pins(state)

    def _target(self, rows: rows_module.Rows) -> pins_module.Pins:
        return gather.configured(rows, self._runtime.settings,
                                 self._store.defaults(), self._version)

    def _preview(self, rows: rows_module.Rows,
                 state: state_module.State) -> Preview | None:
        reconciler = self._reconciler
        why = standing.refusal(
            'DELETE_IN_PROGRESS' if rows.operation == 'DELETE'
            else self._cluster.status)
        if why:
            raise Refused(f'It is not moved: {why}')
        made_of, target = self._made_of(state), self._target(rows)
        if not standing.behind(made_of, target):
            return None
        now = releases.applied(
            self._runtime.kube, reconciler.namespace, reconciler.release)
        if now is None:
            raise Refused('It is not moved: Helm has deployed nothing of it')
        plan = self._plan(rows, state, made_of, target)
        then = self._runtime.helm.preview(
            reconciler.release, plan.chart, plan.values, reconciler.namespace)
        old, new = difference.parse(now), difference.parse(then)
        return Preview(
            made_of, plan, self._named(rows, replacement.rollouts(old, new)),
            difference.difference(old, new))

    def _plan(self, rows: rows_module.Rows, state: state_module.State,
              made_of: pins_module.Pins, target: pins_module.Pins,
              held: rows_module.Held | None = None) -> gather.Plan:
        """What it is to be made of; its cloud stays."""
        return gather.plan(
            rows, self._store.cloud, self._runtime.settings,
            applied=state.applied, joining=(), held=held or {},
            defaults=self._store.defaults(), pins=dataclasses.replace(
                made_of.unconfigured(), chart=target.chart))

    def _named(self, rows: rows_module.Rows,
               rollouts: collections.abc.Iterable[replacement.Rollout]
               ) -> dict[str, replacement.Rollout]:
        groups = {rows.naming.machine_deployment(group.uuid): group.name
                  for group in rows.groups}
        return {
            'control plane' if one.kind == replacement.CONTROL_PLANE
            else f'node group {groups.get(one.name, one.name)}': one
            for one in rollouts}

    def _move(self, rows: rows_module.Rows, state: state_module.State,
              found: Preview) -> None:
        store, cluster = self._store, self._cluster
        reconciler = self._reconciler
        groups = rows.live(state.applied)
        held = {**state.held, **turns.kept(reconciler, (
            group for group in groups
            if self._is_replaced(group, found)),
            lambda group: self._image(group, rows, found.plan.pins))}
        plan = self._plan(rows, state, found.made_of, found.plan.pins, held)
        reconciler.stop_if_deleting()
        reconciler.lock.check()
        before = [(row, row.status, row.status_reason) for row in groups]
        for row in (*groups, cluster):
            row.status, row.status_reason = 'UPDATE_IN_PROGRESS', None
        cluster.status_reason = _REASON
        for row in (*groups, cluster):
            store.save(row)
        begun = dataclasses.replace(
            state_module.begun(state, 'UPDATE', self._runtime.now()),
            pins=plan.pins, before=found.made_of, held=held,
            addons=plan.addons)
        reconciler.vault.write_registries(plan.registries)
        reconciler.vault.write_state(begun)
        try:
            reconciler.apply(plan)
            reconciler.taken(begun)
        except failures.Stopped:
            raise
        except failures.PASSING as e:
            raise Pending('It is tried again by the next conductor that '
                          f'looks at it: {failures.told(e)}') from e
        except Exception as e:
            self._failed(e, before, state)

    def _failed(self, e: Exception, before: list[_Before],
                state: state_module.State) -> typing.NoReturn:
        """Helm did not take it: the cluster is what it was."""
        for row, status, reason in before:
            row.status, row.status_reason = status, reason
            self._store.save(row)
        self._cluster.status = 'UPDATE_FAILED'
        self._cluster.status_reason = failures.told(e)
        self._store.save(self._cluster)
        self._reconciler.vault.write_state(state)
        raise failures.Failed(failures.told(e)) from e

    def _is_replaced(self, group: typing.Any, found: Preview) -> bool:
        return group.role != rows_module.MASTER and any(
            one.replaced for one in found.rollouts.values()
            if one.name == self._reconciler.naming.machine_deployment(
                group.uuid))

    def _image(self, group: typing.Any, rows: rows_module.Rows,
               pins: pins_module.Pins) -> str:
        """Id of a node group's image, where no machine template tells it."""
        return pins.images[group.image_id or rows.template.image_id].id
