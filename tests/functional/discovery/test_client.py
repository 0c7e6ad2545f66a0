# SPDX-License-Identifier: Apache-2.0

"""What the real client prints of a refusal of the filter in a real Magnum.

The filter reads the image through the clients of that Magnum, from a Glance
on loopback.
"""

import os
import pathlib
import signal
import subprocess
import urllib.error
import urllib.request

import testtools

import magnum_capi
from magnum_capi import progress
from magnum_capi_sandbox.cloud import environment
from magnum_capi_sandbox import releases
from tests.unit.discovery import scripted_glance

_SCRIPT = pathlib.Path(__file__).with_name('served.py')
_LIBRARY = pathlib.Path(magnum_capi.__file__).parents[1]
ID = '8bd1b1a8-4b1c-4d5e-9c1e-1f0d5a1d6b7c'


class Client:
    """All tests for one release."""

    def setUp(self):
        super().setUp()
        self.glance = self.useFixture(scripted_glance.Glance())
        self.glance.images.append(
            {'id': ID, 'name': 'ubuntu', 'os_distro': 'ubuntu'})
        python = environment.ensure(
            progress.Progress(), releases.get(self.release)) / 'bin/python'
        server = subprocess.Popen(
            [python, '-W', 'ignore', _SCRIPT, f'{self.glance.url}/v2',
             'helm_v1', 'other_v1'],
            env={'PYTHONPATH': str(_LIBRARY)}, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait, 60)
        self.addCleanup(server.send_signal, signal.SIGTERM)
        self.url = f'http://127.0.0.1:{int(server.stdout.readline())}'

    def create(self, *options):
        """What the client prints."""
        client = environment.ensure(progress.Progress()) / 'bin/openstack'
        ended = subprocess.run(
            [client, '--os-auth-type', 'admin_token', '--os-token', 'secret',
             '--os-endpoint', self.url, 'coe', 'cluster', 'template',
             'create', 'mine', '--coe', 'kubernetes', '--image', 'ubuntu',
             '--external-network', 'public', *options],
            env={'PATH': os.environ['PATH'], 'PYTHONWARNINGS': 'ignore'},
            capture_output=True, text=True, timeout=300)
        self.assertNotEqual(0, ended.returncode)
        return ended.stdout + ended.stderr

    def test_what_to_do_is_printed(self):
        self.assertIn(
            "(vm, ubuntu, kubernetes) is ambiguous: it is provided by "
            "helm_v1, other_v1. Set the field 'driver' of the cluster "
            'template (--driver), or the property magnum_driver of the '
            'image, to one of them (HTTP 400)', self.create())
        [(path, headers)] = self.glance.requests
        self.assertEqual(('/v2/images?name=ubuntu', 'secret'),
                         (path, headers['X-Auth-Token']))
        self.assertNotIn('X-Service-Token', headers)

    def test_other_refusals(self):
        self.assertIn("The driver 'no_v1', named by the cluster template, is "
                      'not installed. (vm, ubuntu, kubernetes) is provided '
                      'by helm_v1, other_v1 (HTTP 400)',
                      self.create('--driver', 'no_v1'))
        self.glance.answer = (500, {}, b'')
        self.assertIn('The image service could not be asked: it answered '
                      '500. Nothing was done; try again later (HTTP 503)',
                      self.create())

    def test_an_image_is_not_read_without_a_token(self):
        e = self.assertRaises(
            urllib.error.HTTPError, urllib.request.urlopen,
            urllib.request.Request(
                f'{self.url}/v1/clustertemplates', method='POST',
                data=b'{"coe": "kubernetes", "image_id": "ubuntu"}',
                headers={'Content-Type': 'application/json'}))
        with e:
            self.assertEqual(401, e.code)
            self.assertIn(b'not authenticated', e.read())
        self.assertEqual([], self.glance.requests)


class Magnum20Test(Client, testtools.TestCase):
    release = '20'


class Magnum22Test(Client, testtools.TestCase):
    release = '22'


class Magnum23Test(Client, testtools.TestCase):
    release = '23'
