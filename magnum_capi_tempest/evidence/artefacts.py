# SPDX-License-Identifier: Apache-2.0

"""Evidence as files: one folder a test, for its owner only, no secrets.

Whoever publishes logs decides so; nobody else on the machine reads them.
"""

import os
import pathlib
import re

from magnum_capi import folders
from magnum_capi import redact

#: Characters of a name; most file systems take 255 bytes.
_LENGTH = 150


def file_name(text):
    """Return a text as one name of a file.

    The end of a long one is what tells it from others.
    """
    return re.sub(r'[^\w.-]+', '-', text, flags=re.ASCII)[
        -_LENGTH:].strip('-.') or 'unnamed'


def folder_of(base, test_id):
    """Return the path of the folder of a test.

    :param test_id: as unittest gives it; the tags of Tempest go.
    """
    return pathlib.Path(base) / file_name(test_id.partition('[')[0])


def write(base, test_id, name, text):
    """Write a text without secrets, and never over another one.

    :param base: folder of all artefacts.
    :returns: path of the file.
    :raises OSError: it cannot be written.
    """
    folder = folder_of(base, test_id)
    folders.private(folder)
    for number in range(1000):
        path = folder / (file_name(name)
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
