# SPDX-License-Identifier: Apache-2.0

import dataclasses
import os
import pathlib
from unittest import mock

import fixtures
from oslo_config import cfg
import testtools
import yaml

from magnum_capi.driver import config
from magnum_capi import errors
from magnum_capi.kube import access
from magnum_capi.kube import rest
from magnum_capi.kube import shared

DEFAULTS = config.Options.read(cfg.ConfigOpts())


class SharedTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.addCleanup(shared._shared.clear)
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

    def shared(self, **options):
        options = {'kubeconfig_file': str(self.path), 'connect_timeout': 1,
                   'read_timeout': 2, 'retry_time': 3, **options}
        return shared.kube(dataclasses.replace(DEFAULTS, **options))

    def test_one_for_all(self):
        # B.4.19: a client, with TLS and files, for every cluster and tick.
        self.assertIs(self.shared(), self.shared())

    def test_changed_file_is_read_again(self):
        before = self.shared()
        self.write('http://two-is-longer')
        after = self.shared()
        self.assertIsNot(before, after)
        self.assertEqual('http://two-is-longer', after._rest.access.server)

    def test_file_that_changes_while_it_is_read_is_read_again(self):
        real = access.load

        def load(path):
            found = real(path)
            self.write('http://two-is-longer')
            return found
        with mock.patch.object(access, 'load', load):
            self.assertEqual('http://one', self.shared()._rest.access.server)
        self.assertEqual('http://two-is-longer',
                         self.shared()._rest.access.server)

    def test_pod_without_a_kubeconfig(self):
        found = access.Access('http://pod', None, None)
        with mock.patch.object(access, 'find', return_value=None), \
                mock.patch.object(access, 'load', return_value=found):
            self.assertIs(self.shared(), self.shared())
            self.assertIs(found, self.shared()._rest.access)

    def test_half_written_file_does_no_lasting_harm(self):
        self.shared()
        self.path.write_text('')
        self.assertRaises(errors.UsageError, self.shared)
        self.write('http://one')
        self.assertEqual('http://one', self.shared()._rest.access.server)

    def test_limits_are_those_of_the_settings(self):
        self.assertEqual(rest.Limits(1, 2, 3), self.shared()._rest.limits)

    def test_child_process_makes_its_own(self):
        # Two processes on one TLS connection would mix their answers.
        before = self.shared()
        child = os.fork()
        if not child:
            os._exit(0 if self.shared() is not before else 1)
        self.assertEqual(0, os.waitpid(child, 0)[1])
