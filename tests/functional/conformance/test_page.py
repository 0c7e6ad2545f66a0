# SPDX-License-Identifier: Apache-2.0
"""The conformance pages in a browser, on a phone and on a desk."""

import pathlib

import fixtures
import testtools

from magnum_capi_tempest.conformance import compare
from magnum_capi_tempest.conformance import compare_report
from magnum_capi_tempest.conformance import report
from magnum_capi_tempest.conformance import verdict
from tests.functional import chromium
from tests.unit.conformance import by_hand
from tests.unit.conformance import test_pages as pages


@chromium.needed
class PageTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.browser = self.useFixture(chromium.Browser())

    def open(self, content, width=chromium.PHONE, **kwargs):
        path = self.folder / 'page.html'
        path.write_text(content)
        self.browser.open(path, width=width, **kwargs)
        return path

    def run_page(self):
        result = by_hand.real(by_hand.PARALLEL)
        return report.to_html(by_hand.view(
            result, [by_hand.real(by_hand.RERUN)]))

    def comparison_page(self, *records):
        return compare_report.to_html(compare.compare(
            verdict.judge(by_hand.real(one)) for one in records or (
                by_hand.RERUN, by_hand.PARALLEL, by_hand.QUICK)))

    def test_fits_its_window_and_loads_nothing(self):
        for content in (self.run_page(), self.comparison_page()):
            for width in (chromium.PHONE, chromium.DESKTOP):
                path = self.open(content, width)

                self.assertEqual([], self.browser.too_wide())
                self.assertEqual([path.as_uri()], self.browser.requests())
                self.assertEqual([], self.browser.complaints())

    def test_verdict_is_on_the_first_screen_of_a_phone(self):
        self.open(self.run_page())

        for selector in ('.banner', '.verdict', '.certification'):
            self.assertLess(self.browser.evaluate(
                f'document.querySelector("{selector}")'
                '.getBoundingClientRect().bottom'), 844)

    def test_names_have_room_on_a_phone(self):
        """SIGs are not broken within a word; long names have no column."""
        for content in (self.run_page(), self.comparison_page(
                by_hand.PARALLEL, by_hand.MAGNUM)):
            self.open(content)

            self.assertEqual([], self.browser.evaluate('''
                Array.from(document.querySelectorAll(
                    'main td:not([data-label])'))
                    .filter(cell => cell.offsetWidth && (
                        /^[a-z]{3,}$/.test(cell.innerText)
                        && cell.offsetHeight > 45
                        || cell.innerText.length > 60
                        && cell.offsetWidth < 150))
                    .map(cell => cell.innerText)'''))

    def test_filters(self):
        self.open(self.run_page())
        names = 'main .test .name'
        self.assertEqual(4, len(self.browser.seen(names)))

        self.browser.type('nav input', 'statefulset CANARY')
        found, = self.browser.seen(names)
        self.assertIn('should perform canary updates', found)
        for selector in ('#failures h2', '#slowest h2', '#reruns h2'):
            self.assertEqual([], self.browser.seen(selector))

        self.browser.type('nav input', 'there is no such spec')
        self.assertEqual([], self.browser.seen(names))
        self.assertEqual(['No spec matches the filter.'],
                         self.browser.seen('#none'))

        self.browser.evaluate(
            'document.querySelector("nav input").select()')
        self.browser.call('Input.dispatchKeyEvent', type='rawKeyDown',
                          windowsVirtualKeyCode=8, key='Backspace')
        self.assertEqual(4, len(self.browser.seen(names)))

        self.browser.evaluate(
            'document.querySelector("[data-status=failed]").click()')
        self.assertEqual(4, len(self.browser.seen(names)))

        self.browser.evaluate('''(() => {
            const select = document.querySelector("nav select");
            select.value = "conformance.sig-apps";
            select.dispatchEvent(new Event("input"));
        })()''')
        self.assertEqual([], self.browser.seen(names))
        self.browser.evaluate(
            'document.querySelector("[data-status=passed]").click()')
        shown = self.browser.seen(names)
        self.assertGreater(len(shown), 30)
        self.assertTrue(all(name.startswith('[sig-apps] ')
                            for name in shown))

    def test_comparison_filters(self):
        self.open(self.comparison_page())

        self.browser.type('nav input', 'prefixes')

        rows = self.browser.seen('#grid .test')
        self.assertEqual(2, len(rows))
        self.assertTrue(all('prefixes' in row for row in rows))

    def test_hostile_texts_stay_texts(self):
        for content in pages.evil_pages():
            path = self.open(content)

            self.assertEqual([], self.browser.complaints())
            self.assertEqual([path.as_uri()], self.browser.requests())
            self.assertEqual(1, self.browser.evaluate(
                'document.scripts.length'))
            self.assertEqual(0, self.browser.evaluate(
                'document.images.length'))
            self.assertIn('<img src=x onerror=alert(2)>',
                          self.browser.evaluate('document.body.innerText'))
            self.assertEqual([], self.browser.too_wide())

    def test_dark_and_light(self):
        seen = []
        for dark in (False, True):
            self.open(self.run_page(), dark=dark)
            seen.append(self.browser.evaluate(
                'getComputedStyle(document.body).backgroundColor'))

        self.assertEqual(['rgb(255, 255, 255)', 'rgb(13, 17, 23)'], seen)

    def test_readable_without_its_script(self):
        self.browser.call('Emulation.setScriptExecutionDisabled', value=True)

        self.open(self.run_page())

        document = self.browser.call('DOM.getDocument', depth=0)['root']
        text = self.browser.call('DOM.getOuterHTML',
                                 nodeId=document['nodeId'])['outerHTML']
        self.assertIn('<nav hidden="">', text)
        self.assertIn('4 of 388 specs failed', text)
