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

"""Walks through an archive in a thread, ahead of whoever parses its members.

To inflate a big archive takes most of the time that reading it takes, and
the inflaters let other threads run meanwhile. So what is wanted waits here
until it is parsed, and what nobody wants is inflated, checked and skipped
without waiting for anybody. Errors come where they would come without it.
"""

import queue
import threading

#: Batches of members and pieces of their content that may wait.
WAITING = 8
#: A batch is full with so many bytes, or with so many entries: to wake a
#: thread for each piece takes a twentieth of all the time.
_BYTES, _ENTRIES = 1 << 20, 1000


class Members:
    """Used like the walk itself, as a context manager.

    :meth:`content` is empty for a member that is not wanted.

    :param pieces: iterable of bytes, :class:`~.inflate.Gzip`; nobody else
        may use what it reads before the context has ended.
    :param walk: makes a :class:`~.archive.Walk` of pieces.
    :param wanted: function of a member's name: will its content be taken?
    :raises Damage: while iterating.
    """

    def __init__(self, pieces, walk, wanted):
        self._walk = walk(self._until_stopped(pieces))
        self._wanted = wanted
        self._batches = queue.SimpleQueue()
        self._room = queue.SimpleQueue()
        for _ in range(WAITING):
            self._room.put(None)
        self._batch, self._size = [], 0
        self._stopped = False
        self._entries = self._unpacked()
        self._left = 0
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stopped = True
        self._room.put(None)
        self._thread.join()

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

    def _unpacked(self):
        """Pairs of member and size, each with its pieces behind it."""
        while (batch := self._batches.get()) is not None:
            if isinstance(batch, BaseException):
                raise batch
            yield from batch
            self._room.put(None)

    # ---------------------------------------------------------- the thread

    def _run(self):
        end = None
        try:
            for member in self._walk:
                wanted = self._wanted(member.name)
                self._add((member, member.size if wanted else 0), 0)
                if wanted:
                    for piece in self._walk.content():
                        self._add(piece, len(piece))
                    self._pass_on()
        except BaseException as e:
            end = e
        # What is good comes before the error.
        self._batches.put(self._batch)
        self._batches.put(end)

    def _add(self, entry, size):
        self._batch.append(entry)
        self._size += size
        if self._size >= _BYTES or len(self._batch) >= _ENTRIES:
            self._pass_on()

    def _pass_on(self):
        """Hand the batch over when there is room for it."""
        self._room.get()
        if self._stopped:
            raise _Stopped
        self._batches.put(self._batch)
        self._batch, self._size = [], 0

    def _until_stopped(self, pieces):
        for piece in pieces:
            if self._stopped:
                raise _Stopped
            yield piece


class _Stopped(Exception):
    """Nobody takes any more."""
