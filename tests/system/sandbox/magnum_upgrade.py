# SPDX-License-Identifier: Apache-2.0

"""Upgrades the Magnum of a sandbox, as operators do.

Magnum stops, its database is migrated, and the new release starts with the
same data. Needs the profile "full", as Magnum's migrations fail on SQLite.
"""

import dataclasses
import shutil

from magnum_capi import processes
from magnum_capi import progress
from magnum_capi_sandbox.cloud import environment
from magnum_capi_sandbox.cloud import services
from magnum_capi_sandbox import releases
from magnum_capi_sandbox import spec as specs

PROGRAMS = 'magnum', 'magnum-conductor'


def upgrade(box, name):
    """Upgrade the Magnum of a running sandbox; its clusters stay.

    :param box: :class:`tests.functional.boxes.Box`.
    :param name: of the release.
    :returns: :class:`tests.functional.boxes.Ended` of the command that starts
        the new Magnum, with its drivers installed for that release.
    """
    spec = box.sandbox.spec()
    release = releases.get(name)
    layout = box.sandbox.layout()
    venvs = environment.both(progress.Progress(), release,
                             spec.infrastructure)
    box.sandbox.supervisor.remove(*PROGRAMS)
    processes.run(
        [venvs.magnum / 'bin' / 'magnum-db-manage', '--config-file',
         layout.etc / 'magnum.conf', 'upgrade'], timeout=600, merge=True,
        env=services.environment(layout, venvs.cloud), cwd=box.directory)
    shutil.rmtree(layout.drivers)
    specs.save(box.directory, dataclasses.replace(
        spec, magnum=name, versions=spec.versions
        | environment.versions(release, spec.infrastructure)))
    return box.up()
