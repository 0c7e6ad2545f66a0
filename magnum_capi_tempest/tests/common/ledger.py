# SPDX-License-Identifier: Apache-2.0

"""What the tests of a run made, written down for the check of the run.

Every worker appends whole lines to one file, which the system does in one
go; what a killed worker left of a line is passed over.
"""

import dataclasses
import json
import os
import pathlib

from magnum_capi import folders
from magnum_capi_tempest.tests.common import leaks

#: In the folder of artefacts.
NAME = 'made.jsonl'


def append(folder, made):
    """Write down a leaks.Made.

    :param folder: of artefacts.
    :raises OSError: it cannot be written.
    """
    folder = folders.private(folder)
    line = json.dumps(dataclasses.asdict(made)) + '\n'
    handle = os.open(folder / NAME, os.O_WRONLY | os.O_CREAT | os.O_APPEND,
                     0o600)
    try:
        os.write(handle, line.encode())
    finally:
        os.close(handle)


def read(folder):
    """Return the list of leaks.Made of a run; empty when there is none."""
    try:
        lines = (pathlib.Path(folder) / NAME).read_text().splitlines()
    except FileNotFoundError:
        return []
    found = []
    for line in lines:
        try:
            found.append(leaks.Made(**json.loads(line)))
        except (ValueError, TypeError):
            continue
    return found
