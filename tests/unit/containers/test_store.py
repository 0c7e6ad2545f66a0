# SPDX-License-Identifier: Apache-2.0

import types

import testtools

from magnum_capi_tempest.containers import store


def client(**ids):
    """A client of an engine with images: tag -> id."""
    images = [types.SimpleNamespace(id=f'sha256:{i}', tags=[tag])
              for tag, i in ids.items()]
    return types.SimpleNamespace(
        images=types.SimpleNamespace(list=lambda: images))


def archive(image_id, *references):
    return types.SimpleNamespace(image_id=image_id, references=references)


class MissingTest(testtools.TestCase):

    def test_neither_there_nor_the_same(self):
        there = archive('1', 'docker.io/library/a:1')
        other = archive('2', 'docker.io/x/b:1')
        absent = archive('3', 'registry.example.org/c:1')
        found = store.missing(
            [there, other, absent],
            client(**{'a:1': '1', 'x/b:1': 'old'}))
        self.assertEqual([other, absent], found)
