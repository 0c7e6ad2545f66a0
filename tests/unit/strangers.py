# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

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
