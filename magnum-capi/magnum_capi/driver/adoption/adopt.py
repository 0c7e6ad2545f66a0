# SPDX-License-Identifier: Apache-2.0

"""Adopts all clusters of a template at once, or gives them back.

Magnum finds the driver of a cluster by its template, so the clusters of a
template change their driver together. What this driver must know of each is
written first, and has no effect while the template names the other driver.
That name is one field of one row, so all of them change at the same moment.
"""

import collections.abc
import contextlib
import dataclasses
import functools
import typing

from magnum_capi.driver.adoption import candidate
from magnum_capi.driver.adoption import rules
from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import replacement
from magnum_capi.driver.desired import rows as rows_module
from magnum_capi.driver.desired import spec
from magnum_capi.driver.desired import state as state_module
from magnum_capi.driver import failures
from magnum_capi.driver import gather
from magnum_capi.driver.helm import releases
from magnum_capi.driver import scope as scope_module
from magnum_capi import errors
from magnum_capi.kube import lease

if typing.TYPE_CHECKING:
    from magnum_capi.driver import store as store_module

ADOPTED, WOULD = 'adopted', 'would be adopted'
RETURNED, WOULD_RETURN = 'given back', 'would be given back'
REFUSED, FAILED = 'refused', 'failed'

#: Outcomes that are not what was asked for.
UNDONE = (REFUSED, FAILED)

