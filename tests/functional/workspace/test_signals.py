# SPDX-License-Identifier: Apache-2.0
"""A run that is ended deletes what its tests created, or lists it."""

import os
import pathlib
import signal
import subprocess

import fixtures
import testtools

from magnum_capi import waiting
from magnum_capi_tempest import proc
from tests.functional.workspace import endless
from tests.functional.workspace import fake_suite
from tests.unit import loopback

#: Somebody else's.
OTHER = '22222222-2222-4222-8222-222222222222'


class _Cloud(loopback.Handler):
    """Keystone, and a Magnum with two clusters."""

    def do_POST(self):
        self.body()
        url = f'http://127.0.0.1:{self.server.server_port}'
        self.answer(201, {'token': {
            'expires_at': '2099-01-01T00:00:00.000000Z', 'methods': [],
            'user': {'id': 'u', 'name': 'admin',
                     'domain': {'id': 'default', 'name': 'Default'}},
            'project': {'id': 'p', 'name': 'admin',
                        'domain': {'id': 'default', 'name': 'Default'}},
            'roles': [{'id': 'admin', 'name': 'admin'}],
            'catalog': [{'type': kind, 'id': kind, 'name': kind, 'endpoints': [
                {'id': kind, 'interface': 'public', 'region': 'R',
                 'region_id': 'R', 'url': url + path}]} for kind, path in (
                     ('container-infra', '/v1'), ('identity', '/v3'))]}},
            **{'X-Subject-Token': 'token'})

    def do_GET(self):
        path, _, query = self.path.partition('?')
        name = path.rpartition('/')[2]
        if name == 'detail':
            self.answer(200, {'clusters': [] if 'marker' in query else [
                {'uuid': uuid, 'name': 'c', 'user_id': 'u', 'project_id': 'p'}
                for uuid in (endless.CLUSTER, OTHER)]})
        elif name in ('clustertemplates', 'users', 'projects', 'trusts',
                      'application_credentials'):
            self.answer(200, {name: []})
        else:
            self.answer(404, {})


class SignalTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.workspace = fake_suite.lay_out(self.base, 'endless')
        self.tests, self.results = self.base / 'tests', self.base / 'results'

    def connect(self):
        """Let tempest.conf name a cloud."""
        url = loopback.start(self, _Cloud)
        with open(self.workspace / 'etc' / 'tempest.conf', 'a') as conf:
            conf.write(
                '[auth]\nadmin_username = admin\nadmin_password = secret\n'
                'admin_project_name = admin\nadmin_domain_name = Default\n'
                f'[identity]\nuri_v3 = {url}/v3\nregion = R\n')

    def start(self, *options):
        process = subprocess.Popen(
            fake_suite.command(self.workspace, '--output', self.results,
                               *options),
            text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        pid = self.tests / 'pid'
        waiting.wait_for(pid.exists, done=bool, timeout=300,
                         what='the test to run')
        self.worker = int(pid.read_text())
        return process

    def end_of(self, process):
        said, _ = process.communicate(timeout=300)
        waiting.wait_for(lambda: proc.ended(self.worker), done=bool,
                         timeout=60, what='the worker to be gone')
        return said

    def assert_cleaned(self):
        for name in 'cleaned', 'class-cleaned':
            self.assertTrue((self.tests / name).exists(), name)

    def test_sigterm_interrupts_as_ctrl_c_does(self):
        process = self.start()

        process.terminate()

        self.end_of(process)
        self.assertEqual(143, process.returncode)
        self.assert_cleaned()

    def test_so_does_timeout_which_signals_the_whole_group(self):
        process = self.start()

        process.terminate()
        os.killpg(process.pid, signal.SIGTERM)

        self.end_of(process)
        self.assertEqual(143, process.returncode)
        self.assert_cleaned()

    def test_ctrl_c(self):
        process = self.start()

        os.killpg(process.pid, signal.SIGINT)

        self.end_of(process)
        self.assertEqual(130, process.returncode)
        self.assert_cleaned()

    def test_what_the_time_was_too_short_for_is_listed(self):
        self.connect()
        (self.tests / 'slow').touch()
        process = self.start('--grace', '1')

        process.terminate()

        said = self.end_of(process)
        self.assertEqual(143, process.returncode)
        self.assertFalse((self.tests / 'cleaned').exists())
        self.assertIn(f'openstack coe cluster delete {endless.CLUSTER}', said)
        self.assertNotIn(OTHER, said)
