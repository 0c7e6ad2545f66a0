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
    def pins(self) -> tuple[str, ...]:
        """Files of ``sandbox/constraints/`` with the pins of its environment.

        The newest Magnum shares the environment of the whole cloud.
        """
        if self.version == NEWEST.version:
            return (CLOUD,)
        return (f'sandbox/constraints/magnum-{self.name}.txt',
                'sandbox/constraints/magnum-beside.txt')


#: Pins of the cloud, including the newest Magnum.
CLOUD = 'sandbox/constraints/cloud.txt'

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
