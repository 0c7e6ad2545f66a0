# SPDX-License-Identifier: Apache-2.0

"""The record of what the tests of a run created.

All workers append whole lines to one file, which the system does atomically;
the partial line of a killed worker is ignored.
"""

import dataclasses
import json
import os
import pathlib

from magnum_capi import folders
from magnum_capi_tempest.leaks import model

#: Its name in the folder of artefacts.
FILE = 'made.jsonl'


def append(folder: pathlib.Path | str, made: model.Made) -> None:
    """Append a model.Made.

    :param folder: of artefacts.
    :raises OSError: it cannot be written.
    """
    path = folders.private(folder) / FILE
    line = json.dumps(dataclasses.asdict(made)) + '\n'
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(handle, line.encode())
    finally:
        os.close(handle)


def read(folder: pathlib.Path | str) -> list[model.Made]:
    """Return the list of model.Made of a run; empty if there is no record."""
    try:
        lines = (pathlib.Path(folder) / FILE).read_text().splitlines()
    except FileNotFoundError:
        return []
    found = []
    for line in lines:
        try:
            found.append(model.Made(**json.loads(line)))
        except (ValueError, TypeError):
            continue
    return found
