# SPDX-License-Identifier: Apache-2.0

import base64
import datetime
import pathlib
import re
import ssl
import threading

import fixtures
import testtools
import urllib3

from magnum_capi import errors
from magnum_capi.kube import access
from magnum_capi.kube import rest
from magnum_capi import waiting
from tests.lib import kube_server
from tests.unit import fake_clock

PATH = '/api/v1/namespaces/n/secrets/s'
LEASES = '/apis/coordination.k8s.io/v1/namespaces/n/leases'


class _Base(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.api = self.useFixture(kube_server.HttpApiServer())
        # As that of a machine that was not started just now.
        self.api.clock.now = 1000.0
        self.api.put(PATH, {'data': {}})

    def answered(self, *faults, **kwargs):
        """The answer after some faults, and the pauses between the tries."""
        self.api.faults = list(faults)
        self.api.clock.naps.clear()
        found = self.api.rest().request('GET', PATH, **kwargs)
        self.assertEqual('s', found['metadata']['name'])
        return self.api.clock.naps

    def refused(self, kind, *faults, **kwargs):
        self.api.faults = list(faults)
        self.api.clock.naps.clear()
        return self.assertRaises(
            kind, self.api.rest().request, 'GET', PATH, **kwargs)

    def bare(self, url=None, limits=rest.Limits(), clock=None):
        """A client with the urllib3 of its own."""
        return rest.Rest(
            access.Access(server=url or self.api.url, kubeconfig=None,
                          tls=None), limits, clock or self.api.clock)


class RetryTest(_Base):

    def test_what_passes_is_tried_again(self):
        for fault in (*((status, {}, {}) for status in
                        (429, 500, 502, 503, 504)),
                      (200, {}, b'<html>'), (302, {}, b''),
                      kube_server.hang_up):
            with self.subTest(fault):
                self.assertEqual([0.2, 0.4], self.answered(*[fault] * 2))

    def test_retry_after_is_respected(self):
        for said, pause in (('7', 7.0), ('-3', 0.2), ('', 0.2),
                            ('Wed, 21 Oct 2026 07:28:00 GMT', 0.2)):
            self.assertEqual([pause], self.answered(
                (429, {'Retry-After': said}, {})))

        # Too long a pause is not waited for.
        e = self.refused(rest.Unreachable,
                         (503, {'Retry-After': '600'}, {}))
        self.assertEqual((503, []), (e.status, self.api.clock.naps))

    def test_pauses_double_and_end_with_the_time(self):
        for total, naps in (
                (None, [0.2, 0.4, 0.8, 1.6, 3.2, 5, 5, 5, 5]),
                (1, [0.2, 0.4]), (0, [])):
            e = self.refused(rest.Unreachable, *[(500, {}, {})] * 100,
                             total=total)
            self.assertEqual(naps, [
                round(nap, 3) for nap in self.api.clock.naps])
            self.assertEqual(round(sum(naps), 3), round(e.elapsed, 3))
            self.assertIn('waited', str(e))

    def test_each_try_has_the_time_that_is_left(self):
        client, limits = self.bare(), []
        sent = client._sent

        def noted(*args):
            limits.append(round(args[-1], 3))
            return sent(*args)
        client._sent = noted
        self.api.faults = [(500, {}, {})] * 2
        client.request('GET', PATH)
        self.assertEqual([30, 29.8, 29.4], limits)
        self.assertEqual(3, client.requests)
        # However little it is, the server has a chance.
        client.request('GET', PATH, total=0)
        self.assertEqual(0.1, limits[-1])

    def test_other_statuses_are_final(self):
        for status in (400, 401, 403, 404, 408, 409, 422, 428, 430, 499, 501):
            with self.subTest(status):
                self.api.seen.clear()
                self.refused(rest.KubeError, (status, {}, {}))
                self.assertEqual(1, len(self.api.seen))

    def test_answer_that_never_is_json_is_an_error(self):
        # A redirect is not followed: a token must not go to another server.
        for answer in ((200, {}, b'<html>'),
                       (302, {'Location': self.api.url + '/x'}, b'')):
            e = self.refused(rest.Unreachable, *[answer] * 99)
            self.assertIn('not JSON', str(e))
        self.assertEqual({PATH}, {path for _, path in self.api.calls()})


class RefusalsTest(_Base):

    def test_they_say_what_where_and_how_to_go_on(self):
        for status, kind, what, hint in (
                (401, rest.Unauthorized, 'does not know the user', None),
                (403, rest.Forbidden, 'does not allow this',
                 'Give the user of the kubeconfig this right'),
                (404, rest.NotServed, 'does not know this path', None),
                (409, rest.Conflict, 'has another state', None),
                (422, rest.KubeError, 'refused: 422', None),
                (503, rest.Unreachable, 'is temporarily unavailable: 503',
                 None)):
            with self.subTest(status):
                e = self.refused(kind, *[(status, {}, {
                    'message': 'so', 'reason': 'Why'})] * 99)
                self.assertIs(kind, type(e))
                self.assertIn(f'The management cluster {what}', str(e))
                self.assertEqual((status, 'Why', 'so', hint), (
                    e.status, e.reason, e.last_seen, e.hint))
                self.assertEqual(f'GET {self.api.url}{PATH}', e.where)

    def test_missing_right_is_named_as_kubectl_auth_can_i_takes_it(self):
        for group, right in (('', 'list pods/log'),
                             ('apps', 'list pods/log.apps')):
            e = self.refused(rest.Forbidden, (403, {}, {'message': (
                'pods is forbidden: User "u" cannot list resource "pods/log" '
                f'in API group "{group}" at the cluster scope')}))
            self.assertEqual(
                f'The management cluster does not allow this: {right}',
                e.what)

    def test_refusal_in_other_words_is_cut(self):
        e = self.refused(rest.KubeError, (418, {}, b'x' * 999))
        self.assertEqual(('x' * 200, None), (e.last_seen, e.reason))

    def test_only_a_status_that_names_an_object_is_about_one(self):
        def status(**details):
            return {'kind': 'Status', 'reason': 'NotFound',
                    'details': details}

        e = self.refused(rest.NotFound, (404, {}, status(
            name='s', kind='secrets')))
        self.assertEqual((404, ('secrets', 's')), (e.status, e.object))
        for body in (b'404 page not found\n', b'[]', {}, status(),
                     status(kind='secrets'),
                     {**status(name='s', kind='secrets'), 'reason': None}):
            with self.subTest(body):
                self.refused(rest.NotServed, (404, {}, body))

    def test_refusal_of_something_in_front_of_the_server(self):
        for details in ('busy', ['busy'], 7):
            with self.subTest(details):
                self.refused(rest.Unreachable, *[
                    (503, {}, {'details': details})] * 99)

    def test_no_error_has_the_query_or_the_token(self):
        self.api.faults = [(422, {}, {})]
        e = self.assertRaises(
            rest.KubeError, self.api.rest(token='secret').request, 'GET',
            PATH, query={'labelSelector': 'a=b'})
        self.assertNotIn('secret', (str(e) + repr(e)).replace('secrets', ''))
        self.assertNotIn('labelSelector', str(e))


class TimeLimitsTest(_Base):
    # B.4.19: requests without a timeout hang the conductor.

    def test_silent_server_is_given_up(self):
        self.api.faults = [lambda request: request.handler.rfile.read(1)]
        e = self.assertRaises(
            rest.Unreachable, self.bare(limits=rest.Limits(
                connect=0.05, read=0.05, total=0.0)).request, 'GET', PATH)
        self.assertIn('timed out', str(e))
        self.assertIsNone(e.status)

    def test_server_that_drips_is_given_up(self):
        # No pause between two bytes is long; all together is.
        clock = fake_clock.FakeClock()
        clock.now = 1000.0

        def drip(request):
            handler = request.handler
            handler.send_response(200)
            handler.send_header('Content-Length', '1000')
            handler.end_headers()
            try:
                for _ in range(1000):
                    handler.wfile.write(b' ')
                    handler.wfile.flush()
                    clock.now += 1
            except OSError:
                pass
            handler.close_connection = True

        self.api.faults = [drip]
        self.patch(rest, '_CONNECTIONS', 1)
        client = self.bare(limits=rest.Limits(5, 5, 5), clock=clock)
        e = self.assertRaises(rest.Unreachable, client.request, 'GET', PATH)
        self.assertIn('too long', str(e))
        self.assertNotIn('object at', str(e))
        # The only connection is free again.
        self.assertEqual(
            's', client.request('GET', PATH)['metadata']['name'])

    def test_dead_server_is_unreachable(self):
        e = self.assertRaises(
            rest.Unreachable, self.bare('http://127.0.0.1:9').request, 'GET',
            PATH)
        self.assertIn('GET http://127.0.0.1:9' + PATH, str(e))


class HeadersTest(_Base):

    def test_token_file_is_read_for_every_request(self):
        path = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path) / 'token'
        client = self.api.rest(token_file=path)
        for token in ('one', 'two'):
            path.write_text(token + '\n')
            client.request('GET', PATH)
        self.assertEqual(
            ['Bearer one', 'Bearer two'],
            [headers['Authorization'] for *_, headers, _ in self.api.seen])

    def test_what_is_sent_says_what_it_is(self):
        client = self.api.rest()
        client.request('GET', PATH, query={'a': 'b c', 'none': None})
        client.request('PATCH', PATH, body={'data': {}})
        (*_, query, read, _), (*_, sent, body) = self.api.seen
        self.assertEqual(({'a': 'b c'}, 'application/json', None), (
            query, read['Accept'], read.get('Content-Type')))
        self.assertEqual(('application/json', {'data': {}}),
                         (sent['Content-Type'], body))


