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
from tests.unit.driver import api_server
from tests.unit import fake_clock

PATH = '/api/v1/namespaces/n/secrets/s'


class _Base(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.api = self.useFixture(api_server.HttpApiServer())
        # As that of a machine that was not started just now.
        self.api.clock.now = 1000.0
        self.api.put(PATH, {'data': {}})

    def refused(self, kind, *faults, **kwargs):
        self.api.faults = list(faults)
        return self.assertRaises(
            kind, self.api.rest().request, 'GET', PATH, **kwargs)


class PassingFaultsTest(_Base):

    def test_each_passing_status_is_tried_again(self):
        for status in (429, 500, 502, 503, 504):
            with self.subTest(status):
                self.api.faults = [(status, {}, {})] * 2
                found = self.api.rest().request('GET', PATH)
                self.assertEqual('s', found['metadata']['name'])

    def test_retry_after_is_respected(self):
        self.api.faults = [(429, {'Retry-After': '7'}, {})]
        self.api.rest().request('GET', PATH)
        self.assertEqual([7.0], self.api.clock.naps)

    def test_pause_that_is_no_number_of_seconds_is_that_of_the_driver(self):
        for said in ('Wed, 21 Oct 2026 07:28:00 GMT', '-3', ''):
            self.api.clock.naps.clear()
            self.api.faults = [(429, {'Retry-After': said}, {})]
            self.api.rest().request('GET', PATH)
            self.assertEqual([0.2], self.api.clock.naps)

    def test_server_that_wants_too_long_a_pause_is_given_up_at_once(self):
        e = self.refused(rest.Unreachable,
                         (503, {'Retry-After': '600'}, {}))
        self.assertEqual([], self.api.clock.naps)
        self.assertEqual(503, e.status)

    def test_tries_end_when_the_time_is_over(self):
        e = self.refused(rest.Unreachable, *[(500, {}, {})] * 100)
        self.assertLess(sum(self.api.clock.naps), 30)
        self.assertEqual(sum(self.api.clock.naps), round(e.elapsed, 6))
        self.assertIn('waited', str(e))

    def test_pauses_double_up_to_a_bound(self):
        self.refused(rest.Unreachable, *[(500, {}, {})] * 100)
        naps = [round(nap, 3) for nap in self.api.clock.naps]
        # No other would end within the 30 seconds.
        self.assertEqual([0.2, 0.4, 0.8, 1.6, 3.2, 5, 5, 5, 5], naps)

    def test_request_may_have_less_time_than_others(self):
        self.refused(rest.Unreachable, *[(500, {}, {})] * 100, total=1)
        self.assertEqual([0.2, 0.4], self.api.clock.naps)
        self.api.clock.naps.clear()
        self.refused(rest.Unreachable, *[(500, {}, {})] * 100, total=0)
        self.assertEqual([], self.api.clock.naps)

    def test_each_try_has_the_time_that_is_left(self):
        client, limits = rest.Rest(
            access.Access(server=self.api.url, kubeconfig=None, tls=None),
            clock=self.api.clock), []
        exchange = client._exchange

        def exchanged(*args):
            limits.append(round(args[-1], 3))
            return exchange(*args)
        client._exchange = exchanged
        self.api.faults = [(500, {}, {})] * 2
        client.request('GET', PATH)
        self.assertEqual([30, 29.8, 29.4], limits)
        # However little it is, the server has a chance.
        client.request('GET', PATH, total=0)
        self.assertEqual(0.1, limits[-1])

    def test_statuses_beside_those_that_pass_are_final(self):
        for status in (400, 408, 428, 430, 499, 501, 505):
            with self.subTest(status):
                self.api.seen.clear()
                e = self.refused(rest.KubeError, (status, {}, {}))
                self.assertEqual((1, f'refused: {status}'), (
                    len(self.api.seen), e.what.partition('cluster ')[2]))
                self.assertNotIsInstance(e, rest.Unreachable)

    def test_every_answer_below_400_is_one(self):
        for status in (200, 201, 202, 399):
            self.api.faults = [(status, {}, {'a': status})]
            self.assertEqual({'a': status},
                             self.api.rest().request('GET', PATH))

    def test_answer_that_is_no_json_is_tried_again(self):
        self.api.faults = [(200, {}, b'<html>')]
        found = self.api.rest().request('GET', PATH)
        self.assertEqual('s', found['metadata']['name'])
        self.assertEqual([0.2], self.api.clock.naps)

    def test_answer_that_never_is_json_is_an_error(self):
        e = self.refused(rest.Unreachable, *[(200, {}, b'<html>')] * 100)
        self.assertIn('not JSON', str(e))

    def test_broken_connection_is_tried_again(self):
        self.api.faults = [api_server.hang_up]
        found = self.api.rest().request('GET', PATH)
        self.assertEqual('s', found['metadata']['name'])
        self.assertEqual([0.2], self.api.clock.naps)

    def test_every_try_is_counted(self):
        self.api.faults = [(500, {}, {})] * 2
        client = self.api.rest()
        client.request('GET', PATH)
        self.assertEqual(3, client.requests)


class RefusalsTest(_Base):

    def test_refusal_is_not_tried_again(self):
        e = self.refused(rest.KubeError, (422, {}, {
            'reason': 'Invalid', 'message': 'spec.replicas: Invalid'}))
        self.assertEqual(1, len(self.api.seen))
        self.assertEqual((422, 'Invalid'), (e.status, e.reason))
        self.assertIn('spec.replicas: Invalid', str(e))

    def test_unknown_user_and_missing_right_are_forbidden(self):
        for status in (401, 403):
            with self.subTest(status):
                e = self.refused(rest.Forbidden, (status, {}, {}))
                self.assertEqual(status, e.status)

    def test_refusals_say_what_and_how_to_go_on(self):
        for status, kind, what, hint in (
                (401, rest.Forbidden, 'does not know the user', None),
                (403, rest.Forbidden, 'does not allow this',
                 'Give the user of the kubeconfig this right'),
                (409, rest.Conflict, 'has another state', None),
                (422, rest.KubeError, 'refused: 422', None),
                (503, rest.Unreachable, 'has a passing fault: 503', None)):
            with self.subTest(status):
                e = self.refused(kind, *[(status, {}, {
                    'message': 'so', 'reason': 'Why'})] * 99)
                self.assertIs(kind, type(e))
                self.assertIn(f'The management cluster {what}', str(e))
                self.assertEqual((status, 'Why', 'so', hint), (
                    e.status, e.reason, e.last_seen, e.hint))
                self.assertEqual(f'GET {self.api.url}{PATH}', e.where)

    def test_refusal_in_other_words_is_cut(self):
        e = self.refused(rest.KubeError, (418, {}, b'x' * 999))
        self.assertEqual(('x' * 200, None), (e.last_seen, e.reason))

    def test_missing_object_is_named(self):
        e = self.refused(rest.NotFound, (404, {}, {
            'kind': 'Status', 'reason': 'NotFound', 'details': {
                'name': 's', 'kind': 'secrets'}}))
        self.assertEqual((404, ('secrets', 's')), (e.status, e.object))

    def test_other_404_is_that_of_a_path(self):
        for body in (b'404 page not found\n', b'[]', {}, {
                'kind': 'Status', 'reason': 'NotFound', 'details': {}}, {
                'kind': 'Status', 'reason': 'NotFound', 'details': {
                    'kind': 'secrets'}}, {
                'kind': 'Status', 'details': {
                    'kind': 'secrets', 'name': 's'}}):
            with self.subTest(body):
                e = self.refused(rest.NotServed, (404, {}, body))
                self.assertEqual(404, e.status)

    def test_conflict_is_not_tried_again(self):
        self.refused(rest.Conflict, (409, {}, {}))
        self.assertEqual(1, len(self.api.seen))

    def test_conflict_is_tried_again_on_request(self):
        self.api.faults = [(409, {}, {})]
        found = self.api.rest().request('GET', PATH, again=(409,))
        self.assertEqual('s', found['metadata']['name'])

    def test_redirect_is_not_followed(self):
        # A token must not go to another server.
        self.refused(rest.Unreachable,
                     *[(302, {'Location': self.api.url + '/x'}, b'')] * 99)
        self.assertEqual({PATH}, {path for _, path in self.api.calls()})

    def test_no_error_has_the_query_or_the_token(self):
        self.api.faults = [(422, {}, {})]
        e = self.assertRaises(
            rest.KubeError, self.api.rest(token='geheim').request, 'GET',
            PATH, query={'labelSelector': 'a=b'})
        self.assertNotIn('geheim', str(e) + repr(e))
        self.assertNotIn('labelSelector', str(e))


class TimeLimitsTest(_Base):
    # B.4.19: requests without a timeout hang the conductor.

    def short(self):
        return rest.Rest(
            access.Access(server=self.api.url, kubeconfig=None, tls=None),
            rest.Limits(connect=0.05, read=0.05, total=0.0))

    def test_silent_server_is_given_up(self):
        done = []
        self.api.faults = [lambda request: done.append(
            request.handler.rfile.read(1))]
        e = self.assertRaises(rest.Unreachable, self.short().request, 'GET',
                              PATH)
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
        client = rest.Rest(
            access.Access(server=self.api.url, kubeconfig=None, tls=None),
            rest.Limits(5, 5, 5), clock)
        e = self.assertRaises(rest.Unreachable, client.request, 'GET', PATH)
        self.assertIn('too long', str(e))
        self.assertNotIn('object at', str(e))
        # The only connection is free again.
        self.assertEqual(
            's', client.request('GET', PATH)['metadata']['name'])

    def test_dead_server_is_unreachable(self):
        client = rest.Rest(
            access.Access(server='http://127.0.0.1:9', kubeconfig=None,
                          tls=None), clock=self.api.clock)
        e = self.assertRaises(rest.Unreachable, client.request, 'GET', PATH)
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

    def test_time_of_the_server_is_noted(self):
        client = self.api.rest()
        client.request('GET', PATH)
        self.assertEqual(1_700_000_000, client.server_time)


class ClockTest(_Base):
    """The server's clock, by which everything is judged."""

    def moment(self, seconds=0):
        return datetime.datetime.fromtimestamp(
            self.api.date + seconds, datetime.timezone.utc)

    def test_it_is_asked_for_once_when_nothing_was_answered_yet(self):
        client = self.api.rest()
        for _time in range(2):
            self.assertEqual(self.moment(), client.now())
        self.assertEqual([('GET', '/version')], self.api.calls())

    def test_date_that_is_none_says_nothing(self):
        client = self.api.rest()
        client.request('GET', PATH)
        self.api.faults = [(200, {'Date': 'yesterday'}, {})]
        client.request('GET', PATH)
        self.assertEqual(self.moment(), client.now())

    def test_it_goes_on_between_two_answers(self):
        client = self.api.rest()
        client.request('GET', PATH)
        self.api.clock.sleep(90)
        self.assertEqual(self.moment(90), client.now())

    def test_a_refusal_has_the_time_too(self):
        self.api.faults = [(403, {}, {'message': 'no'})]
        self.assertEqual(self.moment(), self.api.rest().now())

    def test_server_that_does_not_answer_has_none(self):
        self.api.faults = [api_server.hang_up] * 99
        self.assertRaises(rest.Unreachable, self.api.rest().now)


class PoolTest(testtools.TestCase):

    def pool(self, **options):
        options = {'server': 'https://k.example', 'kubeconfig': None,
                   'tls': ssl.create_default_context(), **options}
        return rest.Rest(access.Access(**options))._pool

    def test_own_authorities_only(self):
        # REQUESTS_CA_BUNDLE and certifi would add others.
        tls = ssl.create_default_context(cadata=None)
        options = self.pool(tls=tls).connection_pool_kw
        self.assertIs(tls, options['ssl_context'])
        self.assertNotIn('ca_certs', options)

    def test_password_of_a_proxy_is_no_part_of_its_url(self):
        pool = self.pool(proxy='http://u:geheim@p.example:3128')
        self.assertIsInstance(pool, urllib3.ProxyManager)
        self.assertNotIn('geheim', str(pool.proxy))
        self.assertIn('proxy-authorization', pool.proxy_headers)

    def test_user_and_password_reach_the_proxy(self):
        for given, sent in (('u:geheim', b'u:geheim'), ('u', b'u:'),
                            ('d%40m%5Cu:a%3Ab%2F', b'd@m\\u:a:b/')):
            with self.subTest(given):
                pool = self.pool(proxy=f'https://{given}@p.example:3128')
                kind, _, text = pool.proxy_headers[
                    'proxy-authorization'].partition(' ')
                self.assertEqual(('Basic', sent),
                                 (kind, base64.b64decode(text)))
                self.assertEqual(
                    ('https', None, 'p.example', 3128),
                    (pool.proxy.scheme, pool.proxy.auth, pool.proxy.host,
                     pool.proxy.port))

    def test_proxy_without_a_user_gets_none(self):
        pool = self.pool(proxy='http://p.example:3128')
        self.assertEqual({}, pool.proxy_headers)
        self.assertIs(pool.connection_pool_kw['ssl_context'].verify_mode,
                      ssl.CERT_REQUIRED)

    def test_other_kinds_of_proxy_are_refused(self):
        e = self.assertRaises(errors.EnvironmentProblem, self.pool,
                              proxy='socks5://u:geheim@p.example')
        self.assertIn('socks5', str(e))
        self.assertNotIn('geheim', str(e))

    def test_other_name_in_the_certificate(self):
        options = self.pool(server_name='api.internal').connection_pool_kw
        self.assertEqual('api.internal', options['server_hostname'])
        self.assertEqual('api.internal', options['assert_hostname'])

    def test_server_that_is_not_verified(self):
        # insecure-skip-tls-verify, with a name for its front end.
        tls = ssl.create_default_context()
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
        options = self.pool(
            tls=tls, server_name='api.internal').connection_pool_kw
        self.assertEqual(
            ('api.internal', False, ssl.CERT_NONE),
            (options['server_hostname'], options['assert_hostname'],
             options['cert_reqs']))

    def test_server_is_verified_by_its_own_name(self):
        options = self.pool().connection_pool_kw
        self.assertEqual(ssl.CERT_REQUIRED, options['cert_reqs'])
        self.assertNotIn('assert_hostname', options)
        self.assertNotIn('server_hostname', options)

    def test_ssl_is_not_asked_to_compare_names(self):
        # It wants one then, and urllib3 1.26 hands it no address.
        options = self.pool(server='https://192.0.2.1').connection_pool_kw
        self.assertFalse(options['ssl_context'].check_hostname)
        self.assertNotIn('assert_hostname', options)

    def test_server_without_tls(self):
        options = self.pool(server='http://k.example', tls=None,
                            server_name='api.internal').connection_pool_kw
        self.assertFalse({'ssl_context', 'cert_reqs', 'server_hostname',
                          'assert_hostname'} & set(options))


class BoundTest(testtools.TestCase):
    """Three hundred clusters once had 25 connections, and ever new ones."""

    def setUp(self):
        super().setUp()
        self.api = self.useFixture(api_server.HttpApiServer())
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

    def asked(self, client, number, path='/slow', together=16):
        self.api.faults = [self.slow] * number
        self.api.fault_path = re.compile(path)
        threads = [threading.Thread(
            target=client.request, args=('GET', path))
            for _ in range(number)]
        for thread in threads:
            thread.start()
            self.addCleanup(thread.join)
        self.addCleanup(self.go_on.set)
        waiting.wait_for(lambda: self.inside, timeout=10, what='requests',
                         done=lambda now: now == min(number, together))
        return threads

    def test_connections_are_bounded_and_nobody_is_turned_away(self):
        client = self.api.rest()
        threads = self.asked(client, 40)

        self.go_on.set()

        for thread in threads:
            thread.join()
        self.assertEqual((16, []), (self.most, self.api.faults))

    def test_who_waits_in_vain_is_told_what_for(self):
        client = self.api.rest()
        self.asked(client, 16)

        error = self.assertRaises(
            rest.Unreachable, self.api_rest(client).request, 'GET', '/slow')

        self.assertIn('All 16 connections', str(error))

    def api_rest(self, client, seconds=0.1):
        """The same connections, for somebody with less time."""
        other = self.api.rest(rest.Limits(seconds, seconds, seconds))
        other._pool = client._pool
        return other

    def test_locks_do_not_wait_for_each_other(self):
        lease = '/apis/coordination.k8s.io/v1/namespaces/n/leases/c1'
        client = self.api.rest(rest.Limits(30, 30, 30))
        self.asked(client, 20, lease, together=20)

    def test_locks_do_not_wait_behind_other_requests(self):
        client = self.api.rest(rest.Limits(30, 30, 30))
        self.asked(client, 20)

        # No slow one ends in this time.
        self.api_rest(client, 5).request(
            'GET', '/apis/coordination.k8s.io/v1/namespaces/n/leases')

        self.assertEqual(16, self.inside)
