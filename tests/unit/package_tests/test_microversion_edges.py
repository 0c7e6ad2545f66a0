# SPDX-License-Identifier: Apache-2.0

"""A test of a microversion fails where Magnum does not do what it names."""

import types

import testtools

from magnum_capi_tempest.tests.api import test_microversions


class AnswersTest(testtools.TestCase):

    def run_against(self, status):
        """Run the test of 1.2 beside a Magnum whose clusters have a status.

        :returns: what it waited for.
        """
        test = test_microversions.EdgesTest(
            'test_1_2_answers_before_the_work_is_done')
        test.require_microversions = lambda *args: None
        test.create_template = test.create_keypair = lambda: 'x'
        asked, waited = [], []
        test.request_cluster = lambda template, **body: (
            asked.append(body['microversion']) or 'u')
        test.magnum = types.SimpleNamespace(clusters=types.SimpleNamespace(
            show_cluster=lambda uuid: {'uuid': uuid, 'status': status}))
        test.waiter = types.SimpleNamespace(until_created=waited.append)
        unskipped = getattr(type(test), test._testMethodName)
        getattr(unskipped, '__wrapped__', unskipped)(test)
        self.assertEqual(['1.2'], asked)
        return waited

    def test_an_answer_before_the_work_is_done(self):
        # Not every driver bears the end of a cluster in the making.
        self.assertEqual(['u'], self.run_against('CREATE_IN_PROGRESS'))

    def test_an_answer_after_it(self):
        self.assertRaises(AssertionError, self.run_against,
                          'CREATE_COMPLETE')
