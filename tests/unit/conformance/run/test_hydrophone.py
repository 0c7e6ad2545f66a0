# SPDX-License-Identifier: Apache-2.0

import os
import pathlib
import signal
import subprocess
import sys
from unittest import mock

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi import progress
from magnum_capi import waiting
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import hydrophone
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest import proc
from tests.unit.conformance.run import run_box

#: Says what it is called with, and then what its first argument says.
PROGRAM = '''\
#!/bin/sh
here=$(dirname "$0")
echo "$@" > "$here/called"
. "$here/does"
'''


def command(**plan):
    return hydrophone.Hydrophone(
        runner.Plan(**plan), '/h', '/k').preview('/out')[0]


class TestCommands(testtools.TestCase):

    def test_modes(self):
        certified = command(mode=model.CERTIFIED)
        self.assertEqual(['/h', '--kubeconfig', '/k', '--namespace',
                          'conformance', '--output-dir', '/out'],
                         certified[:7])
        self.assertEqual('--conformance', certified[-1])
        self.assertIn('--focus=Pods should be submitted and removed',
                      command(mode=model.QUICK))
        self.assertIn(r'--skip=\[Disruptive\]|NoExecuteTaintManager',
                      command())

    def test_the_namespace_is_there_where_it_can_be(self):
        skip = '--skip-preflight=namespace'

        self.assertIn(skip, command())
        self.assertNotIn(skip, command(
            images=runner.Images(mirrors=pathlib.Path('/m'))))

    def test_options(self):
        argv = ' '.join(command(
            parallel=2, kubernetes='v1.34.9',
            env=(('E2E_EXTRA_ARGS', '--a=1 --b=2'),),
            images=runner.Images(busybox='r/b')))

        for words in ('--parallel 2', '--extra-args=--a=1 --extra-args=--b=2',
                      '--busybox-image r/b',
                      '--conformance-image registry.k8s.io/'
                      'conformance:v1.34.9'):
            self.assertIn(words, argv)

    def test_what_it_cannot_do_is_refused(self):
        for plan in ({'images': runner.Images(sonobuoy='x')},
                     {'images': runner.Images(pull_policy='Never')},
                     {'node_selector': (('a', 'b'),)},
                     {'mode': model.LITE},
                     {'env': (('A', 'b'),)},
                     {'env': (('E2E_EXTRA_ARGS', '--a=b,c'),)}):
            self.assertRaises(errors.UsageError, hydrophone.Hydrophone(
                runner.Plan(**plan), '/h', '/k').refuse)


class TestCalls(testtools.TestCase):
    """The program is a script."""

    def setUp(self):
        super().setUp()
        self.base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.folder = self.base / 'run'
        self.folder.mkdir()
        program = self.base / 'hydrophone'
        program.write_text(PROGRAM)
        program.chmod(0o700)
        self.driven = hydrophone.Hydrophone(
            runner.Plan(), str(program), '/k')
        self.pod, self.reader = None, mock.Mock()
        self.reader.get.side_effect = self.get

    def does(self, script):
        (self.base / 'does').write_text(script)

    def get(self, path):
        begun = (self.base / 'begun').exists()
        return {'metadata': {'name': hydrophone.POD}} if begun else None

    def files(self, *pieces):
        """Have it write files, one after the other: name and content."""
        lines = []
        for name, content in pieces:
            (self.base / f'{name}.there').write_bytes(content)
            lines.append(f'cp "$here/{name}.there" "$6/{name}"\n')
        self.does(''.join(lines) + 'exit 1')

    def fetch(self):
        return self.driven.fetch(None, self.folder, progress.Silent(), None)

    def names(self):
        return sorted(path.name for path in self.folder.iterdir())

    def test_it_ends_when_its_pod_is_there(self):
        self.does(': > "$here/begun"; echo $$ > "$here/pid"; exec sleep 60')

        self.driven.start(self.reader, self.folder)

        pid = int((self.base / 'pid').read_text())
        self.assertTrue(proc.ended(pid))
        self.assertEqual([], self.names())

    def test_it_ends_without_its_pod(self):
        self.does('echo "10:00:00 INF Created\nforbidden"; exit 1')

        error = self.assertRaises(errors.CommandFailed, self.driven.start,
                                  self.reader, self.folder)
        self.assertEqual('forbidden',
                         self.driven.failure_message(error.output))

    def test_what_broke_off_stays_until_there_is_a_whole_copy(self):
        self.files(('e2e.log', run_box.LOG),
                   ('junit_01.xml', run_box.JUNIT[:50]))
        error = self.assertRaises(errors.EnvironmentProblem, self.fetch)
        self.assertIn(f'conformance attach {self.folder}', str(error))
        self.files(('e2e.log', b''))
        self.assertRaises(errors.EnvironmentProblem, self.fetch)
        self.assertIn(run_box.LOG, [
            path.read_bytes() for path in self.folder.rglob('e2e.log')])

        self.files(('e2e.log', run_box.LOG), ('junit_01.xml', run_box.JUNIT))
        self.fetch()
        self.assertEqual(['e2e.log', 'junit_01.xml'], self.names())

    def test_nothing_came(self):
        self.does('echo connection refused; exit 1')

        error = self.assertRaises(errors.EnvironmentProblem, self.fetch)
        self.assertIn('connection refused', str(error))
        self.assertEqual([], self.names())

    def test_it_does_not_outlive_who_called_it(self):
        """It would fetch the results of the next run, and remove that."""
        self.does('echo $$ > "$here/pid"; exec sleep 60')
        killed = subprocess.Popen([sys.executable, '-c', (
            'import sys; from magnum_capi_tempest.conformance.run import '
            'hydrophone; hydrophone._call(sys.argv[1:], 60)'),
            self.driven.program, 'x'])
        file = self.base / 'pid'
        waiting.wait_for(lambda: file.exists() and file.read_text(),
                         done=bool, timeout=60, what='the program')

        os.kill(killed.pid, signal.SIGKILL)
        killed.wait()

        waiting.wait_for(lambda: proc.ended(int(file.read_text())),
                         done=bool, timeout=10, what='its end')


class TestStatus(testtools.TestCase):

    def test_states(self):
        driven = hydrophone.Hydrophone(runner.Plan(), '/h', '/k')

        def pod(name=hydrophone.POD, phase='Running', **state):
            return {'metadata': {'name': name}, 'status': {
                'phase': phase, 'containerStatuses': [
                    {'name': 'output-container', 'state': {'running': {}}},
                    {'name': 'conformance-container', 'state': state}]}}

        for pods, expected in (
                (None, None), ([], None), ([pod('other')], None),
                ([pod(running={})], 'running'),
                ([{'metadata': {'name': hydrophone.POD}}], 'running'),
                ([pod(terminated={'exitCode': 0})], 'complete'),
                # Evicted: nothing can be copied any more.
                ([pod(phase='Failed', terminated={'exitCode': 137})],
                 'running')):
            found = driven.status(pods)
            self.assertEqual(expected, found and found.state)
