# SPDX-License-Identifier: Apache-2.0

"""What a person may do with a run, begin to end."""

import contextlib
import dataclasses
import datetime
from unittest import mock

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import lifecycle
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest.conformance.run import sonobuoy
from magnum_capi_tempest.conformance import verdict
from magnum_capi_tempest.toolchain import leftovers
from tests.unit.conformance import magnum_cloud
from tests.unit.conformance.run import run_box

COMPLETE = run_box.COMPLETE
NODE = run_box.NODE
REFUSED = run_box.REFUSED
RUNNING = run_box.RUNNING


class TestRun(run_box.TestCase):

    def test_to_its_verdict_and_away(self):
        self.box.said = ['Pending', RUNNING, REFUSED, COMPLETE]
        ended = self.box.run()

        self.assertEqual((verdict.FAILED, 'v1.34.9'), (
            ended.verdict.outcome, ended.result.cluster.kubernetes))
        self.assertEqual(['run', *['status'] * 4, 'retrieve', 'delete'],
                         self.box.called)
        self.assertEqual(runs.ENDED, self.box.stage)

    def test_the_record_is_there_before_anything_is_created(self):
        self.box.fails['run'] = KeyboardInterrupt()

        self.assertRaises(KeyboardInterrupt, self.box.run)
        self.assertEqual(runs.STARTED, self.box.stage)

    def test_a_name_is_not_given_twice(self):
        self.box.said = [COMPLETE]
        self.box.run()

        self.assertRaises(errors.UsageError, self.box.run)

    def test_two_of_the_same_second(self):
        self.box.said = [COMPLETE]
        second = self.box.base / 'second' / self.box.kubeconfig.name
        second.parent.mkdir()
        second.write_text('{}')
        ensure = self.box.runtime.ensure
        waiting = [self.box.request(
            name='', target=runs.Target(kubeconfig=str(second)))]

        def begin_another(*args):
            if waiting:
                lifecycle.run(waiting.pop(), self.box.runtime)
            return ensure(*args)

        self.box.runtime = dataclasses.replace(
            self.box.runtime, ensure=begin_another)
        new_name = runs.Store.new_name
        with mock.patch.object(
                runs.Store, 'new_name', lambda store, target: new_name(
                    store, target, datetime.datetime(2026, 1, 1, 12))):
            first = self.box.run(name='').run

        self.assertEqual(
            {first.name: str(self.box.kubeconfig),
             f'{first.name}-2': str(second)},
            {run.name: run.target.kubeconfig
             for run in self.box.runtime.store.all()})

    def test_a_name_is_free_again_if_nothing_was_created(self):
        self.box.lists['nodes'] = []
        self.assertRaises(errors.EnvironmentProblem, self.box.run)
        self.box.lists['nodes'] = [NODE]
        self.box.said = [COMPLETE]

        self.box.run()

        self.assertEqual(runs.ENDED, self.box.stage)

    def test_results_that_cannot_be_written_are_no_surprise_in_the_end(self):
        file = self.box.base / 'file'
        file.touch()
        for backend in (model.SONOBUOY, model.HYDROPHONE):
            error = self.assertRaises(
                errors.EnvironmentProblem, self.box.run, backend=backend,
                results=file / 'results')

            self.assertIn(str(file), str(error))
            self.assertIn('--results', str(error))
            self.assertEqual([], self.box.called)
            self.assertEqual([], self.box.lists['namespaces'])

    def test_files_of_another_run_are_not_replaced(self):
        other = self.box.base / 'results' / 'r' / 'e2e.log'
        other.parent.mkdir(parents=True)
        other.write_text('other')

        self.assertRaises(errors.UsageError, self.box.run,
                          backend=model.HYDROPHONE)

        self.assertEqual('other', other.read_text())
        self.assertEqual([], self.box.called)
        self.assertEqual([], self.box.lists['namespaces'])

    def test_stand_ins_are_told_by_the_nodes(self):
        for backend in (model.SONOBUOY, model.HYDROPHONE):
            self.box.lists['nodes'] = [{**NODE, 'status': {
                **NODE['status'], 'nodeInfo': {'osImage': 'X (stand-in)'}}}]
            self.box.said = [COMPLETE]

            ended = self.box.run(name=backend, backend=backend)

            self.assertTrue(ended.result.stand_in_images)
            self.assertTrue(self.box.runtime.store.load(backend).plan.stand_in)


