# SPDX-License-Identifier: Apache-2.0

"""The pins of what is made here, beside those of the toolchain.

``pins.toml`` of this folder adds modules, programs, and ``[kubernetes]``: the
programs of nodes, for one release of each minor version.
"""

import functools
import pathlib
import tomllib

from magnum_capi_tempest.toolchain import pins

#: The file to edit.
FILE = pathlib.Path(__file__).with_name('pins.toml')


@functools.cache
def load() -> pins.Pins:
    """All pins, for this machine."""
    found, more = (tomllib.loads(file.read_text(encoding='utf-8'))
                   for file in (pins.FILE, FILE))
    for table in ('modules', 'ldflags', 'programs'):
        found[table] |= more[table]
    found['programs'] |= _of_minors(**more['kubernetes'])
    return pins.read(found, pins.architecture())


def _of_minors(releases, programs):
    """"kubelet-1.36" and its like."""
    return {f'{name}-{minor}': {
        'version': release.get(name, release['kubernetes']), **program}
        for minor, release in releases.items()
        for name, program in programs.items()
        if minor in program.get('minors', (minor,))}
