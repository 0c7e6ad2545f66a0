# SPDX-License-Identifier: Apache-2.0

"""``conformance compare``: what a CI job may take for good."""

import contextlib
import io
import json
import pathlib
import re

import testtools

from magnum_capi.cli import main
from tests.unit.conformance import archives
from tests.unit import own_folders


class CompareTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = self.useFixture(own_folders.OwnFolders()).base

    def archive(self, name, passed=(), failed=(), skipped=()):
        """An archive of a suite that ended by itself."""
        cases = [archives.case(f'[It] [sig-a] {case}', status, inside)
                 for some, status, inside in (
                     (passed, 'passed', ''),
                     (failed, 'failed', '<failure>no</failure>'),
                     (skipped, 'skipped', '<skipped/>')) for case in some]
        ran = len(passed) + len(failed)
        path = self.base / f'{name}.tar.gz'
        path.write_bytes(archives.good(**{
            archives.JUNIT: archives.junit(*cases),
            archives.LOG: archives.log(ran, len(passed), len(failed),
                                       len(cases))}))
        return path

    def compare(self, *argv):
        """Exit code, JSON document and standard error."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main.main(['conformance', 'compare', '-f', 'json',
                              *map(str, argv)])
        return code, json.loads(out.getvalue() or '{}'), err.getvalue()

    def test_fewer_tests_than_before_are_no_success(self):
        names = [f't{number}' for number in range(400)]
        before = self.archive('before', names)
        for after in (
                self.archive('skipped', names[:1], skipped=names[1:]),
                self.archive('unknown', names[:1]),
                self.archive('one', names[1:], skipped=names[:1])):
            code, found, _ = self.compare(before, after)

            self.assertEqual((3, 3), (code, found['exit_code']))
            self.assertNotIn('no new failures', found['conclusion'])

    def test_as_many_tests_or_more_are_a_success(self):
        before = self.archive('before', ['a', 'b'], skipped=['c'])
        for after in (
                self.archive('same', ['a', 'b'], skipped=['c']),
                self.archive('more', ['a', 'b', 'c']),
                # As in another release of Kubernetes.
                self.archive('other', ['a', 'z'], skipped=['c'])):
            code, found, _ = self.compare(before, after)

            self.assertEqual((0, 'no new failures'),
                             (code, found['conclusion']))

    def test_the_page_counts_failures_as_such(self):
        names = [f't{number}' for number in range(384)]
        page = pathlib.Path(self.base, 'page.html')
        records = [self.archive('one', names),
                   self.archive('two', names, failed=['x', 'y', 'z', 'w'])]

        self.compare(*(f'{path},driver={path.name[:3]}' for path in records),
                     '--html', page)

        matrix = page.read_text().split('id="matrix"')[1].split(
            '</section>')[0]
        self.assertRegex(' '.join(re.sub('<[^<>]+>', ' ', matrix).split()),
                         r'failed\W+4 of 388')
