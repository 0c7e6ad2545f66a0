# SPDX-License-Identifier: Apache-2.0

"""Secret values of an object are hidden, and nothing else."""

import base64

import testtools

from magnum_capi.driver.adoption import secret_values

_KEY = ('-----BEGIN {0}PRIVATE KEY-----\ngeheim\n'
        '-----END {0}PRIVATE KEY-----')


class SecretValuesTest(testtools.TestCase):

    def shown(self, found):
        shown = secret_values.hide(found)
        self.assertNotIn('geheim', str(shown), found)
        return shown

    def test_by_the_name_of_the_field(self):
        for name in ('password', 'adminPass', 'DB_PASSWD', 'token', 'secret',
                     'client_secret', 'credentials', 'privateKey', 'tls.key',
                     'client-key-data', 'secretKey', 'api-key', 'auth',
                     'Authorization', 'certificateKey', 'PASSWORD_HASH'):
            for value in ('geheim', 'a geheim\nb geheim\n'):
                self.assertEqual({'a': [{name: '<hidden>'}]},
                                 self.shown({'a': [{name: value}]}))
            self.assertEqual({name: ['<hidden>', '<hidden>']},
                             self.shown({name: ['-geheim', 'geheim']}))
        self.assertEqual({'password': '<hidden>'},
                         self.shown({'password': 12345}))

    def test_what_only_belongs_to_a_secret_is_shown(self):
        for found in (
                {'secretName': 'a', 'tokenTTL': '5m', 'publicKey': 'x'},
                {'secret': {'name': 'a', 'key': 'b'}, 'password': None},
                {'anonymous-auth': 'false', 'token': '', 'secret': True},
                {'service-account-private-key-file': '/etc/k'},
                {'kind': 'Secret', 'name': 'a', 'port': 1},
                ['get', 'secret', 'a'], 'reads the secret "a"',
                '--token-ttl 5m --anonymous-auth=false',
                'oci://h:5000/a/b@sha256:01', 'https://u@h/a',
                '-----BEGIN CERTIFICATE-----\na\n-----END CERTIFICATE-----'):
            self.assertEqual(found, secret_values.hide(found))

    def test_variable_of_a_container(self):
        self.assertEqual(
            [{'name': 'DB_PASSWORD', 'value': '<hidden>'},
             {'name': 'A', 'value': 'b'}],
            self.shown([{'name': 'DB_PASSWORD', 'value': 'geheim'},
                        {'name': 'A', 'value': 'b'}]))

    def test_arguments(self):
        self.assertEqual(
            ['a', '--password', '<hidden>', '-b', 1, '--token=<hidden>'],
            self.shown(['a', '--password', 'geheim', '-b', 1,
                        '--token=geheim']))
        for value in ('geheim', '"a geheim"', "'geheim'\"'\"'geheim'",
                      '"a\ngeheim"'):
            for by in ' ', '=':
                self.assertEqual(
                    f'a --db-password{by}<hidden> -b c',
                    self.shown(f'a --db-password{by}{value} -b c'))

    def test_names_in_a_text(self):
        for text, shown in (
                ('a: b\npassword: a geheim\nc: d',
                 'a: b\npassword: <hidden>\nc: d'),
                ('[a]\npassword = geheim\nb = c\n',
                 '[a]\npassword = <hidden>\nb = c\n'),
                ('{"token": "a \\" geheim", "a": 1}',
                 '{"token": <hidden>, "a": 1}'),
                (r'{\"token\": \"geheim\", \"a\": 1}',
                 r'{\"token\": <hidden>'),
                ("export A_PASSWORD='geheim'; a",
                 'export A_PASSWORD=<hidden>; a'),
                ("A_PASSWORD='a'geheim a", 'A_PASSWORD=<hidden>'),
                ('Authorization: Bearer geheim', 'Authorization: <hidden>'),
                ('  auth = "geheim"', '  auth = <hidden>'),
                ('a:\n  - token: |\n      geheim\n\n      geheim\nb: c\n',
                 'a:\n  - token: <hidden>\nb: c\n')):
            self.assertEqual(shown, self.shown(text))

    def test_url(self):
        for text, shown in (
                ('a http://u:geheim@h:1/b', 'a http://u:<hidden>@h:1/b'),
                ('http://u:a@geheim@h', 'http://u:<hidden>@h'),
                ('http://u:a/geheim@h', 'http://u:<hidden>@h'),
                ('http://geheim-0123456789abc@h', 'http://<hidden>@h')):
            self.assertEqual(shown, self.shown(text))

    def test_private_key(self):
        for kind in ('', 'RSA ', 'OPENSSH '):
            key = _KEY.format(kind)
            for text in key, key.replace('\n', '\\n'):
                self.assertEqual('a <hidden> b', self.shown(f'a {text} b'))
            self.assertEqual('<hidden>', self.shown(key.partition('--END')[0]))

    def test_encoded_file(self):
        data = base64.b64encode(b'a').decode()
        for encoding in 'base64', 'gzip+base64':
            self.assertEqual(
                {'content': '<hidden>', 'encoding': encoding, 'path': '/a'},
                self.shown({'content': data, 'encoding': encoding,
                            'path': '/a'}))
