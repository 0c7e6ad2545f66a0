# SPDX-License-Identifier: Apache-2.0
"""The releases of Magnum that a sandbox can run."""

import dataclasses

from magnum_capi import errors


@dataclasses.dataclass(frozen=True)
class Release:
    """A release of Magnum; the other services are always the same.

    :param name: of the OpenStack release.
    :param version: first number of Magnum's version.
    :param microversion: the highest one of its API
        (magnum/api/controllers/versions.py).
    :param trusts: its conductor makes a trustee and a trust for each cluster
        (until 22.0.0: magnum/conductor/handlers/common/trust_manager.py).
    :param wheel: path of a Magnum of the user's own, with the traits of this
        release; see :mod:`.magnum_wheel`.
    """

    name: str
    version: int
    microversion: str
    trusts: bool = True
    wheel: str | None = None

    def __str__(self) -> str:
        if not self.wheel:
            return self.name
        return f'{self.name} ({self.wheel.rpartition("/")[2]})'

    @property
    def slurp(self) -> bool:
        """Whether operators may skip the release after it when they upgrade.

        Every first release of a year (OpenStack's release cadence, SLURP).
        """
        return self.name.endswith('.1')

    @property
    def pins(self) -> tuple[str, ...]:
        """Files of ``constraints/`` with the pins of its environment.

        The newest Magnum shares the environment of the whole cloud.
        """
        if self.version == NEWEST.version:
            return (CLOUD,)
        return (f'constraints/magnum-{self.name}.txt',
                'constraints/magnum-beside.txt')


#: Pins of the cloud, including the newest Magnum.
CLOUD = 'constraints/cloud.txt'

NEWEST = Release('2026.2', 23, '1.14', trusts=False)

RELEASES = (Release('2025.1', 20, '1.11'), Release('2025.2', 21, '1.12'),
            Release('2026.1', 22, '1.12'), NEWEST)


def get(text: str) -> Release:
    """The release with that name or first version number.

    :raises UsageError: there is none.
    """
    for release in RELEASES:
        if text in (release.name, str(release.version)):
            return release
    known = ', '.join(f'{r.name} ({r.version})' for r in RELEASES)
    raise errors.UsageError(f'Unknown release of Magnum: {text!r}',
                            hint=f'Known releases: {known}')


def route(start: Release, end: Release) -> tuple[Release, ...]:
    """The upgrades from one release to a later one that OpenStack allows.

    :returns: the releases after ``start``, up to and including ``end``.
    :raises UsageError: ``end`` is not later.
    """
    if end.version <= start.version:
        raise errors.UsageError(
            f'Magnum {start.name} cannot be changed to {end.name}: only '
            'upgrades are possible', hint='Name a later release')
    later = [r for r in RELEASES if start.version < r.version <= end.version]
    steps = []
    while start != end:
        if start.slurp and len(later) > 1 and later[1].slurp:
            later.pop(0)
        start = later.pop(0)
        steps.append(start)
    return tuple(steps)
