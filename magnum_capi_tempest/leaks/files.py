# SPDX-License-Identifier: Apache-2.0

"""Files of a run: its first snapshot, and what its tests created.

All workers append whole lines to one file, which the system does atomically;
the partial line of a killed worker is ignored.
"""

import dataclasses
import json
import os
import pathlib

from magnum_capi import errors
from magnum_capi import folders
from magnum_capi_tempest.leaks import model

#: Record of what was created, in the folder of artefacts.
MADE = 'made.jsonl'


def write(path, snapshot):
    """Write a model.Snapshot as JSON.

    :raises EnvironmentProblem: it cannot be written.
    """
    try:
        pathlib.Path(path).write_text(json.dumps({
            'viewer': snapshot.viewer,
            'kinds': sorted(snapshot.kinds), 'unread': dict(snapshot.unread),
            'things': [dataclasses.asdict(t)
                       for t in sorted(snapshot.things)]}, indent=1))
    except OSError as e:
        raise errors.EnvironmentProblem(
            'The snapshot cannot be written', where=path,
            last_seen=e) from e


def read(path):
    """Read a model.Snapshot.

    :raises UsageError: it is missing or invalid.
    """
    try:
        found = json.loads(pathlib.Path(path).read_text())
        return model.Snapshot(
            frozenset(model.Thing(**t) for t in found['things']),
            frozenset(found['kinds']), found['unread'],
            # Snapshots of before do not have it.
            model.Viewer(*found['viewer']) if found.get('viewer') else None)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as e:
        raise errors.UsageError(
            'The file is not a snapshot',
            where=path, last_seen=type(e).__name__,
            hint='Create one with "magnum-capi tempest snapshot"') from e


def append_made(folder, made):
    """Append a model.Made to the record.

    :param folder: of artefacts.
    :raises OSError: it cannot be written.
    """
    folder = folders.private(folder)
    line = json.dumps(dataclasses.asdict(made)) + '\n'
    handle = os.open(folder / MADE, os.O_WRONLY | os.O_CREAT | os.O_APPEND,
                     0o600)
    try:
        os.write(handle, line.encode())
    finally:
        os.close(handle)


def read_made(folder):
    """Return the list of model.Made of a run; empty if there is no record."""
    try:
        lines = (pathlib.Path(folder) / MADE).read_text().splitlines()
    except FileNotFoundError:
        return []
    found = []
    for line in lines:
        try:
            found.append(model.Made(**json.loads(line)))
        except (ValueError, TypeError):
            continue
    return found
