# SPDX-License-Identifier: Apache-2.0

"""The matrix as people and programs read it."""

import io
import json

from docutils import core
import rich.console
import testtools

from magnum_capi_tempest.scorecard import forms
from magnum_capi_tempest.scorecard import page
from magnum_capi_tempest.scorecard import rst
from tests.unit.scorecard import samples

_EVIL = '<script>alert(1)</script> | `x` *y* _z_ :ref:`a`'


class EnvironmentTest(testtools.TestCase):

    def test_every_form_says_what_was_missing(self):
        matrix = samples.matrix(samples.record(
            'k8s_x', ready=('environment', 'quota exceeded: cores')))
        console = rich.console.Console(
            file=io.StringIO(), width=160, color_system=None)
        forms.show(matrix, console=console)

        for shown in (console.file.getvalue(), forms.to_markdown(matrix),
                      forms.to_json(matrix), page.render(matrix),
                      rst.render(matrix, samples.TESTS)):
            self.assertIn('environment', shown)
            self.assertIn('quota exceeded', shown)


class FormsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.matrix = samples.matrix(
            samples.record('k8s_x', ('resize', 'named'), life='passed',
                           resize='passed', named=('failed', _EVIL),
                           ready='passed'),
            samples.record('k8s_y', life='passed',
                           ready=('failed', 'too early')))

    def shown(self):
        console = rich.console.Console(
            file=io.StringIO(), width=160, color_system=None)
        forms.show(self.matrix, page='/x/matrix.html', console=console)
        return console.file.getvalue()

    def test_terminal(self):
        text = self.shown()

        self.assertIn('k8s_x breaks 1 of its own promises: named', text)
        self.assertRegex(text, r'ready +kept, not promised 1 test +broken, '
                               'not promised too early')
        self.assertIn('Report: /x/matrix.html', text)

    def test_json(self):
        found = json.loads(forms.to_json(self.matrix))

        self.assertFalse(found['ok'])
        self.assertEqual([False, True],
                         [one['holds'] for one in found['drivers']])
        named, = [row for row in found['promises']
                  if row['name'] == 'named']
        self.assertEqual(
            [('broken', True), ('not tried', False)],
            [(cell['state'], cell['declared']) for cell in named['cells']])
        self.assertEqual(['api.test_x.XTest.test_named'], named['tests'])

    def test_markdown_stays_a_table(self):
        text = forms.to_markdown(self.matrix)

        row, = [line for line in text.splitlines()
                if line.startswith('| named')]
        self.assertEqual(4, row.replace(r'\|', '').count('|'))
        self.assertNotIn('<script', text.replace(r'\<', ''))

    def test_page_trusts_nothing(self):
        text = page.render(self.matrix)

        self.assertIn('Content-Security-Policy', text)
        self.assertNotIn('<script>alert', text)
        self.assertIn('&lt;script&gt;alert', text)
        self.assertIn('kept, not promised', text)

    def test_documentation_has_no_errors_whatever_was_measured(self):
        text = rst.render(self.matrix, samples.TESTS)

        tree = core.publish_doctree(text, settings_overrides={
            'report_level': 1, 'halt_level': 2})
        self.assertIn('alert(1)', tree.astext())
        self.assertIn('api.test_x.XTest.test_ready', tree.astext())

    def test_documentation_without_any_record(self):
        text = rst.render(samples.matrix(), samples.TESTS)

        tree = core.publish_doctree(text, settings_overrides={
            'report_level': 1, 'halt_level': 2})
        self.assertIn('resize_cluster', tree.astext())
