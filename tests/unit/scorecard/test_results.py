# SPDX-License-Identifier: Apache-2.0

"""How tests ended, from a run."""

import testtools

from magnum_capi_tempest.report import model
from magnum_capi_tempest.scorecard import results

_ID = 'magnum_capi_tempest.tests.api.test_x.XTest.test_one'
_UUID = 'f17ae875-d61b-404b-92c6-975f8e7e3a33'
_TRACE = '''Traceback (most recent call last):
  File "/x/test_x.py", line 1, in test_one
    self.resize_cluster(cluster, 2)
  File "/x/waiting.py", line 2, in wait_for
    raise WaitTimeout(what)
magnum_capi.errors.WaitTimeout: cluster {} to be COMPLETE
'''.format(_UUID)


def run(*tests):
    return model.Run('x', tests=tests)


def test(status=model.PASSED, test_id=f'{_ID}[id-1,smoke]', **details):
    return model.Test('x', test_id, status, 1.23, tuple(
        model.Detail(name, text) for name, text in details.items()))


class OutcomesTest(testtools.TestCase):

    def outcome(self, status=model.FAILED, **details):
        return results.outcomes(run(test(status, **details)))[
            'api.test_x.XTest.test_one']

    def test_a_class_that_is_not_set_up(self):
        found = results.outcomes(run(test(
            model.SKIPPED, reason='no flavor', test_id='setUpClass '
            '(magnum_capi_tempest.tests.api.test_x.XTest)')))

        self.assertEqual('no flavor', found['api.test_x.XTest'].reason)

    def test_tests_of_others_are_left_out(self):
        self.assertEqual({}, results.outcomes(run(test(
            test_id='tempest.api.test_x.XTest.test_one'))))

    def test_a_failure_says_what_was_measured(self):
        self.assertEqual('WaitTimeout: cluster (uuid) to be COMPLETE',
                         self.outcome(traceback=_TRACE).reason)

    def test_nothing_random_and_no_secret_is_kept(self):
        found = self.outcome(
            reason='tempest-key-123456789 in /tmp/x/y of 127.79.1.1:6443 '
                   f"{_UUID} password: 'hunter2hunter2'").reason

        for word in ('123456789', '127.79', '/tmp', _UUID, 'hunter2'):
            self.assertNotIn(word, found)

    def test_a_test_that_did_not_end_measured_nothing(self):
        self.assertEqual(
            results.Outcome('skipped', 'It began and did not end'),
            self.outcome(model.UNFINISHED))
