# SPDX-License-Identifier: Apache-2.0

"""What users are told of a failure."""

import testtools

from magnum_capi.driver.cloud import services
from magnum_capi.driver import failures
from magnum_capi.kube import rest


class ToldTest(testtools.TestCase):

    def test_places_of_the_operator_are_left_out(self):
        what = 'No answer about images'
        for error, told in (
                (rest.Unreachable(
                    'The management cluster did not answer',
                    where='GET https://10.0.0.1/x', last_seen='refused'),
                 'The management cluster did not answer'),
                (rest.Forbidden(
                    'The management cluster does not allow this: get pods',
                    where='GET https://10.0.0.1/x',
                    last_seen='User "of-the-operator" cannot get',
                    hint='Allow it'),
                 'The management cluster does not allow this: get pods. '
                 'Allow it'),
                (services.CloudUnreachable(
                    what, last_seen='HTTPConnectionPool(host=10.0.0.1): '
                    'refused', hint='Try again'), f'{what}. Try again'),
                # The status of a service is told.
                (services.CloudUnreachable(
                    what, status=503, last_seen='Server Error for url: '
                    'http://10.0.0.1/'), f'{what}: 503')):
            self.assertEqual(told, failures.owner_message(error))
