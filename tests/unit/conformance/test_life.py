# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.


import contextlib
import dataclasses
import hashlib
import io
import json
import pathlib
import tarfile
from unittest import mock

import fixtures
import testtools

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.running import ends
from magnum_capi_tempest.conformance.running import kube
from magnum_capi_tempest.conformance.running import life
from magnum_capi_tempest.conformance.running import runner
from magnum_capi_tempest.conformance.running import runs
from magnum_capi_tempest.conformance.running import sonobuoy
from magnum_capi_tempest.conformance import verdict
from magnum_capi_tempest import errors
from magnum_capi_tempest import processes
from magnum_capi_tempest import progress
from magnum_capi_tempest.toolchain import leftovers
from tests.unit import fake_clock
from tests.unit import own_folders

LOG = b'Will run 1 of 2 specs\n'
JUNIT = (b'<testsuites><testsuite><testcase name="[It] a" status="failed" '
         b'time="1"><failure message="no"/></testcase></testsuite>'
         b'</testsuites>')
RUNNING = json.dumps({'status': 'running', 'plugins': []})
NODE = {'metadata': {'name': 'n1'}, 'status': {
    'conditions': [{'type': 'Ready', 'status': 'True'}],
    'allocatable': {'pods': '110', 'cpu': '2', 'memory': '4Gi'}}}
REFUSED = errors.CommandFailed(['sonobuoy'], 1, 'forbidden')