class TestLater(run_box.TestCase):

    def begun(self, **kwargs):
        self.box.said = [KeyboardInterrupt()]
        with contextlib.suppress(KeyboardInterrupt):
            self.box.run(**kwargs)
        self.box.called.clear()
        self.box.said = [COMPLETE]

    def test_resume(self):
        self.begun()

        ended = lifecycle.resume(None, self.box.runtime)
        self.assertEqual(verdict.FAILED, ended.verdict.outcome)
        self.assertEqual(['status', 'retrieve', 'delete'], self.box.called)

    def test_resume_of_what_has_ended_reads_it_again(self):
        self.begun()
        lifecycle.resume('r', self.box.runtime)
        self.box.called.clear()

        self.assertEqual(verdict.FAILED, lifecycle.resume(
            'r', self.box.runtime).verdict.outcome)
        self.assertEqual([], self.box.called)

    def test_what_a_killed_command_had_fetched_is_removed(self):
        self.box.fails['delete'] = KeyboardInterrupt()
        self.box.said = [COMPLETE]
        with contextlib.suppress(KeyboardInterrupt):
            self.box.run()
        self.assertEqual(runs.RETRIEVED, self.box.stage)
        self.box.fails.clear()

        ended = lifecycle.resume(None, self.box.runtime)

        self.assertEqual(verdict.FAILED, ended.verdict.outcome)
        self.assertEqual([], self.box.lists['namespaces'])
        self.assertEqual(runs.ENDED, self.box.stage)

    def test_what_was_fetched_counts_although_the_cluster_is_gone(self):
        self.begun()
        lifecycle.retrieve('r', self.box.runtime)
        self.box.kubeconfig.unlink()

        ended = lifecycle.resume('r', self.box.runtime)

        self.assertEqual(verdict.FAILED, ended.verdict.outcome)
        self.assertEqual(runs.RETRIEVED, self.box.stage)

    def test_what_is_to_be_kept_is_kept(self):
        self.box.said = [COMPLETE]
        self.box.run(keep=True)

        lifecycle.resume('r', self.box.runtime)

        self.assertNotIn('delete', self.box.called)

    def test_hydrophone_is_not_begun_again(self):
        self.box.fails['/hydrophone'] = KeyboardInterrupt()
        with contextlib.suppress(KeyboardInterrupt):
            self.box.run(backend=model.HYDROPHONE)
        self.box.fails.clear()

        with mock.patch.object(leftovers, 'end') as end:
            lifecycle.resume('r', self.box.runtime)
        self.assertEqual(runs.ENDED, self.box.stage)
        # Of a command that was killed, another one may still be at work.
        end.assert_called_once_with(self.box.base / 'results' / 'r')

    def test_retrieve_leaves_the_run(self):
        self.begun()

        lifecycle.retrieve('r', self.box.runtime)
        self.assertEqual(['status', 'retrieve'], self.box.called)
        self.assertEqual(runs.RETRIEVED, self.box.stage)

    def test_retrieve_into_another_folder(self):
        self.begun()
        first = lifecycle.retrieve('r', self.box.runtime).source
        other = self.box.base / 'other'

        second = lifecycle.retrieve('r', self.box.runtime, other).source

        self.assertEqual(other, second.parent)
        self.assertEqual(run_box.ARCHIVE, second.read_bytes())
        self.assertTrue(first.exists())
        # Who comes later finds what was asked for last.
        self.assertEqual(second, lifecycle.resume(
            'r', self.box.runtime).source)

    def test_resume_into_another_folder(self):
        self.begun()
        other = self.box.base / 'other'

        ended = lifecycle.resume('r', self.box.runtime, other)

        self.assertEqual(other, ended.source.parent)
        self.assertEqual(ended.source, lifecycle.resume(
            'r', self.box.runtime, other).source)

    def test_results_of_what_has_ended_stay_where_they_are(self):
        self.begun()
        source = lifecycle.resume('r', self.box.runtime).source
        self.box.called.clear()
        for verb in lifecycle.retrieve, lifecycle.resume:
            error = self.assertRaises(
                errors.UsageError, verb, 'r', self.box.runtime,
                self.box.base / 'other')
            self.assertIn(str(source), str(error))
        self.assertEqual([], self.box.called)

    def test_hydrophone_goes_on_where_it_has_begun(self):
        self.box.fails['/hydrophone'] = KeyboardInterrupt()
        with contextlib.suppress(KeyboardInterrupt):
            self.box.run(backend=model.HYDROPHONE)

        self.assertRaises(errors.UsageError, lifecycle.resume, 'r',
                          self.box.runtime, self.box.base / 'other')

    def test_abort(self):
        self.begun()

        lifecycle.abort(None, self.box.runtime)
        self.assertEqual(['delete'], self.box.called)
        self.assertEqual(runs.ENDED, self.box.stage)
        self.assertRaises(errors.UsageError, lifecycle.resume, 'r',
                          self.box.runtime)

    def test_abort_of_a_run_whose_namespace_is_somebody_elses(self):
        self.begun()
        self.box.replace_namespace('sonobuoy')

        lifecycle.abort('r', self.box.runtime)
        self.assertEqual([], self.box.called)
        self.assertEqual(runs.ENDED, self.box.stage)

    def test_abort_of_a_run_that_did_not_mark_its_namespace(self):
        self.begun()
        store = self.box.runtime.store
        store.save(dataclasses.replace(store.load('r'), mark=''))

        error = self.assertRaises(
            errors.EnvironmentProblem, lifecycle.abort, 'r', self.box.runtime)
        self.assertIn('kubectl delete namespace sonobuoy', str(error))
        self.assertEqual([], self.box.called)

    def test_hydrophone_in_a_namespace_that_is_somebody_elses(self):
        for command in lifecycle.resume, lifecycle.abort:
            self.box.fails['/hydrophone'] = KeyboardInterrupt()
            name = command.__name__
            self.begun(backend=model.HYDROPHONE, name=name)
            self.box.fails.clear()
            self.box.replace_namespace('conformance')

            with contextlib.suppress(errors.EnvironmentProblem):
                command(name, self.box.runtime)
            self.assertEqual([], self.box.called)
            self.assertEqual(runs.ENDED,
                             self.box.runtime.store.load(name).stage)
            self.box.lists['namespaces'].clear()

    def test_status_looks_once(self):
        self.begun()
        self.box.said = [RUNNING]

        record, state = lifecycle.status(None, self.box.runtime)
        self.assertEqual(('r', 'running', ''), (
            record.name, state.status.status, state.outcome))
        self.assertEqual(['status'], self.box.called)

    def test_status_of_what_has_ended_asks_nobody(self):
        self.begun()
        lifecycle.abort('r', self.box.runtime)
        self.box.called.clear()

        self.assertIsNone(lifecycle.status('r', self.box.runtime)[1])
        self.assertEqual([], self.box.called)


class TestPreview(run_box.TestCase):

    def test_what_is_shown_is_what_is_called(self):
        argvs = lifecycle.preview(self.box.request(), '/sonobuoy')
        lines = []
        with mock.patch.object(processes, 'run', side_effect=lambda argv,
                               **_: lines.append(argv) or COMPLETE):
            with contextlib.suppress(errors.MagnumCapiError):
                self.box.run()

        self.assertEqual(argvs[0], lines[0])
        self.assertEqual(argvs[1], lines[1])
        self.assertEqual([], self.box.called)

    def test_a_cluster_of_magnums_has_no_kubeconfig_yet(self):
        self.useFixture(magnum_cloud.Cloud('c1'))

        argvs = lifecycle.preview(self.box.request(
            target=runs.Target('c1', magnum_cloud.NAME)))

        self.assertIn('KUBECONFIG-OF-c1', argvs[0])
        self.assertEqual(sonobuoy.NAMESPACE, argvs[0][5])
