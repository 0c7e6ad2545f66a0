# SPDX-License-Identifier: Apache-2.0

"""What a person may do with a run, begin to end."""

import contextlib
import dataclasses
import math
from unittest import mock

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import finishing
from magnum_capi_tempest.conformance.run import hydrophone
from magnum_capi_tempest.conformance.run import lifecycle
from magnum_capi_tempest.conformance.run import namespaces
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest.conformance.run import watch
from magnum_capi_tempest.conformance import verdict
from magnum_capi_tempest.kubeclient import kube
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
            ended.outcome, ended.result.cluster.kubernetes))
        self.assertEqual(['run', *['status'] * 4, 'retrieve', 'delete'],
                         self.box.called)
        self.assertEqual(runs.ENDED, self.box.stage)
        self.assertEqual(str(self.box.folder / 'x.tar.gz'),
                         ended.result.source)

    def test_it_is_written_down_before_anything_is_created(self):
        for backend, verb in ((model.SONOBUOY, 'run'),
                              (model.HYDROPHONE, 'begin')):
            folder = self.box.base / backend
            self.box.fails[verb] = KeyboardInterrupt()
            self.assertRaises(KeyboardInterrupt, self.box.run,
                              backend=backend, folder=folder)
            self.assertEqual(runs.STARTED, runs.load(folder).stage)

    def test_results_that_cannot_be_written_are_no_surprise_in_the_end(self):
        file = self.box.base / 'file'
        file.touch()
        other = self.box.base / 'other'
        other.mkdir()
        (other / 'e2e.log').write_text('of another run')
        for folder, kind in ((file / 'x', errors.EnvironmentProblem),
                             (other, errors.UsageError)):
            for backend in (model.SONOBUOY, model.HYDROPHONE):
                error = self.assertRaises(
                    kind, self.box.run, backend=backend, folder=folder)

                self.assertIn(str(folder), str(error))
                self.assertIn('--output', str(error))
                self.assertEqual([], self.box.called)
                self.assertEqual([], self.box.lists['namespaces'])

    def test_stand_ins_are_told_by_the_nodes(self):
        self.box.lists['nodes'] = [{**NODE, 'status': {
            **NODE['status'], 'nodeInfo': {'osImage': 'X (stand-in)'}}}]
        for backend in (model.SONOBUOY, model.HYDROPHONE):
            self.box.said = [COMPLETE]
            folder = self.box.base / backend

            ended = self.box.run(folder=folder, backend=backend)

            self.assertTrue(ended.result.stand_in_images)
            self.assertTrue(runs.load(folder).plan.stand_in)

    def test_it_can_be_kept(self):
        self.box.said = [COMPLETE]
        self.box.run(keep=True)

        self.assertNotIn('delete', self.box.called)
        self.assertEqual(runs.FETCHED, self.box.stage)
        # Hydrophone keeps nothing.
        self.assertRaises(errors.UsageError, self.box.run, keep=True,
                          backend=model.HYDROPHONE)

    def test_results_count_although_the_rest_cannot_be_removed(self):
        self.box.said = [COMPLETE]
        self.box.fails['delete'] = REFUSED

        self.assertEqual(verdict.FAILED, self.box.run().outcome)
        self.assertEqual(runs.FETCHED, self.box.stage)

    def test_no_verdict_is_made_of_a_part(self):
        """What the run left is saved, without secrets, for people."""
        self.box.log = 'a\x1b[31m\nAuthorization: Bearer abc.def-ghi123456\n'
        for limits, words in (
                (watch.Limits(60), 'took longer than 60 s'),
                (watch.Limits(9999, stall=60), 'nothing has changed for')):
            folder = self.box.base / f'{limits.deadline}'
            self.box.lists.update(namespaces=[], pods=[])
            self.box.runtime = dataclasses.replace(
                self.box.runtime, limits=limits)
            ended = self.box.run(folder=folder)

            self.assertEqual((verdict.HARNESS_ERROR, ''),
                             (ended.outcome, ended.result.source))
            self.assertIn(words, ended.reasons[0])
            logs = (folder / finishing.LOGS).read_text()
            self.assertIn('==> sonobuoy kube-sonobuoy <==\na\n', logs)
            self.assertNotIn('abc.def', logs)
            self.assertNotIn('delete', self.box.called)
            self.assertEqual(runs.STARTED, runs.load(folder).stage)

    def test_what_was_wrong_with_the_cluster_is_in_the_verdict(self):
        self.box.lists['pods'].append({
            'metadata': {'name': 'p', 'namespace': 'default'},
            'status': {'containerStatuses': [{'containerID': 'x'}]}})
        self.box.said = [RUNNING, COMPLETE]

        ended = self.box.run()

        wrong = 'cluster DNS: none of its pods is ready'
        self.assertEqual((wrong,), ended.result.cluster_warnings)
        self.assertIn(f'seen in the cluster: {wrong}', ended.reasons)
        self.assertEqual((wrong,), runs.load(self.box.folder).warnings)


