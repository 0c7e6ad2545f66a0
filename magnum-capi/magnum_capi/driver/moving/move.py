# SPDX-License-Identifier: Apache-2.0

"""Moves a cluster to the chart and options that the driver is configured with.

The preview shows what Helm would change, and which nodes Cluster API would
replace because of it. The move works like an upgrade: with the lock held, the
desired state is recorded first, so that any conductor resumes a move whose
process died; and in the same order, the control plane first. The Kubernetes
version, images and networks of the cluster stay.
"""

import collections.abc
import dataclasses
import typing

from magnum_capi.driver.desired import pins as pins_module
from magnum_capi.driver.desired import replacement
from magnum_capi.driver.desired import rows as rows_module
from magnum_capi.driver.desired import spec
from magnum_capi.driver import failures
from magnum_capi.driver import gather
from magnum_capi.driver.keys import state as state_module
from magnum_capi.driver.moving import difference
from magnum_capi.driver.moving import standing
from magnum_capi.driver import reconcile
from magnum_capi.driver import turns
from magnum_capi import errors

_REASON = 'The operator moves it to another chart or other options'

#: Row of a node group, its status and status reason.
_Before: typing.TypeAlias = tuple[typing.Any, str, str | None]


class Refused(errors.MagnumCapiError):
    """The cluster cannot be moved now; nothing was changed."""


class Pending(errors.MagnumCapiError):
    """The move is recorded; a conductor will try it again."""


@dataclasses.dataclass(frozen=True)
class Preview:
    """What a move changes.

    :param made_of: what the cluster is made of now.
    :param rollouts: by readable name of the part.
    :param difference: text; see difference.difference.
    """

    made_of: pins_module.Pins
    plan: gather.Plan
    rollouts: dict[str, replacement.Rollout]
    difference: str


class Move:
    """The move of one cluster.

    :param store: Magnum's own.
    :param cluster: Magnum's row.
    :param version: of the chart; None: according to template and options.
    """

    def __init__(self, runtime: reconcile.Runtime, store: reconcile.Store,
                 cluster: typing.Any, version: str | None = None) -> None:
        self._runtime = runtime
        self._store = store
        self._cluster = cluster
        self._version = version
        self._reconciler = reconcile.Reconciler(runtime, store, cluster)

    def standing(self) -> standing.Standing:
        """What the cluster is made of, and what it would be made of."""
        cluster, target, problem = self._cluster, None, ''
        made_of = self._made_of(self._reconciler.vault.state())
        try:
            target = self._target(self._reconciler.rows(), made_of)
        except errors.UsageError as e:
            problem = f'unknown: {e}'
        return standing.Standing(
            cluster.uuid, cluster.name, cluster.project_id,
            cluster.status or '', made_of, target, problem)

    def preview(self) -> Preview | None:
        """What would change. Changes nothing and does not wait.

        :returns: None when the cluster matches the options.
        :raises Refused: it cannot be moved now.
        :raises MagnumCapiError: ``failures.owner_message`` has the text.
        """
        if not self._store.reload(self._cluster):
            raise failures.ClusterGone('The cluster is not in Magnum')
        self._reconciler.refuse_foreign()
        return self._preview(self._reconciler.rows(),
                             self._reconciler.vault.state())

    def run(self, show: collections.abc.Callable[[Preview], None]) -> bool:
        """Move the cluster; returns once Cluster API has the change.

        :param show: called before anything is changed.
        :returns: whether there was anything to do.
        :raises Refused: it cannot be moved now.
        :raises Pending: Helm has not applied it yet.
        :raises failures.Failed: Helm refused it.
        :raises MagnumCapiError: ``failures.owner_message`` has the text.
            Nothing was changed.
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

    def _target(self, rows: rows_module.Rows,
                made_of: pins_module.Pins) -> pins_module.Pins:
        settings = self._runtime.settings
        return dataclasses.replace(
            gather.configured(rows, settings, self._store.defaults(),
                              self._version),
            default_labels=made_of.kept_in_move().labels_of(
                settings.default_labels))

    def _preview(self, rows: rows_module.Rows,
                 state: state_module.State) -> Preview | None:
        reconciler = self._reconciler
        why = standing.refusal(
            'DELETE_IN_PROGRESS' if rows.operation == 'DELETE'
            else self._cluster.status)
        if why:
            raise Refused(f'It is not moved: {why}')
        made_of = self._made_of(state)
        target = self._target(rows, made_of)
        if not standing.behind(made_of, target):
            return None
        now = reconciler.applied()
        if now is None:
            raise Refused('It cannot be moved: its Helm release has no '
                          'deployed revision')
        plan = self._plan(rows, state, made_of, target)
        then = reconciler.preview(plan)
        rollouts = replacement.rollouts(now, then)
        joining = turns.replaced(reconciler, rows.groups, rollouts)
        if joining:
            try:
                self._plan(rows, state, made_of, target, joining=joining)
            except spec.InvalidSpec as e:
                raise Refused(f'It cannot be moved: {e}. Upgrade it first'
                              ) from None
        return Preview(
            made_of, plan, self._named(rows, rollouts),
            difference.difference(now, then))

    def _plan(self, rows: rows_module.Rows, state: state_module.State,
              made_of: pins_module.Pins, target: pins_module.Pins,
              held: rows_module.Held | None = None,
              joining: collections.abc.Container[str] = ()) -> gather.Plan:
        """The plan for the target; what was looked up in the cloud stays.

        :param joining: see validation.check.
        """
        return gather.plan(
            rows, self._store.cloud, self._runtime.settings,
            applied=state.applied, joining=joining, held=held or {},
            defaults=self._store.defaults(), pins=dataclasses.replace(
                made_of.kept_in_move(), chart=target.chart))

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
        replaced = turns.replaced(reconciler, groups, found.rollouts.values())
        held = {**state.held, **turns.current_images(reconciler, (
            group for group in groups if group.uuid in replaced),
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
            reconciler.record_move_applied(begun)
        except failures.ClusterGone:
            raise
        except failures.TRANSIENT as e:
            raise Pending('The next conductor that checks it will try again: '
                          f'{failures.owner_message(e)}') from e
        except Exception as e:
            self._failed(e, before, state)

    def _failed(self, e: Exception, before: list[_Before],
                state: state_module.State) -> typing.NoReturn:
        """Restore the rows: Helm refused the move."""
        for row, status, reason in before:
            row.status, row.status_reason = status, reason
            self._store.save(row)
        self._cluster.status = 'UPDATE_FAILED'
        self._cluster.status_reason = failures.owner_message(e)
        self._store.save(self._cluster)
        self._reconciler.vault.write_state(state)
        raise failures.Failed(failures.owner_message(e)) from e

    def _image(self, group: typing.Any, rows: rows_module.Rows,
               pins: pins_module.Pins) -> str:
        """Id of a node group's image, if no machine template has it."""
        return pins.images[group.image_id or rows.template.image_id].id
