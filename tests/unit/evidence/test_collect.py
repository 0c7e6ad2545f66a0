# SPDX-License-Identifier: Apache-2.0

import json
import pathlib

import fixtures
import testtools

from magnum_capi import outfile
from magnum_capi_tempest.evidence import collect
from tests.unit.evidence import fake_kube

MACHINES = '/apis/cluster.x-k8s.io/v1beta2/machines'


class ManagementTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.kube = self.useFixture(fake_kube.FakeKube())
        self.kube.serve_group('apps', 'v1', deployments='Deployment')
        self.kube.serve_group('cluster.x-k8s.io', 'v1beta2',
                              machines='Machine')
        self.kube.serve_group('infrastructure.cluster.x-k8s.io', 'v1beta1',
                              openstackmachines='OpenStackMachine')
        for plural in ('events', 'pods'):
            self.kube.serve(f'/api/v1/{plural}')
        self.kube.serve(MACHINES, {
            'metadata': {'name': 'm', 'managedFields': ['much']},
            'status': {'bootstrap': 'password: hunter22'}})

    def collect(self, **kwargs):
        self.missed = collect.from_management(
            self.kube.kubeconfig, self.folder / 'new', **kwargs)
        return {p.name: p for p in self.folder.glob('new/*')}

    def test_a_file_for_each_kind_without_secrets_and_bookkeeping(self):
        found = self.collect()

        self.assertEqual(
            {'events.json', 'pods.json', 'machines.cluster.x-k8s.io.json',
             'openstackmachines.infrastructure.cluster.x-k8s.io.json'},
            set(found))
        self.assertEqual([], self.missed)
        text = found['machines.cluster.x-k8s.io.json'].read_text()
        self.assertEqual({'name': 'm'}, json.loads(text)[0]['metadata'])
        self.assertNotIn('hunter22', text)

    def test_what_is_refused_does_not_stop_the_rest(self):
        for path, name, files in (
                (MACHINES, 'machines.cluster.x-k8s.io', 3),
                ('/api/v1/pods', 'pods', 2), ('/apis/', 'kinds', 1)):
            self.kube.answers[path] = 403, {}
            for old in self.folder.glob('new/*'):
                old.unlink()

            self.assertEqual(files, len(self.collect()))
            self.assertIn(name, [line.partition(':')[0]
                                 for line in self.missed])

    def test_who_may_read_it(self):
        for mode, bits in ((outfile.PRIVATE, 0), (outfile.PUBLIC, 0o044)):
            path = self.collect(mode=mode)['pods.json']

            self.assertEqual(bits, path.stat().st_mode & 0o044)


class LogsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        for name, text in (('a/api.log', 'GET /\ntoken=abcdefgh12345678\n'),
                           ('b/api.log', 'POST /\n')):
            path = self.folder / name
            path.parent.mkdir()
            path.write_text(text)

    def collect(self, *patterns):
        self.missed = collect.from_logs(
            [self.folder / p for p in patterns], self.folder / 'new')
        return sorted(p.read_text() for p in self.folder.glob('new/*'))

    def test_logs_of_one_name_are_kept_both_without_secrets(self):
        first, second = self.collect('*/api.log', 'a/*')

        self.assertEqual('GET /\ntoken=<redacted>\n', first)
        self.assertEqual('POST /\n', second)
        self.assertEqual([], self.missed)

    def test_a_pattern_without_files(self):
        self.assertEqual([], self.collect('c/*.log'))
        self.assertEqual([f'{self.folder}/c/*.log: there is no such file'],
                         self.missed)

    def test_one_that_cannot_be_read_does_not_stop_the_rest(self):
        """Its size is 0, and no byte of it can be read."""
        self.assertEqual(['POST /\n'], self.collect('/proc/self/mem', 'b/*'))
        found, = self.missed
        self.assertTrue(found.startswith('/proc/self/mem: '), found)
