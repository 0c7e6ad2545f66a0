# SPDX-License-Identifier: Apache-2.0

import pathlib

from hypothesis import given
from hypothesis import strategies
import testtools
import yaml

from magnum_capi import errors
from magnum_capi.kube import kubeconfig_file

PATH = pathlib.Path('/somewhere/kubeconfig')


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


class ParseTest(testtools.TestCase):

    def parse(self, content):
        if not isinstance(content, str):
            content = yaml.safe_dump(content)
        return kubeconfig_file.parse(content, PATH)

    def unusable(self, content):
        error = self.assertRaises(errors.UsageError, self.parse, content)
        self.assertEqual(PATH, error.where)
        self.assertNotIn('hunter2', str(error))
        return error.last_seen

    def test_the_current_context_counts(self):
        found = self.parse(document({'proxy-url': 'p'}, {'token': 't'}))

        self.assertEqual({'server': 'https://k.example', 'proxy-url': 'p'},
                         dict(found.cluster))
        self.assertEqual({'token': 't'}, dict(found.user))

    def test_its_secrets_are_not_in_its_representation(self):
        found = self.parse(document({'proxy-url': 'hunter2'},
                                    {'token': 'hunter2'}))

        self.assertNotIn('hunter2', repr(found))

    def test_a_context_without_user_is_anonymous(self):
        content = document()
        del content['contexts'][0]['context']['user']

        self.assertEqual({}, dict(self.parse(content).user))

    def test_line_of_what_does_not_parse(self):
        self.assertEqual(
            'it is not YAML, see line 3', self.unusable(
                'users:\n- user:\n    client-key-data: hunter2: x\n'))

    def test_what_is_no_yaml(self):
        for content in ('\x00', 'a: 2026-99-99', '[' * 1500,
                        '!!python/object:hunter2 {}'):
            self.assertIn('not YAML', self.unusable(content))

    def test_what_is_no_mapping(self):
        for content in ('', '[]', 'hunter2', '- hunter2', '7'):
            self.assertEqual('it is not a mapping', self.unusable(content))

    def test_what_lacks_something(self):
        for gone in ('clusters', 'users', 'contexts', 'current-context'):
            for instead in (None, [], 'hunter2', [None], [{'name': 'x'}], 7):
                self.unusable({**document(), gone: instead})

    def test_a_cluster_without_server(self):
        for server in (None, '', 7, ['hunter2']):
            self.assertEqual('its cluster has no server',
                             self.unusable(document({'server': server})))

    def test_a_token_that_http_would_refuse_and_quote(self):
        for token in ('hunter2\n', 'hunter2 ', 'hunter2\x7f', 'hunter2é',
                      ['hunter2'], 7):
            self.assertEqual('its token cannot be sent as one',
                             self.unusable(document(None, {'token': token})))

    def test_a_certificate_without_key(self):
        for name in ('client-certificate', 'client-certificate-data'):
            self.assertEqual('its client certificate has no key',
                             self.unusable(document(None, {name: 'x'})))

    @given(strategies.text(), strategies.text())
    def test_no_error_quotes_the_file(self, before, after):
        try:
            self.parse(f'{before}hunter2{after}')
        except errors.UsageError as e:
            self.assertNotIn('hunter2', str(e))


class RequireTest(testtools.TestCase):

    def refused(self, cluster=None, user=None):
        found = kubeconfig_file.parse(
            yaml.safe_dump(document(cluster, user)), PATH)
        return str(self.assertRaises(
            errors.UsageError, found.require, kubeconfig_file.AUTHORITY,
            kubeconfig_file.CERTIFICATE))

    def test_all_that_is_not_honoured_is_named(self):
        said = self.refused({'proxy-url': 'p', 'tls-server-name': 's'},
                            {'as': 'a', 'as-groups': ['g']})

        self.assertIn('"proxy-url" of its cluster, "tls-server-name" of its '
                      'cluster, "as" of its user, "as-groups" of its user',
                      said)

    def test_what_is_no_name_of_a_key_is_not_quoted(self):
        for key in ('hunter2', 'token hunter2', 7, 'x' * 500):
            said = self.refused(user={key: 'a'})
            self.assertIn('an unknown key of its user', said)
            self.assertNotIn(str(key), said)

    def test_what_is_honoured_or_changes_nothing(self):
        kubeconfig_file.parse(yaml.safe_dump(document(
            {'insecure-skip-tls-verify': True, 'disable-compression': True,
             'certificate-authority': 'ca', 'extensions': [{'name': 'e'}]},
            {'client-certificate': 'c', 'client-key-data': 'k',
             'extensions': [{'name': 'e'}], 'as': '', 'as-groups': [],
             'exec': None})), PATH).require(
                 kubeconfig_file.AUTHORITY, kubeconfig_file.CERTIFICATE)


class ReadTest(testtools.TestCase):

    def refused(self, path):
        return str(self.assertRaises(
            errors.UsageError, kubeconfig_file.read, pathlib.Path(path)))

    def test_missing_file(self):
        self.assertIn('No such file', self.refused('/nowhere/kubeconfig'))

    def test_folder(self):
        self.assertIn('Is a directory', self.refused('/'))

    def test_program(self):
        self.assertIn('it is not UTF-8', self.refused('/bin/sh'))
