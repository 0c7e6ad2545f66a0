# SPDX-License-Identifier: Apache-2.0

"""XML of somebody else: what is told of it, and what is refused."""

import testtools

from magnum_capi_tempest.conformance.results import bounded_xml
from magnum_capi_tempest.conformance.results import damage
from magnum_capi_tempest.conformance.results import limits


class StreamTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.told = []

    def read(self, data, size=None, **bounds):
        stream = bounded_xml.Stream(
            'The file', 'a.xml', limits.Limits(**bounds),
            lambda name, attributes: self.told.append((name, attributes)),
            self.told.append)
        stream.listen(self.told.append)
        size = size or len(data)
        for at in range(0, len(data), size):
            stream.feed(memoryview(data)[at:at + size])
        stream.close()

    def refused(self, data, pattern, size=None, **bounds):
        error = self.assertRaises(damage.Damage, self.read, data, size,
                                  **bounds)
        self.assertRegex(str(error), pattern)

    def test_elements_and_text_in_turn(self):
        self.read(b'<a b="1">x<c/></a>', size=1)

        self.assertEqual([('a', {'b': '1'}), 'x', ('c', {}), 'c', 'a'],
                         self.told)

    def test_a_tag_without_an_end(self):
        self.refused(b'<a b="' + b'x' * 200_000, 'a tag of more', 4096,
                     token=50_000)

    def test_a_comment_without_an_end(self):
        self.refused(b'<a><!--' + b'x' * 200_000, 'a tag of more', 4096,
                     token=50_000)

    def test_depth(self):
        self.read(b'<a><a/></a>', depth=2)
        self.refused(b'<a><a><a/></a></a>', 'nested deeper than 2', depth=2)

    def test_words(self):
        self.read(b'<a b=""><b a=""/></a>', words=2)
        self.refused(b'<a b=""><c/></a>', 'more than 2 kinds', words=2)

    def test_a_document_type(self):
        self.refused(b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
                     'The file holds a document type')

    def test_other_encodings(self):
        self.refused('<a/>'.encode('utf-16'), 'UTF-16')
        self.refused(b'<?xml version="1.0" encoding="latin-1"?><a>\xe9</a>',
                     'not well-formed')

    def test_what_is_cut_off(self):
        self.refused(b'<a><b>', 'The file is not well-formed XML')
