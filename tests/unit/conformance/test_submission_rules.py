# SPDX-License-Identifier: Apache-2.0

"""Each rule of CNCF's bot: what keeps it, and what breaks it."""

import dataclasses

import testtools

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.submission import product
from magnum_capi_tempest.conformance.submission import rules
from tests.unit.conformance import by_hand
from tests.unit.conformance import submissions


def files(*paths):
    return tuple(rules.File(path, 10) for path in paths)


class RulesTest(testtools.TestCase):

    def breaks(self, rule, file='', line=None, level=rules.ERROR,
               **changes):
        """Judge, and expect one finding of the rule at that place."""
        found = rules.judge(submissions.submission(**changes))
        of_rule = [f for f in found if f.rule == rule]
        self.assertEqual([(file, line, level)],
                         [(f.file, f.line, f.level) for f in of_rule], found)
        return of_rule[0].text

    def keeps(self, rule, **changes):
        found = rules.judge(submissions.submission(**changes))
        self.assertNotIn(rule, [f.rule for f in found])

    def fields(self, **changes):
        return {'product': product.parse(submissions.product_yaml(**changes))}

    def with_spec(self, kind, name='a [Conformance]', line=3):
        """A result in which a spec ended in another way."""
        return {'result': submissions.result(
            kind(name, line=line),
            by_hand.passed('b [Conformance]', line=4))}

    def with_log(self, **changes):
        return {'result': submissions.result(log=dataclasses.replace(
            submissions.END, **changes))}

    def test_a_good_submission_has_no_finding(self):
        self.assertEqual([], rules.judge(submissions.submission()))

    def test_1_to_6_files_and_title(self):
        good = submissions.submission().files
        more = f'{submissions.FOLDER}/sonobuoy.tar.gz'
        empty = tuple(rules.File(f.path, 0 if f.name == 'e2e.log' else 10)
                      for f in good)
        for rule, file, line, word, changes in (
                ('1', '', None, 'no title', {'title': ''}),
                ('2', '', None, 'README.md is missing', {'files': good[1:]}),
                ('2', submissions.LOG, None, 'empty', {'files': empty}),
                ('2', submissions.PRODUCT, 2, 'not YAML', {
                    'product': product.parse(b'a: b\nc: d: e\n')}),
                ('3', more, None, 'sonobuoy.tar.gz', {
                    'files': good + files(more)}),
                ('4', 'v1.34/e2e.log', None, 'v1.NN/product', {
                    'files': files('v1.34/e2e.log')}),
                ('5', '', None, 'v1.34/other', {
                    'files': good + files('v1.34/other/README.md')}),
                ('6', '', None, 'v1.35', {
                    'title': 'Conformance results for v1.35/te'})):
            self.assertIn(word, self.breaks(rule, file, line, **changes))
        self.keeps('6', title='Conformance results for v1.34 te')

    def test_7_to_10_fields(self):
        """(rule, line, level, fields that break it)."""
        error, warning = rules.ERROR, rules.WARNING
        for rule, line, level, fields in (
                *(('7', None, error, {name: None})
                  for name in product.REQUIRED),
                *(('7', 2, error, {'name': value})
                  for value in ('', '""', 'null', '" "')),
                *(('7', 2, warning, {'name': value})
                  for value in (r'"A\e[31m"', r'"A\u202e"', r'"A\x9b"')),
                *(('8', 6, error, {'website_url': url}) for url in (
                    'yoyo.example', "' https://a'", 'https://a b/',
                    'https://a:x/', 'https://a/%zz', 'https://%41/',
                    'https://u v@a/', '"https://a/\\x01"', 'https://[::1/')),
                *(('8', 6, warning, {'website_url': url})
                  for url in ('/relative', 'mailto:a@b', 'ftp://a')),
                *(('8', 9, warning, {'product_logo_url': url}) for url in (
                    'https://a/logo.png', 'https://a/b.JPEG?raw=true')),
                ('8', 9, error, {'repo_url': 'git'}),
                *(('8', 8, error, {'contact_email_address': email})
                  for email in ('a', 'a@', 'a b@c', 'a@b c@d', 'a..b@c',
                                '"@b"', 'a@b, c@d')),
                ('8', 9, error, {'x': '[1]'}),
                ('10', 4, warning, {'type': 'hosted'})):
            self.breaks(rule, submissions.PRODUCT, line, level,
                        **self.fields(**fields))
        self.breaks('7', submissions.PRODUCT, 9, warning,
                    product=product.parse(
                        submissions.product_yaml() + b'vendor: x\n'))

    def test_7_to_10_fields_that_are_in_order(self):
        for field, values in (
                ('version', ('1.5',)),
                ('description', (r'"A\tB\nC"', '|\n  A\n  B')),
                ('repo_url', ('',)),
                ('type', ('hosted platform',)),
                ('website_url', (
                    'https://a', 'https://a:80/b?c=d', 'https://u:p@a/',
                    'https://[::1]:80/', 'https://a/b c',
                    "'https://ä.de/'")),
                ('product_logo_url', ('https://a/logo.svg',
                                      'https://a/png/logo')),
                ('contact_email_address', (
                    'a@b', 'A B <a@b.c>', '<a@b>', '\'"x y" <a@b>\'',
                    'A. B <a@b>', 'a@b (x)'))):
            for value in values:
                self.assertEqual([], rules.judge(submissions.submission(
                    **self.fields(**{field: value}))))

    def test_9_pages_are_web_pages(self):
        for kind, level in (('image/png', rules.ERROR), ('', rules.WARNING)):
            self.breaks('9', submissions.PRODUCT, 6, level,
                        pages={'website_url': kind})
        for pages in ({'website_url': 'text/html; charset=UTF-8'}, None):
            self.keeps('9', pages=pages)

    def test_11_the_title_names_release_and_product(self):
        for title, level in (
                ('Conformance results', rules.ERROR),
                ('Add v1.34/te', rules.ERROR),
                ('Conformance results for te/v1.34', rules.ERROR),
                ('Conformance results for v1.34/', rules.WARNING)):
            self.breaks('11', level=level, title=title)
        self.keeps('11', title='conformance results for v1.34 te')

    def test_12_old_releases_are_over(self):
        self.keeps('12', latest='v1.36')
        self.assertIn('v1.35', self.breaks('12', latest='v1.37'))
        self.assertIn('--latest v1.34', self.breaks(
            '12', level=rules.WARNING, latest='v1.33'))

    def test_13_each_required_test_is_there_and_passed(self):
        self.assertIn('c [Conformance]', self.breaks(
            '13', submissions.JUNIT,
            required=('a [Conformance]', 'c [Conformance]')))
        for kind in by_hand.skipped, by_hand.failed, by_hand.unfinished:
            self.breaks('13', submissions.JUNIT, 3, **self.with_spec(kind))
        # A release without a list.
        self.breaks('13', submissions.JUNIT, level=rules.WARNING,
                    required=None)

    def test_13_names_that_are_the_same(self):
        self.keeps('13', result=submissions.result(
            by_hand.passed('a [Conformance]'),
            by_hand.skipped('a [Conformance]'),
            by_hand.passed('b [Conformance]')))
        for name in ("exec with 'cat /tmp/health' [Conformance]",
                     'exec with &#34;cat /tmp/health&#34; [Conformance]'):
            self.keeps('13', result=submissions.result(by_hand.passed(name)),
                       required=('exec with "cat /tmp/health" [Conformance]',))

    def test_13_many_are_cut_short(self):
        names = tuple(f'{n} [Conformance]' for n in range(100))

        found = rules.judge(submissions.submission(required=names))

        self.assertIn('80 more', [f for f in found
                                  if f.rule == '13'][-1].text)

    def test_14_no_conformance_test_failed(self):
        """Required or not; what is missing is missed here too."""
        failed = self.with_spec(by_hand.failed, 'x [Conformance]', 5)
        for line, changes in (
                (3, self.with_spec(by_hand.failed)),
                (5, failed | {'required': ('b [Conformance]',)}),
                (None, {'required': ('z [Conformance]',)})):
            self.breaks('14', submissions.JUNIT, line, **changes)
        self.keeps('14', **self.with_spec(by_hand.failed, '[Slow] x', 5),
                   required=('b [Conformance]',))

    def test_13_needs_files_that_can_be_read_and_14_does_not_repeat_it(self):
        unread = {'result': None, 'broken': 'it is no XML'}
        self.assertEqual('it is no XML', self.breaks(
            '13', file=submissions.JUNIT, **unread))
        self.keeps('14', **unread)

    def test_the_log_is_of_this_run(self):
        ends = 'FAIL! -- 2 Passed | 0 Failed | 0 Pending | 5 Skipped', \
            'SUCCESS! -- 2 Passed | 0 Failed | 1 Pending | 4 Skipped'
        for rule, line, level, changes in (
                (rules.LOG_VERSION, 1, rules.ERROR,
                 self.with_log(versions=(('v1.33', 1),))),
                (rules.LOG_MATCH, None, rules.ERROR, {
                    'result': submissions.result(
                        problems=('counts differ',))}),
                (rules.LOG_MATCH, None, rules.WARNING, {
                    'result': submissions.result(log=model.Log())}),
                *((rules.LOG_SUCCESS, None, rules.WARNING,
                   self.with_log(end=end)) for end in ends)):
            self.breaks(rule, submissions.LOG, line, level, **changes)
        self.keeps(rules.LOG_VERSION,
                   **self.with_log(versions=(('v1.34', 1),)))

    def test_a_finding_reads_like_a_compilers(self):
        found = rules.Finding('13', 'gone', 'a/b.xml', 7)

        self.assertEqual('error: a/b.xml:7: gone [rule 13]', str(found))
