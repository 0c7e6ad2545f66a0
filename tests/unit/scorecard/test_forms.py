# SPDX-License-Identifier: Apache-2.0

"""Reports as people read them."""

import io

import rich.console
import testtools

from magnum_capi_tempest.scorecard import forms
from magnum_capi_tempest.scorecard import judge
from tests.unit.scorecard import samples

_EVIL = '<script>alert(1)</script> | `x` *y* _z_'
#: Longer than what most lines of a report may have.
_LONG = f'{"x " * 118}end'


class FormsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.reports = [
            samples.a_report({samples.WORKERS: ('failed', _EVIL),
                              samples.LAST: ('untested', _LONG)}, 'kubex'),
            samples.a_report({samples.LAST: ('untested', 'no flavor')},
                             'kubey', failures=('api.test_q',))]

    def shown(self, *reports):
        console = rich.console.Console(
            file=io.StringIO(), width=80, color_system=None)
        forms.show(reports or self.reports, page='/x/page.html',
                   console=console)
        return console.file.getvalue()

    def test_every_form_begins_with_the_verdict(self):
        one, other = self.reports
        for reports, verdict in (
                ([one], 'FAILED: kubex fails core'),
                ([other], 'PASSED: kubey passes core'),
                ([samples.a_report(problems=['cut'])],
                 'INCOMPLETE: k8s_x did not complete core'),
                ([one, other], 'FAILED: 1 of 2 drivers pass core')):
            for shown in (self.shown(*reports), forms.to_markdown(reports)):
                self.assertIn(verdict, shown.strip().splitlines()[0].replace(
                    '\\', ''))
            page = forms.to_html(reports)
            self.assertLess(page.index(f'">{verdict}'),
                            page.index('<section'))
            self.assertIn(f'<title>{verdict}', page)

    def test_every_form_has_all_states_and_reasons(self):
        for shown in (self.shown(), forms.to_markdown(self.reports),
                      forms.to_html(self.reports)):
            for word in ('passed', 'failed', 'untested', 'no flavor', 'kubex',
                         'kubey', 'last-wins', 'x end', 'api.test',
                         '1 test of Magnum itself failed'):
                self.assertIn(word, shown.replace('\\', ''))

    def test_what_no_test_ran_for_is_counted(self):
        report = samples.a_report({
            samples.WORKERS: ('untested', judge.NOT_RUN),
            samples.LAST: ('untested', judge.NOT_RUN),
            'lifecycle.cluster.any-name': ('untested', judge.NOT_RUN)})

        for shown in (self.shown(report), forms.to_markdown([report])):
            above = shown.replace('\\', '').partition('promise (')[0]
            above = above.partition('| promise')[0]
            self.assertIn(f'{samples.WORKERS} (core): untested', above)
            self.assertNotIn(samples.LAST, above)
            self.assertIn('2 promises outside core were not tested', above)
        self.assertNotIn(samples.LAST, self.shown(report))
        page = forms.to_html([report])
        self.assertIn('2 promises outside core were not tested', page)
        self.assertIn('1 not kept, or not tested', page)

    def test_a_name_is_one_line(self):
        report = samples.a_report({samples.WORKERS: 'failed'},
                                  'x\nPASSED: y\x1b[31m')

        for shown in (self.shown(report), forms.to_markdown([report])):
            self.assertIn('FAILED: x PASSED: y fails core',
                          shown.strip().splitlines()[0])
            self.assertNotIn('\x1b', shown)

    def test_page_trusts_nothing(self):
        text = forms.to_html(self.reports)

        self.assertIn('Content-Security-Policy', text)
        self.assertNotIn('<script>alert', text)
        self.assertIn('&lt;script&gt;alert', text)

    def test_a_promise_that_is_younger_than_a_report(self):
        one, _ = self.reports
        del one['promises'][samples.LAST]

        self.assertEqual('untested', forms.cell(one, samples.LAST)['state'])
        self.assertIn('newer than the report', self.shown(one))
