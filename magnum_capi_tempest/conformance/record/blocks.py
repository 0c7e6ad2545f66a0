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

"""A file block by block, and the SHA-256 of what was read of it."""

import hashlib

#: Bytes that are read at once.
BLOCK = 1 << 20


class Blocks:
    """Iterates once over the blocks of a file.

    :param stream: binary file, read from where it stands.
    """

    def __init__(self, stream):
        self._stream = stream
        self._digest = hashlib.sha256()

    def __iter__(self):
        while block := self._stream.read(BLOCK):
            # Whoever waits for a block need not wait for its digest.
            yield block
            self._digest.update(block)

    @property
    def sha256(self) -> str:
        """Of all blocks, hex; when they have been iterated to their end."""
        return self._digest.hexdigest()
