# SPDX-License-Identifier: Apache-2.0

"""Evidence as files: one folder per test, redacted, readable by the owner.

It is up to the owner to publish them; other users of the machine cannot read
them.
"""

import os
import pathlib

from magnum_capi import folders
from magnum_capi_tempest import redact
from magnum_capi_tempest import texts


def folder_of(base: pathlib.Path, test_id: str) -> pathlib.Path:
    """Return the path of the folder of a test.

    :param test_id: from unittest; the tags of Tempest are removed.
    """
    return pathlib.Path(base) / texts.file_name(test_id.partition('[')[0])


def write(base: pathlib.Path, test_id: str, name: str, text: str
          ) -> pathlib.Path:
    """Write a redacted text, and never overwrite another one.

    :param base: folder of all artefacts.
    :returns: path of the file.
    :raises OSError: it cannot be written.
    """
    folder = folder_of(base, test_id)
    folders.private(folder)
    for number in range(1000):
        path = folder / (texts.file_name(name)
                         + (f'-{number}' if number else '') + '.txt')
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL,
                             0o600)
        except FileExistsError:
            continue
        with open(handle, 'w', encoding='utf-8',
                  errors='backslashreplace') as file:
            file.write(redact.redact(text))
        return path
    raise FileExistsError(f'{folder} is full of {name}')
