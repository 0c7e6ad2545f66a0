# SPDX-License-Identifier: Apache-2.0

"""What is written down of others' drivers, and what they need beside them.

A distribution may need what it does not declare: another package, a service of
the cloud, a variable of Magnum's programs. An operator has to find that out;
here it stands in the description of its drivers, and a sandbox has it, too.
"""

from magnum_capi import driver_info
from magnum_capi import errors
from magnum_capi_tempest import resources
from magnum_capi_tempest.sandbox import drivers

#: Descriptions of drivers whose distributions have none.
OTHERS = 'drivers/descriptions'


def of_driver(name) -> driver_info.Description | None:
    """The description of a driver; None: there is none."""
    path = resources.find(OTHERS) / f'{name}.yaml'
    return _read(path) if path.is_file() else None


def companions(install) -> tuple[str, ...]:
    """Requirements that must be beside what is installed.

    :param install: results of :func:`.drivers.requirement`.
    """
    return tuple(dict.fromkeys(
        one for said in _of_distributions(install)
        for one in said.companions))


def services(install) -> frozenset[str]:
    """Types of services of the cloud that what is installed needs.

    :param install: results of :func:`.drivers.requirement`.
    """
    return frozenset(one for said in _of_distributions(install)
                     for one in said.services)


def variables(layout, install) -> dict[str, str]:
    """Variables of programs that load the drivers of a sandbox.

    :param install: results of :func:`.drivers.requirement`.
    """
    # For drivers that look for the management cluster where every client
    # of Kubernetes does, and have no option for it.
    found = {'KUBECONFIG': str(layout.kubeconfig),
             # What they leave there goes with the sandbox.
             'TMPDIR': str(layout.directory / 'tmp')}
    for said in _of_distributions(install):
        found |= said.environment
    return found


def _of_distributions(install):
    names = [name for name in map(_name, install) if name]
    return [said for said in map(_read, sorted(
        resources.find(OTHERS).glob('*.yaml')) if names else ())
        if any(drivers.same(said.document['project'], name)
               for name in names)]


def _name(requirement):
    try:
        return drivers.distribution(requirement)
    except errors.UsageError:
        # One that only a build tells: nothing is known of it, either.
        return None


def _read(path):
    return driver_info.parse(path.read_text(encoding='utf-8'), path)
