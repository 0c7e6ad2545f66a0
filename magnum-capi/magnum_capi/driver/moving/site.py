# SPDX-License-Identifier: Apache-2.0

"""Selects clusters of a Magnum and moves them one after the other.

Only one helm runs at a time; a failure of one cluster does not stop the rest.
"""

import collections.abc
import dataclasses
import typing

from magnum_capi.driver.desired import pins as pins_module
from magnum_capi.driver import failures
from magnum_capi.driver.moving import move as move_module
from magnum_capi.driver.moving import standing as standing_module
from magnum_capi.driver import reconcile
from magnum_capi import errors
from magnum_capi.kube import lock
from magnum_capi.kube import rest
from magnum_capi import waiting

MOVED, WOULD, CURRENT = 'moved', 'would be moved', 'as the options say'
REFUSED, PENDING, FAILED = 'refused', 'pending', 'failed'

_PACE = waiting.Pace(2.0, 1.5, 10.0)

#: Outcomes that are not what was asked for.
UNDONE = (REFUSED, PENDING, FAILED)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The outcome for one cluster.

    :param row: of the cluster.
    :param kind: MOVED ... FAILED.
    """

    row: typing.Any
    kind: str
    why: str = ''
    preview: move_module.Preview | None = None

    @property
    def uuid(self) -> str:
        uuid: str = self.row.uuid
        return uuid

    @property
    def name(self) -> str | None:
        name: str | None = self.row.name
        return name

    @property
    def facts(self) -> dict[str, typing.Any]:
        """What to report, JSON-compatible."""
        found = {'cluster': self.uuid, 'name': self.name,
                 'outcome': self.kind, 'why': self.why}
        if self.preview is None:
            return found
        return {
            **found,
            'from': standing_module.said(self.preview.made_of.chart),
            'to': standing_module.said(self.preview.plan.pins.chart),
            'nodes': [{'part': part, 'replaced': one.replaced,
                       'reasons': list(one.reasons)}
                      for part, one in self.preview.rollouts.items()],
            'difference': self.preview.difference}


class Site:
    """A Magnum and its management cluster.

    :param rows: returns the clusters of this driver.
    :param store_of: returns the Store for a project's id.
    """

    def __init__(self, runtime: reconcile.Runtime,
                 rows: collections.abc.Callable[
                     [], collections.abc.Iterable[typing.Any]],
                 store_of: collections.abc.Callable[
                     [str], reconcile.Store]) -> None:
        self._runtime = runtime
        self._rows = rows
        self._store_of = store_of

    def standings(
            self) -> collections.abc.Iterator[standing_module.Standing]:
        """The Standing of each cluster."""
        for cluster in self._rows():
            yield self._standing(cluster)

    def chosen(self, uuids: collections.abc.Collection[str] = (),
               version: str | None = None) -> list[typing.Any]:
        """Rows of clusters.

        :param uuids: only these.
        :param version: only clusters with this version of a chart.
        :raises UsageError: one does not exist, or is another driver's.
        """
        found = [row for row in self._rows() if not uuids
                 or row.uuid in uuids]
        missing = set(uuids) - {row.uuid for row in found}
        if missing:
            raise errors.UsageError(
                'There is no such cluster of this driver',
                where=', '.join(sorted(missing)),
                hint='"magnum-capi driver charts" lists them')
        return [row for row in found if version is None
                or self._standing(row).version == version]

    def check(self, version: str | None) -> None:
        """Refuse a version that no cluster can be moved to.

        :raises UsageError: says which are allowed.
        """
        settings = self._runtime.settings
        if version and version not in {
                chart.version for chart in settings.charts.values()}:
            settings.chart_of(None, version, 'The command')

    def move(self, cluster: typing.Any, version: str | None = None,
             apply: bool = False) -> Outcome:
        """Move a cluster, or only say what would happen.

        :param version: see move.Move.
        """
        previews: list[move_module.Preview] = []
        try:
            one = self._move(cluster, version)
            if apply:
                kind = MOVED if one.run(previews.append) else CURRENT
            else:
                previews += filter(None, [one.preview()])
                kind = WOULD if previews else CURRENT
            why = ''
        except Exception as e:
            kind = {move_module.Refused: REFUSED,
                    move_module.Pending: PENDING,
                    lock.LockBusy: REFUSED,
                    failures.ClusterGone: REFUSED}.get(type(e), FAILED)
            why = said(e)
        return Outcome(cluster, kind, why, *previews)

    def wait(self, outcome: Outcome, seconds: float) -> Outcome:
        """Wait until a conductor has seen the end of a move."""
        if outcome.kind not in (MOVED, PENDING):
            return outcome
        row = outcome.row
        store = self._store_of(row.project_id)
        try:
            status = waiting.wait_for(
                lambda: store.status(row),
                done=lambda status: not (status or '').endswith(
                    '_IN_PROGRESS'), timeout=seconds,
                what=f'the end of the move of {outcome.name}',
                pace=_PACE, clock=self._runtime.clock)
        except errors.WaitTimeout as e:
            return dataclasses.replace(outcome, kind=PENDING, why=str(e))
        if (status or '').endswith('_COMPLETE'):
            return dataclasses.replace(outcome, kind=MOVED, why='')
        store.reload(row)
        return dataclasses.replace(
            outcome, kind=FAILED, why=f'{status}: {row.status_reason}')

    def _standing(self, cluster: typing.Any) -> standing_module.Standing:
        try:
            return self._move(cluster).standing()
        except rest.Unreachable:
            # It would not answer for the next cluster either.
            raise
        except Exception as e:
            return standing_module.Standing(
                cluster.uuid, cluster.name, cluster.project_id,
                cluster.status or '', pins_module.Pins(), None,
                f'unknown: {said(e)}')

    def _move(self, cluster: typing.Any,
              version: str | None = None) -> move_module.Move:
        return move_module.Move(
            self._runtime, self._store_of(cluster.project_id), cluster,
            version)


def said(error: Exception) -> str:
    """The text of an error, with its class if it is a bug."""
    return (str(error) if isinstance(error, errors.MagnumCapiError)
            else f'{type(error).__name__}: {error}')


def table(standings: collections.abc.Iterable[standing_module.Standing]
          ) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Columns, and a row of texts per cluster."""
    return standing_module.COLUMNS, [
        one.row for one in standing_module.ordered(standings)]
