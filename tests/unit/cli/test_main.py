# SPDX-License-Identifier: Apache-2.0

"""The command line as a program: what a person sees and what $? is."""

import contextlib
import importlib.metadata
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
from unittest import mock

import fixtures
import testtools

from magnum_capi.cli import app
from magnum_capi.cli import base
from magnum_capi import errors
from magnum_capi_sandbox import spec
from tests.unit.cli import calls
from tests.unit.cli import terminal
from tests.unit import own_folders
from tests.unit.sandbox import samples
from tests.unit import test_foreground

_TOP = pathlib.Path(__file__).resolve().parents[3]

#: ``magnum-capi`` with a sandbox that is not there, and bin/tempest in its
#: folder for Tempest.
_STANDS_IN = """
from magnum_capi.cli import main
from magnum_capi_sandbox import access, box, tempest_run
from magnum_capi_tempest.workspace import runs
import pathlib, sys
from unittest import mock
folder = pathlib.Path(sys.argv[-1])
box.Box.snapshot = box.Box.spec = mock.MagicMock()
tempest_run.prepare = lambda *args: folder
tempest_run.chosen = tempest_run.under_test = lambda *args: 'k8s_x'
tempest_run.described = lambda *args: None
tempest_run.usable_drivers.label = lambda *args: 'k8s_x'
access.of_nodes = lambda *args: {}
runs.program_path = lambda name: folder / 'bin' / name
sys.exit(main.main())
"""

#: A command in the middle of a program with a session of its own, which says
#: so when Popen has long returned.
_RUNS = """
from magnum_capi.cli import app, main
from magnum_capi import processes
import os, sys
app.MagnumCapi.run = lambda self, argv: processes.run(
    ['sh', '-c', 'sleep 1; echo $$ >&3; exec sleep 60'], timeout=60,
    pass_fds=(3,))
os.dup2(1, 3)
sys.exit(main.main())
"""

_CLEANS = """
from magnum_capi.cli import app, main
import pathlib, signal, sys, time
signal.signal(signal.SIGHUP, signal.SIG_DFL)
def run(self, argv):
    try:
        print('begun', flush=True)
        time.sleep(60)
    finally:
        print('cleans up', flush=True)
        print('cleans up', file=sys.stderr, flush=True)
        pathlib.Path(sys.argv[1]).touch()
app.MagnumCapi.run = run
sys.exit(main.main())
"""


def commands():
    """{'sandbox up': 'module:Class'} of both distributions."""
    return {name.replace('_', ' '): target
            for name, target in calls.commands().items()}


