# SPDX-License-Identifier: Apache-2.0

"""Flags and attributes, read from pieces of tests."""

import ast
import textwrap

import testtools

from magnum_capi_tempest.matrix import needs


def parsed(text):
    return ast.parse(textwrap.dedent(text)).body[0]


class NeedsTest(testtools.TestCase):

    def test_a_class_says_what_it_requires_or_nothing(self):
        for body, wanted in (("required_flags = ('a', 'b')", {'a', 'b'}),
                             ('required_flags = ()', set()),
                             ('other = ()', None)):
            self.assertEqual(wanted, needs.required(
                parsed(f'class A:\n    {body}')))

    def test_decorators_name_flags_in_two_ways(self):
        self.assertEqual({'a', 'b'}, needs.decorated(parsed('''
            @flags.promised('a')
            @testtools.skipUnless(
                CONF.magnum_capi_feature_enabled.b, 'no')
            def test(self):
                pass
        ''')))

    def test_a_check_needs_its_flag_when_it_skips(self):
        self.assertEqual({'a'}, needs.skipping(parsed('''
            def test(self):
                enabled = CONF.magnum_capi_feature_enabled
                if not enabled.a:
                    self.skipTest('no')
                if not (enabled.b or enabled.c):
                    self.skipTest('no')
                if enabled.d:
                    self.more()
        ''')))

    def test_attributes_are_one_word_or_several(self):
        self.assertEqual({'slow', 'negative', 'one'}, needs.attributes(
            parsed('''
                @decorators.attr(type=['slow', 'negative'])
                @decorators.attr(type='one')
                def test(self):
                    pass
            ''')))
