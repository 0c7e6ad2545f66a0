# SPDX-License-Identifier: Apache-2.0

import os
import pathlib
from unittest import mock

import fixtures
import testtools
import yaml

from magnum_capi import errors
from magnum_capi.kube import access
from magnum_capi.kube import rest
from magnum_capi.kube import shared

LIMITS = rest.Limits(1, 2, 3)


class SharedTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.patch(shared, '_made', None)
        self.path = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path) / 'kubeconfig'
        self.write('http://one')

    def write(self, server):
        self.path.write_text(yaml.safe_dump({
            'clusters': [{'name': 'c', 'cluster': {'server': server}}],
            'users': [{'name': 'u', 'user': {}}],
            'contexts': [
                {'name': 'x', 'context': {'cluster': 'c', 'user': 'u'}}],
            'current-context': 'x'}))

    def clients(self, path=None, limits=LIMITS):
        return shared.clients(str(path or self.path), limits, 'label')

    def server(self):
        return self.clients().kube.rest.access.server

    def test_one_for_all(self):
        # B.4.19: a client, with TLS and files, for every cluster and tick.
        found = self.clients()
        self.assertIs(found, self.clients())
        self.assertEqual(LIMITS, found.kube.rest.limits)
        # Both know the same kinds, by the same connections.
        self.assertIs(found.kube.rest, found.cached.rest)
        self.assertIs(found.kube.served, found.cached.served)
        path = os.path.relpath(self.path)
        self.assertIs(self.clients(path), self.clients(path))

    def test_other_settings_are_another_client(self):
        other = self.path.with_name('other')
        other.write_text(self.path.read_text())
        for change in ({'limits': rest.Limits(1, 2, 4)}, {'path': other}):
            before = self.clients()
            self.assertIsNot(before, self.clients(**change))

    def test_changed_file_is_read_again_and_watches_end(self):
        before = self.clients()
        self.write('http://two')
        self.assertEqual('http://two', self.server())
        self.assertTrue(all(known._stopped.is_set() for known in (
            *before.cached._informers.values(), before.cached._versions)))

    def test_file_that_changes_while_it_is_read_is_read_again(self):
        real = access.load

        def load(path):
            found = real(path)
            self.write('http://two')
            return found
        with mock.patch.object(access, 'load', load):
            self.assertEqual('http://one', self.server())
        self.assertEqual('http://two', self.server())

    def test_pod_without_a_kubeconfig(self):
        found = access.Access('http://pod', None, None)
        with mock.patch.object(access, 'find', return_value=None), \
                mock.patch.object(access, 'load', return_value=found):
            self.assertIs(self.clients(), self.clients())
            self.assertEqual('http://pod', self.server())

    def test_half_written_file_does_no_lasting_harm(self):
        self.clients()
        self.path.write_text('')
        self.assertRaises(errors.UsageError, self.clients)
        self.write('http://one')
        self.assertEqual('http://one', self.server())

    def test_child_process_makes_its_own(self):
        # Two processes on one TLS connection would mix their answers.
        before = self.clients()
        child = os.fork()
        if not child:
            os._exit(0 if self.clients() is not before else 1)
        self.assertEqual(0, os.waitpid(child, 0)[1])
