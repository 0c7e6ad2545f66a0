# SPDX-License-Identifier: Apache-2.0

"""What the scripts in tools do to a machine, and undo however they end."""

import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
from unittest import mock

import fixtures
import testtools

from magnum_capi import waiting
from magnum_capi_sandbox.cli import sandbox
from magnum_capi_sandbox import releases
from magnum_capi_sandbox import tempest_run
from magnum_capi_tempest.cli import driver_test
from magnum_capi_tempest.cli import tempest
from magnum_capi_tempest import config

TOOLS = pathlib.Path(__file__).parents[2] / 'tools'
LIBRARY = TOOLS / 'lib.sh'
#: Exit codes of policy-rc.d(8).
ALLOWED, FORBIDDEN = 0, 101


class StartsTest(testtools.TestCase):
    """Debian starts no server while a package is installed."""

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.policy = self.folder / 'policy-rc.d'

    def install(self, *command):
        """Start what installs, a subprocess.Popen of its own group."""
        program = subprocess.run(
            ['bash', '-c', f'source {LIBRARY}; printf %s "$WITHOUT_STARTS"'],
            capture_output=True, text=True, check=True).stdout
        started = subprocess.Popen(
            ['sh', '-c', program, 'sh', self.policy, *command],
            start_new_session=True, stdin=subprocess.DEVNULL)
        self.addCleanup(started.wait)
        return started

    def asked(self):
        """Return what invoke-rc.d would be told."""
        return subprocess.run([self.policy, 'x', 'start'],
                              check=False).returncode

    def start_and_wait(self):
        ready = self.folder / 'ready'
        started = self.install(
            'sh', '-c', f'touch {ready}; exec sleep 60')
        waiting.wait_for(ready.exists, done=bool, timeout=10, what='ready')
        return started

    def test_none_is_started_meanwhile(self):
        command = self.folder / 'command'
        command.write_text(f'{self.policy} x start; echo $? > {command}.out')

        self.assertEqual(0, self.install('sh', command).wait(10))

        self.assertEqual(
            str(FORBIDDEN), (self.folder / 'command.out').read_text().strip())
        self.assertFalse(self.policy.exists())

    def test_one_that_is_killed_forbids_nothing_afterwards(self):
        started = self.start_and_wait()
        self.assertEqual(FORBIDDEN, self.asked())

        os.killpg(started.pid, signal.SIGKILL)
        started.wait()

        # The others of its group die when they are scheduled.
        waiting.wait_for(self.asked, done=lambda code: code == ALLOWED,
                         timeout=10, what='policy-rc.d to allow starts')
        self.assertFalse(self.policy.exists())

    def test_a_policy_of_others_stays(self):
        self.policy.write_text('#!/bin/sh\nexit 101\n')

        self.install('true').wait(10)

        self.assertEqual('#!/bin/sh\nexit 101\n', self.policy.read_text())


class PackagesTest(testtools.TestCase):

    def test_none_is_removed_for_another(self):
        """apt-get -y install docker.io would remove a user's docker-ce."""
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        for name in ('apt-get', 'sudo'):
            (folder / name).write_text('#!/bin/sh\n')
            (folder / name).chmod(0o755)

        ended = subprocess.run(
            ['bash', '-c', f'set -eu; source {LIBRARY}\n'
             'quietly() { shift; printf "%s\\n" "${*: -9}"; }\n'
             'apt_install docker.io'], capture_output=True, text=True,
            check=True, env={'PATH': f'{folder}:{os.environ["PATH"]}',
                             'HOME': str(folder)})

        install, = (line for line in ended.stdout.splitlines()
                    if 'docker.io' in line)
        self.assertIn(' install --no-install-recommends --no-remove ', install)


class FinishTest(testtools.TestCase):
    """A script cleans up and keeps its exit code, however it ends."""

    def test_exit_codes(self):
        for end, code in (('exit 3', 3), ('false', 1), ('kill -INT $$', 130),
                          ('kill -TERM $$', 143), ('kill -HUP $$', 129),
                          ('kill -PIPE $$', 141)):
            # A shell cannot trap what its parent, as nohup, ignores.
            ended = subprocess.run(
                ['env', '--default-signal', 'bash', '-c',
                 f'set -e; source {LIBRARY}\n'
                 'finish() { echo "finish $?"; }\n'
                 f'trap_finish\n{end}\necho not reached'],
                capture_output=True, text=True, check=False)

            self.assertEqual((code, f'finish {code}\n'),
                             (ended.returncode, ended.stdout), end)