class ClockTest(_Base):
    """The server's clock, by which everything is judged."""

    def moment(self, seconds=0):
        return datetime.datetime.fromtimestamp(
            self.api.date + seconds, datetime.timezone.utc)

    def test_it_is_asked_for_once_and_goes_on(self):
        client = self.api.rest()
        # A refusal has the time, too.
        self.api.faults = [(403, {}, {'message': 'no'})]
        self.assertEqual(self.moment(), client.now())
        self.api.clock.sleep(90)
        self.assertEqual(self.moment(90), client.now())
        self.assertEqual([('GET', '/version')], self.api.calls())

    def test_date_that_is_none_says_nothing(self):
        client = self.api.rest()
        client.request('GET', PATH)
        self.api.faults = [(200, {'Date': 'yesterday'}, {})]
        client.request('GET', PATH)
        self.assertEqual(self.moment(), client.now())

    def test_server_that_does_not_answer_has_none(self):
        self.api.faults = [kube_server.hang_up] * 99
        self.assertRaises(rest.Unreachable, self.api.rest().now)


class PoolTest(testtools.TestCase):

    def pool(self, **options):
        options = {'server': 'https://k.example', 'kubeconfig': None,
                   'tls': ssl.create_default_context(), **options}
        return rest.Rest(access.Access(**options))._pool

    def test_how_a_server_is_verified(self):
        trusting = ssl.create_default_context()
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        name = {'server_name': 'api.internal'}
        for options, required, server, asserted in (
                ({}, True, None, None),
                # ssl is not asked to compare names: it wants one then, and
                # urllib3 1.26 hands it no address.
                ({'server': 'https://192.0.2.1'}, True, None, None),
                (name, True, 'api.internal', 'api.internal'),
                ({**name, 'tls': trusting}, False, 'api.internal', False)):
            with self.subTest(options):
                found = self.pool(**options).connection_pool_kw
                self.assertEqual(
                    (ssl.CERT_REQUIRED if required else ssl.CERT_NONE, server,
                     asserted, False),
                    (found['cert_reqs'], found.get('server_hostname'),
                     found.get('assert_hostname'),
                     found['ssl_context'].check_hostname))
                # REQUESTS_CA_BUNDLE and certifi would add authorities.
                self.assertNotIn('ca_certs', found)

    def test_user_and_password_reach_the_proxy_and_are_not_in_its_url(self):
        for given, sent in (('u:secret@', b'u:secret'), ('u@', b'u:'),
                            ('d%40m%5Cu:a%3Ab%2F@', b'd@m\\u:a:b/'),
                            ('', b'')):
            with self.subTest(given):
                pool = self.pool(proxy=f'https://{given}p.example:3128')
                self.assertIsInstance(pool, urllib3.ProxyManager)
                _, _, text = pool.proxy_headers.get(
                    'proxy-authorization', '').partition('Basic ')
                self.assertEqual(sent, base64.b64decode(text))
                self.assertEqual(
                    ('https', None, 'p.example', 3128),
                    (pool.proxy.scheme, pool.proxy.auth, pool.proxy.host,
                     pool.proxy.port))

    def test_other_kinds_of_proxy_are_refused(self):
        e = self.assertRaises(errors.EnvironmentProblem, self.pool,
                              proxy='socks5://u:secret@p.example')
        self.assertIn('socks5', str(e))
        self.assertNotIn('secret', str(e))


