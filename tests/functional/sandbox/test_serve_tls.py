# SPDX-License-Identifier: Apache-2.0

"""The server of the profile "full", with an application that tells all."""

import os
import pathlib
import signal
import socket
import subprocess

import fixtures
import psutil
import requests
import testtools

from magnum_capi import progress
from magnum_capi import waiting
from magnum_capi_sandbox.cloud import environment
from magnum_capi_sandbox.cloud import services
from magnum_capi_tempest.management import pki

ADDRESS = '127.0.0.1'

_TELL = '''
import json, os, sys

def application(environ, start_response):
    start_response('200 OK', [('Content-Type', 'application/json')])
    return [json.dumps({
        'argv': sys.argv, 'pid': os.getpid(),
        'scheme': environ['wsgi.url_scheme'],
        'path': len(environ['PATH_INFO']),
        'header': len(environ.get('HTTP_X_LONG', '')),
        'body': len(environ['wsgi.input'].read())}).encode()]
'''


class ServeTLSTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (folder / 'tell.py').write_text(_TELL)
        pki.make_server(folder / 'tls', ADDRESS)
        with socket.create_server((ADDRESS, 0)) as free:
            port = free.getsockname()[1]
        python = environment.ensure(progress.Silent()) / 'bin' / 'python'
        self.server = subprocess.Popen(
            [python, services.PROGRAMS / 'serve_tls.py', 'tell', ADDRESS,
             str(port), '4', '2', folder / 'tls', '--config-file', 'x'],
            env={'PYTHONPATH': str(folder), 'PATH': os.defpath},
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(self.server.wait, 60)
        self.addCleanup(self.server.kill)
        self.url = f'https://{ADDRESS}:{port}/'
        self.authority = folder / 'tls' / 'ca.crt'
        waiting.wait_for(
            self.answers, done=bool, timeout=60, what='an answer')

    def answers(self):
        try:
            return self.ask()
        except requests.ConnectionError:
            return None

    def ask(self, path='', data=None, **headers):
        return requests.post(self.url + path, data=data, headers=headers,
                             verify=str(self.authority), timeout=60).json()

    def test_what_the_application_gets(self):
        found = self.ask()
        self.assertEqual('https', found['scheme'])
        self.assertEqual(['tell', '--config-file', 'x'], found['argv'])

    def test_long_requests_are_for_the_application_to_judge(self):
        found = self.ask('x' * 20_000, b'x' * 3_000_000,
                         **{'X-Long': 'x' * 20_000})
        self.assertEqual([20_001, 20_000, 3_000_000], [
            found[name] for name in ('path', 'header', 'body')])
        # As clients of Glance send images: in chunks, without a length.
        self.assertEqual(
            50_000, self.ask(data=iter([b'x' * 10_000] * 5))['body'])

    def test_each_worker_answers(self):
        seen = set()
        waiting.wait_for(
            lambda: seen.add(self.ask()['pid']),
            done=lambda _: len(seen) == 2, timeout=60, what='two workers')

    def test_workers_end_with_the_first_process(self):
        # One of them may answer before there is the other one.
        workers = waiting.wait_for(
            psutil.Process(self.server.pid).children,
            done=lambda found: len(found) == 2, timeout=60,
            what='two workers')
        self.server.send_signal(signal.SIGKILL)
        self.assertEqual([], psutil.wait_procs(workers, 30)[1])
        self.assertIsNone(self.answers())
