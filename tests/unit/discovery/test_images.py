# SPDX-License-Identifier: Apache-2.0

import contextlib
import logging
import socket
import threading
import time

import fixtures
from keystoneauth1 import exceptions
from keystoneauth1 import session as ka_session
import requests
import testtools

from magnum_capi.discovery import images
from magnum_capi.discovery import model
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
        self.log = self.useFixture(fixtures.FakeLogger(level=logging.DEBUG))
        self.reader = self.made()

    def made(self, timeouts=(60.0, 60.0), **kwargs):
        return images.Reader(ka_session.Session(), timeouts=timeouts,
                             **kwargs)

    def read(self, ident=ID, token='secret', info=None):
        environ = {'keystone.token_info': info or self.glance.token_info,
                   'HTTP_X_AUTH_TOKEN': token}
        return self.reader.read(ident, environ).says

    def check_unavailable(self, status, part, **kwargs):
        e = self.assertRaises(images.Unavailable, self.read, **kwargs)
        self.assertEqual(status, e.status)
        self.assertIn(part, e.what)
        self.assertNotIn('127.0.0.1', e.what)

    def check_not_visible(self, *args):
        self.assertRaises(images.NotVisible, self.read, *args)


class ReadTest(ImagesTestCase):

    def test_by_id_with_one_request(self):
        self.assertEqual(model.ImageProperties('flatcar', 'ubuntu', 'a'),
                         self.read())
        [(path, _)] = self.glance.requests
        self.assertEqual(f'/v2/images/{ID}', path)

    def test_the_id_of_a_name(self):
        environ = {'keystone.token_info': self.glance.token_info,
                   'HTTP_X_AUTH_TOKEN': 'secret'}
        self.assertEqual(ID, self.reader.read('ubuntu', environ).id)
        self.glance.images[0]['id'] = None
        self.check_unavailable(502, 'not usable', ident='ubuntu')

    def test_by_name_with_one_request(self):
        self.assertEqual('a', self.read('ubuntu').magnum_driver)
        [(path, _)] = self.glance.requests
        self.assertEqual('/v2/images?name=ubuntu', path)

    def test_it_is_asked_with_the_users_token_only(self):
        self.read(token=' mine ')
        [(_, headers)] = self.glance.requests
        self.assertEqual('mine', headers['X-Auth-Token'])
        self.assertNotIn('X-Service-Token', headers)
        self.assertNotIn('Cookie', headers)

    def test_names_are_no_part_of_the_address(self):
        for name in ('../../v3/users', 'a&os_hidden=true', 'a#b', '%2e?x',
                     'é \n\ud800', f'{ID}/file', f'{ID}\n'):
            self.glance.requests.clear()
            self.check_not_visible(name)
            for path, _ in self.glance.requests:
                self.assertTrue(path.startswith('/v2/images?name='), path)

    def test_a_hidden_image_by_name(self):
        self.glance.images[0]['os_hidden'] = True
        self.assertEqual('ubuntu', self.read('ubuntu').os_distro)
        self.assertEqual('/v2/images?name=ubuntu&os_hidden=true',
                         self.glance.requests[-1][0])

    def test_one_connection_for_many(self):
        for ident in (ID, 'ubuntu') * 20:
            self.read(ident)
        self.assertEqual((40, 1), (len(self.glance.requests),
                                   self.glance.connections))

    def test_a_cookie_is_not_for_the_next_user(self):
        status, headers, body = scripted_glance.as_json({'id': ID})
        self.glance.answer = (
            status, headers | {'Set-Cookie': 'user=a; Path=/'}, body)
        for _ in range(2):
            self.read()
        self.assertNotIn('Cookie', self.glance.requests[-1][1])

    def test_properties_that_are_no_texts(self):
        self.glance.images[0].update(
            os_distro=7, magnum_distro=None, magnum_driver=['x'])
        self.assertEqual(model.ImageProperties(None, '7', "['x']"),
                         self.read())


