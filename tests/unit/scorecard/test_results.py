# SPDX-License-Identifier: Apache-2.0

"""What a driver did: from a run to a record, and back from a file."""

import pathlib

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.report import model
from magnum_capi_tempest.scorecard import columns
from magnum_capi_tempest.scorecard import flags
from magnum_capi_tempest.scorecard import results
from tests.unit.report import streams
from tests.unit.scorecard import samples

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


class RecordTest(testtools.TestCase):

    def of(self, *tests):
        return results.record(run(*tests), 'k8s_x', ['resize'],
                              frozenset(('resize_cluster', 'list_clusters')))

    def outcome(self, **details):
        kept = self.of(test(model.FAILED, **details))
        return kept.outcomes['api.test_x.XTest.test_one']

    def test_tests_are_known_without_their_attributes(self):
        self.assertEqual({'api.test_x.XTest.test_one': results.Outcome(
            'passed', seconds=1.2)}, self.of(test()).outcomes)

    def test_a_class_that_is_not_set_up(self):
        kept = self.of(test(
            model.SKIPPED, reason='no flavor', test_id='setUpClass '
            '(magnum_capi_tempest.tests.api.test_x.XTest)'))

        self.assertEqual('no flavor', kept.of(samples.test('test_z')).said)

    def test_tests_of_others_are_left_out(self):
        self.assertEqual({}, self.of(test(
            test_id='tempest.api.test_x.XTest.test_one')).outcomes)

    def test_a_failure_says_what_was_measured_and_during_what(self):
        found = self.outcome(traceback=_TRACE)

        self.assertEqual('WaitTimeout: cluster (uuid) to be COMPLETE',
                         found.said)
        self.assertEqual({'resize_cluster'}, found.doing)

    def test_nothing_random_and_no_secret_is_kept(self):
        found = self.outcome(
            reason='tempest-key-123456789 in /tmp/x/y of 127.79.1.1:6443 '
                   f"{_UUID} password: 'hunter2hunter2'").said

        for word in ('123456789', '127.79', '/tmp', _UUID, 'hunter2'):
            self.assertNotIn(word, found)

    def test_what_the_cloud_lacked_comes_first(self):
        kept = self.of(test(model.ENVIRONMENT, traceback=_TRACE.replace(
            'COMPLETE', 'COMPLETE, it is CREATE_FAILED (No valid host was '
            'found. )')))
        found = kept.outcomes['api.test_x.XTest.test_one']

        self.assertEqual(('environment', {'resize_cluster'}),
                         (found.status, found.doing))
        self.assertTrue(found.said.startswith('no valid host: WaitTimeout'),
                        found.said)

    def test_a_mismatch_needs_no_class(self):
        self.assertEqual('1 != 2', self.outcome(
            reason='testtools.matchers._impl.MismatchError: 1 != 2').said)

    def test_there_and_back(self):
        kept = self.of(test(), test(model.FAILED, traceback=_TRACE))

        self.assertEqual(kept, results.loads(results.dumps(kept)))

    def test_what_is_no_record(self):
        for text in ('', '[]', '{}', '{"version": 99}', '{"version": 1}'):
            self.assertRaises(errors.UsageError, results.loads, text)

    def test_later_runs_of_a_driver_count(self):
        first = samples.record(life='failed', ready='passed')
        second = samples.record(declared=('ready',), life='passed')

        kept, = columns.joined([first, second])

        self.assertEqual({'resize', 'ready'}, kept.declared)
        self.assertEqual(
            ['passed', 'passed'],
            [outcome.status for outcome in kept.outcomes.values()])


class FilesTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def test_a_stream_declares_the_defaults(self):
        path = streams.Stream().test(_ID).write(self.folder)

        kept = columns.of_file(path, 'k8s_x')

        self.assertEqual(('k8s_x', flags.defaults()),
                         (kept.driver, kept.declared))
        self.assertEqual(['api.test_x.XTest.test_one'], list(kept.outcomes))

    def test_a_stream_of_another_suite(self):
        path = streams.Stream().test('tempest.a.B.test_c').write(self.folder)

        self.assertRaises(errors.UsageError, columns.of_file, path, 'x')

    def test_what_was_written_can_be_read(self):
        path, = columns.write([samples.record(life='passed')], self.folder)

        self.assertEqual('matrix-k8s_x.json', path.name)
        self.assertEqual('other', columns.of_file(path, 'other').driver)

    def test_no_file(self):
        for name in ('none.json', 'none.subunit'):
            self.assertRaises(errors.UsageError, columns.of_file,
                              self.folder / name)


class FlagsTest(testtools.TestCase):

    TEXT = ('[DEFAULT]\ndebug = true\n[magnum_capi_feature_enabled]\n'
            'any_name = True\nresize = no\n')

    def test_what_is_set_and_what_is_default(self):
        found = flags.declared(self.TEXT)

        self.assertIn('any_name', found)
        self.assertIn('odd_masters_only', found)
        self.assertNotIn('resize', found)
        self.assertNotIn('labels_checked', found)

    def test_every_promise_is_forced(self):
        text = flags.forced(self.TEXT, 'k8s_x', options=[('labels', 'a:b')])
        parser = flags.parse(text)

        self.assertEqual({flag.name for flag in flags.known()},
                         flags.declared(text) | {'real_nodes'})
        self.assertEqual(('k8s_x', 'a:b'), (
            parser['magnum_capi']['driver'], parser['magnum_capi']['labels']))
        self.assertEqual('true', parser['DEFAULT']['debug'])

    def test_the_place_is_not_forced(self):
        text = flags.forced('[magnum_capi_feature_enabled]\n'
                            'workload_api = false\n', '')

        self.assertNotIn('workload_api', flags.declared(text))

    def test_what_is_no_configuration(self):
        self.assertRaises(errors.UsageError, flags.declared, 'x\n')
        self.assertRaises(errors.UsageError, flags.declared,
                          '[magnum_capi_feature_enabled]\nresize = 7\n')