#: Writes the driver of a template, given the template's uuid, its present
#: driver and the new one; False when the present driver is another.
NameDriver: typing.TypeAlias = collections.abc.Callable[
    [str, str | None, str | None], bool]


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The outcome for one cluster.

    :param kind: ADOPTED ... FAILED.
    :param why: one line each.
    :param state: that is written, or removed.
    :param changes: one line each.
    """

    row: typing.Any
    kind: str
    why: tuple[str, ...] = ()
    state: state_module.State | None = None
    changes: tuple[str, ...] = ()

    @property
    def facts(self) -> dict[str, typing.Any]:
        """What to report, JSON-compatible and without secrets."""
        found: dict[str, typing.Any] = {
            'cluster': self.row.uuid, 'name': self.row.name,
            'template': self.row.cluster_template_id, 'outcome': self.kind,
            'why': list(self.why)}
        state = self.state
        if state is None or state.adopted is None:
            return found
        chart = state.desired and state.desired.chart
        found |= {
            'release': self.row.stack_id, 'revision': state.adopted.revision,
            'chart': chart and chart.name,
            'version': chart and chart.version,
            'node_groups': dict(state.adopted.groups),
            'credential': [entry.name for entry in state.record],
            'changes': list(self.changes)}
        return found


class Adoption:
    """The clusters of a Magnum, with their templates.

    :param rows: returns all clusters of all drivers.
    :param store_of: returns the Store for a project's id.
    """

    def __init__(self, runtime: scope_module.Runtime,
                 rows: collections.abc.Callable[
                     [], collections.abc.Iterable[typing.Any]],
                 store_of: collections.abc.Callable[
                     [str], 'store_module.Store'],
                 name_driver: NameDriver) -> None:
        self._runtime = runtime
        self._rows = rows
        self._store_of = store_of
        self._name_driver = name_driver

    def chosen(self, uuids: collections.abc.Collection[str] = (),
               undo: bool = False) -> list[list[typing.Any]]:
        """Rows of clusters, grouped by template.

        :param uuids: of these; when empty, all that may be adopted, or given
            back.
        :raises UsageError: one does not exist, or a cluster with the same
            template is missing.
        """
        by_template: dict[str, list[typing.Any]] = {}
        for row in self._rows():
            by_template.setdefault(row.cluster_template_id, []).append(row)
        found = [rows for rows in by_template.values()
                 if (any(row.uuid in uuids for row in rows) if uuids
                     else self._is_candidate(rows, undo))]
        there = {row.uuid for rows in found for row in rows}
        for problem, missing in (
                ('There is no cluster with this UUID', set(uuids) - there),
                ('Clusters of a template can only be adopted or returned '
                 'together, and these have the same template as a named one',
                 there - set(uuids) if uuids else ())):
            if missing:
                raise errors.UsageError(
                    problem, where=', '.join(sorted(missing)),
                    hint='Name all clusters of a template')
        return found

    def _is_candidate(self, rows: list[typing.Any], undo: bool) -> bool:
        store = self._store_of(rows[0].project_id)
        template = store.template(rows[0].cluster_template_id)
        foreign = any(row.stack_id not in (None, names.cluster(row.uuid))
                      for row in rows)
        if undo:
            return foreign and template.driver == names.DRIVER
        return store.driver_of(template) == rules.FORMER or (
            foreign and template.driver is None)

    def show(self, rows: list[typing.Any], undo: bool) -> list[Outcome]:
        """What would become of the clusters of a template."""
        kind = WOULD_RETURN if undo else WOULD
        return [self._outcome(row, kind, functools.partial(
            self._judge, self._scope(row), undo)) for row in rows]

    def adopt(self, rows: list[typing.Any]) -> list[Outcome]:
        """Adopt the clusters of a template: all of them, or none."""
        return self._change(rows, undo=False)

    def undo(self, rows: list[typing.Any]) -> list[Outcome]:
        """Give the clusters of a template back: all of them, or none."""
        return self._change(rows, undo=True)

    def _scope(self, row: typing.Any) -> scope_module.Scope:
        return scope_module.Scope(
            self._runtime, self._store_of(row.project_id), row)

    def _judge(self, scope: scope_module.Scope,
               undo: bool) -> Outcome:
        found = candidate.read(scope)
        why = rules.return_refusals(found) if undo else rules.refusals(found)
        if why:
            return Outcome(found.cluster, REFUSED, tuple(why))
        if undo:
            return Outcome(found.cluster, RETURNED, state=found.state,
                           changes=rules.changes(found, found.state, True))
        return self._preview(scope, found)

    def _preview(self, scope: scope_module.Scope,
                 found: rules.Candidate) -> Outcome:
        """Whether the next change of a cluster would replace its nodes."""
        options, state = self._runtime.options, rules.state(found)
        assert state.adopted and state.desired
        naming = names.Naming(scope.release, state.adopted.groups)
        changes = rules.changes(found, state, undo=False)
        for group in found.groups:
            if group.uuid in state.adopted.images:
                group.image_id = found.template.image_id
        plan = gather.Planner(
            rows_module.Rows(
                found.cluster, found.groups, found.template, naming),
            scope.store.cloud, options, applied=state.applied,
            joining=(), defaults=scope.store.defaults(),
            current=state.desired).plan()
        replaced = replacement.replaced(
            scope.helm_release.applied() or [],
            scope.helm_release.preview(plan))
        why = [f'its next change would replace the nodes of {kind} {name}: '
               f'this driver renders {", ".join(texts)}'
               for (kind, name), texts in replaced.items()]
        why += rules.without_autoscaler(found, plan.values)
        if why:
            return Outcome(found.cluster, REFUSED, tuple(why))
        return Outcome(
            found.cluster, ADOPTED, state=state, changes=changes)

    def _outcome(self, row: typing.Any, kind: str,
                 judge: collections.abc.Callable[[], Outcome]) -> Outcome:
        try:
            found = judge()
        except (spec.InvalidSpec, errors.UsageError, lease.LockBusy) as e:
            return Outcome(row, REFUSED, (str(e),))
        except Exception as e:
            return Outcome(row, FAILED, (_said(e),))
        return found if found.kind == REFUSED else dataclasses.replace(
            found, kind=kind)

    def _change(self, rows: list[typing.Any], undo: bool) -> list[Outcome]:
        kind = RETURNED if undo else ADOPTED
        with contextlib.ExitStack() as stack:
            scopes = [self._scope(row) for row in rows]
            outcomes = [self._outcome(
                one.cluster, kind,
                functools.partial(self._locked, stack, one, undo))
                for one in scopes]
            if any(one.kind in UNDONE for one in outcomes):
                return [one if one.kind in UNDONE else _refused(
                    one, 'not possible for another cluster of its template')
                    for one in outcomes]
            hand = self._give if undo else self._take
            why = hand(scopes, [
                one.state for one in outcomes if one.state])
        return [_refused(one, why) for one in outcomes] if why else outcomes

    def _locked(self, stack: contextlib.ExitStack,
                scope: scope_module.Scope, undo: bool) -> Outcome:
        timeout = self._runtime.options.lock_timeout
        stack.enter_context(scope.lock.hold(timeout))
        if not scope.store.reload(scope.cluster):
            raise failures.ClusterGone('The cluster is not in Magnum')
        return self._judge(scope, undo)

    def _take(self, scopes: list[scope_module.Scope],
              states: list[state_module.State]) -> str:
        """Adopt; returns why that failed, empty on success."""
        uuid = scopes[0].cluster.cluster_template_id
        adopted = states[0].adopted
        assert adopted
        for one, state in zip(scopes, states):
            one.lock.check()
            one.secrets.write_state(dataclasses.replace(
                state, version=one.secrets.state().version))
        # The other driver neither reads nor changes them, and once this one is
        # named, an adoption that was interrupted cannot be repeated.
        self._write_images(scopes, states, undo=False)
        if not self._name_driver(uuid, adopted.driver, names.DRIVER):
            self._forget(scopes, states)
            return 'its template has just been changed'
        # The other driver takes no lock, so it may have begun something.
        late = [one for one, state in zip(scopes, states)
                if self._is_late(one, state)]
        if late:
            self._name_driver(uuid, names.DRIVER, adopted.driver)
            self._forget(scopes, states)
            return 'another operation began in the meantime; try again'
        return ''

    def _is_late(self, scope: scope_module.Scope,
                 state: state_module.State) -> bool:
        status = scope.store.status(scope.cluster) or ''
        last = releases.revisions(
            self._runtime.kube, scope.namespace, scope.release)
        return (not status.endswith('_COMPLETE') or not last
                or not state.adopted
                or last[-1].number != state.adopted.revision)

    def _give(self, scopes: list[scope_module.Scope],
              states: list[state_module.State]) -> str:
        """Give back; returns why that failed, empty on success."""
        cluster = scopes[0].cluster
        adopted = states[0].adopted
        assert adopted
        template = scopes[0].store.template(cluster.cluster_template_id)
        if template.driver != adopted.driver and not self._name_driver(
                cluster.cluster_template_id, names.DRIVER, adopted.driver):
            return 'its template has just been changed'
        self._forget(scopes, states)
        return ''

    def _write_images(self, scopes: list[scope_module.Scope],
                      states: list[state_module.State], undo: bool) -> None:
        for one, state in zip(scopes, states):
            template = one.store.template(one.cluster.cluster_template_id)
            images = state.adopted.images if state.adopted else {}
            for group in one.store.groups(one.cluster):
                if group.uuid in images:
                    group.image_id = (images[group.uuid] if undo
                                      else template.image_id)
                    one.store.save(group)

    def _forget(self, scopes: list[scope_module.Scope],
                states: list[state_module.State]) -> None:
        self._write_images(scopes, states, undo=True)
        for one in scopes:
            one.lock.check()
            one.secrets.remove_state()


def _refused(outcome: Outcome, why: str) -> Outcome:
    return Outcome(outcome.row, REFUSED, (why,))


def _said(error: Exception) -> str:
    """The text of an error, with its class if it is a bug."""
    return (str(error) if isinstance(error, errors.MagnumCapiError)
            else f'{type(error).__name__}: {error}')
