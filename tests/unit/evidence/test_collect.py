# SPDX-License-Identifier: Apache-2.0

import json
import pathlib

import fixtures
import testtools

from magnum_capi import outfile
from magnum_capi_tempest.evidence import collect
from magnum_capi_tempest.evidence import logs
from magnum_capi_tempest.kubeclient import kube


class FakeReader:
    """A management cluster with one machine and one pod."""

    def __init__(self, refuses=()):
        self.refuses = refuses

    def kinds(self, wanted):
        known = [('apps', 'v1', 'deployments', 'Deployment'),
                 ('cluster.x-k8s.io', 'v1beta2', 'machines', 'Machine'),
                 ('infrastructure.cluster.x-k8s.io', 'v1beta1',
                  'openstackmachines', 'OpenStackMachine')]
        self.ask('kinds')
        return [k for k in known if wanted(k[0])]

    def custom(self, group, version, plural):
        self.ask(plural)
        return [{'metadata': {'name': 'm', 'managedFields': ['much']},
                 'status': {'bootstrap': 'password: hunter22'}}]

    def core(self, plural):
        self.ask(plural)
        return [{'metadata': {'name': plural}}]

    def ask(self, what):
        if what in self.refuses:
            raise kube.KubeError('The Kubernetes API refused')


class ManagementTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def collect(self, *refuses, **kwargs):
        self.missed = collect.from_management(
            'x', self.folder / 'new', reader=lambda _: FakeReader(refuses),
            **kwargs)
        return {p.name: p for p in self.folder.glob('new/*')}

    def test_a_file_for_each_kind(self):
        self.assertEqual(
            {'events.json', 'pods.json', 'machines.cluster.x-k8s.io.json',
             'openstackmachines.infrastructure.cluster.x-k8s.io.json'},
            set(self.collect()))
        self.assertEqual([], self.missed)

    def test_no_secret_and_no_bookkeeping(self):
        text = self.collect()['machines.cluster.x-k8s.io.json'].read_text()

        machine, = json.loads(text)
        self.assertEqual({'name': 'm'}, machine['metadata'])
        self.assertNotIn('hunter22', text)

    def test_what_is_refused_does_not_stop_the_rest(self):
        found = self.collect('machines')

        self.assertNotIn('machines.cluster.x-k8s.io.json', found)
        self.assertEqual(3, len(found))
        self.assertEqual(
            ['machines.cluster.x-k8s.io: The Kubernetes API refused'],
            self.missed)

    def test_no_list_of_kinds(self):
        self.assertEqual({'events.json', 'pods.json'},
                         set(self.collect('kinds')))
        self.assertEqual(['kinds: The Kubernetes API refused'], self.missed)

    def test_who_may_read_it(self):
        private = self.collect()['pods.json'].stat().st_mode & 0o777
        public = self.collect(mode=outfile.PUBLIC)['pods.json']

        self.assertEqual(0o600, private)
        self.assertEqual(0o004, public.stat().st_mode & 0o004)


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

    def test_the_end_of_a_long_one(self):
        self.useFixture(fixtures.MockPatchObject(logs, 'TAIL', 12))
        (self.folder / 'b/api.log').write_text('one two three\nfour\nfive\n')

        self.assertEqual(['four\nfive\n'], self.collect('b/*'))

    def test_a_pattern_without_files(self):
        self.assertEqual([], self.collect('c/*.log'))
        self.assertEqual([f'{self.folder}/c/*.log: there is no such file'],
                         self.missed)
