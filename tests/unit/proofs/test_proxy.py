# SPDX-License-Identifier: Apache-2.0

"""Who may use the proxy, and whether its faults are faults.

A fault that is not caused would be survived by every driver.
"""

import pathlib
import ssl
import threading

import fixtures
import testtools
import trustme
import urllib3
import yaml

from magnum_capi.kube import access
from magnum_capi import waiting
from magnum_capi_tempest import kubeconfig
from magnum_capi_tempest.management import pki
from tests.proofs.driver_faults import proxy
from tests.proofs.driver_faults import rules
from tests.unit import loopback

ADDRESS = '127.0.0.1'

#: Seconds; nobody waits that long.
PATIENCE = 60

_FAST = waiting.Pace(0.005, 1.1, 0.05)


class _Upstream(loopback.Handler):
    """Says what it was asked."""

    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        body = self.body().decode()
        self.seen.append(self.path)
        self.answer(200, {
            'method': self.command, 'path': self.path, 'body': body})

    do_PUT = do_GET


class ProxyTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.seen = []
        server = loopback.start(
            self, type('Upstream', (_Upstream,), {'seen': self.seen}))
        behind = folder / 'behind'
        behind.write_text(yaml.safe_dump({
            'current-context': 'c',
            'contexts': [{'name': 'c', 'context': {
                'cluster': 'c', 'user': 'u'}}],
            'clusters': [{'name': 'c', 'cluster': {'server': server}}],
            'users': [{'name': 'u', 'user': {'token': 't'}}]}))
        self.proxy = proxy.Proxy(behind, ADDRESS)
        self.proxy.listen()
        self.addCleanup(self.proxy.close)
        self.kubeconfig = folder / 'kubeconfig'
        self.proxy.write_kubeconfig(self.kubeconfig)
        self.ask = self.client()

    def client(self):
        """A function that sends one request once, and returns the answer."""
        found = access.load(self.kubeconfig)
        pool = urllib3.PoolManager(ssl_context=found.tls, retries=False)
        self.addCleanup(pool.clear)
        return lambda method, path, body=None: pool.request(
            method, found.server + path, json=body, timeout=PATIENCE)

    def held(self, action):
        """A request that is held, in a thread; its hold and its answer."""
        hold = self.proxy.hold(rules.Rule('PUT', action))
        self.addCleanup(self.proxy.forget, hold)
        answers = []

        def ask():
            try:
                answers.append(self.ask('PUT', '/held', {}).status)
            except urllib3.exceptions.HTTPError as e:
                answers.append(e)
        thread = threading.Thread(target=ask)
        thread.start()
        self.addCleanup(thread.join)
        return hold, answers, thread

    def wait_reached(self, hold):
        waiting.wait_for(lambda: hold.reached, done=bool, timeout=PATIENCE,
                         what='the request to come', pace=_FAST)

    def test_nobody_else_is_let_in(self):
        self.assertEqual(0o600, self.kubeconfig.stat().st_mode & 0o777)
        found = yaml.safe_load(self.kubeconfig.read_text())
        stranger = pki.pair(trustme.CA(), 'x',
                            organization='system:masters')
        found['users'] = kubeconfig.document(
            '', '', *(pem.decode() for pem in stranger))['users']
        self.kubeconfig.write_text(yaml.safe_dump(found))
        self.assertRaises(
            urllib3.exceptions.HTTPError, self.client(), 'GET', '/')
        tls = ssl.create_default_context()
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
        self.assertRaises(
            urllib3.exceptions.HTTPError, urllib3.PoolManager(
                ssl_context=tls, retries=False).request, 'GET',
            found['clusters'][0]['cluster']['server'], timeout=PATIENCE)
        self.assertEqual([], self.seen)

    def test_answers_itself_as_long_as_it_is_told_to(self):
        rule = rules.Rule('', rules.Action.ANSWER, status=409)
        with self.proxy.disturbed(rule):
            found = self.ask('GET', '/a')
        self.assertEqual((409, 'Conflict'),
                         (found.status, found.json()['reason']))
        self.assertEqual([], self.seen)
        self.assertEqual(
            {'method': 'PUT', 'path': '/a?b=c', 'body': '{"d":1}'},
            self.ask('PUT', '/a?b=c', {'d': 1}).json())

    def test_a_request_or_its_answer_is_held_and_passed_or_dropped(self):
        for action, passes, made in (
                (rules.Action.HOLD_REQUEST, True, []),
                (rules.Action.HOLD_REQUEST, False, []),
                (rules.Action.HOLD_ANSWER, True, ['/held']),
                (rules.Action.HOLD_ANSWER, False, ['/held'])):
            self.seen.clear()
            hold, answers, thread = self.held(action)
            self.wait_reached(hold)
            self.assertEqual((made, []), (self.seen, answers))

            hold.release(passes)
            # What was let go is not dropped any more.
            self.proxy.forget(hold)
            thread.join()

            self.assertEqual(['/held'] if passes else made, self.seen)
            self.assertEqual(passes, answers == [200], answers)

    def test_refused_and_back_on_the_same_port(self):
        self.ask('GET', '/a')
        self.proxy.refuse()
        self.assertRaises(
            urllib3.exceptions.HTTPError, self.ask, 'GET', '/a')
        self.proxy.listen()
        self.assertEqual(200, self.ask('GET', '/a').status)
