# SPDX-License-Identifier: Apache-2.0

"""What is read out of a PRODUCT.yaml, with its lines."""

import testtools

from magnum_capi_tempest.conformance.submission import product


class ProductTest(testtools.TestCase):

    def test_a_field_has_value_and_line(self):
        found = product.parse(b'# x\nvendor: "A B"\n\nname: &a C\nx: *a\n')

        self.assertEqual(product.Field('A B', 2), found.fields['vendor'])
        self.assertEqual('C', found.value('x'))
        self.assertEqual('', found.value('nothing'))

    def test_what_is_no_mapping_is_broken(self):
        for content in (b'', b'# only a comment\n', b'- a\n', b'word\n',
                        b'a: [\n', b'\xff: a\n', b'a: b\n---\na: c\n',
                        b'? [a]\n: b\n', b'a: ' + b'[' * 50000,
                        b'a: ' + b'b' * product.MOST_BYTES):
            self.assertIsNotNone(product.parse(content).broken, content[:9])

    def test_aliases_are_not_multiplied(self):
        bomb = b'a: &a [x, x]\n' + b''.join(
            b'%c: &%c [*%c, *%c]\n' % (n + 1, n + 1, n, n)
            for n in range(ord('a'), ord('z')))

        self.assertEqual(26, len(product.parse(bomb).nested))


class DocumentsTest(testtools.TestCase):

    def test_an_end_of_the_document(self):
        for end in (b'---\n', b'---\n\n', b'...\n'):
            found = product.parse(b'---\nname: x\n' + end)
            self.assertEqual((None, 'x'), (found.broken, found.value('name')))

    def test_a_second_document(self):
        self.assertIsNotNone(product.parse(b'a: b\n---\nc: d\n').broken)
