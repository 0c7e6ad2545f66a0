# SPDX-License-Identifier: Apache-2.0


import json
import uuid

import testtools

from tests.proofs.driver_faults import rules
from tests.proofs.driver_faults import steps

RELEASE = 'c' + '0' * 32
SECRETS = '/api/v1/namespaces/n/secrets'


class LineTest(testtools.TestCase):

    def test_name_of_what_is_created(self):
        body = json.dumps({'metadata': {'name': 'c1'}}).encode()
        self.assertEqual(
            'POST /apis/x/v1/clusters/c1?fieldManager=helm',
            rules.line('POST', '/apis/x/v1/clusters?fieldManager=helm', body))

    def test_revision_of_helm_in_protobuf(self):
        body = (b'k8s\x00\n\x0c\n\x02v1\x12\x06Secret\x12\xd4\x01\n'
                b'\x1dsh.helm.release.v1.c1.v12\x12\x00\x1a\x00')
        self.assertEqual(f'POST {SECRETS}/sh.helm.release.v1.c1.v12',
                         rules.line('POST', SECRETS, body))

    def test_body_without_a_name(self):
        for body in (b'', b'[]', b'{}', b'\xff\x00', b'{"metadata": null}'):
            self.assertEqual('POST /x', rules.line('POST', '/x', body))

    def test_query_as_it_is_read(self):
        self.assertEqual(
            'DELETE /x?labelSelector=a/b=c',
            rules.line('DELETE', '/x?labelSelector=a%2Fb%3Dc'))


class BookTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.book = rules.Book()

    def add(self, *args, **kwargs):
        rule = rules.Rule(*args, **kwargs)
        self.book.add(rule)
        return rule

    def taken(self, *lines):
        return [self.book.take(line) for line in lines]

    def test_nothing_is_disturbed_without_rules(self):
        self.assertEqual([None], self.taken('GET /'))

    def test_pattern_decides(self):
        rule = self.add('^PUT ', rules.Action.DELAY)
        self.assertEqual([None, rule, rule],
                         self.taken('GET /', 'PUT /a', 'PUT /b'))

    def test_nth_and_times(self):
        rule = self.add('/a', rules.Action.HOLD_REQUEST, nth=2, times=1)
        self.assertEqual([None, rule, None],
                         self.taken('GET /a', 'GET /a', 'GET /a'))

    def test_first_rule_wins_and_all_count(self):
        first = self.add('/a', rules.Action.DELAY, times=1)
        second = self.add('/a', rules.Action.DELAY, nth=2)
        self.assertEqual([first, second], self.taken('GET /a', 'GET /a'))

    def test_removed_rule_has_no_effect(self):
        rule = self.add('', rules.Action.DELAY)
        self.book.remove(rule)
        self.assertEqual([None], self.taken('GET /'))

    def test_equal_rules_count_each(self):
        first = self.add('/a', rules.Action.HOLD_REQUEST, times=1)
        second = self.add('/a', rules.Action.HOLD_REQUEST, times=1)
        self.assertIsNot(first, second)
        self.assertEqual([first, None], self.taken('GET /a', 'GET /a'))


class AnswerTest(testtools.TestCase):

    def answer(self, status, seconds=0):
        status, headers, body = rules.answer(
            rules.Rule('', rules.Action.ANSWER, status=status,
                       seconds=seconds), 'PUT /api/v1/secrets/s?x=y')
        return status, headers, json.loads(body)

    def test_conflict_names_the_object(self):
        status, _headers, body = self.answer(409)
        self.assertEqual((409, 409, 'Conflict'),
                         (status, body['code'], body['reason']))
        self.assertIn('fulfilled on s:', body['message'])

    def test_too_many_requests_tell_when_to_come_again(self):
        _status, headers, body = self.answer(429, 2)
        self.assertEqual('2', headers['Retry-After'])
        self.assertEqual(2, body['details']['retryAfterSeconds'])

    def test_error(self):
        _status, headers, body = self.answer(500)
        self.assertNotIn('Retry-After', headers)
        self.assertEqual('InternalError', body['reason'])


#: What a driver and helm sent to create a cluster and to delete it, short.
LIFE = (
    'POST /apis/c/leases/{r}',
    'PATCH {s}/{r}-magnum?fieldManager=magnum',
    'PATCH {s}/{r}-magnum?fieldManager=magnum',
    'PATCH {s}/{r}-magnum?fieldManager=magnum',
    'PATCH {s}/{r}-cloud-credentials?fieldManager=magnum',
    'PATCH {s}/{r}-magnum?fieldManager=magnum',
    'PATCH {s}/{r}-ca?fieldManager=magnum',
    'PATCH {s}/{r}-sa?fieldManager=magnum',
    'POST {s}/sh.helm.release.v1.{r}.v1',
    'POST /apis/cluster.x-k8s.io/v1beta1/namespaces/n/clusters/{r}',
    'POST /apis/cluster.x-k8s.io/v1/namespaces/n/machinedeployments/{r}-g',
    'PUT {s}/sh.helm.release.v1.{r}.v1',
    'DELETE /apis/c/leases/{r}',
    'DELETE {s}?labelSelector=magnum.openstack.org/cluster-uuid={u}',
)


class StepsTest(testtools.TestCase):

    def stopped(self, step, release=RELEASE):
        """Index of the request that a step stops at, None: it is missed."""
        book = rules.Book()
        book.add(step.rule(RELEASE))
        for index, line in enumerate(LIFE):
            if book.take(line.format(r=release, s=SECRETS,
                                     u=uuid.UUID(release[1:]))):
                return index

    def test_steps_of_a_creation_are_in_its_order(self):
        found = [self.stopped(step) for step in steps.CREATE]
        self.assertEqual(
            [0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 10, 11, 12], found)

    def test_end_of_a_deletion_is_known_by_the_uuid(self):
        self.assertEqual([13, 13], [self.stopped(step)
                                    for step in steps.DELETE[-2:]])

    def test_other_clusters_are_not_stopped(self):
        self.assertEqual({None}, {self.stopped(step, 'c' + '1' * 32)
                                  for step in steps.CREATE + steps.DELETE})

    def test_texts_differ(self):
        for all_steps in (steps.CREATE, steps.UPGRADE, steps.DELETE):
            texts = [step.text for step in all_steps]
            self.assertEqual(len(texts), len(set(texts)))
