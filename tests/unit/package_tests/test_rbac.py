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


OTHERS = personas.ALL - {personas.MEMBER, personas.ADMIN}

#: A rule of requests that are refused on purpose.
REFUSED = personas.Rule(
    frozenset((personas.MEMBER,)), refused=frozenset((409,)))


class RuleTest(testtools.TestCase):

    def test_judgements(self):
        served, denied = 'not served, but', 'not denied, but'
        for rule, persona, statuses, said in (
                # Who is allowed is served, and a refusal is no service.
                (RULE, personas.MEMBER, (200, 201, 202, 204), None),
                (RULE, personas.MEMBER, (400, 406, 409), served),
                (RULE, personas.MEMBER, (403, 404), 'denied with'),
                (REFUSED, personas.MEMBER, (202, 409), None),
                (REFUSED, personas.MEMBER, (400, 406), served),
                (REFUSED, personas.READER, (409,), denied),
                # Nothing is said of some.
                (RULE, personas.ADMIN, (200, 404), None),
                *((RULE, other, (403, 404), None) for other in OTHERS),
                *((RULE, other, (200, 202, 400, 409), denied)
                  for other in OTHERS),
                *((RULE, anybody, (401, 500, 503), 'not an answer')
                  for anybody in personas.ALL)):
            for status in statuses:
                found = rule.judge(persona, status)
                if said is None:
                    self.assertIsNone(found, (persona, status))
                else:
                    self.assertIn(said, found or '', (persona, status))
                    self.assertIn(str(status), found)


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
            node.elts[0].value
            for path in TESTS.glob('*/test_rbac*.py')
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Tuple) and node.elts
            and isinstance(node.elts[0], ast.Constant)}

        self.assertEqual(set(), personas.RULES.keys() - asked)


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

    def test_all_that_is_wrong_is_reported(self):
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
