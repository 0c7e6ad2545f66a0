# SPDX-License-Identifier: Apache-2.0

"""JUnit files: what is a spec, how did it end, what contradicts itself."""

import datetime
from unittest import mock

import testtools

from magnum_capi_tempest.conformance import damage
from magnum_capi_tempest.conformance import junit
from magnum_capi_tempest.conformance import model
from tests.unit.conformance import archives

FAILURE = '<failure message="" type="failed">[FAILED] no\nIn [It]</failure>'


def parse(data, size=None, **limits):
    """The Suite of a document, fed in pieces of a size."""
    with mock.patch.multiple(
            junit, **({'DEPTH': junit.DEPTH} | limits)):
        parser = junit.Parser('junit_01.xml')
        size = size or len(data)
        for at in range(0, len(data), size):
            parser.feed(memoryview(data)[at:at + size])
        return parser.close()


def one(*args, **kwargs):
    """The only spec of a document with one case."""
    spec, = parse(archives.junit(archives.case(*args, **kwargs))).specs
    return spec


class StatusTest(testtools.TestCase):

    def test_words_of_ginkgo(self):
        for word, inside, status, detail in (
                ('passed', '', model.PASSED, ''),
                ('skipped', '<skipped message="skipped"/>', model.SKIPPED,
                 ''),
                ('pending', '<skipped message="pending"/>', model.SKIPPED,
                 'pending'),
                ('failed', FAILURE, model.FAILED, ''),
                ('timedout', FAILURE, model.FAILED, 'timedout'),
                ('panicked', '<error type="panicked">x</error>',
                 model.FAILED, 'panicked'),
                ('aborted', FAILURE, model.FAILED, 'aborted'),
                ('interrupted', '<error type="interrupted">x</error>',
                 model.UNFINISHED, 'interrupted'),
                ('exploded', '', model.FAILED, '')):
            with self.subTest(word):
                spec = one('[It] a', word, inside)
                self.assertEqual((status, detail),
                                 (spec.status, spec.detail))

    def test_without_the_attribute(self):
        cases = ('<testcase name="a"/>',
                 '<testcase name="b"><skipped/></testcase>',
                 f'<testcase name="c">{FAILURE}</testcase>')

        suite = parse(archives.junit(*cases))

        self.assertEqual([model.PASSED, model.SKIPPED, model.FAILED],
                         [s.status for s in suite.specs])

    def test_the_suites_timeout_is_not_the_specs_failure(self):
        spec = one('[It] a', 'timedout', '<failure type="timedout">'
                   '[TIMEDOUT] A suite timeout occurred</failure>')

        self.assertEqual(model.UNFINISHED, spec.status)

    def test_a_spec_that_called_itself_off(self):
        spec = one('[It] a', 'skipped',
                   '<skipped message="skipped - Only for gce"/>')

        self.assertEqual(
            (model.SKIPPED, model.SKIPPED_ITSELF, 'skipped - Only for gce'),
            (spec.status, spec.detail, spec.failure))

    def test_content_that_contradicts_the_status(self):
        suite = parse(archives.junit(
            archives.case('[It] a', 'passed', FAILURE),
            archives.case('[It] b', 'passed', '<skipped/>')))

        self.assertEqual([model.FAILED, model.SKIPPED],
                         [s.status for s in suite.specs])
        self.assertEqual(['[It] a', '[It] b'], suite.contradictions)


