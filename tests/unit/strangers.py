# SPDX-License-Identifier: Apache-2.0

"""Folders of other users, for tests that run as root."""

import os
import unittest

#: Somebody who is neither root nor who runs the tests.
STRANGER = 54321

#: Decorator: only root can give a folder away.
root = unittest.skipUnless(os.geteuid() == 0, 'only root can change owners')


def give(path, mode=0o777):
    """Give a new folder, or the link that is there, to a stranger."""
    if not path.is_symlink():
        path.mkdir()
        path.chmod(mode)
    os.chown(path, STRANGER, STRANGER, follow_symlinks=False)
    return path