class OldReportsTest(testtools.TestCase):

    def test_blanks_in_the_name_of_the_state_folder(self):
        """Only reports of this script are removed, and the newest stay."""
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        reports = folder / 'a b' / 'run_tests' / 'reports'
        for number in range(20, 32):
            (reports / f'202511{number}').mkdir(parents=True)
        (folder / 'a').touch()

        # It ends when it cannot write to the cache.
        ended = subprocess.run(
            [TOOLS / 'run_tests.sh', '--only', 'style'], check=False, env={
                **os.environ, 'MAGNUM_CAPI_STATE': str(folder / 'a b'),
                'MAGNUM_CAPI_CACHE': '/dev/null/cache'},
            capture_output=True, text=True)

        self.assertIn('Cannot write to the cache folder', ended.stderr)
        self.assertTrue((folder / 'a').exists())
        left = sorted(path.name for path in reports.iterdir())
        self.assertEqual(10, len(left))
        self.assertEqual('20251131', left[-2])


def options(parser):
    """Options of a parser, and a value if they take one."""
    return {option: [option] if action.nargs == 0 else [option, 'a']
            for action in parser._actions for option in action.option_strings}


class UsageTest(testtools.TestCase):
    """A word that a script does not know is refused at once."""

    def refused(self, *command, code=2):
        # What would be installed next goes to the cache.
        ended = subprocess.run(command, capture_output=True, text=True,
                               check=False, env={
                                   **os.environ,
                                   'MAGNUM_CAPI_CACHE': '/dev/null/cache'})
        self.assertEqual(code, ended.returncode, ended.stderr)
        return ended.stderr

    def test_unknown_options(self):
        for command in (['run_sandbox.sh'], ['run_sandbox.sh', '--plain'],
                        ['run_conformance.sh'], ['run_tests.sh'],
                        ['test_driver.sh'], ['test_driver.sh', 'magnum-x'],
                        ['run_devstack.sh'], ['run_zuul.sh'],
                        ['run_zuul.sh', 'proof-*', '--read']):
            self.assertIn('--bogus', self.refused(
                TOOLS / command[0], *command[1:], '--bogus'), command)

    def test_missing_values(self):
        for command in (['run_sandbox.sh', '--magnum'],
                        ['run_sandbox.sh', '--regex'],
                        ['run_conformance.sh', '--mode'],
                        ['run_tests.sh', '--only'],
                        ['test_driver.sh', 'magnum-x', '--magnum'],
                        ['run_devstack.sh', '--folder'],
                        ['run_zuul.sh', '--results']):
            self.refused(TOOLS / command[0], *command[1:])

    def test_words_that_the_programs_would_refuse(self):
        for words, said in (
                ('--driver k8s_nobody_v1', 'one of: k8s_capi_helm_v1 '),
                ('--driver=k8s_nobody_v1', 'k8s_capi_v1'),
                ('--promise some', 'one of: ' + ' '.join(
                    tempest_run.PROMISES)),
                ('--concurrency many', 'many'),
                ('--option frobs=1', 'frobs=1'),
                ('--option many_clusters', 'NAME=VALUE'),
                ('--magnum 2020.1', ' '.join(
                    f'{one.name} {one.version}'
                    for one in releases.RELEASES[:2])),
                ('--quick --regex x', '--quick'),
                ('--quick --third-party --plain', '--quick'),
                ('--third-party', '--plain')):
            self.assertIn(said, self.refused(
                TOOLS / 'run_sandbox.sh', *words.split()), words)

    def test_words_that_the_programs_take(self):
        for words in (
                [f'--option={one.name}=1' for one in config.OPTS],
                [f'--promise={one}' for one in tempest_run.PROMISES],
                [f'--magnum={one.name}' for one in releases.RELEASES],
                ['--driver', 'k8s_capi_lenient_v1', '-c', '3', '--quick',
                 '--magnum', './x'],
                ['--third-party', '--plain', '--regex', 'x']):
            # Only the cache is missing.
            self.assertIn('/dev/null/cache', self.refused(
                TOOLS / 'run_sandbox.sh', *words, code=3), words)

    def test_options_of_the_commands_that_they_run(self):
        """All are known: only the last word is not."""
        clouds = argparse.ArgumentParser()
        tempest.add_cloud(clouds, always=False)
        for script, command, others in (
                (['run_sandbox.sh'], sandbox.Tempest, ()),
                (['test_driver.sh', 'x'], driver_test.Test, options(clouds))):
            known = options(command(mock.Mock(), None).get_parser('x'))
            words = [word for name in known for word in known[name]
                     if name not in (*others, '--directory', '-h', '--help')]
            self.assertIn('(--bogus)', self.refused(
                TOOLS / script[0], *script[1:], *words, '--bogus'), words)

    def test_a_root_that_is_not_of_the_script(self):
        """It would be removed: with "--folder /" that is /root."""
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (folder / 'root').mkdir()
        for name in re.search(
                r'for name in (devstack [^;]*);',
                (TOOLS / 'run_devstack.sh').read_text())[1].split():
            if name != '\\':
                (folder / f'git/openstack/{name}.git').mkdir(parents=True)
        self.assertIn(f'({folder}/root)', self.refused(
            TOOLS / 'run_devstack.sh', '--folder', folder, folder / 'git'))


