# SPDX-License-Identifier: Apache-2.0

"""Each form of a run, fed with what a hostile cloud could answer."""

import base64
import contextlib
import hashlib
import html.parser
import io
import json
import os
import pathlib
import re
from xml.etree import ElementTree

import fixtures
import rich.console
import testtools
from testtools import matchers

from magnum_capi.cli import main
from magnum_capi import errors
from magnum_capi_tempest import report
from magnum_capi_tempest.report import html as html_form
from magnum_capi_tempest.report import json_
from magnum_capi_tempest.report import junit
from magnum_capi_tempest.report import markdown
from magnum_capi_tempest.report import model
from magnum_capi_tempest.report import terminal
from magnum_capi_tempest.report import text
from magnum_capi_tempest.tests.common.preflight import checks
from tests.unit.report import streams

TRACE = 'Traceback (most recent call last):\n  File "a.py", line 1, in b\n'
CLUSTER = '0f8fad5b-d9cb-469f-a165-70867728950e'
EVIL = ('</script><script>alert(1)</script>"\' onmouseover=x <img src=x '
        'onerror=alert(2)> {{ 7*7 }} [bold]&amp; \x1b]0;title\x07\x00 `|')


def run_of(*tests, **kwargs):
    return model.Run(title=kwargs.pop('title', 'T'), started=streams.START,
                     seconds=4.0, tests=tests, **kwargs)


def evil_run():
    return run_of(
        model.Test(EVIL, EVIL, model.FAILED, 1.5,
                   (model.Detail(EVIL, f'{EVIL}\n```\n{EVIL}'),), (EVIL,)),
        model.Test('ok', 'a.ok', model.PASSED, 2.5),
        title=EVIL, facts={EVIL: EVIL}, problems=(EVIL,))


