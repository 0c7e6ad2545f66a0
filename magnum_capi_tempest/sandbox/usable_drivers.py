# SPDX-License-Identifier: Apache-2.0

"""Which drivers of a sandbox can make clusters of its image."""

import json

from magnum_capi import processes

#: Cluster type of the image of a sandbox.
TYPE = {'server_type': 'vm', 'os': 'ubuntu', 'coe': 'kubernetes'}


def drivers(box) -> list[str]:
    """Names of the drivers that Magnum could use for the image.

    :param box: lifecycle.Sandbox that is up.
    """
    layout = box.layout()
    said = processes.run([
        layout.magnum_env / 'bin' / 'magnum-capi', 'discovery', 'list',
        '--config-file', layout.magnum_conf[0],
        '--config-dir', layout.magnum_conf[1], '-f', 'json'], timeout=120)
    return [one['Driver'] for one in json.loads(said)
            if one['State'] == 'usable' and TYPE in one['Cluster types']]


def clashing(found) -> tuple[tuple[str, str], ...]:
    """Options of [magnum_capi]: two drivers clash, and that can be tried.

    :param found: names of drivers of one type.
    """
    if len(found) < 2:
        return ()
    return ('clashing_drivers', ','.join(found)),
