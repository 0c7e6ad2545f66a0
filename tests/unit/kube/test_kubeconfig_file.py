# SPDX-License-Identifier: Apache-2.0

import pathlib

from hypothesis import given
from hypothesis import strategies
import testtools
import yaml

from magnum_capi import errors
from magnum_capi.kube import kubeconfig_file

PATH = pathlib.Path('/somewhere/kubeconfig')
SECRET = 'hunter2'


def document(cluster=None, user=None):
    return {
        'clusters': [
            {'name': 'other', 'cluster': {'server': 'https://other'}},
            {'name': 'c', 'cluster': {
                'server': 'https://k.example', **(cluster or {})}}],
        'users': [{'name': 'u', 'user': user}],
        'contexts': [{'name': 'x', 'context': {
            'cluster': 'c', 'user': 'u', 'namespace': 'n'}}],
        'current-context': 'x'}


def parse(content):
    if not isinstance(content, str):
        content = yaml.safe_dump(content)
    return kubeconfig_file.parse(content, PATH)


class ParseTest(testtools.TestCase):

    def assert_unusable(self, why, content):
        error = self.assertRaises(errors.UsageError, parse, content)
        self.assertEqual(PATH, error.where)
        self.assertNotIn(SECRET, str(error))
        self.assertIn(why, error.last_seen)

    def test_the_current_context_counts(self):
        found = parse(document({'proxy-url': SECRET}, {'token': SECRET}))

        self.assertEqual({'server': 'https://k.example', 'proxy-url': SECRET},
                         dict(found.cluster))
        self.assertEqual({'token': SECRET}, dict(found.user))
        self.assertNotIn(SECRET, repr(found))

    def test_a_context_without_user_is_anonymous(self):
        content = document()
        del content['contexts'][0]['context']['user']

        self.assertEqual({}, dict(parse(content).user))

    def test_what_is_no_kubeconfig(self):
        for why, contents in (
                ('it is not YAML, see line 3',
                 [f'users:\n- user:\n    client-key-data: {SECRET}: x\n']),
                ('it is not YAML',
                 ['\x00', 'a: 2026-99-99', '[' * 1500,
                  f'!!python/object:{SECRET} {{}}']),
                ('it is not a mapping',
                 ['', '[]', SECRET, f'- {SECRET}', '7']),
                ('its cluster has no server',
                 [document({'server': server})
                  for server in (None, '', 7, [SECRET])]),
                # HTTP would refuse and quote them.
                ('its token cannot be sent as one',
                 [document(None, {'token': token}) for token in (
                     f'{SECRET}\n', f'{SECRET} ', f'{SECRET}\x7f',
                     f'{SECRET}é', [SECRET], 7)]),
                # It must not become an anonymous request.
                ('its client certificate has no key',
                 [document(None, {f'client-certificate{data}': 'x'})
                  for data in ('', '-data')]),
                ('',
                 [{**document(), gone: instead}
                  for gone in ('clusters', 'users', 'contexts',
                               'current-context')
                  for instead in (None, [], SECRET, [None], [{'name': 'x'}],
                                  7)])):
            for content in contents:
                with self.subTest(why, content=content):
                    self.assert_unusable(why, content)

    @given(strategies.text(), strategies.text())
    def test_no_error_quotes_the_file(self, before, after):
        try:
            parse(f'{before}{SECRET}{after}')
        except errors.UsageError as e:
            self.assertNotIn(SECRET, str(e))


class RequireTest(testtools.TestCase):

    def refused(self, cluster=None, user=None):
        return str(self.assertRaises(
            errors.UsageError, parse(document(cluster, user)).require,
            kubeconfig_file.AUTHORITY, kubeconfig_file.CERTIFICATE))

    def test_all_that_is_not_honoured_is_named(self):
        said = self.refused({'proxy-url': 'p', 'tls-server-name': 's'},
                            {'as': 'a', 'as-groups': ['g']})

        self.assertIn('"proxy-url" of its cluster, "tls-server-name" of its '
                      'cluster, "as" of its user, "as-groups" of its user',
                      said)

    def test_what_is_no_name_of_a_key_is_not_quoted(self):
        for key in (SECRET, f'token {SECRET}', 7, 'x' * 500):
            said = self.refused(user={key: 'a'})
            self.assertIn('an unknown key of its user', said)
            self.assertNotIn(str(key), said)

    def test_what_is_honoured_or_changes_nothing(self):
        parse(document(
            {'insecure-skip-tls-verify': True, 'disable-compression': True,
             'certificate-authority': 'ca', 'extensions': [{'name': 'e'}]},
            {'client-certificate': 'c', 'client-key-data': 'k',
             'extensions': [{'name': 'e'}], 'as': '', 'as-groups': [],
             'exec': None})).require(
                 kubeconfig_file.AUTHORITY, kubeconfig_file.CERTIFICATE)


class ReadTest(testtools.TestCase):

    def test_what_is_no_text(self):
        for path, why in (('/nowhere/kubeconfig', 'No such file'),
                          ('/', 'Is a directory'),
                          ('/bin/sh', 'it is not UTF-8')):
            e = self.assertRaises(errors.UsageError, kubeconfig_file.read,
                                  pathlib.Path(path))
            self.assertIn(why, str(e))
