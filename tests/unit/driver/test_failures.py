# SPDX-License-Identifier: Apache-2.0

"""What users are told of a failure."""

import testtools

from magnum_capi.driver.cloud import services
from magnum_capi.driver import failures
from magnum_capi.kube import rest


class ToldTest(testtools.TestCase):

    def test_places_of_the_operator_are_left_out(self):
        told = failures.owner_message(rest.Unreachable(
            'The management cluster did not answer',
            where='GET https://10.0.0.1/x', last_seen='refused'))
        self.assertEqual('The management cluster did not answer', told)

    def test_addresses_of_services_that_do_not_answer_are_left_out(self):
        told = failures.owner_message(services.CloudUnreachable(
            'No answer about images', last_seen='HTTPConnectionPool'
            '(host=10.0.0.1): refused', hint='Try again'))
        self.assertEqual('No answer about images. Try again', told)

    def test_status_of_a_service_is_told(self):
        told = failures.owner_message(services.CloudUnreachable(
            'No answer about images', status=503,
            last_seen='Server Error for url: http://10.0.0.1/'))
        self.assertEqual('No answer about images: 503', told)