class TestBeginning(run_box.TestCase):

    def test_half_a_run_is_removed(self):
        for verb, backend, removal in (
                ('run', model.SONOBUOY, 'delete'),
                ('begin', model.HYDROPHONE, '--cleanup')):
            self.box.called.clear()
            self.box.fails = {verb: REFUSED}
            folder = self.box.base / backend

            error = self.assertRaises(
                errors.EnvironmentProblem, self.box.run, backend=backend,
                folder=folder)
            self.assertIn('forbidden', str(error))
            self.assertIn('have been removed', str(error))
            self.assertEqual([verb, removal], self.box.called)
            self.assertEqual(runs.ENDED, runs.load(folder).stage)

    def test_half_a_run_that_cannot_be_removed_is_reported(self):
        self.box.fails.update(run=REFUSED, delete=REFUSED)

        error = self.assertRaises(errors.EnvironmentProblem, self.box.run)
        self.assertNotIn('have been removed', str(error))
        self.assertIn(f'conformance abort {self.box.folder}', str(error))
        self.assertEqual(runs.STARTED, self.box.stage)

    def test_nothing_is_removed_when_somebody_was_quicker(self):
        self.box.fails['create'] = kube.KubeError('409', status=409)

        error = self.assertRaises(kube.KubeError, self.box.run)
        self.assertIn('someone else', str(error))
        self.assertEqual([], self.box.called)
        self.assertEqual(runs.ENDED, self.box.stage)

    def test_a_namespace_that_may_be_there_can_be_removed(self):
        # A proxy gives up on an API server that is still at work, and that
        # on its etcd.
        for status in None, 500, 504:
            self.box.fails['create'] = kube.KubeError('no answer',
                                                      status=status)
            folder = self.box.base / f'r{status}'
            self.assertRaises(kube.KubeError, self.box.run, folder=folder)
            self.assertEqual(runs.STARTED, runs.load(folder).stage)
            self.box.fails.clear()
            namespaces.create(self.box.reader(), 'sonobuoy',
                              runs.load(folder).mark, {})

            lifecycle.abort(folder, self.box.runtime)

            self.assertEqual([], self.box.lists['namespaces'])

    def test_a_cluster_that_is_not_fit_is_not_touched(self):
        """Nothing is built or made."""
        ensure = mock.Mock()
        self.box.runtime = dataclasses.replace(self.box.runtime, ensure=ensure)
        self.box.lists['nodes'] = []

        self.assertRaises(errors.EnvironmentProblem, self.box.run)

        ensure.assert_not_called()
        self.assertEqual([], self.box.called)
        self.assertFalse(self.box.folder.exists())

    def test_a_namespace_that_exists_is_not_taken(self):
        """Without a preflight neither."""
        for begin, words in (
                (lambda: self.box.plain_run('mine'), 'conformance abort'),
                (lambda: self.box.plain_hydrophone('mine'),
                 'conformance abort'),
                (lambda: self.box.replace_namespace('mine'),
                 'no sign of a conformance run')):
            self.box.lists.update(namespaces=[], pods=[])
            begin()
            error = self.assertRaises(
                errors.EnvironmentProblem, self.box.run, skip_preflight=True,
                plan=runner.Plan(mode=model.QUICK, namespace='mine'))
            self.assertIn(words, str(error))
        self.assertEqual([], self.box.called)