class BoundTest(testtools.TestCase):
    """Three hundred clusters once had 25 connections, and ever new ones."""

    def setUp(self):
        super().setUp()
        self.api = self.useFixture(kube_server.HttpApiServer())
        self.api.fault_path = re.compile(f'/slow|{LEASES}')
        self.client = self.api.rest(rest.Limits(30, 30, 30))
        self.inside, self.most = 0, 0
        self.lock = threading.Lock()
        self.go_on = threading.Event()

    def slow(self, handler):
        with self.lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        self.go_on.wait(10)
        with self.lock:
            self.inside -= 1
        handler.answer(200, {}, {})

    def ask(self, number, path='/slow', together=16):
        self.api.faults += [self.slow] * number
        threads = [threading.Thread(
            target=self.client.request, args=('GET', path))
            for _ in range(number)]
        for thread in threads:
            thread.start()
            self.addCleanup(thread.join)
        self.addCleanup(self.go_on.set)
        waiting.wait_for(lambda: self.inside, timeout=10, what='requests',
                         done=lambda now: now == together)
        return threads

    def test_connections_are_bounded_and_nobody_is_turned_away(self):
        threads = self.ask(40)

        self.go_on.set()

        for thread in threads:
            thread.join()
        self.assertEqual((16, []), (self.most, self.api.faults))

    def test_who_waits_in_vain_is_told_what_for(self):
        self.ask(16)
        # The same connections, for somebody with less time.
        hurried = self.api.rest(rest.Limits(0.1, 0.1, 0.1))
        hurried._pool = self.client._pool

        error = self.assertRaises(
            rest.Unreachable, hurried.request, 'GET', '/slow')

        self.assertIn('All 16 connections', str(error))

    def test_locks_wait_neither_for_each_other_nor_for_other_requests(self):
        self.ask(20)
        self.ask(20, f'{LEASES}/c1', together=36)
