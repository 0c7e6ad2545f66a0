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

"""Reads and walks through an archive in threads, ahead of the parsers.

To inflate a big archive takes most of the time that reading it takes, and
files, hashes and inflaters let other threads run meanwhile. So one thread
reads and hashes; one inflates and walks, passes on what is wanted, and
checks and skips the rest without waiting for anybody. Errors come where they
would come without them.
"""

import queue
import threading

from magnum_capi_tempest.conformance.record import damage

#: Blocks of the file, and batches of what is in it, that may wait.
BLOCKS, _BATCHES = 4, 8
#: A batch is full with so many bytes, or with so many entries: to wake a
#: thread for each piece takes a twentieth of all the time.
_BYTES, _ENTRIES = 1 << 20, 1000


class Ahead:
    """Iterates in a thread over what is iterated over here.

    A context manager, which leaves no thread behind.

    :param items: iterable; only the thread may use it.
    :param waiting: how many items may wait.
    """

    def __init__(self, items, waiting):
        self._items = items
        self._found = queue.SimpleQueue()
        self._room = queue.SimpleQueue()
        for _ in range(waiting):
            self._room.put(None)
        self._stopped = False
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stopped = True
        self._room.put(None)
        self._thread.join()

    def __iter__(self):
        while True:
            item, error = self._found.get()
            if error is not None:
                raise error
            if item is None:
                return
            yield item
            self._room.put(None)

    def until_stopped(self, items):
        """The same items, for what only takes them in the thread."""
        for item in items:
            if self._stopped:
                raise _Stopped
            yield item

    def _run(self):
        error = None
        try:
            for item in self.until_stopped(self._items):
                self._room.get()
                self._found.put((item, None))
        except BaseException as e:
            error = e
        self._found.put((None, error))


class _Stopped(Exception):
    """Nobody takes any more."""


class Members:
    """The members of a walk, used like the walk itself; a context manager.

    :meth:`content` is empty for a member that is not wanted.

    :param pieces: iterable of bytes, :class:`~.inflate.Gzip`; nobody else
        may use what it reads before the context has ended.
    :param walk: makes a :class:`~.archive.Walk` of pieces.
    :param wanted: function of a member's name: will its content be taken?
    :raises Damage: while iterating.
    """

    def __init__(self, pieces, walk, wanted):
        self._ahead = Ahead(self._batches(), _BATCHES)
        self._walk = walk(self._ahead.until_stopped(pieces))
        self._wanted = wanted
        self._batch = []
        self._entries = (entry for batch in self._ahead for entry in batch)
        self._left = 0

    def __enter__(self):
        self._ahead.__enter__()
        return self

    def __exit__(self, *raised):
        self._ahead.__exit__(*raised)

    def __iter__(self):
        for member, self._left in self._entries:
            yield member
            for _ in self.content():
                pass

    def content(self):
        """The pieces of the current member, as memoryviews."""
        while self._left:
            piece = next(self._entries)
            self._left -= len(piece)
            yield piece

    # ---------------------------------------------------------- the thread

    def _batches(self):
        """Lists of entries.

        Pairs of a member and the number of its bytes that follow, each with
        those bytes in pieces behind it.
        """
        try:
            yield from self._full()
        except damage.Damage:
            # What is good comes before the error.
            yield self._batch
            raise
        yield self._batch

    def _full(self):
        size = 0
        for member in self._walk:
            wanted = self._wanted(member.name)
            self._batch.append((member, member.size if wanted else 0))
            for piece in self._walk.content() if wanted else ():
                self._batch.append(piece)
                size += len(piece)
                if size >= _BYTES or len(self._batch) >= _ENTRIES:
                    yield self._taken()
                    size = 0
            if wanted or len(self._batch) >= _ENTRIES:
                yield self._taken()
                size = 0

    def _taken(self):
        batch, self._batch = self._batch, []
        return batch
