# SPDX-License-Identifier: Apache-2.0

"""What a cluster is made of, compared with the present options. Pure."""

import collections.abc
import dataclasses

from magnum_capi.driver.desired import pins as pins_module

COLUMNS = ('Chart', 'Version', 'Target', 'Behind', 'Cluster', 'Name',
           'Project', 'Status')

#: Characters of a digest that are shown.
_SHOWN = 12

UNKNOWN = 'unknown'


@dataclasses.dataclass(frozen=True)
class Standing:
    """One cluster.

    :param made_of: what its memory says.
    :param target: what it would be made of now; None: see ``problem``.
    :param problem: why there is no target.
    """

    uuid: str
    name: str
    project_id: str
    status: str
    made_of: pins_module.Pins
    target: pins_module.Pins | None
    problem: str = ''

    @property
    def version(self) -> str:
        return version(self.made_of.chart)

    @property
    def row(self) -> tuple[str, ...]:
        """Texts for COLUMNS."""
        chart = self.made_of.chart
        return (chart.name if chart else UNKNOWN, self.version,
                version(self.target.chart if self.target else None),
                self._behind or 'no', self.uuid, self.name, self.project_id,
                self.status)

    @property
    def _behind(self) -> str:
        if self.target is None:
            return self.problem
        return self.problem or ', '.join(behind(self.made_of, self.target))


def behind(made_of: pins_module.Pins,
           target: pins_module.Pins) -> tuple[str, ...]:
    """What differs from the options: ``chart``, ``options`` or both.

    Options are overlays, labels and volumes. If the memory was lost, they
    count as behind.
    """
    found = []
    if made_of.chart != target.chart:
        found.append('chart')
    if not made_of.options_digest:
        found.append('options unknown')
    elif made_of.options_digest != target.options_digest:
        found.append('options')
    return tuple(found)


def version(chart: pins_module.ChartPin | None) -> str:
    """Version of a chart; a digest for a folder, which has no version."""
    if chart is None:
        return UNKNOWN
    return chart.version or f'sha256:{(chart.digest or "")[:_SHOWN]}'


def said(chart: pins_module.ChartPin | None) -> str:
    """Name and version of a chart."""
    return f'{chart.name} {version(chart)}' if chart else UNKNOWN


def ordered(standings: collections.abc.Iterable[Standing]
            ) -> list[Standing]:
    """By chart and version, then by name."""
    return sorted(standings, key=lambda one: (
        one.row[0], one.version, one.name or '', one.uuid))


def refusal(status: str | None) -> str:
    """Why a cluster of this status cannot be moved now; empty: it can."""
    status = status or ''
    if status.startswith('DELETE_'):
        return f'it is being deleted ({status})'
    if status.endswith('_IN_PROGRESS'):
        return f'an operation on it is in progress ({status})'
    if status == 'CREATE_FAILED':
        return 'its creation failed'
    return ''