class NotVisibleTest(ImagesTestCase):

    def test_there_is_none(self):
        self.check_not_visible('8bd1b1a8-4b1c-4d5e-9c1e-000000000000')
        self.check_not_visible('other')

    def test_several_have_the_name(self):
        self.glance.images.append(self.glance.images[0] | {'id': 'x'})
        self.check_not_visible('ubuntu')

    def test_there_may_be_more(self):
        self.glance.answer = scripted_glance.as_json(
            {'images': self.glance.images, 'next': '/v2/images?marker=x'})
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
        for status, answered in ((500, 503), (502, 503), (503, 503),
                                 (504, 503), (429, 503), (401, 401),
                                 (300, 502), (204, 502), (409, 502),
                                 (428, 502), (431, 502)):
            self.glance.answer = (status, {}, b'{}')
            self.check_unavailable(answered, 'The image service')

    def test_answers_that_are_no_image(self):
        for body in (b'', b'<html>', b'[]', b'null', b'"x"', b'\xff',
                     b'[' * 100000):
            self.glance.answer = (200, {}, body)
            self.check_unavailable(502, 'its answer is not usable')

    def test_answers_that_are_no_list_of_images(self):
        for body in (b'{}', b'{"images": 7}', b'{"images": ["x"]}'):
            self.glance.answer = (200, {}, body)
            self.check_unavailable(502, 'not usable', ident='ubuntu')

    def test_the_token_goes_to_nobody_else(self):
        other = self.useFixture(scripted_glance.Glance())
        for status in (301, 302, 303, 307, 308):
            self.glance.answer = (
                status, {'Location': f'{other.url}/v2/images/{ID}'}, b'')
            self.check_unavailable(502, f'it answered {status}')
        self.assertEqual(0, other.connections)

    def test_nobody_listens(self):
        with socket.create_server(('127.0.0.1', 0)) as closed:
            port = closed.getsockname()[1]
        self.check_unavailable(503, 'cannot be reached', info=(
            scripted_glance.token_info(f'http://127.0.0.1:{port}')))

    def test_it_says_nothing(self):
        with socket.create_server(('127.0.0.1', 0)) as silent:
            self.reader = self.made(timeouts=(60.0, 0.05))
            url = f'http://127.0.0.1:{silent.getsockname()[1]}'
            self.check_unavailable(503, 'did not answer in time', info=(
                scripted_glance.token_info(url)))

    def test_it_drips(self):
        with socket.create_server(('127.0.0.1', 0)) as server:
            pause = threading.Event()

            def drip():
                connection, _ = server.accept()
                with connection, contextlib.suppress(OSError):
                    connection.recv(65536)
                    connection.sendall(
                        b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n')
                    while connection.send(b' '):
                        pause.wait(0.02)

            thread = threading.Thread(target=drip)
            thread.start()
            self.addCleanup(thread.join)
            self.reader = self.made(timeouts=(60.0, 0.2))
            start = time.monotonic()
            url = f'http://127.0.0.1:{server.getsockname()[1]}'
            self.check_unavailable(503, 'did not answer in time', info=(
                scripted_glance.token_info(url)))
        self.assertLess(time.monotonic() - start, 10)

    def test_its_times_are_those_of_the_reader(self):
        session = ka_session.Session()
        get = self.useFixture(fixtures.MockPatchObject(
            session, 'get', wraps=session.get)).mock
        self.reader = images.Reader(session, timeouts=(1.5, 2.5))
        self.read()
        self.assertEqual((1.5, 2.5), get.call_args.kwargs['timeout'])

    def test_a_connection_that_ends_is_tried_once_again(self):
        answers = iter([(None, {}, b''), None])
        self.glance.answer = lambda path: next(answers)
        self.assertEqual('ubuntu', self.read().os_distro)
        self.assertEqual(2, len(self.glance.requests))

    def test_but_not_for_ever(self):
        self.glance.answer = (None, {}, b'')
        self.check_unavailable(503, 'cannot be reached')
        self.assertEqual(2, len(self.glance.requests))

    def test_whatever_the_libraries_raise(self):
        for error in (requests.exceptions.ChunkedEncodingError('x'),
                      requests.exceptions.InvalidHeader('x'),
                      ValueError('x'), UnicodeError('x'),
                      exceptions.SSLError('x'),
                      exceptions.UnknownConnectionError('x', None)):
            session = ka_session.Session()
            self.useFixture(fixtures.MockPatchObject(
                session, 'get', side_effect=error))
            self.reader = images.Reader(session)
            self.check_unavailable(503, 'could not be asked')

    def test_no_endpoint(self):
        for info in (scripted_glance.token_info(),
                     scripted_glance.token_info(
                         self.glance.url, interface='admin')):
            self.check_unavailable(503, 'no endpoint', info=info)

    def test_an_endpoint_that_is_no_address(self):
        self.check_unavailable(503, 'could not be asked', info=(
            scripted_glance.token_info('ftp://x')))

    def test_nobody_is_authenticated(self):
        for environ in ({}, {'HTTP_X_AUTH_TOKEN': 'x'},
                        {'keystone.token_info': self.glance.token_info}):
            e = self.assertRaises(images.Unavailable, self.reader.read, ID,
                                  environ)
            self.assertEqual(401, e.status)

    def test_no_token_is_logged(self):
        self.glance.answer = (500, {}, b'{}')
        self.assertRaises(images.Unavailable, self.read)
        self.assertIn('/v2/images', self.log.output)
        self.assertNotIn('secret', self.log.output)


class EndpointTest(ImagesTestCase):

    def test_the_version_is_ours(self):
        for end in ('', '/', '/v2', '/v2/', '/v2.9', '/v1//'):
            self.glance.requests.clear()
            self.read(info=scripted_glance.token_info(
                f'{self.glance.url}{end}'))
            self.assertEqual(f'/v2/images/{ID}',
                             self.glance.requests[0][0])

    def test_a_path_stays(self):
        self.glance.answer = scripted_glance.as_json({'id': ID})
        self.read(info=scripted_glance.token_info(
            f'{self.glance.url}/image/v2'))
        self.assertEqual(f'/image/v2/images/{ID}',
                         self.glance.requests[0][0])

    def test_the_region_counts(self):
        info = scripted_glance.token_info('http://127.0.0.1:9', region='One')
        info['token']['catalog'] += scripted_glance.token_info(
            self.glance.url, region='Two')['token']['catalog']
        self.reader = self.made(region='Two')
        self.assertEqual('ubuntu', self.read(info=info).os_distro)

    def test_the_interface_counts(self):
        info = scripted_glance.token_info('http://127.0.0.1:9')
        info['token']['catalog'] += scripted_glance.token_info(
            self.glance.url, interface='internal')['token']['catalog']
        self.reader = self.made(interface='internalURL')
        self.assertEqual('ubuntu', self.read(info=info).os_distro)
