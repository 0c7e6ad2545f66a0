# SPDX-License-Identifier: Apache-2.0

"""What is made of the answers of a Magnum that refuses, or does not."""

import json

from tempest.lib import exceptions as lib_exc
import testtools

from magnum_capi_tempest.tests.common.negative import bad_input
from magnum_capi_tempest.tests.common.negative import refusals
from tests.unit.services import scripted_magnum

NO = {'errors': [{'detail': 'No.'}]}


class AnswerTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.magnum = self.useFixture(scripted_magnum.ScriptedMagnum())
        self.client = self.magnum.client('ClustersClient')

    def answer(self, status, body):
        self.magnum.answers = [(status, body)]
        return refusals.answer(self.client.send_text, 'GET', 'clusters', None)

    def test_every_answer(self):
        found = self.answer(200, {'clusters': []})

        self.assertEqual((200, {'clusters': []}), (found.status, found.body))
        for status in (400, 401, 403, 404, 406, 409, 415, 422, 500, 503):
            self.assertEqual(status, self.answer(status, NO).status)
        for status in (400, 404, 409, 415):
            self.assertEqual('No.', self.answer(status, NO).text(), status)

    def test_another_success_than_expected_is_an_error(self):
        self.magnum.answers = [(204, None)]

        self.assertRaises(
            lib_exc.InvalidHttpSuccessCode, refusals.answer,
            self.client.show_cluster, 'c')

    def test_a_refusal_without_json(self):
        error = lib_exc.NotFound(resp_body='no JSON', resp=type(
            'Response', (), {'status': 404}))

        def send():
            raise error

        self.assertEqual(bad_input.Answer(404), refusals.answer(send))

    def test_an_internal_error_without_json(self):
        def send():
            raise lib_exc.InvalidHTTPResponseBody('Internal Server Error')

        self.assertEqual(500, refusals.answer(send).status)


class TriedTest(testtools.TestCase):

    def try_one(self, kind, value, status, body=NO, **kwargs):
        given = bad_input.Answer(status, json.loads(json.dumps(body)))
        return list(refusals.tried(
            [('node x', kind, value, lambda: given)], **kwargs))

    def test_a_deviation_says_what_was_sent(self):
        self.assertEqual([], self.try_one('boolean', 'a word', 400))
        found, = self.try_one('boolean', 'a word', 500)

        self.assertEqual(('node x', 'boolean', 'a word', 500, False),
                         (found.where, found.kind, found.value, found.status,
                          found.known))
        self.assertIn('node x a word is not an answer', str(found))

    def test_whoever_knows_it_is_asked(self):
        asked = []

        found, = self.try_one(
            'boolean', 'a word', 500,
            known=lambda *args: asked.append(args) or True)

        self.assertTrue(found.known)
        self.assertEqual([('node x', 'boolean', 'a word')],
                         [args[:3] for args in asked])

    def test_requests_have_the_same_name_in_every_run(self):
        found, = refusals.tried([(
            'PATCH clusters/19c35aaa-c4f0-42cc-af33-2e231c6c8849', 'depth',
            '5000 brackets', lambda: bad_input.Answer(500))])

        self.assertEqual('PATCH clusters/UUID', found.where)

    def test_every_value_of_every_field_is_sent(self):
        sent = []

        def send(**fields):
            sent.append(fields)
            return bad_input.Answer(201)

        found = list(refusals.tried(refusals.of_fields(
            'cluster', send, leave_out=['project_id'])))

        self.assertIn({'master_count': 0}, sent)
        self.assertIn({'colour': None}, sent)
        self.assertNotIn('project_id', {name for one in sent for name in one})
        self.assertEqual(len(sent), len(found))
        self.assertTrue([*refusals.of_fields('cluster template', send)])
