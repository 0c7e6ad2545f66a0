# SPDX-License-Identifier: Apache-2.0

"""The doors at which seeded defects change what a driver does."""

import json
import pathlib
import subprocess
import sys
import threading

import fixtures
import requests
import testtools
import urllib3

from tests.defects.magnum_capi_defects import doors
from tests.unit import loopback


class _Tap(doors.Tap):
    """Notes what passes, and changes what it is told to."""

    def __init__(self, body=None, answer=None, heard=None):
        self.listens = heard is not None
        self.requests = []
        self._body, self._answer, self._heard = body, answer, heard

    def values(self, text):
        return json.dumps(json.loads(text) | {'more': 1})

    def sends(self, request):
        self.requests.append((request.method, request.path, request.json))
        if self._body is not None:
            request.json = self._body
        return self._answer

    def hears(self, request, answer):
        answer.json = {'was': answer.json, 'is': self._heard}


class HelmTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def program(self, name):
        """A program that prints its standard input."""
        path = self.folder / name
        path.write_text(f'#!{sys.executable}\nimport sys\n'
                        'sys.stdout.write(sys.stdin.read())\n')
        path.chmod(0o700)
        return str(path)

    def said(self, name, text, *words):
        return subprocess.run(
            [self.program(name), *words], input=text, stdout=subprocess.PIPE,
            text=isinstance(text, str), check=True).stdout

    def test_values_pass_through_the_tap(self):
        with doors.during(_Tap()):
            self.assertEqual('{"a": 0, "more": 1}',
                             self.said('helm', '{"a": 0}'))
            self.assertEqual(b'{"a": 0, "more": 1}',
                             self.said('helm', b'{"a": 0}'))

    def test_of_other_programs_they_do_not(self):
        with doors.during(_Tap()):
            self.assertEqual('{"a": 0}', self.said('helmet', '{"a": 0}'))

    def test_nor_without_a_tap(self):
        self.assertEqual('{"a": 0}', self.said('helm', '{"a": 0}', 'c0'))

    def test_a_thread_that_has_none_takes_that_of_the_release(self):
        doors.of_release['c0'] = _Tap()
        self.addCleanup(doors.of_release.clear)

        self.assertEqual('{"a": 0, "more": 1}',
                         self.said('helm', '{"a": 0}', 'upgrade', 'c0'))
        self.assertEqual('{"a": 0}',
                         self.said('helm', '{"a": 0}', 'upgrade', 'c1'))


class HttpTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.seen = []
        test = self

        class Handler(loopback.Handler):

            def do_POST(self):
                test.seen.append((self.path, json.loads(self.body())))
                self.answer(201, {'a': 11}, **{'X-Kind': 'a'})

        self.url = loopback.start(self, Handler)

    def by_urllib3(self, path, body):
        answer = urllib3.PoolManager().request(
            'POST', self.url + path, body=json.dumps(body).encode(),
            preload_content=False)
        content = json.loads(answer.read())
        answer.release_conn()
        return answer.status, answer.headers.get('X-Kind'), content

    def by_requests(self, path, body):
        with requests.Session() as session:
            session.trust_env = False
            answer = session.post(self.url + path, json=body)
        return answer.status_code, answer.headers.get('X-Kind'), answer.json()

    def test_nothing_is_changed_without_need(self):
        tap = _Tap()
        for send in (self.by_urllib3, self.by_requests):
            with doors.during(tap):
                self.assertEqual((201, 'a', {'a': 11}), send('/x?y=1', [2]))
        self.assertEqual([('/x?y=1', [2])] * 2, self.seen)
        self.assertEqual([('POST', '/x', [2])] * 2, tap.requests)

    def test_a_request_is_changed(self):
        for send in (self.by_urllib3, self.by_requests):
            with doors.during(_Tap(body={'longer': 'than before'})):
                send('/x', 0)
        self.assertEqual([('/x', {'longer': 'than before'})] * 2, self.seen)

    def test_a_request_is_answered_and_not_sent(self):
        answer = doors.Answer(404, b'{"b": 0}', {'X-Kind': 'b'})
        for send in (self.by_urllib3, self.by_requests):
            with doors.during(_Tap(answer=answer)):
                self.assertEqual((404, 'b', {'b': 0}), send('/x', 0))
        self.assertEqual([], self.seen)

    def test_an_answer_is_changed(self):
        for send in (self.by_urllib3, self.by_requests):
            with doors.during(_Tap(heard='new')):
                self.assertEqual(
                    (201, 'a', {'was': {'a': 11}, 'is': 'new'}),
                    send('/x', 0))

    def test_an_answer_that_is_preloaded_is_changed(self):
        with doors.during(_Tap(heard='new')):
            answer = urllib3.PoolManager().request(
                'POST', self.url, body=b'0')
        self.assertEqual({'was': {'a': 11}, 'is': 'new'},
                         json.loads(answer.data))

    def test_the_events_of_a_watch_pass_as_they_are(self):
        with doors.during(_Tap(heard='new')):
            self.assertEqual({'a': 11}, self.by_urllib3(
                '/x?watch=true', 0)[2])

    def test_other_threads_are_not_changed(self):
        tap = _Tap(body='changed')
        with doors.during(tap):
            thread = threading.Thread(
                target=self.by_urllib3, args=('/x', 'own'))
            thread.start()
            thread.join()
        self.assertEqual([('/x', 'own')], self.seen)
        self.assertEqual([], tap.requests)

    def test_what_a_tap_does_itself_is_not_changed(self):
        class Asking(_Tap):
            def sends(tap, request):
                self.by_urllib3('/own', 'own')
                return super().sends(request)

        with doors.during(Asking(body='changed')):
            self.by_urllib3('/x', 0)
        self.assertEqual([('/own', 'own'), ('/x', 'changed')], self.seen)
