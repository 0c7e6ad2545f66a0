# SPDX-License-Identifier: Apache-2.0

"""Registries: mirrors are values, all else is in a Secret."""

import json
import os
import stat
import subprocess

import fixtures
import testtools
import tomllib

from magnum_capi.driver.desired import registries
from magnum_capi.driver.desired import spec

PEM = ('-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n')
TOLD = {
    'docker.io': {'mirrors': ['https://r.example.org/v2/docker.io',
                              'https://s.example.org/v2/docker.io']},
    'r.example.org:5000': {'ca': PEM, 'username': 'puller',
                           'password': 'ge"hei\\m ü'},
    's.example.org': {'ca': PEM}}


def read(told=None):
    return registries.read(TOLD if told is None else told, 'c1')


class ReadTest(testtools.TestCase):

    def test_mirrors_are_reported_and_the_rest_is_data(self):
        found = read()
        self.assertEqual({'docker.io': (
            'https://r.example.org/v2/docker.io',
            'https://s.example.org/v2/docker.io')}, found.registries.mirrors)
        self.assertEqual(('r.example.org:5000', 's.example.org'),
                         found.registries.authorities)
        self.assertEqual(
            {'ca-r.example.org_5000.crt', 'ca-s.example.org.crt',
             'registries.toml'}, set(found.data))
        self.assertNotIn('hei', repr(found))

    def appended(self, config, times=1):
        """config.toml of a node after its commands, run so often."""
        folder = self.useFixture(fixtures.TempDir()).path
        told = read()
        command = next(
            command for command in registries.kubeadm(
                told.registries, 'ubuntu')['preKubeadmCommands']
            if 'config.toml' in command).replace('/etc/containerd', folder)
        for name, text in (('registries.toml', told.data['registries.toml']),
                           ('config.toml', config)):
            with open(f'{folder}/{name}', 'w') as file:
                file.write(text)
        for _time in range(times):
            subprocess.run(['sh', '-ec', command], check=True)
        self.assertEqual(0o600, stat.S_IMODE(os.stat(
            f'{folder}/config.toml').st_mode))
        with open(f'{folder}/config.toml', 'rb') as file:
            return tomllib.load(file)['plugins']

    def test_log_ins_are_beside_what_the_node_has(self):
        """As image-builder and the chart write it, and once."""
        for version, plugin in ((2, 'io.containerd.grpc.v1.cri'),
                                (3, 'io.containerd.cri.v1.images')):
            found = self.appended(f'''
version = {version}
imports = ["/etc/containerd/conf.d/*.toml"]
[plugins]
  [plugins."{plugin}"]
    sandbox_image = "pause"
  [plugins."{plugin}".registry]
    config_path = "/etc/containerd/certs.d"''', times=2)
            self.assertEqual({'sandbox_image': 'pause', 'registry': {
                'config_path': '/etc/containerd/certs.d', 'configs': {
                    'r.example.org:5000': {'auth': {
                        'username': 'puller',
                        'password': 'ge"hei\\m ü'}}}}}, found[plugin])

    def test_name_of_the_secret_is_of_what_is_in_it(self):
        name = read().registries.secret
        self.assertTrue(name.startswith('c1-registries-'))
        self.assertEqual(name, read().registries.secret)
        other = json.loads(json.dumps(TOLD))
        other['r.example.org:5000']['password'] = 'x'
        self.assertNotEqual(name, read(other).registries.secret)
        self.assertNotEqual(name, registries.read(
            TOLD, 'c2').registries.secret)

    def test_mirrors_alone_take_no_secret(self):
        found = read({'docker.io': TOLD['docker.io']})
        self.assertIsNone(found.registries.secret)
        self.assertEqual({}, found.data)
        self.assertEqual({}, registries.kubeadm(found.registries, 'ubuntu'))
        self.assertEqual(spec.Registries(), read({}).registries)

    def test_what_is_wrong_is_reported_without_what_is_secret(self):
        for told, words in (
                ([], 'mapping of hosts'),
                ({'https://r': {}}, 'not the host'), ({7: {}}, 'not the host'),
                ({'r': 'geheim'}, 'must be a mapping'),
                ({'r': {'passwort': 'geheim'}}, 'no such field'),
                ({'r': {'username': 'u'}}, 'go together'),
                ({'r': {'password': 'geheim'}}, 'go together'),
                ({'r': {'username': 'u', 'password': 'geheim\nx'}},
                 'one line'),
                ({'r': {'username': 'u', 'password': ''}}, 'one line'),
                ({'r': {'username': 'u', 'password': 7}}, 'one line'),
                ({'r': {'ca': 'geheim'}}, 'certificates'),
                ({'r': {'ca': PEM + 'geheim'}}, 'certificates'),
                ({'r': {'mirrors': 'https://s'}}, 'list of URLs'),
                ({'r': {'mirrors': ['https://s"']}}, 'list of URLs')):
            e = self.assertRaises(ValueError, read, told)
            self.assertIn(words, str(e))
            self.assertNotIn('geheim', str(e))


class KubeadmTest(testtools.TestCase):

    def test_files_are_named_and_trusted_before_containerd_starts_again(self):
        for distro, folder, command in (
                ('ubuntu', '/usr/local/share/ca-certificates/',
                 'update-ca-certificates'),
                ('debian', '/usr/local/share/ca-certificates/',
                 'update-ca-certificates'),
                ('flatcar', '/etc/ssl/certs/', 'update-ca-certificates'),
                ('rocky', '/etc/pki/ca-trust/source/anchors/',
                 'update-ca-trust'),
                ('rockylinux', '/etc/pki/ca-trust/source/anchors/',
                 'update-ca-trust')):
            found = read()
            told = registries.kubeadm(found.registries, distro)
            first, append, last = told['preKubeadmCommands']
            self.assertEqual((command, 'systemctl restart containerd'),
                             (first, last))
            self.assertIn('config.toml', append)
            self.assertEqual(2, len([file for file in told['files']
                                     if file['path'].startswith(folder)]))
            for file in told['files']:
                self.assertNotIn('content', file)
                reference = file['contentFrom']['secret']
                self.assertEqual(found.registries.secret, reference['name'])
                self.assertIn(reference['key'], found.data)
            self.assertEqual('0600', told['files'][-1]['permissions'])

    def test_log_ins_alone(self):
        told = registries.kubeadm(read({'r': {
            'username': 'u', 'password': 'p'}}).registries, 'ubuntu')
        self.assertEqual('systemctl restart containerd',
                         told['preKubeadmCommands'][-1])
        self.assertEqual(2, len(told['preKubeadmCommands']))
        self.assertEqual(1, len(told['files']))
