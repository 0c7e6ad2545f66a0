# SPDX-License-Identifier: Apache-2.0

import http.server
import json

from keystoneauth1 import adapter
from keystoneauth1 import noauth
from keystoneauth1 import session
from openstack import exceptions
import testtools

from magnum_capi_tempest.workspace import cloud
from magnum_capi_tempest.workspace import selection
from tests.unit import loopback
from tests.unit.workspace import test_selection


class HeedsDriverTest(testtools.TestCase):
    """Against a server that answers as Magnum does."""

    def setUp(self):
        super().setUp()
        self.heard = heard = []
        self.answers = answers = {'POST': (201, '{"uuid": "u-1"}'),
                                  'DELETE': (204, '')}

        class Handler(http.server.BaseHTTPRequestHandler):

            def answer(self):
                size = int(self.headers.get('Content-Length', 0))
                heard.append((self.command, self.path, self.rfile.read(size)))
                status, text = answers[self.command]
                self.send_response(status)
                self.send_header('Content-Type', 'application/json')
                self.send_header('Content-Length', str(len(text)))
                self.end_headers()
                self.wfile.write(text.encode())

            do_POST = do_DELETE = answer

            def log_message(self, *arguments):
                pass

        self.magnum = adapter.Adapter(
            session.Session(noauth.NoAuth()),
            endpoint_override=loopback.start(self, Handler), raise_exc=False)

    def heeds(self):
        return cloud._heeds(self.magnum, selection.choose(
            test_selection.a_cloud(), selection.Preferences('ubuntu')))

    def test_ignored(self):
        self.assertFalse(self.heeds())
        (_, path, body), deleted = self.heard
        self.assertEqual('/clustertemplates', path)
        self.assertEqual(cloud.NO_DRIVER, json.loads(body)['driver'])
        self.assertEqual(('DELETE', '/clustertemplates/u-1', b''), deleted)

    def test_heeded(self):
        self.answers['POST'] = 400, json.dumps({'errors': [{
            'detail': f'No driver {cloud.NO_DRIVER} is enabled'}]})
        self.assertTrue(self.heeds())
        self.assertEqual(1, len(self.heard))

    def test_refused_for_another_reason(self):
        self.answers['POST'] = 403, '{"errors": [{"detail": "no"}]}'
        self.assertFalse(self.heeds())
        self.assertEqual(1, len(self.heard))

    def test_what_is_left_is_named(self):
        self.answers['DELETE'] = 500, '{}'
        error = self.assertRaises(exceptions.HttpException, self.heeds)
        self.assertIn('u-1 could not be deleted', str(error))
