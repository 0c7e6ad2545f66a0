# SPDX-License-Identifier: Apache-2.0
"""The conformance pages as text; tests/functional opens them in a browser."""

import functools
import html.parser
import re

import testtools

from magnum_capi_tempest.conformance import compare
from magnum_capi_tempest.conformance import compare_report
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance import report
from magnum_capi_tempest.conformance import verdict
from tests.unit.conformance import by_hand

EVIL = ('</script><script>alert(1)</script>"\' onmouseover=x <img src=x '
        'onerror=alert(2)> {{ 7*7 }} \x1b]0;title\x07\x00')


class Page(html.parser.HTMLParser):
    """Tags, attributes and text of a page, in order."""

    def __init__(self, content):
        super().__init__()
        self.tags, self.attributes, self._texts = [], [], []
        self._tag = ''
        self.feed(content)
        self.close()

    @property
    def text(self):
        return ' '.join(' '.join(self._texts).split())

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self._tag = tag
        self.attributes.extend(attrs)

    def handle_endtag(self, tag):
        self._tag = ''

    def handle_data(self, data):
        if self._tag not in ('script', 'style'):
            self._texts.append(data)


def evil_result():
    """A result in which every text is hostile."""
    return by_hand.result(
        by_hand.failed(EVIL, EVIL, output=EVIL, detail=EVIL),
        by_hand.passed(EVIL + 'passed'),
        by_hand.failed(f'[sig-"><script>] {EVIL}', EVIL),
        by_hand.passed(f'[sig-"><script>] {EVIL} passed'),
        title=EVIL, source=EVIL, backend=EVIL, backend_version=EVIL,
        cluster=model.Cluster(EVIL, (EVIL,), EVIL, EVIL, EVIL, EVIL),
        infra_errors=(model.InfraError(EVIL, EVIL),),
        suite_nodes=(model.SuiteNode(EVIL, model.FAILED, EVIL),),
        problems=(EVIL,), facts={EVIL: EVIL}, stand_in_images=True)


def evil_pages():
    """Both pages, made of hostile texts."""
    result = evil_result()
    judged = verdict.judge(result, (EVIL, 'missing ' + EVIL))
    return (
        report.to_html(report.view(judged, [result])),
        compare_report.to_html(compare.compare(
            [judged, verdict.judge(by_hand.result(
                by_hand.passed(EVIL, 99), title=EVIL))])))


@functools.cache
def _page_of_real_runs():
    result = by_hand.real(by_hand.PARALLEL)
    return Page(report.to_html(by_hand.view(
        result, [by_hand.real(by_hand.RERUN)])))


class HostileTest(testtools.TestCase):

    def test_no_text_becomes_markup(self):
        for content in evil_pages():
            found = Page(content)

            self.assertEqual(1, found.tags.count('script'))
            self.assertNotIn('img', found.tags)
            self.assertEqual(
                [], [n for n, _ in found.attributes if n.startswith('on')])
            self.assertIn('{{ 7*7 }}', found.text)
            self.assertNotRegex(content, '[\x00\x07\x1b]')

    def test_nothing_is_loaded(self):
        for content in evil_pages():
            found = Page(content)

            self.assertEqual(set(), {n for n, _ in found.attributes} & {
                'src', 'href', 'action', 'srcset', 'style', 'background'})
            self.assertNotRegex(re.search(
                '(?s)<style>(.*?)</style>', content)[1], r'url\(|@import')


class RunPageTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.page = _page_of_real_runs()

    def test_answers_come_in_the_order_of_a_readers_questions(self):
        wanted = ('STAND-IN IMAGES.', 'FAILED: 4 of 388 specs failed',
                  'NOT eligible for certification',
                  '40 required tests did not run or did not pass',
                  'Kubernetes v1.34.9',
                  'Failures: 4, of one cause', 'sig-node: 4 of 88 failed',
                  'expected "data-1=value-1" in container output',
                  'Failures that were rerun', 'Slowest', '5 min 52 s',
                  '384 specs passed')
        places = [self.page.text.find(words) for words in wanted]

        self.assertNotIn(-1, places, dict(zip(wanted, places)))
        self.assertEqual(sorted(places), places)

    def test_passed_run_shows_neither_failures_nor_flakes(self):
        result = by_hand.real(by_hand.QUICK)

        found = Page(report.to_html(by_hand.view(result)))

        self.assertIn('PASSED: the one spec that ran passed', found.text)
        self.assertEqual(['none', 'passed'], [
            value for name, value in found.attributes if name == 'id'])


class ComparisonPageTest(testtools.TestCase):

    def test_real_runs(self):
        results = [by_hand.real(path) for path in (
            by_hand.RERUN, by_hand.PARALLEL)]

        text = Page(compare_report.to_html(compare.compare(
            map(verdict.judge, results)))).text

        for words in (
                '4 of 388 specs failed', '4 new failures', 'new failures: 4',
                'not selected before, pass now: 384',
                'conformance-parallel-v1.34.9 ran with STAND-IN IMAGES',
                'Tests by cluster: 4 failed somewhere, 384 passed and did '
                'not run everywhere, 0 passed everywhere'):
            self.assertIn(words, text)
