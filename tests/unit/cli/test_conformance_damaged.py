# SPDX-License-Identifier: Apache-2.0

"""Inputs that are no records: what they are, and one exit code for each."""

import gzip
import json
import pathlib

import testtools

from tests.unit.cli import terminal
from tests.unit.conformance import archives
from tests.unit.conformance import submissions
from tests.unit import own_folders


class DamagedTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = self.useFixture(own_folders.OwnFolders()).base

    def call(self, *argv):
        """Exit code, standard output and standard error."""
        return terminal.call('conformance', *argv)

    def assert_refused(self, given, code, *words):
        """Each command says the same, in a line."""
        said = set()
        product = self.base / 'p.yaml'
        product.write_bytes(submissions.product_yaml())
        for argv in (['report', given], ['compare', given, given],
                     ['report', given, '--publish', self.base / 'public'],
                     ['submit', given, '--product', product,
                      '--output', self.base]):
            found, _, err = self.call(*argv)

            self.assertEqual(code, found, err)
            for word in words:
                self.assertIn(word, err)
            self.assertEqual(1, len(err.splitlines()), err)
            said.add(err)
        return said

    def test_files_of_another_kind_are_called_what_they_are(self):
        whole = archives.good()
        for content, word in (
                (b'hello\n', 'text'), (b'hello\n' * 200, 'text'),
                (gzip.decompress(whole), 'tar'),
                (archives.junit(archives.case('[It] [sig-a] b')), 'JUnit'),
                (b'PK\3\4' + bytes(600), 'zip'),
                (bytes(600), 'gzip')):
            path = self.base / 'x.tar.gz'
            path.write_bytes(content)

            said = self.assert_refused(path, 2, f' {word} ', str(path))

            self.assertNotIn('Retrieve it again', str(said))
            self.assertNotIn('truncated', str(said))

    def test_a_url_is_called_one(self):
        url = 'https://example.org/a/x.tar.gz'
        self.assert_refused(url, 2, url, 'URL')

    def tree(self, **contents):
        """A folder with files of CI jobs, one below each name."""
        top = self.base / 'tree'
        for name, content in contents.items():
            (top / name).mkdir(parents=True)
            (top / name / 'x.tar.gz').write_bytes(content)
        return top

    def test_a_broken_file_among_others_is_named(self):
        whole = archives.good()
        top = self.tree(a=whole, b=whole[:-200], c=whole)

        code, out, _ = self.call('compare', top, '-f', 'json')
        found = json.loads(out)

        self.assertEqual((3, 3), (code, found['exit_code']))
        self.assertEqual(['a', 'c'], [run['title'] for run in found['runs']])
        self.assertEqual(['b'], [one['title'] for one in found['unreadable']])
        self.assertNotEqual('no new failures', found['conclusion'])
        name = str(pathlib.Path('b', 'x.tar.gz'))
        for form in 'text', 'markdown', 'html':
            self.assertIn(name, self.call('compare', top, '-f', form)[1])

    def test_new_failures_are_told_nevertheless(self):
        whole = archives.good()
        failed = archives.good(**{
            archives.LOG: archives.log(1, 0, 1, 1),
            archives.JUNIT: archives.junit(archives.case(
                '[It] [sig-node] Pods work', 'failed',
                '<failure>no</failure>'))})

        self.assertEqual(1, self.call('compare', self.tree(
            a=whole, b=b'x', c=failed))[0])

    def test_one_that_can_be_read_is_nothing_to_compare(self):
        code, _, err = self.call('compare', self.tree(
            a=archives.good(), b=b'hello\n'))

        self.assertEqual(2, code)
        self.assertIn('b/x.tar.gz', err)
