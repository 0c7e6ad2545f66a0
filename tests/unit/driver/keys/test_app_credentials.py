# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi.driver.cloud import services
from magnum_capi.driver.keys import app_credentials
from tests.unit.driver import in_cloud

URL = '/users/u1/application_credentials'


class AppCredentialsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.fake = self.useFixture(in_cloud.Cloud())
        self.cloud = self.fake.services()

    def serve(self, method, path, body, status=200):
        self.fake.cloud.answers[method, path] = (status, body)

    def create(self, has, allowed=('member', 'reader')):
        return app_credentials.create(
            self.cloud, 'u1', 'magnum-c1-ab', 'text', has=has,
            allowed=allowed)

    def serve_create(self):
        self.serve('POST', URL, {'application_credential': {
            'id': 'a1', 'name': 'magnum-c1-ab', 'secret': 'geheim',
            'project_id': 'p1', 'roles': []}}, status=201)

    def test_roles_are_those_that_are_allowed(self):
        self.serve_create()
        made = self.create(['admin', 'member', 'audit'])
        self.assertEqual(('a1', 'geheim'), (made.id, made.secret))
        self.assertNotIn('geheim', repr(made))
        body = self.fake.cloud.seen[-1][3]['application_credential']
        self.assertEqual([{'name': 'member'}], body['roles'])
        self.assertIs(False, body['unrestricted'])

    def test_admin_is_never_given(self):
        # B.3: no driver restricted the roles.
        self.assertRaises(services.NotUsable, self.create, ['admin'],
                          ['admin'])
        self.assertEqual([], self.fake.cloud.seen)

    def test_user_without_an_allowed_role(self):
        e = self.assertRaises(services.NotUsable, self.create, ['audit'])
        self.assertIn('roles audit', str(e))
        self.assertIn('one of member, reader', str(e))

    def test_name_that_is_there(self):
        self.serve('POST', URL, {}, status=409)
        e = self.assertRaises(services.Conflict, self.create, ['member'])
        self.assertIn('magnum-c1-ab', str(e))

    def test_get(self):
        self.serve('GET', f'{URL}/a1', {'application_credential': {
            'id': 'a1', 'name': 'n', 'project_id': 'p1',
            'roles': [{'name': 'member'}]}})
        self.assertEqual(
            app_credentials.Credential('a1', 'n', roles=('member',)),
            app_credentials.get(self.cloud, 'u1', 'a1'))
        self.assertIsNone(app_credentials.get(self.cloud, 'u1', 'a2'))

    def test_find_by_name(self):
        # For those whose id was never written down.
        self.serve('GET', URL, {'application_credentials': [
            {'id': i, 'name': f'magnum-{n}'}
            for i, n in (('a', 'c1-x'), ('b', 'c2-x'), ('c', 'c1-y'))]})
        self.assertEqual(['a', 'c'], [c.id for c in app_credentials.find(
            self.cloud, 'u1', 'magnum-c1-')])

    def test_what_is_gone_is_fine(self):
        self.assertEqual(
            (), app_credentials.find(self.cloud, 'u1', 'magnum-'))
        self.assertFalse(app_credentials.delete(self.cloud, 'u1', 'a1'))
        self.serve('DELETE', f'{URL}/a1', None, status=204)
        self.assertTrue(app_credentials.delete(self.cloud, 'u1', 'a1'))

    def test_faults_are_not_swallowed(self):
        # B.4.14: "does not exist" was said for every error, and the
        # credential was leaked in silence.
        for method, call in (('DELETE', app_credentials.delete),
                             ('GET', app_credentials.get)):
            for status, kind in ((403, services.Denied),
                                 (503, services.CloudUnreachable)):
                self.serve(method, f'{URL}/a1', {}, status=status)
                self.assertRaises(kind, call, self.cloud, 'u1', 'a1')