class Page(html.parser.HTMLParser):
    """Elements and attributes of a page, as a browser would see them."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.texts = [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.extend(attrs)

    def handle_data(self, data):
        self.texts.append(data)


class HtmlTest(testtools.TestCase):

    def test_nothing_of_a_test_becomes_markup(self):
        page = Page(html_form.render(evil_run()))

        self.assertEqual(1, page.tags.count('script'))
        self.assertNotIn('img', page.tags)
        self.assertEqual(
            [], [a for a, _ in page.attributes if a.startswith('on')])
        self.assertIn('{{ 7*7 }}', ''.join(page.texts))

    def test_page_refers_to_nothing_outside(self):
        page = Page(html_form.render(run_of(
            model.Test('ok', 'a.ok', model.PASSED, 2.5))))

        names = {name for name, _ in page.attributes}
        self.assertEqual(set(), names & {'src', 'href', 'action', 'srcset'})
        self.assertNotIn('url(', ''.join(page.texts))
        self.assertNotIn('@import', ''.join(page.texts))

    def test_policy_has_the_hashes_of_script_and_style(self):
        page = html_form.render(evil_run())

        for tag in ('script', 'style'):
            content = re.search(f'<{tag}>(.*?)</{tag}>', page, re.DOTALL)
            digest = base64.b64encode(hashlib.sha256(
                content.group(1).encode()).digest()).decode()
            policy, = [value for name, value in Page(page).attributes
                       if name == 'content' and value.startswith('default')]
            self.assertIn(f"{tag}-src 'sha256-{digest}'", policy)

    def test_a_row_does_not_name_the_worker(self):
        page = html_form.render(run_of(model.Test(
            'good', 'a.good', model.PASSED, tags=('slow', 'worker-1'))))

        self.assertIn('>slow<', page)
        self.assertNotIn('worker-1', page)

    def test_failures_come_first(self):
        page = html_form.render(run_of(
            model.Test('good', 'a.good', model.PASSED),
            model.Test('bad', 'a.bad', model.FAILED)))

        self.assertLess(page.index('>bad<'), page.index('>good<'))

    def test_failures_of_one_cause_and_skips_of_one_reason_are_together(self):
        def test(name, status, text):
            kind = 'traceback' if status == model.FAILED else 'reason'
            return model.Test(name, f'a.{name}', status, details=(
                model.Detail(kind, text),))

        page = html_form.render(run_of(
            *(test(f'bad{n}', model.FAILED, f'{TRACE}Late: {n} s\n')
              for n in (7, 8)),
            test('odd', model.FAILED, f'{TRACE}Other: x\n'),
            *(test(f'left{n}', model.SKIPPED, 'no flavor') for n in (1, 2))))

        self.assertIn('<summary>2 failed: Late: … s</summary>', page)
        self.assertIn('<summary>2 skipped: no flavor</summary>', page)
        self.assertEqual(1, page.count('<details class="group" open>'))
        self.assertEqual(2, page.count('<details class="group"'))

    def test_the_command_that_runs_failures_again_is_reported(self):
        for status, told in ((model.FAILED, True), (model.PASSED, False)):
            out = io.StringIO()
            terminal.show(run_of(model.Test('x', 'a.x', status)),
                          console=rich.console.Console(file=out),
                          again='run again')
            self.assertEqual(told, 'run again' in out.getvalue())

    def test_huge_detail_is_cut(self):
        page = html_form.render(run_of(model.Test(
            'a', 'a', model.FAILED, 1.0,
            (model.Detail('log', 'b' * 1_000_000 + 'the end'),))))

        self.assertLess(len(page), 300_000)
        self.assertIn('characters omitted', page)
        self.assertIn('the end', page)

    def test_a_page_of_many_tests_can_be_mailed(self):
        """The records of whole runs made pages of 8 to 12 MB."""
        log = model.Detail('pythonlogging', 'l' * 40_000)
        for failures in (0, 1, 100):
            page = html_form.render(run_of(
                *(model.Test(f't{i}', f'a.t{i}', model.FAILED, 1.0,
                             (model.Detail('traceback', f'why {i}'), log))
                  for i in range(failures)),
                *(model.Test(f'p{i}', f'a.p{i}', model.PASSED, 1.0,
                             (log, model.Detail('tolerated', f'once {i}')))
                  for i in range(450))))

            self.assertLess(len(page), 1_000_000)
            self.assertIn('once 449', page)
            for i in range(failures):
                self.assertIn(f'why {i}<', page)

    def test_what_did_not_pass_keeps_its_reason(self):
        """A reason of over 300 characters was left out."""
        for status in model.SKIPPED, model.XFAILED:
            reason = model.Detail('reason', 'r' * 400 + ' ends here')
            page = html_form.render(run_of(
                model.Test('a', 'a', status, 1.0, (reason,))))

            self.assertIn('ends here', page)

    def test_why_it_failed_comes_before_the_traceback(self):
        page = html_form.render(run_of(model.Test(
            'a', 'a', model.FAILED, 1.0, (model.Detail(
                'traceback', 'Traceback\n  File "x", line 1\n    f()\n'
                'E: the disk is full'),))))

        self.assertIn('<p>E: the disk is full</p>', page)
        self.assertNotIn('<details open>', page)

    @staticmethod
    def titles(*names):
        """Titles of the details of a failed test."""
        page = html_form.render(run_of(model.Test(
            'a', 'a', model.FAILED, 1.0,
            tuple(model.Detail(name, 'x') for name in names))))
        return re.findall('<summary>([^<\n]+)</summary>', page)

    def test_the_only_cluster_needs_no_id(self):
        self.assertEqual(
            ['cluster', 'requests', 'cluster-1'], self.titles(
                f'cluster of {CLUSTER}', 'requests',
                f'cluster of {CLUSTER}-1'))

    def test_one_of_several_does(self):
        names = [f'cluster of {CLUSTER}', f'cluster of {CLUSTER[:-1]}0']

        self.assertEqual(names, self.titles(*names))

    def test_a_long_section_is_folded(self):
        def page(count):
            return html_form.render(run_of(sections=(
                model.Section('Causes', tuple(map(str, range(count)))),)))

        self.assertNotIn('class="section"', page(5))
        self.assertIn('<details class="section">', page(30))
        self.assertIn('<li>29</li>', page(30))

    def test_empty_run(self):
        page = html_form.render(model.Run(title='T'))

        self.assertIn('INCOMPLETE: nothing ran', page)


class OtherFormsTest(testtools.TestCase):

    def test_junit_is_valid_and_counts(self):
        root = ElementTree.fromstring(junit.render(evil_run()))

        self.assertEqual(('2', '1'),
                         (root.get('tests'), root.get('failures')))
        failure, = root.iter('failure')
        self.assertIn('onmouseover=x', failure.text)

    def test_junit_of_an_empty_run_is_red(self):
        root = ElementTree.fromstring(
            junit.render(model.Run(title='T')))

        self.assertEqual('1', root.get('errors'))
        self.assertEqual('nothing ran', next(root.iter('error')).text)

    def test_json(self):
        data = json.loads(json_.render(evil_run()))

        self.assertEqual((False, 1, 1),
                         (data['ok'], data['passed'], data['failed']))
        self.assertEqual(2, len(data['tests']))

    def test_markdown_fence_cannot_be_left(self):
        page = markdown.render(evil_run())

        self.assertIn('````text', page)
        outside = re.sub('(?s)````text.*?````', '', page)
        self.assertNotIn('<script', outside.replace('\\<', ''))

    def terminal(self, run, **kwargs):
        out = io.StringIO()
        terminal.show(run, console=rich.console.Console(
            file=out, width=40, **kwargs))
        return out.getvalue()

    def test_terminal_gets_no_escapes_and_no_markup(self):
        out = self.terminal(evil_run())

        self.assertNotIn('\x1b', out)
        self.assertNotIn('\x07', out)
        self.assertIn('[bold]', out)

    def test_terminal_begins_with_the_verdict(self):
        out = self.terminal(run_of(model.Test('a', 'x.a', model.PASSED, 1)))

        self.assertThat(out.lstrip(), matchers.StartsWith(
            'PASSED: T: the one test that ran passed'))

    def test_terminal_shortens_long_lists(self):
        lines = '\n'.join(f'line {i}' for i in range(30))
        out = self.terminal(run_of(*(
            model.Test(f't{i}', f't{i}', model.FAILED, 1,
                       (model.Detail('traceback', lines),))
            for i in range(30))))

        self.assertIn('line 1\n    ... 27 more lines in its file\n'
                      '    line 29\n', out)
        self.assertIn('and 10 more failures', out)


class JudgedRunTest(testtools.TestCase):
    """A run on which somebody gave a verdict that its tests do not show."""

    def setUp(self):
        super().setUp()
        self.run_ = run_of(
            model.Test('ok', '[sig-a] b c.d', model.PASSED, 2.5,
                       group='conformance.sig-a'),
            outcome='incomplete', conclusion='half of it did not run',
            sections=(model.Section('Causes', tuple(map(str, range(30)))),))

    def test_outcome_makes_it_worse(self):
        self.assertFalse(self.run_.ok)
        self.assertEqual('INCOMPLETE', self.run_.mark)

    def test_outcome_makes_it_not_better(self):
        run = run_of(model.Test('a', 'a', model.FAILED),
                     outcome=model.PASSED, conclusion='fine')

        self.assertEqual((False, 'FAILED'), (run.ok, run.mark))

    def test_every_form_says_it(self):
        out = io.StringIO()
        terminal.show(self.run_, console=rich.console.Console(file=out))

        self.assertIn('INCOMPLETE: T: half of it did not run',
                      out.getvalue())
        self.assertIn('## ❌ INCOMPLETE: T: half of it did not run',
                      markdown.render(self.run_))
        self.assertIn('INCOMPLETE: half of it did not run',
                      html_form.render(self.run_))
        data = json.loads(json_.render(self.run_, more={'a': 1}))
        self.assertEqual((False, 'half of it did not run', {'a': 1}),
                         (data['ok'], data['verdict'], data['more']))
        root = ElementTree.fromstring(junit.render(self.run_))
        self.assertEqual('1', root.get('errors'))
        self.assertEqual(str(len(root.findall('.//testcase'))),
                         root.get('tests'))

    def test_sections_are_cut_where_room_is_little(self):
        out = io.StringIO()
        terminal.show(self.run_, console=rich.console.Console(file=out))

        self.assertIn('Causes:\n  0\n', out.getvalue())
        self.assertIn('  ... and 10 more\n', out.getvalue())
        self.assertIn('### Causes\n\n- 0\n', markdown.render(self.run_))
        self.assertIn('- ... and 20 more', markdown.render(self.run_))
        self.assertIn('<li>29</li>', html_form.render(self.run_))
        self.assertEqual(30, len(json.loads(json_.render(
            self.run_))['sections']['Causes']))

    def test_group_is_the_class_for_junit(self):
        case = next(ElementTree.fromstring(junit.render(
            self.run_)).iter('testcase'))

        self.assertEqual(('conformance.sig-a', '[sig-a] b c.d'),
                         (case.get('classname'), case.get('name')))


class TextTest(testtools.TestCase):

    def test_clean(self):
        for given, wanted in (
                ('\x1b[1;31mred\x1b[0m', 'red'),
                ('a\tb\r\nc\n', 'a\tb\nc\n'),
                ('\x1b]0;title\x07x', 'x'),
                ('\u202egnp.exe', '\ufffdgnp.exe'),
                ('\udc80', '\ufffd')):
            self.assertEqual(wanted, text.clean(given))

    def test_duration(self):
        for given, wanted in (
                (None, '?'), (0.123, '0.12 s'), (7.06, '7.1 s'),
                (185.2, '3 min 5 s'), (7380, '2 h 3 min')):
            self.assertEqual(wanted, text.duration(given))


class SummariseTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.out = io.StringIO()
        self.console = rich.console.Console(file=self.out, width=40)

    def test_writes_every_form_and_names_the_report(self):
        stream = streams.Stream().test('a.b').write(self.folder)
        target = self.folder / 'deep' / 'down'

        run = report.summarise(stream, target, 'T', {'driver': 'x'},
                               console=self.console)

        self.assertTrue(run.ok)
        self.assertEqual(sorted(report.FORMS),
                         sorted(p.name for p in target.iterdir()))
        self.assertIn(f'Report: {target}/report.html\n',
                      self.out.getvalue())

    def test_folder_that_cannot_be(self):
        stream = streams.Stream().test('a.b').write(self.folder)

        error = self.assertRaises(
            errors.EnvironmentProblem, report.summarise, stream,
            stream / 'x', 'T', console=self.console)

        self.assertEqual(stream / 'x', error.where)

    def test_the_umask_says_who_may_look(self):
        before = os.umask(0o022)
        self.addCleanup(os.umask, before)
        folder = self.folder / 'new' / 'results'

        written = report.write(run_of(), folder)

        self.assertEqual(
            {0o755}, {p.stat().st_mode & 0o777
                      for p in (folder, folder.parent)})
        self.assertEqual(
            {0o644}, {p.stat().st_mode & 0o777 for p in written.values()})

    def test_failed_write_leaves_the_old_report_and_no_draft(self):
        target = self.folder / 'report.html'
        target.write_text('old')

        self.assertRaises(
            UnicodeEncodeError, report.write_files, self.folder,
            {'report.html': 'x' * 100_000 + '\udc80'})

        self.assertEqual('old', target.read_text())
        self.assertEqual([target], list(self.folder.iterdir()))

    def test_a_remedy_at_the_end_of_a_long_line_is_shown(self):
        """As of the preflight of a new cloud, one line for each problem."""
        remedy = 'Set the property magnum_driver of the image'
        stream = streams.Stream().test('a.b', 'fail', traceback=(
            'Traceback (most recent call last):\n  File "x.py", line 1, in x\n'
            '    self.fail(y)\nAssertionError: '
            + checks.screen([f'Magnum refuses: {"x, " * 99}{remedy}']))
        ).write(self.folder)
        out = io.StringIO()

        with contextlib.redirect_stdout(out):
            main.main(['report', 'show', str(stream), '--output',
                       str(self.folder / 'all')])

        for path in (self.folder / 'all').glob('*.*'):
            self.assertIn(remedy, path.read_text(), path)
        self.assertIn(remedy, out.getvalue())