class ContentTest(testtools.TestCase):

    def test_suite_nodes_are_no_specs(self):
        suite = parse(archives.junit(
            archives.case('[ReportBeforeSuite]'),
            archives.case('[SynchronizedAfterSuite]', 'failed', FAILURE),
            archives.case('[DeferCleanup (Suite)]'),
            archives.case('[It] [sig-a] b'),
            archives.case('[sig-c] d of Ginkgo v1')))

        self.assertEqual(['[sig-a] b', '[sig-c] d of Ginkgo v1'],
                         [s.name for s in suite.specs])
        self.assertEqual(
            [model.PASSED, model.FAILED, model.PASSED],
            [n.status for n in suite.nodes])
        self.assertEqual({'passed': 4, 'failed': 1}, suite.counted)

    def test_failure_and_output(self):
        spec = one('[It] a', 'failed',
                   f'{FAILURE}<system-err>STEP 1\nSTEP 2</system-err>')

        self.assertEqual('[FAILED] no\nIn [It]', spec.failure)
        self.assertEqual('STEP 1\nSTEP 2', spec.output)
        self.assertEqual((1.5, 2), (spec.seconds, spec.line))

    def test_long_output_keeps_its_end_and_a_failure_its_start(self):
        lines = '\n'.join(f'line {n:06}' for n in range(20_000))
        data = archives.junit(archives.case(
            '[It] a', 'failed', f'<failure>{lines}</failure>'
            f'<system-out>{lines}</system-out>'))

        spec, = parse(data, 4096, OUTPUT=1000, FAILURE=1000).specs

        self.assertThat(spec.failure,
                        testtools.matchers.StartsWith('line 000000\n'))
        self.assertThat(spec.output,
                        testtools.matchers.EndsWith('line 019999'))
        self.assertLess(len(spec.failure + spec.output), 2100)

    def test_long_output_keeps_what_is_around_its_failure(self):
        lines = [f'line {n:06}' for n in range(20_000)]
        lines[7000] = '[FAILED] here'
        data = archives.junit(archives.case(
            '[It] a', 'failed', '<failure/><system-err>'
            + '\n'.join(lines) + '</system-err>'))

        spec, = parse(data, 4096, OUTPUT=1000, FAILURE=1000).specs

        self.assertIn('\nline 006999\n[FAILED] here\nline 007001\n',
                      spec.output)
        self.assertThat(spec.output,
                        testtools.matchers.StartsWith('[...]\nline 0069'))
        self.assertThat(spec.output, testtools.matchers.EndsWith('\n[...]'))
        self.assertLess(len(spec.output), 1020)

    def test_control_characters_go(self):
        spec = one('[It] a\x9b2Jb&#x202e;c', 'failed',
                   '<failure>\x85 x</failure>')

        self.assertNotRegex(spec.name + spec.failure,
                            '[\x00-\x08\x7f-\x9f\u202a-\u202e]')

    def test_time_and_properties(self):
        suite = parse(archives.junit(
            properties=[('FocusStrings', '\\[Conformance\\]')],
            attributes='tests="3" failures="1" errors="2" time="4.5"'))

        self.assertEqual({'tests': 3, 'failures': 1, 'errors': 2},
                         suite.claims)
        self.assertEqual(4.5, suite.seconds)
        self.assertEqual(
            datetime.datetime(2026, 11, 21, 9, 27, 54,
                              tzinfo=datetime.timezone.utc), suite.started)
        self.assertEqual({'FocusStrings': '\\[Conformance\\]'},
                         suite.properties)

    def test_numbers_that_are_none(self):
        suite = parse(archives.junit(
            archives.case('[It] a', seconds='nan'),
            archives.case('[It] b', seconds='-1'),
            archives.case('[It] c', seconds='soon'),
            attributes='tests="many" failures="-1" time="inf"'))

        self.assertEqual([None] * 3, [s.seconds for s in suite.specs])
        self.assertEqual(({}, None), (suite.claims, suite.seconds))

    def test_the_size_of_pieces_does_not_matter(self):
        data = archives.junit(
            archives.case('[It] é &amp; &quot;b', 'failed', FAILURE),
            archives.case('[ReportAfterSuite]'))

        self.assertEqual(parse(data), parse(data, size=1))

    def test_one_suite_as_root(self):
        suite = parse(b'<testsuite tests="1" failures="0">'
                      b'<testcase name="a" time="1"/></testsuite>')

        self.assertEqual(['a'], [s.name for s in suite.specs])
        self.assertEqual(1, suite.claims['tests'])


class BoundsTest(testtools.TestCase):

    def refused(self, data, pattern, size=None, **limits):
        error = self.assertRaises(damage.Damage, parse, data, size, **limits)
        self.assertRegex(str(error), pattern)
        self.assertIn('junit_01.xml', str(error))

    def test_what_is_refused(self):
        text = archives.case('[It] ' + 'a' * 500)
        for data, pattern, limits in (
                (archives.junit(*[archives.case('[It] a')] * 3),
                 'more than 2 test cases', {'CASES': 2}),
                (archives.junit(*[text] * 3), 'a name of more than 400',
                 {'NAME': 400}),
                (b'<a><a><a/></a></a>', 'nested deeper than 2', {'DEPTH': 2}),
                (b'<a b=""><c/></a>', 'more than 2 kinds', {'WORDS': 2}),
                (b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
                 'a document type.*line 1', {}),
                ('<a/>'.encode('utf-16'), 'UTF-16', {}),
                (b'<?xml version="1.0" encoding="latin-1"?><a>\xe9</a>',
                 'not well-formed', {}),
                (b'<a><b>', 'not well-formed XML', {}), (b' ', 'XML', {})):
            self.refused(data, pattern, **limits)

    def test_tags_and_comments_without_an_end(self):
        for start in b'<a b="', b'<a><!--':
            self.refused(start + b'x' * 200_000, 'a tag of more', 4096,
                         TOKEN=50_000)

    def test_names_of_several_files_share_their_room(self):
        data = archives.junit(*[archives.case('[It] ' + 'a' * 500)] * 4)
        with mock.patch.object(junit, 'NAMES', 3000):
            suite = junit.Suite(room={'names': 3000, 'text': 0, 'lines': 0})
            first = junit.Parser('x', suite)
            first.feed(data)
            second = junit.Parser('x', first.close())

            self.assertRaisesRegex(damage.Damage, 'bytes of names',
                                   second.feed, data)

    def test_much_output_is_shortened_and_then_left_out(self):
        failed = archives.case('[It] a', 'failed', FAILURE + '<system-out>'
                               + 'o' * 900 + '</system-out>')
        parser = junit.Parser('x', junit.Suite(room={
            'names': 9000, 'text': 3000, 'lines': 750}))
        parser.feed(archives.junit(*[failed] * 60))

        suite = parser.close()

        self.assertEqual((60, 57), (len(suite.specs), suite.shortened))
        self.assertEqual(900, len(suite.specs[0].output))
        self.assertEqual(('[FAILED] no In [It]', ''), (
            suite.specs[3].failure, suite.specs[3].output))
        self.assertEqual('', suite.specs[-1].failure)
