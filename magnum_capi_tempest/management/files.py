# SPDX-License-Identifier: Apache-2.0

"""Files that only their owner can read, at no moment anyone else."""

import os
import pathlib


def write_private(path, content: bytes):
    """Write a file of mode 0600 in one go: all of it, or what was there.

    :param path: folders above it are made with mode 0700.
    """
    path = pathlib.Path(path)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    scratch = path.with_name(f'.{path.name}.{os.getpid()}')
    scratch.unlink(missing_ok=True)
    try:
        descriptor = os.open(
            scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, 'wb') as f:
            f.write(content)
        scratch.rename(path)
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise
