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

"""Reading ahead: the same members, errors and order, and no thread left."""

import functools
import gzip
import hashlib
import io
import itertools
import threading

import testtools

from magnum_capi_tempest.conformance.record import ahead
from magnum_capi_tempest.conformance.record import archive
from magnum_capi_tempest.conformance.record import blocks
from magnum_capi_tempest.conformance.record import damage
from magnum_capi_tempest.conformance.record import inflate
from magnum_capi_tempest.conformance.record import limits
from tests.unit.conformance import archives

FILES = {'want/a': b'a' * 3, 'leave/b': b'b' * 700_000, 'want/none': b'',
         'want/c': b'c' * 2_000_000, 'want/d': b'd'}
WALK = functools.partial(archive.Walk, where='x', limits=limits.DEFAULT)


def wanted(name):
    return name.startswith('want/')


class AheadTest(testtools.TestCase):

    def test_the_same_items(self):
        with ahead.Ahead(range(1, 1000), 3) as items:
            self.assertEqual([*range(1, 1000)], [*items])

    def test_the_error_of_an_item(self):
        found = []
        with testtools.ExpectedException(ZeroDivisionError):
            with ahead.Ahead((6 // n for n in (3, 2, 0, 1)), 3) as items:
                found.extend(items)

        self.assertEqual([2, 3], found)

    def test_no_more_than_may_wait(self):
        numbers = itertools.count(1)
        with ahead.Ahead(numbers, 3) as items:
            self.assertEqual(1, next(iter(items)))

        self.assertLess(next(numbers), 10)

    def test_blocks_are_hashed_to_the_last(self):
        data = bytes(range(256)) * 20_000
        file = blocks.Blocks(io.BytesIO(data))
        with ahead.Ahead(file, ahead.BLOCKS) as read:
            self.assertEqual(data, b''.join(read))

        self.assertEqual(hashlib.sha256(data).hexdigest(), file.sha256)


class MembersTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.addCleanup(self.no_new_thread, threading.enumerate())

    def no_new_thread(self, before):
        self.assertEqual(before, threading.enumerate())

    def members(self, data):
        return ahead.Members(
            inflate.Gzip([data], 'x', limits.DEFAULT), WALK,
            wanted)

    def read(self, data, take=wanted):
        with self.members(data) as members:
            return {member.name: b''.join(members.content())
                    for member in members if take(member.name)}

    def test_members_and_their_content(self):
        self.assertEqual(
            {name: content for name, content in FILES.items()
             if wanted(name)}, self.read(archives.by_library(FILES)))

    def test_what_is_not_wanted_has_a_name_and_no_content(self):
        found = self.read(archives.by_library(FILES), lambda name: True)

        self.assertEqual([*FILES], [*found])
        self.assertEqual(b'', found['leave/b'])

    def test_content_that_is_not_taken(self):
        with self.members(archives.by_library(FILES)) as members:
            self.assertEqual([(name, len(content))
                              for name, content in FILES.items()],
                             [(m.name, m.size) for m in members])

    def test_content_that_is_taken_in_part(self):
        found = []
        with self.members(archives.by_library(FILES)) as members:
            for member in members:
                found.append((member.name,
                              bytes(next(members.content(), b''))[:1]))

        self.assertEqual([('want/a', b'a'), ('leave/b', b''),
                          ('want/none', b''), ('want/c', b'c'),
                          ('want/d', b'd')], found)

    def test_an_error_comes_behind_what_was_good(self):
        data = archives.by_library(FILES)
        plain = gzip.decompress(data)
        cut = gzip.compress(plain[:plain.index(b'want/d') + 100])
        found = []

        with testtools.ExpectedException(damage.Damage, '.*ends within'):
            with self.members(cut) as members:
                for member in members:
                    found.append((member.name,
                                  sum(map(len, members.content()))))

        self.assertEqual([('want/a', 3), ('leave/b', 0), ('want/none', 0),
                          ('want/c', 2_000_000)], found)

    def test_a_cut_within_what_is_wanted(self):
        content = bytes(n % 251 for n in range(10_000)) * 500
        data = archives.by_library({'want/a': content})
        plain = gzip.decompress(data)
        cut = gzip.compress(plain[:plain.index(content[:1000]) + 4_000_000])
        found = bytearray()

        with testtools.ExpectedException(damage.Damage, '.*ends within'):
            with self.members(cut) as members:
                for member in members:
                    for piece in members.content():
                        found += piece

        self.assertEqual(content[:4_000_000], bytes(found))

    def test_a_reader_that_gives_up_leaves_no_thread(self):
        for give_up_at in FILES:
            with self.subTest(give_up_at), \
                    testtools.ExpectedException(KeyError):
                with self.members(archives.by_library(FILES)) as members:
                    for member in members:
                        if member.name == give_up_at:
                            raise KeyError(give_up_at)

    def test_the_thread_waits_for_its_reader(self):
        taken = []

        def pieces():
            for piece in inflate.Gzip([archives.by_library(
                    {f'want/{n}': b'x' for n in range(5000)})], 'x',
                    limits.DEFAULT):
                for at in range(0, len(piece), 512):
                    taken.append(at)
                    yield piece[at:at + 512]

        with ahead.Members(pieces(), WALK, wanted) as members:
            next(iter(members))
            self.assertLess(len(taken), 100)
