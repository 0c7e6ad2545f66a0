# SPDX-License-Identifier: Apache-2.0
"""The profiles: what a sandbox's cloud consists of.

*embedded* needs neither root nor distribution packages beyond those of every
sandbox: it uses SQLite, with Magnum's API and conductor in one process. *full*
is what operators run: MariaDB with the real migrations, RabbitMQ, TLS under a
private certificate authority, two workers of Magnum's API, and the conductor
in its own process, which can die alone.
"""

import dataclasses

from magnum_capi import errors


@dataclasses.dataclass(frozen=True)
class Profile:
    """How the cloud of a sandbox is put together.

    :param database: ``sqlite`` or ``mariadb``.
    :param broker: whether Magnum's processes talk through RabbitMQ.
    :param threads: request threads of Keystone, Glance, Nova, Neutron and
        Cinder. SQLite allows one writer, and oslo.db fails instead of
        waiting for it; with SQLite these services get one thread each.
    :param https: whether the services answer https, in worker processes.
    :param workers: of Magnum's API; the other services have one.
    """

    name: str
    database: str
    broker: bool
    threads: int
    https: bool = False
    workers: int = 1


PROFILES = {p.name: p for p in (
    Profile('embedded', database='sqlite', broker=False, threads=1),
    Profile('full', database='mariadb', broker=True, threads=4,
            https=True, workers=2),
)}

DEFAULT = 'embedded'


def get(name: str) -> Profile:
    """The profile of that name.

    :raises UsageError: there is none.
    """
    try:
        return PROFILES[name]
    except KeyError:
        raise errors.UsageError(
            f'Unknown profile {name!r}',
            hint=f'Known profiles: {", ".join(PROFILES)}') from None