class _Base(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = self.useFixture(own_folders.OwnFolders()).base
        self.useFixture(fixtures.MonkeyPatch('sys.argv', ['magnum-capi']))

    def assert_one_line(self, code, *argv):
        """An error is one line; returned for further looks at it."""
        found, out, err = terminal.call(*argv)
        self.assertEqual((code, ''), (found, out))
        self.assertRegex(err, r'\Amagnum-capi: [^\n]+\n\Z')
        return err


class CommandsTest(_Base):

    def test_every_command_has_help(self):
        for name in commands():
            with self.subTest(name):
                code, out, err = terminal.call(*name.split(), '--help')
                self.assertEqual((0, '', True), (code, err, bool(out)))

    def listed(self, text):
        """{name: description} of the commands in a help text."""
        rows = re.findall(r'(?m)^  ((?:[a-z]+ )*[a-z]+)(  +)(\S.*)$', text)
        self.assertEqual(1, len({len(name + blanks)
                                 for name, blanks, _ in rows}))
        return {name: said for name, _, said in rows}

    def test_help_imports_no_command(self):
        # It would take seconds.
        code = """
import sys
from magnum_capi.cli import app
known = app.Commands('magnum_capi.cli')
for name in known.commands:
    print(name, known.description(name), sep='\t')
modules = {entry.module for entry in known.commands.values()}
sys.exit(', '.join(sorted(modules & set(sys.modules))) or None)
"""
        ended = subprocess.run(
            [sys.executable, '-c', code], cwd=_TOP, capture_output=True,
            text=True, timeout=60, check=False)
        self.assertEqual((0, ''), (ended.returncode, ended.stderr))
        said = dict(line.split('\t') for line in ended.stdout.splitlines())
        self.assertEqual(set(commands()), set(said))
        for entry in importlib.metadata.entry_points(
                group='magnum_capi.cli'):
            first = entry.load().__doc__.strip().partition('\n')[0]
            self.assertEqual(first.rstrip('.'),
                             said[entry.name.replace('_', ' ')])

    def test_the_versions_are_of_all_distributions(self):
        code, out, _ = terminal.call('--version')
        self.assertEqual(0, code)
        lines = out.splitlines()
        self.assertThat(lines[0], testtools.matchers.EndsWith(
            f' {importlib.metadata.version("magnum-capi")}'))
        self.assertEqual(
            [f'{name} {importlib.metadata.version(name)}'
             for name in ('magnum-capi-tempest', 'magnum-capi-sandbox')],
            lines[1:])

    def test_without_arguments(self):
        ended = subprocess.run(
            [sys.executable, '-m', 'magnum_capi.cli.main'], cwd=_TOP,
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=60, check=False)
        self.assertEqual((2, ''), (ended.returncode, ended.stderr))
        self.assertEqual(set(commands()), set(
            self.listed(ended.stdout)) & set(commands()))

    def test_a_group_without_a_verb(self):
        for words in ['conformance'], ['driver'], ['report']:
            ours = {name for name in commands()
                    if name.split()[:len(words)] == words}
            for code, *argv in ((2, *words), (0, *words, '--help'),
                                (0, 'help', *words)):
                found, out, err = terminal.call(*argv)
                self.assertEqual((code, ''), (found, err))
                self.assertEqual(ours, set(self.listed(out)))

    def test_an_unknown_verb_of_a_group(self):
        code, out, _ = terminal.call('sandbox', 'jump')
        self.assertEqual(2, code)
        self.assertIn('  sandbox up', out)
        self.assertNotIn('management', out)

    def test_commands_of_a_distribution_that_is_not_installed(self):
        load = app.Commands.load_commands

        def of_the_library(manager, namespace):
            load(manager, namespace)
            manager.commands = {
                name: entry for name, entry in manager.commands.items()
                if entry.value.startswith('magnum_capi.')}

        self.useFixture(fixtures.MockPatchObject(
            app.Commands, 'load_commands', of_the_library))
        for words, missing in (
                (['sandbox', 'up'], 'magnum-capi-sandbox'),
                (['conformance'], 'magnum-capi-tempest'),
                (['tempest', 'init', '--help'], 'magnum-capi-tempest'),
                (['driver', 'test', 'x'], 'magnum-capi-tempest')):
            self.assertIn(f'{missing} has it: pip install .',
                          self.assert_one_line(3, *words))
        code, out, _ = terminal.call('driver')
        self.assertEqual(2, code)
        self.assertEqual({'driver adopt', 'driver info'},
                         set(self.listed(out)))

    def test_no_option_is_the_beginning_of_one_of_the_application(self):
        # The application would take it for its own: --log for --log-file.
        made = app.MagnumCapi()
        ours = [option for action in made.parser._actions
                for option in action.option_strings]
        for name, target in commands().items():
            parser = importlib.metadata.EntryPoint(
                name, target, 'magnum_capi.cli').load()(
                    made, None).get_parser('x')
            for option in {option for action in parser._actions
                           for option in action.option_strings
                           if option.startswith('--')}:
                self.assertEqual([], [
                    one for one in ours if one.startswith(option)
                    and one != option], name)

    def test_every_command_explains_errors(self):
        for name, target in commands().items():
            with self.subTest(name):
                entry = importlib.metadata.EntryPoint(
                    name, target, 'magnum_capi.cli')
                self.assertTrue(issubclass(
                    entry.load(), (base.Command, base.Lister, base.ShowOne)))


class ErrorsTest(_Base):

    def test_usage(self):
        self.assertIn('Known profiles: embedded, full', self.assert_one_line(
            2, 'sandbox', 'up', '--directory', str(self.base / 'x'),
            '--profile', 'huge'))

    def test_a_cache_that_cannot_be_used(self):
        self.useFixture(fixtures.EnvironmentVariable(
            'MAGNUM_CAPI_CACHE', '/dev/null/cache'))
        for verb in ('up', 'down'):
            err = self.assert_one_line(3, 'sandbox', verb, '--directory',
                                       str(self.base / 'x'))
            self.assertIn('MAGNUM_CAPI_CACHE', err)

    def test_trace_for_developers(self):
        _, _, err = terminal.call(
            '--debug', 'sandbox', 'status', '--directory', self.base / 'x')
        self.assertIn('Traceback', err)
        self.assertIn('There is no sandbox', err)

    def test_any_error_of_ours(self):
        for error, code in ((errors.MagnumCapiError('x'), 1),
                            (errors.WaitTimeout('x'), 1),
                            (errors.CommandFailed(['x'], 1, ''), 1)):
            with fixtures.MonkeyPatch(
                    'magnum_capi_sandbox.Box.down',
                    mock.Mock(side_effect=error)):
                self.assert_one_line(code, 'sandbox', 'down')


class OtherCheckoutTest(_Base):
    """A sandbox whose record only another version of this program reads."""

    def setUp(self):
        super().setUp()
        self.box = self.base / 'box'
        (self.box / 'db').mkdir(parents=True)
        (self.box / 'db' / 'data').touch()
        (self.box / spec.NAME).write_text('{"format": 2}')
        # Never to be reached: it would take minutes.
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.toolchain.ensure',
            mock.Mock(side_effect=AssertionError)))

    def test_nothing_is_deleted(self):
        before = sorted(self.box.rglob('*'))
        for verb in ('up', 'down', 'status', 'env'):
            err = self.assert_one_line(
                1 if verb == 'status' else 2, 'sandbox', verb, '--directory',
                str(self.box))
            self.assertIn('another version', err)
            self.assertIn(f'sandbox down --directory {self.box} --force', err)
            self.assertEqual(before, sorted(self.box.rglob('*')))

    def test_who_wants_it_removed_can(self):
        self.assertEqual(0, terminal.call(
            'sandbox', 'down', '--force', '--directory', str(self.box))[0])
        self.assertFalse(self.box.exists())


