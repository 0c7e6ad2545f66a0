# SPDX-License-Identifier: Apache-2.0

"""The table of personas, and how its rules judge."""

import ast
import pathlib

import testtools

from magnum_capi_tempest.tests.common.negative import bad_input
from magnum_capi_tempest.tests.common import personas
from magnum_capi_tempest.tests.common import rbac
from tests.unit.services import scripted_magnum

TESTS = pathlib.Path(rbac.__file__).parents[1]

RULE = personas.Rule(
    frozenset((personas.MEMBER,)), frozenset((personas.ADMIN,)))


class RuleTest(testtools.TestCase):

    def test_who_is_allowed_is_served(self):
        for status in (200, 201, 202, 204):
            self.assertIsNone(RULE.judge(personas.MEMBER, status))

    def test_a_refusal_does_not_show_that_somebody_is_allowed(self):
        for status in (400, 406, 409):
            self.assertEqual(f'member: not served, but answered with {status}',
                             RULE.judge(personas.MEMBER, status))

    def test_who_is_allowed_must_not_be_denied(self):
        for status in (403, 404):
            self.assertEqual(f'member: denied with {status}',
                             RULE.judge(personas.MEMBER, status))

    def test_a_request_that_is_refused_on_purpose(self):
        rule = personas.Rule(
            frozenset((personas.MEMBER,)), refused=frozenset((409,)))

        for status in (202, 409):
            self.assertIsNone(rule.judge(personas.MEMBER, status))
        for status in (400, 406):
            self.assertIn('not served', rule.judge(personas.MEMBER, status))
        self.assertIn('not denied', rule.judge(personas.READER, 409))

    def test_everyone_else_is_denied(self):
        for persona in personas.ALL - {personas.MEMBER, personas.ADMIN}:
            self.assertIsNone(RULE.judge(persona, 403))
            for status in (200, 202, 400, 409):
                self.assertIn('not denied', RULE.judge(persona, status))

    def test_nothing_is_said_of_some(self):
        for status in (200, 404):
            self.assertIsNone(RULE.judge(personas.ADMIN, status))

    def test_an_error_is_never_an_answer(self):
        for persona in personas.ALL:
            for status in (401, 500, 503):
                self.assertIn('not an answer', RULE.judge(persona, status))


class TableTest(testtools.TestCase):

    def test_nobody_is_allowed_and_untold(self):
        for operation, rule in personas.RULES.items():
            self.assertEqual(
                frozenset(), rule.allowed & rule.unspecified, operation)

    def test_somebody_is_denied_or_everybody_is_allowed(self):
        for operation, rule in personas.RULES.items():
            denied = personas.ALL - rule.allowed - rule.unspecified
            self.assertTrue(
                denied or rule.allowed == personas.ALL, operation)

    def test_every_rule_has_a_test(self):
        asked = {
            node.args[0].value
            for path in TESTS.glob('*/test_rbac*.py')
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Call)
            and getattr(node.func, 'attr', None) == 'assert_rule'}

        self.assertEqual(set(personas.RULES), asked)


class JudgedTest(testtools.TestCase):

    def judged(self, **statuses):
        """Let personas, whose Magnum is a status, ask for it."""
        order = []

        def ask(status):
            order.append(status)
            return bad_input.Answer(status)

        return rbac.judged(RULE, ask, {
            getattr(personas, name): status
            for name, status in statuses.items()}), order

    def test_who_is_denied_asks_first(self):
        found, order = self.judged(MEMBER=204, READER=403, OTHER=404)

        self.assertEqual(([], 204), (found, order[-1]))

    def test_all_that_is_wrong_is_told(self):
        found, _ = self.judged(MEMBER=403, READER=200, OTHER=500)

        self.assertEqual(3, len(found))


class TokenTest(testtools.TestCase):

    def test_clients_send_the_token(self):
        magnum = self.useFixture(scripted_magnum.ScriptedMagnum())
        magnum.answers = [(200, {'clusters': []})]
        manager = rbac.clients_with_token(
            magnum.client('ClustersClient').auth_provider, 'another')

        manager.magnum_capi_v1.ClustersClient(
            microversion='1.9').list_clusters()

        sent = magnum.requests[-1]
        self.assertEqual(
            ('/v1/clusters', 'another', 'container-infra 1.9'),
            (sent.path, sent.headers['X-Auth-Token'],
             sent.headers['OpenStack-API-Version']))
