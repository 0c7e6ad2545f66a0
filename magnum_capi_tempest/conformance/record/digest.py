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

"""SHA-256 of a file, computed beside whoever reads it.

hashlib lets other threads run while it computes, and so do the inflaters: on
a machine with two cores, what the digest takes is not waited for.
"""

import hashlib
import threading


class Sha256:
    """Takes the blocks of a file in their order.

    A thread lives as long as its block takes, about a millisecond for a
    megabyte: there is nothing to close, whenever a reader gives up.
    """

    def __init__(self):
        self._digest = hashlib.sha256()
        self._thread = None

    def update(self, block):
        """Take the next block, which nobody may change any more."""
        self._join()
        self._thread = threading.Thread(
            target=self._digest.update, args=(block,), daemon=True)
        self._thread.start()

    def hexdigest(self) -> str:
        """Of the blocks so far."""
        self._join()
        return self._digest.hexdigest()

    def _join(self):
        if self._thread is not None:
            self._thread.join()
            self._thread = None