class OfflineTest(testtools.TestCase):
    """Scripts for bare machines give their words to a Python script."""

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.scripts = self.folder / 'tools/offline'
        shutil.copytree(TOOLS / 'offline', self.scripts)
        (self.folder / 'tools/lib.sh').write_text(
            'prepare() { echo "prepare $1"; }\n'
            'packages() { echo "packages $1"; }\n')
        program = self.folder / 'python'
        program.write_text('#!/bin/sh\necho "$*"\n')
        program.chmod(0o755)

    def called(self, *words):
        return subprocess.run(
            [self.scripts / words[0], *words[1:]], capture_output=True,
            text=True, check=True, env={
                **os.environ,
                'PATH': f'{self.folder}:{os.environ["PATH"]}'},
        ).stdout.splitlines()

    def test_packages_are_for_who_makes_something(self):
        for words in (('images.sh', 'build'), ('docker.sh', 'up')):
            installed = 'packages nodes' in self.called(*words)
            self.assertEqual(os.geteuid() == 0, installed)
            self.assertNotIn(
                'packages nodes', self.called(*words, '--help'))


class SandboxTest(testtools.TestCase):
    """A script only takes down the sandbox that it has started."""

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        tools = self.folder / 'tools'
        tools.mkdir()
        shutil.copy(TOOLS / 'run_sandbox.sh', tools)
        (tools / 'lib.sh').write_text(
            f'source {LIBRARY}\n'
            'prepare() { VIRTUAL_ENV=/venv; }\n'
            f'packages() {{ echo "packages $*" >> {self.folder}/lines; }}\n')

    def commands(self, code, *words, status=1):
        """Run the script with an "up" that ends with a code.

        :param code: may be preceded by other commands of a shell.
        :param status: exit code of "status", 1: there is no sandbox.
        :returns: the script's own exit code, and what it has called.
        """
        program = self.folder / 'magnum-capi'
        program.write_text(
            f'#!/bin/sh\necho "$2" >> {self.folder}/called\n'
            f'echo "$*" >> {self.folder}/lines\n'
            f'[ "$2" != status ] || exit {status}\n'
            f'[ "$2" != up ] || {{ {code}; }}\n')
        program.chmod(0o755)
        # A shell cannot trap what its parent, as nohup, ignores.
        ended = subprocess.run(
            ['env', '--default-signal', self.folder / 'tools/run_sandbox.sh',
             *words], capture_output=True, text=True, check=False,
            start_new_session=True, env={
                **os.environ,
                'PATH': f'{self.folder}:{os.environ["PATH"]}'})
        return (ended.returncode,
                (self.folder / 'called').read_text().split()[1:])

    def test_its_own(self):
        self.assertEqual(
            (0, ['up', 'tempest', 'down']), self.commands('exit 0'))

    def test_one_that_was_up_before_with_the_same_options(self):
        self.assertEqual(
            (0, ['up', 'tempest']), self.commands('exit 0', status=0))

    def test_nodes_are_in_the_docker_that_there_is(self):
        """Debian's package conflicts with Docker's own."""
        self.commands('exit 0', '--nodes', 'docker', '--profile', 'full')
        self.assertIn('packages full',
                      (self.folder / 'lines').read_text().splitlines())

    def test_words_for_tempest(self):
        self.commands('exit 0', '--regex=smoke', '-c', '1', '--plain', '--',
                      '--until-failure')
        self.assertIn('sandbox tempest --regex=smoke -c 1 -- --until-failure',
                      (self.folder / 'lines').read_text().splitlines())

    def test_one_that_was_up_before_with_other_options(self):
        self.assertEqual((2, ['up']), self.commands('exit 2'))

    def test_ctrl_c_while_one_of_somebody_else_is_refused(self):
        """What it has begun itself "up" has removed by then."""
        self.assertEqual((130, ['up']), self.commands(
            'trap "exit 130" INT; kill -INT 0; exit 0'))

    def test_end_of_the_script_alone_while_its_own_starts(self):
        self.assertEqual((143, ['up', 'down']), self.commands(
            'kill -TERM $PPID; exit 0'))
