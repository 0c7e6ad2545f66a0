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
from magnum_capi_sandbox import record as records
from magnum_capi_sandbox import releases

PROGRAMS = 'magnum', 'magnum-conductor'


def upgrade(box, name):
    """Upgrade the Magnum of a running sandbox; its clusters stay.

    :param box: :class:`tests.functional.boxes.Box`.
    :param name: of the release.
    :returns: :class:`tests.functional.boxes.Ended` of the command that starts
        the new Magnum, with its drivers installed for that release.
    """
    record = records.require_ready(box.directory)
    layout = box.sandbox.layout()
    venvs = environment.both(progress.Progress(), releases.get(name),
                             record.infrastructure)
    box.sandbox.supervisor.remove(*PROGRAMS)
    processes.run(
        [venvs.magnum / 'bin' / 'magnum-db-manage', '--config-file',
         layout.etc / 'magnum.conf', 'upgrade'], timeout=600, merge=True,
        env=services.environment(layout, venvs.cloud), cwd=box.directory)
    shutil.rmtree(layout.drivers)
    records.save(box.directory, dataclasses.replace(record, magnum=name))
    return box.up()
