# SPDX-License-Identifier: Apache-2.0

import json
import os
import pathlib

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


class MagnumTest(testtools.TestCase):
    """A server that answers as Magnum does."""

    def setUp(self):
        super().setUp()
        self.heard = heard = []
        self.answers = answers = {'POST': (201, {'uuid': 'u-1'}),
                                  'DELETE': (204, None)}

        class Handler(loopback.Handler):

            def do_POST(self):
                heard.append((self.command, self.path, self.body()))
                self.answer(*answers[self.command])

            do_DELETE = do_POST

        self.magnum = adapter.Adapter(
            session.Session(noauth.NoAuth()),
            endpoint_override=loopback.start(self, Handler),
            raise_exc=False)
        self.choice = selection.choose(
            test_selection.a_cloud(), selection.Preferences('ubuntu'))

    def trials(self):
        return cloud.Trials(self.magnum, self.choice)


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

    def test_flavors_without_disks_need_a_label(self):
        self.choice = selection.choose(
            test_selection.a_cloud(), selection.Preferences(
                'ubuntu', labels=(('boot_volume_size', '20'),)))

        self.heeds()

        self.assertEqual({'boot_volume_size': '20'},
                         json.loads(self.heard[0][2])['labels'])

    def test_refused_for_another_reason(self):
        self.answers['POST'] = 403, {'errors': [{'detail': 'no'}]}
        self.assertFalse(self.heeds())
        self.assertEqual(1, len(self.heard))

    def test_what_is_left_is_named(self):
        self.answers['DELETE'] = 500, {}
        error = self.assertRaises(exceptions.HttpException, self.heeds)
        self.assertIn('u-1 could not be deleted', str(error))
