# SPDX-License-Identifier: Apache-2.0

import pathlib

import fixtures
import testtools
import yaml

from magnum_capi import errors
from magnum_capi_tempest.kubeclient import contexts


def document(*names, current='', **user):
    return {
        'clusters': [{'name': f'c-{n}', 'cluster': {
            'server': f'https://{n}', 'certificate-authority': 'ca.pem'}}
            for n in names],
        'users': [{'name': f'u-{n}', 'user': user} for n in names],
        'contexts': [{'name': n, 'context': {
            'cluster': f'c-{n}', 'user': f'u-{n}'}} for n in names],
        'current-context': current}


class TestContexts(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def file(self, name, *args, **kwargs):
        file = self.base / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(yaml.safe_dump(document(*args, **kwargs)))
        return file

    def server(self, found):
        self.assertEqual(1, len(found['contexts']))
        self.assertEqual(found['current-context'],
                         found['contexts'][0]['name'])
        return found['clusters'][0]['cluster']['server']

    def test_a_private_file_if_there_is_a_choice(self):
        one = self.file('k1', 'a', current='a')
        two = self.file('k2', 'a', 'b', current='b')
        for text, wanted, context in (
                (str(one), '', ''), (str(one), 'a', 'a'), (str(two), '', 'b'),
                (f'{two}:{one}', 'a', 'a'), (f'{one}:{two}', '', 'a')):
            with contexts.chosen(text, wanted) as (path, name):
                self.assertEqual(context, name)
                if not context:
                    self.assertEqual(one, path)
                    continue
                self.assertEqual((0o600, 0o700), tuple(
                    p.stat().st_mode & 0o777 for p in (path, path.parent)))
                self.assertEqual(f'https://{context}', self.server(
                    yaml.safe_load(path.read_text())))
            self.assertFalse(path.exists())
        self.assertTrue(one.exists())

    def test_the_first_of_several_files_has_a_name(self):
        files = [self.file('k1', 'a', token='first'),
                 self.file('k2', 'a', 'b', current='b', token='second')]

        self.assertEqual('https://b', self.server(contexts.narrow(files)))
        self.assertEqual('first', contexts.narrow(files, 'a')['users'][0][
            'user']['token'])

    def test_paths_are_those_of_their_file(self):
        file = self.file('x/k', 'a', current='a', tokenFile='/t', exec={
            'command': './login'})

        found = contexts.narrow([file])
        folder = self.base / 'x'
        self.assertEqual(str(folder / 'ca.pem'), found['clusters'][0][
            'cluster']['certificate-authority'])
        self.assertEqual({'tokenFile': '/t', 'exec': {
            'command': str(folder / 'login')}}, found['users'][0]['user'])

    def test_a_context_that_is_not_there(self):
        file = self.file('k', 'a', token='s3cret')
        for name in 'b', '':
            error = self.assertRaises(errors.UsageError, contexts.narrow,
                                      [file], name)
            self.assertIn('--context', str(error))
            self.assertNotIn('s3cret', str(error))

    def test_what_is_no_kubeconfig(self):
        file = self.base / 'k'
        for text in ('', '[1]', 'a: [', 'contexts: 5', 'contexts: [5]'):
            file.write_text(text)
            self.assertRaises(errors.UsageError, contexts.narrow, [file], 'a')

    def test_files_of_a_list(self):
        first, second = self.file('k1', 'a'), self.file('k2', 'b')

        self.assertEqual((first, second), contexts.split(
            f'{first}:{self.base}/none:{second}:'))
        colon = self.file('k:3', 'a')
        self.assertEqual((colon,), contexts.split(str(colon)))
        self.assertRaises(errors.UsageError, contexts.split, '/none:/nor')