def small_archive():
    """An archive with one spec, which failed; a real one takes longer."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode='w:gz') as archive:
        for name, content in (
                ('plugins/e2e/results/global/e2e.log', LOG),
                ('plugins/e2e/results/global/junit_01.xml', JUNIT)):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


ARCHIVE = small_archive()
COMPLETE = json.dumps({'status': 'complete', 'plugins': [], 'tar-info': {
    'name': 'x.tar.gz', 'size': len(ARCHIVE),
    'sha256': hashlib.sha256(ARCHIVE).hexdigest()}})


class World(fixtures.Fixture):
    """A cluster, and the programs that act on it.

    ``said``: what each call of "sonobuoy status" prints or raises; the last
    one again and again. ``fails``: verb -> what it raises. ``called``: the
    verbs that were called.
    """

    def _setUp(self):
        self.base = self.useFixture(own_folders.OwnFolders()).base
        self.said, self.fails, self.called = [RUNNING], {}, []
        self.lists = {'nodes': [NODE], 'pods': [], 'namespaces': [],
                      'deployments': [], 'events': []}
        self.kubeconfig = self.base / 'kubeconfig'
        self.kubeconfig.write_text('')
        for owner, name, fake in ((processes, 'run', self.call),
                                  (kube, 'Reader', self.reader)):
            self.useFixture(fixtures.MockPatchObject(owner, name, fake))
        self.world = life.World(
            progress=progress.Silent(), clock=fake_clock.FakeClock(),
            ensure=lambda names, _: {n: f'/{n}' for n in names})

    def reader(self, *args):
        reader = mock.Mock()
        reader.get.return_value = {'gitVersion': 'v1.34.9'}
        reader.items.side_effect = lambda path, **query: self.lists[
            path.rpartition('/')[2]]
        reader.text.side_effect = kube.KubeError('no log', status=400)
        return reader

    def call(self, argv, **kwargs):
        verb = argv[1] if argv[0] == '/sonobuoy' else argv[0]
        self.called.append(verb)
        if verb in self.fails:
            raise self.fails[verb]
        if verb == 'retrieve':
            pathlib.Path(argv[6], argv[8]).write_bytes(ARCHIVE)
        if verb == '/hydrophone' and '--output-dir' in argv:
            folder = pathlib.Path(argv[argv.index('--output-dir') + 1])
            (folder / 'e2e.log').write_bytes(LOG)
            (folder / 'junit_01.xml').write_bytes(JUNIT.replace(
                b'failed', b'passed').replace(b'<failure message="no"/>', b''))
        if verb == 'status':
            said = self.said.pop(0) if len(self.said) > 1 else self.said[0]
            if isinstance(said, BaseException):
                raise said
            return said
        return ''

    def wish(self, **kwargs):
        return life.Wish(**{
            'target': runs.Target(kubeconfig=str(self.kubeconfig)),
            'plan': runner.Plan(mode=model.QUICK), 'name': 'r',
            'results': self.base / 'results', **kwargs})

    def run(self, **kwargs):
        return life.run(self.wish(**kwargs), self.world)

    @property
    def stage(self):
        return self.world.store.load('r').stage


class TestCase(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.box = self.useFixture(World())


class TestRun(TestCase):

    def test_to_its_verdict_and_away(self):
        self.box.said = ['Pending', RUNNING, REFUSED, COMPLETE]
        ended = self.box.run()

        self.assertEqual((verdict.FAILED, 'v1.34.9'), (
            ended.verdict.outcome, ended.result.cluster.kubernetes))
        self.assertEqual(['run', *['status'] * 4, 'retrieve', 'delete'],
                         self.box.called)
        self.assertEqual(runs.ENDED, self.box.stage)

    def test_it_can_be_kept(self):
        self.box.said = [COMPLETE]
        self.box.run(keep=True)

        self.assertNotIn('delete', self.box.called)
        self.assertEqual(runs.RETRIEVED, self.box.stage)

    def test_results_count_although_the_rest_cannot_be_removed(self):
        self.box.said = [COMPLETE]
        self.box.fails['delete'] = REFUSED

        self.assertEqual(verdict.FAILED, self.box.run().verdict.outcome)
        self.assertEqual(runs.RETRIEVED, self.box.stage)

    def test_the_record_is_there_before_anything_is_created(self):
        self.box.fails['run'] = KeyboardInterrupt()

        self.assertRaises(KeyboardInterrupt, self.box.run)
        self.assertEqual(runs.STARTED, self.box.stage)

    def test_half_a_run_is_removed(self):
        self.box.fails['run'] = REFUSED

        error = self.assertRaises(errors.EnvironmentProblem, self.box.run)
        self.assertIn('forbidden', str(error))
        self.assertEqual(['run', 'delete'], self.box.called)
        self.assertEqual(runs.ENDED, self.box.stage)

    def test_a_cluster_that_is_not_fit_is_not_touched(self):
        self.box.lists['nodes'] = []

        self.assertRaises(errors.EnvironmentProblem, self.box.run)
        self.assertEqual([], self.box.called)
        self.assertEqual([], self.box.world.store.all())

    def test_a_name_is_not_given_twice(self):
        self.box.said = [COMPLETE]
        self.box.run()

        self.assertRaises(errors.UsageError, self.box.run)

    def test_a_deadline_leaves_the_run_to_be_looked_at(self):
        ended = self.box.run(plan=runner.Plan(mode=model.QUICK, timeout=60))

        self.assertEqual(verdict.HARNESS_ERROR, ended.verdict.outcome)
        self.assertIn('longer than 60 s', ended.verdict.reasons[0])
        self.assertNotIn('delete', self.box.called)
        self.assertEqual(runs.STARTED, self.box.stage)

    def test_an_api_that_is_away_for_good_keeps_the_run(self):
        self.box.said = [RUNNING, REFUSED]
        self.box.world = dataclasses.replace(
            self.box.world, limits=ends.Limits(9999, silence=60))
        items = self.box.lists['pods']

        def away(path, **query):
            if 'status' in self.box.called:
                raise kube.KubeError('no route')
            return [NODE] if path.endswith('nodes') else (
                [] if path.endswith(('deployments', 'events')) else items)

        reader = self.box.reader()
        reader.items.side_effect = away
        with mock.patch.object(kube, 'Reader', return_value=reader):
            ended = self.box.run()

        self.assertEqual(verdict.HARNESS_ERROR, ended.verdict.outcome)
        self.assertEqual(runs.STARTED, self.box.stage)

    def test_what_was_wrong_with_the_cluster_is_in_the_verdict(self):
        self.box.lists['deployments'] = [
            {'metadata': {'name': 'coredns',
                          'labels': {'k8s-app': 'kube-dns'}},
             'spec': {'replicas': 0}}]
        self.box.said = [RUNNING, COMPLETE]

        ended = self.box.run()

        sign = ('cluster DNS: the Deployment kube-system/coredns is scaled '
                'to 0')
        self.assertEqual((sign,), ended.result.signs)
        self.assertIn(f'seen in the cluster: {sign}', ended.verdict.reasons)
        self.assertEqual((sign,), self.box.world.store.load('r').signs)

    def test_stand_ins_are_told_by_the_nodes(self):
        for backend in (model.SONOBUOY, model.HYDROPHONE):
            self.box.lists['nodes'] = [{**NODE, 'status': {
                **NODE['status'], 'nodeInfo': {'osImage': 'X (stand-in)'}}}]
            self.box.said = [COMPLETE]

            ended = self.box.run(name=backend, backend=backend)

            self.assertTrue(ended.result.stand_in_images)
            self.assertTrue(self.box.world.store.load(backend).plan.stand_in)

    def test_hydrophone_gives_the_same_kind_of_result(self):
        ended = self.box.run(backend=model.HYDROPHONE)

        self.assertEqual((model.HYDROPHONE, 1), (
            ended.result.backend, len(ended.result.ran)))
        # Its log has no end.
        self.assertEqual(verdict.INCOMPLETE, ended.verdict.outcome)
        self.assertEqual(runs.ENDED, self.box.stage)


class TestLater(TestCase):

    def begun(self, **kwargs):
        self.box.said = [KeyboardInterrupt()]
        with contextlib.suppress(KeyboardInterrupt):
            self.box.run(**kwargs)
        self.box.called.clear()
        self.box.said = [COMPLETE]

    def test_resume(self):
        self.begun()

        ended = life.resume(None, self.box.world)
        self.assertEqual(verdict.FAILED, ended.verdict.outcome)
        self.assertEqual(['status', 'retrieve', 'delete'], self.box.called)

    def test_resume_of_what_has_ended_reads_it_again(self):
        self.begun()
        life.resume('r', self.box.world)
        self.box.called.clear()

        self.assertEqual(verdict.FAILED, life.resume(
            'r', self.box.world).verdict.outcome)
        self.assertEqual([], self.box.called)

    def test_hydrophone_is_not_begun_again(self):
        self.box.fails['/hydrophone'] = KeyboardInterrupt()
        with contextlib.suppress(KeyboardInterrupt):
            self.box.run(backend=model.HYDROPHONE)
        self.box.fails.clear()

        with mock.patch.object(leftovers, 'end') as end:
            life.resume('r', self.box.world)
        self.assertEqual(runs.ENDED, self.box.stage)
        # Of a command that was killed, another one may still be at work.
        end.assert_called_once_with(self.box.base / 'results' / 'r')

    def test_retrieve_leaves_the_run(self):
        self.begun()

        life.retrieve('r', self.box.world)
        self.assertEqual(['status', 'retrieve'], self.box.called)
        self.assertEqual(runs.RETRIEVED, self.box.stage)

    def test_abort(self):
        self.begun()

        life.abort(None, self.box.world)
        self.assertEqual(['delete'], self.box.called)
        self.assertEqual(runs.ENDED, self.box.stage)
        self.assertRaises(errors.UsageError, life.resume, 'r',
                          self.box.world)

    def test_status_looks_once(self):
        self.begun()
        self.box.said = [RUNNING]

        record, state = life.status(None, self.box.world)
        self.assertEqual(('r', 'running', ''), (
            record.name, state.status.status, state.outcome))
        self.assertEqual(['status'], self.box.called)

    def test_status_of_what_has_ended_asks_nobody(self):
        self.begun()
        life.abort('r', self.box.world)
        self.box.called.clear()

        self.assertIsNone(life.status('r', self.box.world)[1])
        self.assertEqual([], self.box.called)


class TestPreview(TestCase):

    def test_what_is_shown_is_what_is_called(self):
        argvs = life.preview(self.box.wish(), '/sonobuoy')
        lines = []
        with mock.patch.object(processes, 'run', side_effect=lambda argv,
                               **_: lines.append(argv) or COMPLETE):
            with contextlib.suppress(errors.MagnumCapiError):
                self.box.run()

        self.assertEqual(argvs[0], lines[0])
        self.assertEqual(argvs[1], lines[1])
        self.assertEqual([], self.box.called)

    def test_a_cluster_of_magnums_is_not_asked(self):
        argvs = life.preview(self.box.wish(target=runs.Target('c1')))

        self.assertIn('KUBECONFIG-OF-c1', argvs[0])
        self.assertEqual(sonobuoy.NAMESPACE, argvs[0][5])
