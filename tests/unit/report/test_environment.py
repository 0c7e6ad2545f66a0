# SPDX-License-Identifier: Apache-2.0

"""What of a failure is the cloud's, decided from texts that it was seen with.
"""

import pathlib

import fixtures
import testtools

from magnum_capi_tempest.leaks import model as leaks
from magnum_capi_tempest.leaks import watch
from magnum_capi_tempest.report import environment
from magnum_capi_tempest.report import model
from magnum_capi_tempest.report import subunit
from magnum_capi_tempest.scorecard import suite
from tests.unit.report import streams

TEXTS = {
    'quota exceeded': (
        'Quota exceeded for cores, ram: Requested 2, 4096, but already used '
        '20, 40960 of 20, 51200 cores, ram',
        "Quota exceeded for resources: ['port'].",
        'Requested volume or snapshot exceeds allowed gigabytes quota.',
        "Maximum number of volumes allowed (10) exceeded for quota 'volumes'.",
        'Quota has been met for resources: load_balancer',
        'Resource limit exceeded: You have reached the maximum clusters per '
        'project, 20. You may delete a cluster to make room for a new one.',
        'No more IP addresses available on network 0f8fad5b.'),
    'no valid host': (
        'No valid host was found. There are not enough hosts available.',
        'Exceeded maximum number of retries. Exhausted all hosts available '
        'for retrying build failures for instance 0f8fad5b.'),
    'Keystone is down': (
        'The Keystone service is temporarily unavailable.',
        'tempest.lib.exceptions.IdentityError: Got identity error\n'
        'Details: Unexpected status code 503',
        "HTTPConnectionPool(host='127.0.0.1', port=5000): Max retries "
        'exceeded with url: /v3/auth/tokens (Caused by NewConnectionError('),
}
TRACE = """Traceback (most recent call last):
  File "/x/test_x.py", line 1, in test_one
    self.create_cluster()
magnum_capi.errors.WaitAborted: cluster c: it is CREATE_FAILED{}
"""


class CauseTest(testtools.TestCase):

    def test_in_the_failure_and_in_a_status_reason(self):
        for said, texts in TEXTS.items():
            for text in texts:
                self.assertEqual(said, environment.cause(text), text)
                self.assertEqual(
                    said, environment.cause('x', ['', f'a: {text}']), text)

    def test_what_a_driver_did(self):
        for text in ('', 'WaitTimeout: cluster c to be COMPLETE',
                     'quota-controller is not ready', 'No host',
                     'IdentityError: Unexpected status code 401',
                     'Max retries exceeded with url: /v1/clusters'):
            self.assertEqual('', environment.cause(text, [text]), text)

    def test_leftovers_that_could_not_be_listed(self):
        def said(*things):
            found = watch.LeakFound([lost(*thing) for thing in things], 60.0)
            return f'AssertionError: {found}'

        def lost(kind, what='unknown, as it cannot be listed now: 503'):
            return leaks.Leak(leaks.Thing(kind, what), 't', 'user')

        balancer, volume = leaks.BALANCER, leaks.VOLUME
        objects = (leaks.OBJECT,
                   'an unknown number, as it cannot be read: no route')

        for text in (said((balancer,)), said((balancer,), (volume,)),
                     said(objects)):
            self.assertEqual('leftovers are unknown',
                             environment.cause(text), text)
        # Magnum does not list clusters that are half deleted.
        for text in (said((leaks.CLUSTER,)),
                     said((leaks.TEMPLATE,), (volume,)),
                     said((balancer,), (volume, 'v-1'))):
            self.assertEqual('', environment.cause(text), text)

    def test_who_has_no_host_or_quota_on_purpose(self):
        for promise in ('lifecycle.cluster.failure-reported',
                        'resilience.quota.named', 'resilience.quota.recovers'):
            named = {test.class_id for test in suite.tests()
                     if test.promise == promise}

            self.assertTrue(named, promise)
            for class_id in named:
                self.assertTrue(
                    any(one in class_id for one in environment.ON_PURPOSE),
                    class_id)


class StreamTest(testtools.TestCase):

    def read(self, stream):
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        return subunit.read(stream.write(folder), title='T')

    def status(self, name='a.XTest.test_x', **details):
        run = self.read(streams.Stream().test(name, 'fail', **details))
        return run.tests[0].status

    def test_the_exception(self):
        self.assertEqual(model.ENVIRONMENT, self.status(
            traceback=TRACE.format(' (No valid host was found.)')))
        self.assertEqual(model.FAILED, self.status(
            traceback=TRACE.format('')))

    def test_the_cluster(self):
        body = '{"status_reason": "Quota exceeded for resources: port"}'

        self.assertEqual(model.ENVIRONMENT, self.status(**{
            'traceback': TRACE.format(''), 'cluster of 0f8f': body}))

    def test_logs_and_conditions_are_not_asked(self):
        # A quota of long ago may be in them.
        self.assertEqual(model.FAILED, self.status(**{
            'traceback': TRACE.format(''), 'cluster of 0f8f': 'no JSON',
            'log of 0f8f': 'Quota exceeded'}))

    def test_on_purpose(self):
        self.assertEqual(model.FAILED, self.status(
            'x.driver.test_cluster_truth.FailureTest.test_a_new_node_group',
            traceback=TRACE.format(' (No valid host was found.)')))

    def test_a_quota_of_the_test(self):
        self.assertEqual(model.FAILED, self.status(
            'x.driver.test_cloud_quotas.CloudQuotasTest.test_networks',
            traceback=TRACE.format(" (Quota exceeded for resources: "
                                   "['network'].)")))

    def test_the_run_is_not_green_and_says_why(self):
        run = self.read(
            streams.Stream().test('a.XTest.test_x').test(
                'a.XTest.test_y', 'fail',
                traceback=TRACE.format(' (Quota exceeded, x)')))

        self.assertFalse(run.ok)
        self.assertEqual('0 of 2 tests failed, and 1 could not be judged, '
                         'because the cloud lacks something', run.verdict)
        section, = run.sections
        self.assertEqual(('quota exceeded: XTest.test_y',), section.lines)
