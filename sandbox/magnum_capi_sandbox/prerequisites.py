# SPDX-License-Identifier: Apache-2.0

"""What drivers of third parties need beside their distributions.

A distribution may need things that it does not declare: another package, a
service of the cloud, an environment variable of Magnum's programs, an option
of magnum.conf. Operators have to find that out; here the driver's description
(:mod:`magnum_capi_tempest.descriptions`) says it, and a sandbox provides it.
"""

import collections.abc

from magnum_capi import driver_info
from magnum_capi import errors
from magnum_capi_sandbox import drivers
from magnum_capi_sandbox import layout as layouts
from magnum_capi_tempest import descriptions


def companions(install: collections.abc.Sequence[str]) -> tuple[str, ...]:
    """Requirements that must be installed along with the drivers.

    :param install: results of :func:`.drivers.requirement`.
    """
    return tuple(dict.fromkeys(
        one for said in _of_distributions(install)
        for one in said.companions))


def services(install: collections.abc.Sequence[str]) -> frozenset[str]:
    """Types of the cloud's services that the installed drivers need.

    :param install: results of :func:`.drivers.requirement`.
    """
    return frozenset(one for said in _of_distributions(install)
                     for one in said.services)


def variables(layout: layouts.Layout, install: collections.abc.Sequence[str],
              magnum: int) -> dict[str, str]:
    """Environment variables for programs that load a sandbox's drivers.

    :param install: results of :func:`.drivers.requirement`.
    :param magnum: first number of Magnum's version.
    """
    # For drivers that have no option for the management cluster and use
    # the same variable as every Kubernetes client.
    found = {'KUBECONFIG': str(layout.kubeconfig),
             # Temporary files disappear with the sandbox.
             'TMPDIR': str(layout.directory / 'tmp')}
    for said in _of_distributions(install):
        found |= said.environment(magnum)
    return found


def magnum_conf(
        install: collections.abc.Sequence[str]) -> dict[tuple[str, str], str]:
    """Values of Magnum's options that the drivers need, by (group, option).

    :param install: results of :func:`.drivers.requirement`.
    """
    return {(group, option): value for said in _of_distributions(install)
            for group, options in said.magnum_conf.items()
            for option, value in options.items()}


def _of_distributions(install: collections.abc.Sequence[str]
                      ) -> list[driver_info.Description]:
    names = [name for name in map(_name, install) if name]
    return [said for said in (descriptions.known() if names else ())
            if any(drivers.same(said.document['project'], name)
                   for name in names)]


def _name(requirement: str) -> str | None:
    try:
        return drivers.distribution(requirement)
    except errors.UsageError:
        # Only a build would tell the name, and we have no description of it.
        return None
