# SPDX-License-Identifier: Apache-2.0

"""Which drivers of a sandbox can use its image, and their descriptions."""

import json
import os

from magnum_capi import driver_info
from magnum_capi import errors
from magnum_capi import processes
from magnum_capi_tempest.sandbox import descriptions
from magnum_capi_tempest.sandbox import record as records

#: Cluster type of the image of a sandbox.
TYPE = {'server_type': 'vm', 'os': 'ubuntu', 'coe': 'kubernetes'}


def description(box, name) -> driver_info.Description | None:
    """A driver's own description of itself, or else ours.

    :param box: lifecycle.Sandbox that is up.
    :param name: of a Magnum driver; empty: the one that Magnum chooses.
    :returns: None if there is no description.
    :raises UsageError: it describes another driver.
    """
    name = name or next(iter(sorted(drivers(box))), '')
    try:
        said = processes.run([
            box.layout().magnum_env / 'bin' / 'magnum-capi', 'driver',
            'info', name], timeout=120)
    except errors.CommandFailed as e:
        if e.returncode != 1:
            raise
        return descriptions.of_driver(name)
    one, = json.loads(said)
    whose = one.pop('distribution')
    return driver_info.Description(one, whose or name, whose).require(name)


def drivers(box) -> list[str]:
    """Names of the drivers that Magnum could use for the image.

    :param box: lifecycle.Sandbox that is up.
    """
    return [one['Driver'] for one in _listed(box) if _is_usable(one)]


def others(box) -> list[str]:
    """The other drivers, and why Magnum could not use them.

    :param box: lifecycle.Sandbox that is up.
    """
    return [f'{one["Driver"]}: ' + (
        'not for the image of the sandbox' if one['State'] == 'usable' else
        f'{one["State"]}, {one["Error"]}' if one['Error'] else one['State'])
        for one in _listed(box) if not _is_usable(one)]


def _is_usable(one):
    return one['State'] == 'usable' and TYPE in one['Cluster types']


def _listed(box):
    layout = box.layout()
    record = records.require_ready(box.directory)
    return json.loads(processes.run([
        layout.magnum_env / 'bin' / 'magnum-capi', 'discovery', 'list',
        '--config-file', layout.magnum_conf[0],
        '--config-dir', layout.magnum_conf[1], '-f', 'json'], timeout=120,
        env={**os.environ, **descriptions.variables(
            layout, record.additions.install, record.release.version)}))


def clashing(found) -> tuple[tuple[str, str], ...]:
    """Options of [magnum_capi] for a test of two clashing drivers.

    :param found: names of drivers of one type.
    """
    if len(found) < 2:
        return ()
    return ('clashing_drivers', ','.join(found)),