class TestLater(run_box.TestCase):

    def begun(self, **kwargs):
        """A run whose command was interrupted while it watched."""
        self.box.said = [KeyboardInterrupt()]
        if kwargs.get('backend') == model.HYDROPHONE:
            self.box.fails['--continue'] = KeyboardInterrupt()
        with contextlib.suppress(KeyboardInterrupt):
            self.box.run(**kwargs)
        self.box.called.clear()
        self.box.fails.clear()
        self.box.said = [COMPLETE]

    def attach(self):
        return lifecycle.attach(self.box.folder, self.box.runtime)

    def test_attach(self):
        self.begun()

        ended = lifecycle.attach(self.box.base, self.box.runtime)
        self.assertEqual(verdict.FAILED, ended.outcome)
        self.assertEqual(['status', 'retrieve', 'delete'], self.box.called)
        # What has ended is read again.
        self.box.called.clear()
        self.assertEqual(verdict.FAILED, self.attach().outcome)
        self.assertEqual([], self.box.called)

    def test_files_of_hydrophone_that_a_killed_command_had_fetched(self):
        """It has removed its pod, so there is no other copy."""
        self.begun(backend=model.HYDROPHONE)
        fetched = self.box.folder / 'fetched-x'
        fetched.mkdir(exist_ok=True)
        for name, content in self.box.files.items():
            (fetched / name).write_bytes(content)
        self.box.lists.update(namespaces=[], pods=[])

        self.assertEqual(1, len(self.attach().result.ran))
        self.assertEqual(run_box.PASSED, (
            self.box.folder / 'junit_01.xml').read_bytes())
        self.assertEqual(runs.ENDED, self.box.stage)

    def test_files_of_hydrophone_that_broke_off_are_fetched_again(self):
        whole = dict(self.box.files)
        self.box.files['junit_01.xml'] = run_box.JUNIT[:50]
        del self.box.files['e2e.log']
        error = self.assertRaises(errors.EnvironmentProblem, self.box.run,
                                  backend=model.HYDROPHONE)
        self.assertIn('conformance attach', str(error))
        self.assertEqual(runs.STARTED, self.box.stage)

        self.box.files = whole
        self.assertEqual(1, len(self.attach().result.ran))
        self.assertEqual(runs.ENDED, self.box.stage)

    def test_the_time_limit_is_of_the_whole_run(self):
        """Attaching does not give it again, to neither program."""
        for backend in (model.SONOBUOY, model.HYDROPHONE):
            folder = self.box.base / backend
            self.box.lists.update(namespaces=[], pods=[])
            self.begun(backend=backend, folder=folder)
            runs.save(dataclasses.replace(
                runs.load(folder), started='2020-01-01T00:00:00+00:00'))
            self.box.said = [RUNNING]
            for pod in self.box.lists['pods']:
                pod['status'] = {'phase': 'Running'}

            ended = lifecycle.attach(folder, self.box.runtime)
            self.assertIn('longer than 1800 s', ended.reasons[0])

    def test_what_a_killed_command_had_fetched_is_removed(self):
        self.box.fails['delete'] = KeyboardInterrupt()
        self.box.said = [COMPLETE]
        with contextlib.suppress(KeyboardInterrupt):
            self.box.run()
        self.assertEqual(runs.FETCHED, self.box.stage)
        self.box.fails.clear()

        self.assertEqual(verdict.FAILED, self.attach().outcome)
        self.assertEqual([], self.box.lists['namespaces'])
        self.assertEqual(runs.ENDED, self.box.stage)

    def test_what_was_fetched_counts_although_the_cluster_is_gone(self):
        self.box.fails['delete'] = REFUSED
        self.box.said = [COMPLETE]
        self.box.run()
        self.box.kubeconfig.unlink()

        self.assertEqual(verdict.FAILED, self.attach().outcome)
        self.assertEqual(runs.FETCHED, self.box.stage)

    def test_what_is_to_be_kept_is_kept(self):
        self.box.said = [COMPLETE]
        self.box.run(keep=True)

        self.attach()

        self.assertNotIn('delete', self.box.called)

    def test_abort(self):
        for backend, verb in ((model.SONOBUOY, 'delete'),
                              (model.HYDROPHONE, '--cleanup')):
            folder = self.box.base / backend
            self.begun(backend=backend, folder=folder)

            lifecycle.abort(folder, self.box.runtime)
            self.assertEqual([verb], self.box.called)
            self.assertEqual(runs.ENDED, runs.load(folder).stage)
            for again in lifecycle.attach, lifecycle.abort:
                self.assertRaises(errors.UsageError, again, folder,
                                  self.box.runtime)
            self.box.lists.update(namespaces=[], pods=[])

    def test_abort_removes_the_namespaces_of_its_tests(self):
        """Not those of the tests of another run."""
        self.begun()
        self.box.lists['pods'].append({**run_box.AGGREGATOR, 'metadata': {
            'name': 'sonobuoy-e2e-job-1', 'namespace': 'sonobuoy'}})
        self.box.log = (
            'I1130 20:31:03.199596      20 e2e.go:109] Starting e2e run '
            '"68a368b1-a4a4-4c0a-9acc-12180a92f834" on Ginkgo node 1\n')
        self.box.lists['namespaces'] += [
            {'metadata': {'name': name, 'labels': {'e2e-run': run}}}
            for name, run in (
                ('pods-1', '68a368b1-a4a4-4c0a-9acc-12180a92f834'),
                ('pods-2', '11111111-a4a4-4c0a-9acc-12180a92f834'))]

        lifecycle.abort(self.box.folder, self.box.runtime)

        names = [space['metadata']['name']
                 for space in self.box.lists['namespaces']]
        self.assertIn('pods-2', names)
        self.assertNotIn('pods-1', names)

    def test_nothing_of_anothers_is_ended(self):
        for backend, name in ((model.SONOBUOY, 'sonobuoy'),
                              (model.HYDROPHONE, 'conformance')):
            folder = self.box.base / backend
            self.begun(backend=backend, folder=folder)
            self.box.replace_namespace(name)

            lifecycle.abort(folder, self.box.runtime)
            self.assertEqual([], self.box.called)
            self.assertEqual(runs.ENDED, runs.load(folder).stage)
            self.box.lists.update(namespaces=[], pods=[])

    def test_a_namespace_of_which_nothing_is_known(self):
        self.begun()
        runs.save(dataclasses.replace(runs.load(self.box.folder), mark=''))

        error = self.assertRaises(
            errors.EnvironmentProblem, lifecycle.abort, self.box.folder,
            self.box.runtime)
        self.assertIn('kubectl delete namespace sonobuoy', str(error))
        self.assertEqual([], self.box.called)

    def test_a_namespace_that_hydrophone_made(self):
        """With --registry-mirrors it must; then its uid identifies it."""
        mirrors = self.box.base / 'mirrors'
        mirrors.touch()
        self.begun(backend=model.HYDROPHONE, plan=runner.Plan(
            mode=model.QUICK, images=runner.Images(mirrors=mirrors)))
        self.assertEqual(('', 'uid-conformance'), (
            runs.load(self.box.folder).mark, runs.load(self.box.folder).uid))

        lifecycle.abort(self.box.folder, self.box.runtime)
        self.assertEqual(['--cleanup'], self.box.called)

    def meanwhile(self, act):
        """Another command acts while this one watches."""
        follow = watch.follow

        def first_the_other(*args):
            watching.stop()
            act(self.box.folder, self.box.runtime)
            return follow(*args)

        watching = mock.patch.object(watch, 'follow', first_the_other)
        watching.start()
        self.addCleanup(mock.patch.stopall)

    def test_two_commands_watch_one_run(self):
        """The results of the one that fetches them count for the other."""
        for backend in model.SONOBUOY, model.HYDROPHONE:
            self.box.lists.update(namespaces=[], pods=[])
            self.begun(backend=backend, folder=self.box.base / backend)
            self.meanwhile(lambda *_, folder=self.box.base / backend:
                           lifecycle.attach(folder, self.box.runtime))

            ended = lifecycle.attach(self.box.base / backend,
                                     self.box.runtime)

            self.assertEqual(1, len(ended.result.ran))
            record = runs.load(self.box.base / backend)
            self.assertEqual(runs.ENDED, record.stage)
            self.assertTrue(record.archive)

    def test_another_command_aborts_a_run_that_is_watched(self):
        self.begun()
        self.meanwhile(lifecycle.abort)

        ended = self.attach()

        self.assertIn('another command has aborted the run',
                      ended.reasons[0])
        self.assertEqual(runs.ENDED, self.box.stage)

    def test_a_run_whose_namespace_another_one_has(self):
        """Its results are not those of this run, and nothing is removed."""
        for backend, other in (
                (model.SONOBUOY, self.box.plain_run),
                (model.HYDROPHONE, self.box.plain_hydrophone)):
            folder = self.box.base / backend
            self.begun(backend=backend, folder=folder)
            self.box.lists.update(namespaces=[], pods=[])
            other()
            for command in lifecycle.attach, lifecycle.observe:
                error = self.assertRaises(
                    errors.EnvironmentProblem, command, folder,
                    self.box.runtime)

                self.assertIn('belongs to another run', str(error))
            self.assertEqual([], self.box.called)
            self.assertEqual(1, len(self.box.lists['pods']))
            self.box.lists.update(namespaces=[], pods=[])

    def test_a_run_whose_namespace_another_one_gets(self):
        self.begun()
        self.meanwhile(lambda *_: (
            self.box.lists.update(namespaces=[], pods=[]),
            self.box.plain_run()))

        self.assertRaises(errors.EnvironmentProblem, self.attach)

        self.assertEqual(['status'], self.box.called)

    def test_one_look(self):
        self.begun()
        self.box.said = [RUNNING]

        record, state = lifecycle.observe(self.box.folder, self.box.runtime)
        self.assertEqual((self.box.folder, 'running', ''), (
            record.folder, state.seen.status.state, state.outcome))
        self.assertEqual(['status'], self.box.called)
        lifecycle.abort(self.box.folder, self.box.runtime)
        self.box.called.clear()
        self.assertIsNone(lifecycle.observe(
            self.box.folder, self.box.runtime)[1])
        self.assertEqual([], self.box.called)


