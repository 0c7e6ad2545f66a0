# SPDX-License-Identifier: Apache-2.0

"""What is read out of the files of a submission, with its lines."""

import testtools

from magnum_capi_tempest.conformance.results import limits
from magnum_capi_tempest.conformance.submission import cases
from magnum_capi_tempest.conformance.submission import logfile
from magnum_capi_tempest.conformance.submission import product

NAMED = b'<testcase name="[It] a [Conformance]" status="passed">'
HEAD, TAIL = b'<testsuites>\n<testsuite>\n', b'</testsuite>\n</testsuites>\n'


def read(*lines):
    return cases.read([HEAD, b''.join(line + b'\n' for line in lines), TAIL])


class CasesTest(testtools.TestCase):

    def test_a_case_has_its_line(self):
        found = read(b'<testcase name="[It] b"/>', NAMED + b'</testcase>')

        self.assertEqual((cases.Case('a [Conformance]', 4),),
                         found.conformance)
        self.assertEqual((2, 0), (found.ran, found.failed))

    def test_elements_count_and_words_do_not(self):
        found = read(NAMED.replace(b'passed', b'failed') + b'</testcase>',
                     NAMED + b'<failure>x</failure></testcase>',
                     NAMED + b'<skipped/></testcase>')

        self.assertEqual([set(), {'failure'}, {'skipped'}],
                         [set(c.ends) for c in found.conformance])
        self.assertEqual((2, 1), (found.ran, found.failed))

    def test_deeper_elements_are_not_of_the_case(self):
        found = read(NAMED + b'<x><failure/></x></testcase>')

        self.assertEqual(frozenset(), found.conformance[0].ends)

    def test_suite_nodes_did_not_run_as_specs(self):
        self.assertEqual(0, read(b'<testcase name="[BeforeSuite]"/>').ran)

    def test_pieces_may_end_anywhere(self):
        whole = HEAD + NAMED + b'<error/></testcase>\n' + TAIL

        self.assertEqual(cases.read([whole]), cases.read(
            whole[at:at + 1] for at in range(len(whole))))

    def test_what_the_bot_cannot_read_is_told_with_its_line(self):
        for content, line in (
                (b'', 1), (b'hello', 1), (HEAD, 3),
                (b'<testsuite/>', 1), (b'\n<!DOCTYPE x>' + HEAD + TAIL, 2),
                (b'<?xml version="1.0" encoding="ISO-8859-1"?>', 1)):
            broken = cases.read([content]).broken
            self.assertIsNotNone(broken, content)
            self.assertEqual(line, broken[1], content)

    def test_a_tag_without_an_end_is_not_kept(self):
        bounds = limits.Limits(token=100)

        found = cases.read([b'<testsuites ' + b'a' * 101], bounds)

        self.assertIn('longer', found.broken[0])

    def test_cases_and_depth_are_bounded(self):
        many = [HEAD, b'<testcase/>' * 5, TAIL]
        deep = [b'<testsuites>' + b'<a>' * 50]

        self.assertIn('more than 4', cases.read(
            many, limits.Limits(cases=4)).broken[0])
        self.assertIn('nested', cases.read(deep).broken[0])


class LogTest(testtools.TestCase):

    def test_versions_and_sums_have_their_lines(self):
        found = logfile.read([
            b'I1 e2e.go:132] e2e test version: v1.34.1\n',
            b'I1 e2e.go:143] kube-apiserver version: v1.34.1+x\n', b'\n',
            b'\x1b[1mRan 424 of 7137 Specs in 7425.407 seconds\x1b[0m\n',
            b'\x1b[1mSUCCESS!\x1b[0m -- 424 Passed | 0 Failed | 0 Pending\n'])

        self.assertEqual(logfile.Log(
            (logfile.Said('v1.34', 1),), logfile.Said(424, 4),
            logfile.Said((424, 0), 5), kubernetes='v1.34.1',
            seconds=7425.407, end=logfile.Said(
                'SUCCESS! -- 424 Passed | 0 Failed | 0 Pending', 5)), found)

    def test_a_terse_log_names_no_version(self):
        self.assertEqual(logfile.Log(), logfile.read([b'SSSS\n', b'']))

    def test_two_versions_are_both_told(self):
        found = logfile.read([b'e2e test version: v1.34.1\n',
                              b'kube-apiserver version: v1.33.1\n'])

        self.assertEqual(['v1.34', 'v1.33'],
                         [said.value for said in found.versions])


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
