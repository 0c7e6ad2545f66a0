# SPDX-License-Identifier: Apache-2.0

import logging
import pathlib
import socket

import fixtures
from keystoneauth1 import session as ka_session
from keystoneauth1 import token_endpoint
import testtools

from magnum_capi.discovery import images
from magnum_capi.discovery import model
from magnum_capi_tempest.management import pki
from tests.unit.discovery import scripted_glance

ID = '8bd1b1a8-4b1c-4d5e-9c1e-1f0d5a1d6b7c'


class ImagesTestCase(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.glance = self.useFixture(scripted_glance.Glance())
        self.glance.images.append({
            'id': ID, 'name': 'ubuntu', 'os_distro': 'ubuntu',
            'magnum_distro': ' flatcar ', 'magnum_driver': 'a',
            'other': 'x' * 4096})

    def read(self, ident=ID, endpoint='', timeout=None):
        return images.Glance(
            ka_session.Session(token_endpoint.Token('', 'secret'),
                               timeout=timeout),
            self.glance.url if endpoint == '' else endpoint).read(ident)

    def check_unavailable(self, status, part, **kwargs):
        e = self.assertRaises(images.Unavailable, self.read, **kwargs)
        self.assertEqual(status, e.status)
        self.assertIn(part, e.what)
        self.assertNotIn('127.0.0.1', e.what)

    def check_not_visible(self, ident):
        self.assertRaises(images.NotVisible, self.read, ident)


class ReadTest(ImagesTestCase):

    def test_with_one_request(self):
        for ident, wanted in ((ID, f'/v2/images/{ID}'),
                              ('ubuntu', '/v2/images?name=ubuntu')):
            self.glance.requests.clear()
            self.assertEqual(
                images.Image(ID, model.ImageProperties(
                    'flatcar', 'ubuntu', 'a')), self.read(ident))
            [(path, headers)] = self.glance.requests
            self.assertEqual((wanted, 'secret'),
                             (path, headers['X-Auth-Token']))

    def test_the_version_is_ours(self):
        for end in ('', '/', '/v2', '/v2/', '/v2.9', '/v1//'):
            self.assertEqual(ID, self.read(
                endpoint=f'{self.glance.url}{end}').id)
        self.glance.answer = scripted_glance.as_json({'id': ID})
        self.read(endpoint=f'{self.glance.url}/image/v2')
        self.assertEqual(f'/image/v2/images/{ID}',
                         self.glance.requests[-1][0])

    def test_names_are_no_part_of_the_address(self):
        for name in ('../../v3/users', 'a&os_hidden=true', 'a#b', '%2e?x',
                     'é \n\ud800', f'{ID}/file', f'{ID}\n'):
            self.glance.requests.clear()
            self.check_not_visible(name)
            for path, _ in self.glance.requests:
                self.assertTrue(path.startswith('/v2/images?name='), path)

    def test_a_hidden_image_by_name(self):
        self.glance.images[0]['os_hidden'] = True
        self.assertEqual('ubuntu', self.read('ubuntu').says.os_distro)
        self.assertEqual('/v2/images?name=ubuntu&os_hidden=true',
                         self.glance.requests[-1][0])

    def test_properties_that_are_no_texts(self):
        self.glance.images[0].update(
            os_distro=7, magnum_distro=None, magnum_driver=['x'])
        self.assertEqual(model.ImageProperties(None, '7', "['x']"),
                         self.read().says)

    def test_no_token_is_logged(self):
        # oslo.log, which other tests set up, has it at WARN.
        log = self.useFixture(fixtures.FakeLogger(
            'keystoneauth', level=logging.DEBUG))
        self.read()
        self.assertIn('/v2/images', log.output)
        self.assertNotIn('secret', log.output)


class NotVisibleTest(ImagesTestCase):

    def test_there_is_none(self):
        self.check_not_visible('8bd1b1a8-4b1c-4d5e-9c1e-000000000000')
        self.check_not_visible('other')

    def test_several_have_the_name(self):
        self.glance.answer = scripted_glance.as_json(
            {'images': self.glance.images, 'next': '/v2/images?marker=x'})
        self.check_not_visible('ubuntu')
        self.glance.answer = None
        self.glance.images.append(self.glance.images[0] | {'id': 'x'})
        self.check_not_visible('ubuntu')

    def test_a_name_that_is_a_query_to_glance(self):
        self.glance.answer = scripted_glance.as_json(
            {'images': self.glance.images})
        # One that sorts before the name of the image, and one behind it.
        self.check_not_visible('in:ubuntu,other')
        self.check_not_visible('zz:ubuntu,other')

    def test_glance_refuses(self):
        for status in (400, 403, 404):
            self.glance.answer = (status, {}, b'no')
            self.check_not_visible(ID)
            self.check_not_visible('ubuntu')

    def test_a_name_that_glances_database_cannot_hold(self):
        self.glance.answer = (500, {}, b'no')
        self.check_not_visible('tada \U0001f389')
        self.check_unavailable(503, 'The image service', ident='ubuntu')


class UnavailableTest(ImagesTestCase):

    def test_statuses(self):
        for status, answered in ((500, 503), (503, 503), (429, 503),
                                 (401, 401), (300, 502), (204, 502),
                                 (409, 502), (428, 502), (431, 502)):
            self.glance.answer = (status, {}, b'{}')
            self.check_unavailable(answered, 'The image service')

    def test_answers_that_are_no_image(self):
        for body in (b'', b'<html>', b'[]', b'null', b'"x"', b'\xff',
                     b'[' * 100000, b'{}', b'{"id": 7}'):
            self.glance.answer = (200, {}, body)
            self.check_unavailable(502, 'its answer is not usable')
        for body in (b'{}', b'{"images": 7}', b'{"images": ["x"]}'):
            self.glance.answer = (200, {}, body)
            self.check_unavailable(502, 'not usable', ident='ubuntu')

    def test_the_token_goes_to_nobody_else(self):
        other = self.useFixture(scripted_glance.Glance())
        for status in (301, 302, 303, 307, 308):
            self.glance.answer = (
                status, {'Location': f'{other.url}/v2/images/{ID}'}, b'')
            self.check_unavailable(502, f'it answered {status}')
        self.assertEqual([], other.requests)

    def test_no_answer(self):
        self.glance.answer = (None, {}, b'')
        self.check_unavailable(503, 'cannot be reached')
        with socket.create_server(('127.0.0.1', 0)) as silent:
            url = f'http://127.0.0.1:{silent.getsockname()[1]}'
            self.check_unavailable(503, 'did not answer in time',
                                   endpoint=url, timeout=0.05)
        self.check_unavailable(503, 'cannot be reached', endpoint=url)

    def test_certificate_that_magnum_does_not_trust(self):
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        pki.make_server(folder / 'tls', '127.0.0.1')
        self.glance = self.useFixture(scripted_glance.Glance(folder / 'tls'))
        self.check_unavailable(503, '[keystone_auth]cafile')
        self.assertEqual([], self.glance.requests)

    def test_endpoints_that_are_none(self):
        self.check_unavailable(503, 'has no endpoint', endpoint=None)
        self.check_unavailable(503, 'could not be asked', endpoint='ftp://x')


class SessionTest(testtools.TestCase):
    """What is left to the session of Magnum's clients."""

    def options(self, timeout=None, **more):
        session = ka_session.Session(timeout=timeout)
        made = self.useFixture(fixtures.MockPatchObject(
            session, 'get', side_effect=ValueError)).mock
        self.assertRaises(
            images.Unavailable,
            images.Glance(session, 'http://x', **more).read, ID)
        return made.call_args.kwargs

    def test_tls(self):
        self.assertNotIn('verify', self.options())
        for verify in (False, '/ca.pem'):
            self.assertEqual(verify, self.options(verify=verify)['verify'])

    def test_timeout(self):
        self.assertEqual((30, 7.5), (self.options()['timeout'],
                                     self.options(7.5)['timeout']))
