# SPDX-License-Identifier: Apache-2.0

import json
import os
import pathlib
from unittest import mock

import fixtures
from keystoneauth1 import adapter
from keystoneauth1 import noauth
from keystoneauth1 import session
from openstack import exceptions
import testtools

from magnum_capi_tempest.management import pki
from magnum_capi_tempest.workspace import cloud
from magnum_capi_tempest.workspace import selection
from tests.unit import loopback
from tests.unit.workspace import cloud_over_http
from tests.unit.workspace import test_selection

#: Body of Keystone's answer to a login.
LOGIN = {'token': {
    'methods': ['application_credential'],
    'expires_at': '2100-01-01T00:00:00Z', 'issued_at': '2026-01-01T00:00:00Z',
    'user': {'id': 'u', 'name': 'u'}}}


class MagnumTest(testtools.TestCase):
    """A server that answers as Magnum does, and to logins as Keystone."""

    def setUp(self):
        super().setUp()
        self.heard = heard = []
        self.answers = answers = {'POST': (201, {'uuid': 'u-1'}),
                                  'DELETE': (204, None)}
        self.tokens = tokens = []

        class Handler(loopback.Handler):

            def do_POST(self):
                body = self.body()
                if self.path == '/v3/auth/tokens':
                    status, answer = 201, LOGIN
                else:
                    heard.append((self.command, self.path, body))
                    tokens.append(self.headers.get('X-Auth-Token'))
                    status, answer = answers[self.command]
                self.answer(status, answer, **{
                    'X-Subject-Token': 'of-the-reader'})

            do_DELETE = do_POST

        self.url = loopback.start(self, Handler)
        self.magnum = adapter.Adapter(
            session.Session(noauth.NoAuth()),
            endpoint_override=self.url, raise_exc=False)
        self.connection = mock.Mock()
        self.connection.config.config = {'auth': {'auth_url': self.url}}
        self.connection.session.auth.get_access.return_value.user_id = 'u'
        self.choice = selection.choose(
            test_selection.a_cloud(), selection.Preferences('ubuntu'))

    def trials(self):
        return cloud.Trials(self.connection, self.magnum, self.choice)


class ReadTest(testtools.TestCase):

    def test_a_private_authority_is_found_from_any_folder(self):
        """Tempest runs in another one than "tempest init"."""
        folder = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path).resolve()
        pki.make_server(folder / 'tls', '127.0.0.1')
        found = self.useFixture(cloud_over_http.Cloud(folder / 'tls'))
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder)
        for cacert, variable in (('tls/ca.crt', None), (None, 'tls/ca.crt')):
            found.configure(auth=found.auth('alice'), cacert=cacert)
            self.useFixture(fixtures.EnvironmentVariable(
                'OS_CACERT', variable))
            self.assertEqual(str(folder / 'tls/ca.crt'),
                             cloud.read(['fake']).cacert)


class HeedsDriverTest(MagnumTest):

    def heeds(self):
        return self.trials().heeds_template_driver()

    def test_ignored(self):
        self.assertFalse(self.heeds())
        (_, path, body), deleted = self.heard
        self.assertEqual('/clustertemplates', path)
        self.assertEqual(cloud.NO_DRIVER, json.loads(body)['driver'])
        self.assertEqual(('DELETE', '/clustertemplates/u-1', b''), deleted)

    def test_heeded(self):
        self.answers['POST'] = 400, {'errors': [{
            'detail': f'No driver {cloud.NO_DRIVER} is enabled'}]}
        self.assertTrue(self.heeds())
        self.assertEqual(1, len(self.heard))

    def test_refused_for_another_reason(self):
        self.answers['POST'] = 403, {'errors': [{'detail': 'no'}]}
        self.assertFalse(self.heeds())
        self.assertEqual(1, len(self.heard))

    def test_what_is_left_is_named(self):
        self.answers['DELETE'] = 500, {}
        error = self.assertRaises(exceptions.HttpException, self.heeds)
        self.assertIn('u-1 could not be deleted', str(error))


class ReadersTest(MagnumTest):

    def lets_create(self):
        identity = self.connection.identity
        made = identity.create_application_credential.return_value
        made.id, made.secret = 'c-1', 'secret'
        try:
            return self.trials().lets_readers_create()
        finally:
            delete = identity.delete_application_credential
            delete.assert_called_once_with('u', made)

    def test_refused(self):
        self.answers['POST'] = 403, {}

        self.assertFalse(self.lets_create())
        (_, path, body), = self.heard
        self.assertEqual('/clustertemplates', path)
        self.assertNotIn('driver', json.loads(body))
        self.assertEqual(['of-the-reader'], self.tokens)

    def test_created(self):
        self.assertTrue(self.lets_create())
        self.assertEqual(('DELETE', '/clustertemplates/u-1', b''),
                         self.heard[1])
        # By the user, not by the reader.
        self.assertEqual(['of-the-reader', 'notused'], self.tokens)

    def test_what_is_left_is_named(self):
        self.answers['DELETE'] = 500, {}
        error = self.assertRaises(exceptions.HttpException, self.lets_create)
        self.assertIn('u-1 could not be deleted', str(error))

    def test_flavors_without_disks_need_a_label(self):
        self.choice = selection.choose(
            test_selection.a_cloud(), selection.Preferences(
                'ubuntu', labels=(('boot_volume_size', '20'),)))

        self.lets_create()

        self.assertEqual({'boot_volume_size': '20'},
                         json.loads(self.heard[0][2])['labels'])

    def test_the_user_is_no_reader(self):
        identity = self.connection.identity
        identity.create_application_credential.side_effect = (
            exceptions.BadRequestException('Could not find role: reader'))

        self.assertFalse(self.trials().lets_readers_create())
        self.assertEqual([], self.heard)
        identity.delete_application_credential.assert_not_called()
