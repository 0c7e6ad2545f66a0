# SPDX-License-Identifier: Apache-2.0

"""Reports as people read them."""

import io

from docutils import core
import rich.console
import testtools

from magnum_capi_tempest.scorecard import forms
from magnum_capi_tempest.scorecard import judge
from magnum_capi_tempest.scorecard import page
from magnum_capi_tempest.scorecard import rst
from magnum_capi_tempest.scorecard import suite
from tests.unit.scorecard import samples

_EVIL = '<script>alert(1)</script> | `x` *y* _z_ :ref:`a`'


class FormsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.reports = [
            samples.a_report('kubex', **{samples.WORKERS: ('failed', _EVIL)}),
            samples.a_report('kubey', zero_nodes=('environment', 'quota'),
                             magnum=judge.Magnum(3, 1, ('api.test_q',)))]

    def shown(self):
        console = rich.console.Console(
            file=io.StringIO(), width=160, color_system=None)
        forms.show(self.reports, page='/x/page.html', console=console)
        return console.file.getvalue()

    def test_every_form_has_all_states_and_both_drivers(self):
        for shown in (self.shown(), forms.to_markdown(self.reports),
                      page.render(self.reports)):
            for word in ('passed', 'failed', 'environment', 'quota',
                         'kubex', 'kubey', 'last-wins'):
                self.assertIn(word, shown)

    def test_terminal(self):
        text = self.shown()

        self.assertIn('kubex fails core (lifecycle failed, upgrade passed',
                      text)
        self.assertIn('kubey passes core', text)
        self.assertIn('1 test of Magnum itself failed', text)
        self.assertIn('Report: /x/page.html', text)

    def test_markdown_stays_a_table(self):
        text = forms.to_markdown(self.reports)

        row, = [line for line in text.splitlines()
                if line.startswith(f'| {samples.WORKERS}')]
        self.assertEqual(5, row.replace(r'\|', '').count('|'))
        self.assertNotIn('<script', text.replace(r'\<', ''))

    def test_page_trusts_nothing(self):
        text = page.render(self.reports)

        self.assertIn('Content-Security-Policy', text)
        self.assertNotIn('<script>alert', text)
        self.assertIn('&lt;script&gt;alert', text)

    def test_page_says_each_state_once(self):
        self.assertNotRegex(page.render(self.reports),
                            r'>(\w+)</span> <span class="soft">\1:')

    def test_documentation_has_no_errors(self):
        tree = core.publish_doctree(
            rst.render(suite.tests()), settings_overrides={
                'report_level': 1, 'halt_level': 2})

        self.assertIn(samples.WORKERS, tree.astext())

    def test_a_promise_that_is_younger_than_a_report(self):
        one, _ = self.reports
        del one.promises[samples.LAST]

        self.assertEqual('untested', forms.cell(one, samples.LAST).state)