class ProcessTest(_Base):
    """What only a process of its own can show."""

    def start(self, *argv, **how):
        return self.python('-m', 'magnum_capi.cli.main', *argv, **how)

    @contextlib.contextmanager
    def python(self, *argv, **how):
        with subprocess.Popen(
                [sys.executable, *map(str, argv)],
                cwd=_TOP, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                text=True, **how) as process:
            try:
                yield process
            except BaseException:
                # Popen would wait for its end.
                process.kill()
                raise

    def test_reader_that_has_gone(self):
        with self.python('-c', 'from magnum_capi.cli import endings\n'
                         'raise SystemExit(endings.program('
                         'lambda: print("x" * 10**6)))') as process:
            process.stdout.close()
            err = process.stderr.read()
        self.assertEqual((141, ''), (process.returncode, err))

    def test_a_reader_of_a_table_that_has_gone(self):
        archive = _TOP / 'tests/data/sonobuoy/quick-e2e-v1.34.9.tar.gz'
        with self.start('conformance', 'compare', archive,
                        archive) as process:
            process.stdout.close()
            err = process.stderr.read()
        # 1 would be a verdict: new failures.
        self.assertEqual((141, ''), (process.returncode, err))

    def test_a_command_that_is_told_to_end(self):
        """A build takes its compiler with it."""
        with self.python('-c', _RUNS) as process:
            pid = process.stdout.readline()
            process.terminate()
            out, err = process.communicate(timeout=30)
        self.assertEqual((143, '', ''), (process.returncode, out, err))
        test_foreground.assert_gone(pid)

    def test_a_terminal_that_is_closed(self):
        """What cleans up prints, and has no terminal for it any more."""
        done = self.base / 'done'
        pid, terminal = pty.fork()
        if not pid:
            os.execv(sys.executable, [
                sys.executable, '-c', _CLEANS, str(done)])
        said = b''
        while b'begun' not in said:
            said += os.read(terminal, 1000)
        os.close(terminal)
        _, status = os.waitpid(pid, 0)
        self.assertEqual(129, os.waitstatus_to_exitcode(status))
        self.assertTrue(done.exists())

    def test_a_tempest_run_that_is_told_to_end(self):
        """It takes Tempest with it, here somebody who stands in for it."""
        (self.base / 'bin').mkdir()
        tempest = self.base / 'bin' / 'tempest'
        tempest.write_text(
            '#!/bin/sh\nsleep 60 &\necho $$ $!\nwait\n')
        tempest.chmod(0o755)
        with self.python('-c', _STANDS_IN, 'sandbox', 'tempest', '--output',
                         self.base / 'results', '--directory',
                         self.base) as process:
            pids = process.stdout.readline().split()
            process.terminate()
            out, err = process.communicate(timeout=30)
        self.assertEqual((143, ''), (process.returncode, out))
        self.assertEqual(1, len(err.splitlines()), err)
        for pid in pids:
            test_foreground.assert_gone(pid)

    @contextlib.contextmanager
    def waiting(self, **how):
        """One that follows logs: it has something to wait for."""
        folder = self.base / 'box'
        (folder / 'log').mkdir(parents=True)
        (folder / 'log' / 'nova.log').write_text('ready\n')
        samples.save(folder)
        with self.start('sandbox', 'logs', '--follow', '--directory',
                        str(folder), **how) as process:
            self.assertEqual('nova | ready\n', process.stdout.readline())
            yield process

    def test_ctrl_c(self):
        with self.waiting() as process:
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=30)
        self.assertEqual((130, 'magnum-capi: interrupted\n'),
                         (process.returncode, err))

    def test_ctrl_c_is_for_others_where_it_is_ignored(self):
        """Under nohup, or as a background job of a script."""
        with self.waiting(preexec_fn=lambda: signal.signal(
                signal.SIGINT, signal.SIG_IGN)) as process:
            process.send_signal(signal.SIGINT)
            process.terminate()
            _, err = process.communicate(timeout=30)
        self.assertEqual((143, ''), (process.returncode, err))