class TestElsewhere(run_box.TestCase):
    """Runs of "sonobuoy run" or Hydrophone alone, or of another machine."""

    def attach(self, **kwargs):
        return lifecycle.attach(self.box.elsewhere(**kwargs),
                                self.box.runtime)

    def refused(self, kind=errors.UsageError, **kwargs):
        error = self.assertRaises(
            kind, lifecycle.observe, self.box.elsewhere(**kwargs),
            self.box.runtime)
        self.assertEqual([], self.box.called)
        return str(error)

    def test_one_look_writes_nothing(self):
        self.box.plain_run()

        record, state = lifecycle.observe(
            self.box.elsewhere(folder=None), self.box.runtime)

        self.assertEqual(
            ('conformance-kubeconfig-20261123-100000', 'v1.34.9', 'running',
             ''), (record.folder.name, record.about.kubernetes,
                   state.seen.status.state, state.outcome))
        self.assertFalse(record.folder.exists())

    def test_watched_and_fetched_it_stays(self):
        self.box.plain_run()
        self.box.said = [RUNNING, COMPLETE]

        for _ in range(2):
            ended = self.attach()
            self.assertEqual(verdict.FAILED, ended.outcome)
        self.assertEqual(['status', 'status', 'retrieve'], self.box.called)
        self.assertEqual((runs.FETCHED, 'uid-sonobuoy'), (
            self.box.stage, runs.load(self.box.folder).uid))
        # By its folder, it can be removed.
        lifecycle.abort(self.box.folder, self.box.runtime)
        self.assertEqual([], self.box.lists['namespaces'])

    def test_it_is_removed_if_that_is_wanted(self):
        self.box.plain_run('mine')
        self.box.said = [COMPLETE]

        self.attach(namespace='mine', remove=True)

        self.assertEqual(['status', 'retrieve', 'delete'], self.box.called)
        self.assertEqual([], self.box.lists['namespaces'])

    def test_stand_ins_are_told_by_the_nodes(self):
        """Of Hydrophone's results, nothing else tells."""
        self.box.lists['nodes'] = [{**NODE, 'status': {
            **NODE['status'], 'nodeInfo': {'osImage': 'X (stand-in)'}}}]
        self.box.plain_hydrophone()

        ended = self.attach(remove=True)

        self.assertTrue(ended.result.stand_in_images)

    def test_the_folder_of_the_same_run(self):
        """It knows more of the run than its namespace does."""
        self.box.said = [KeyboardInterrupt()]
        with contextlib.suppress(KeyboardInterrupt):
            self.box.run()
        self.box.lists['namespaces'][0]['metadata'][
            'creationTimestamp'] = '2026-11-23T10:00:00Z'
        self.box.said = [COMPLETE]

        self.attach()

        record = runs.load(self.box.folder)
        self.assertEqual((False, model.QUICK), (
            record.elsewhere, record.plan.mode))

    def test_the_folder_of_another_run(self):
        self.box.said = [COMPLETE]
        self.box.run()
        before = runs.load(self.box.folder)
        self.box.plain_run()
        self.box.called.clear()

        for command in (lifecycle.attach, lifecycle.observe, lifecycle.abort):
            error = self.assertRaises(
                errors.UsageError, command, self.box.elsewhere(),
                self.box.runtime)
            self.assertIn('another run in this folder', str(error))

        self.assertEqual(before, runs.load(self.box.folder))
        self.assertEqual([], self.box.called)

    def test_only_its_own_program_limits_it(self):
        self.box.plain_run()
        record, _ = lifecycle.observe(self.box.elsewhere(), self.box.runtime)

        self.assertEqual(math.inf, finishing.limits(
            record, self.box.runtime).deadline)

    def test_a_namespace_that_came_after_it_is_left_alone(self):
        self.box.plain_run()
        self.box.said = [COMPLETE]
        self.attach()
        self.box.called.clear()
        self.box.replace_namespace('sonobuoy')

        lifecycle.abort(self.box.folder, self.box.runtime)

        self.assertEqual([], self.box.called)

    def test_each_sign_of_a_run(self):
        path = '/api/v1/namespaces/x/configmaps/sonobuoy-config-cm'
        for annotations, pod, maps, backend in (
                ({namespaces.MARK: 'm'}, {}, {}, model.SONOBUOY),
                ({}, {'labels': {'sonobuoy-component': 'aggregator'}}, {},
                 model.SONOBUOY),
                ({}, {}, {path: {'data': {}}}, model.SONOBUOY),
                ({}, {'name': hydrophone.POD}, {}, model.HYDROPHONE)):
            self.box.maps = maps
            self.box.lists['namespaces'] = [{'metadata': {
                'name': 'x', 'annotations': annotations,
                'creationTimestamp': '2026-11-23T10:00:00Z'}}]
            self.box.lists['pods'] = [{'metadata': {
                'name': 'p', 'namespace': 'x', **pod}}]

            record, _ = lifecycle.observe(
                self.box.elsewhere(namespace='x'), self.box.runtime)
            self.assertEqual(backend, record.backend)

    def test_none_several_and_no_answer(self):
        self.assertIn('no run in the namespace sonobuoy or conformance',
                      self.refused())
        self.box.replace_namespace('monitoring')
        self.assertIn('no run in the namespace monitoring',
                      self.refused(namespace='monitoring'))
        self.assertRaises(errors.UsageError, lifecycle.abort,
                          self.box.elsewhere(namespace='monitoring'),
                          self.box.runtime)
        self.box.plain_run()
        self.box.plain_hydrophone()
        self.assertIn('--namespace', self.refused())
        self.box.maps['/api/v1/namespaces/x'] = kube.KubeError('no answer')
        self.assertIn('no answer', self.refused(
            errors.EnvironmentProblem, namespace='x'))


class TestPreview(run_box.TestCase):

    def test_what_is_shown_is_what_is_called(self):
        argvs = lifecycle.preview(self.box.request(), '/sonobuoy')
        lines = []

        def call(argv, **kwargs):
            lines.append(argv)
            return self.box.call(argv, **kwargs)

        self.box.said = [COMPLETE]
        with mock.patch.object(processes, 'run', call):
            self.box.run()

        self.assertEqual([argvs[0], argvs[1], argvs[3]],
                         [lines[0], lines[1], lines[3]])
        self.assertEqual(argvs[2][:6], lines[2][:6])
