# SPDX-License-Identifier: Apache-2.0


"""What the libraries raise, told apart by what can be done about it."""

from keystoneauth1 import exceptions as keystone_exceptions
from openstack import exceptions as sdk_exceptions
import testtools

from magnum_capi.driver.cloud import services
from magnum_capi.driver import failures


class AskingTest(testtools.TestCase):

    def asked(self, error):
        def ask():
            with services.asking('the image x'):
                raise error
        return self.assertRaises(services.CloudError, ask)

    def test_by_status(self):
        for status, kind in (
                (400, services.CloudError), (401, services.Denied),
                (403, services.Denied), (404, services.CloudError),
                (409, services.Conflict), (428, services.CloudError),
                (429, services.CloudUnreachable),
                (499, services.CloudError),
                (500, services.CloudUnreachable),
                (503, services.CloudUnreachable)):
            for error in (
                    sdk_exceptions.HttpException('no', http_status=status),
                    keystone_exceptions.HttpError(
                        'no', http_status=status)):
                found = self.asked(error)
                self.assertEqual((kind, status), (type(found), found.status))
                self.assertIn('the image x', found.what)

    def test_no_answer(self):
        for error in (keystone_exceptions.ConnectFailure('gone'),
                      sdk_exceptions.SDKException('gone')):
            found = self.asked(error)
            self.assertIs(services.CloudUnreachable, type(found))
            self.assertIn('Try again', found.hint)

    def test_what_it_is_about_and_what_was_said(self):
        found = self.asked(keystone_exceptions.BadRequest(
            'first\n  second ' + 'x' * 400))
        self.assertEqual('Refused: the image x', found.what)
        self.assertIn('first second xxx', found.last_seen)
        self.assertEqual(300, len(found.last_seen))

    def test_addresses_of_services_are_not_for_owners(self):
        found = self.asked(sdk_exceptions.ForbiddenException(
            'Client Error for url: http://10.0.0.5:8774/v2.1/os-server-groups',
            details='Quota exceeded', http_status=403))
        self.assertEqual('No right to the image x: Quota exceeded',
                         failures.owner_message(found))

    def test_no_such_service(self):
        for error in (keystone_exceptions.EndpointNotFound(),
                      keystone_exceptions.EmptyCatalog(),
                      sdk_exceptions.ServiceDisabledException('x'),
                      sdk_exceptions.EndpointNotFound('x')):
            self.assertIs(services.ServiceMissing, type(self.asked(error)))

    def test_what_was_told_apart_already_stays(self):
        error = services.NotThere('There is no image x')
        self.assertIs(error, self.asked(error))
