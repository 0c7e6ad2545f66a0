# SPDX-License-Identifier: Apache-2.0

import pathlib
import shutil
import subprocess

import fixtures
import testscenarios
import testtools

from magnum_capi.cli import completion
from magnum_capi.cli import main
from tests.unit.cli import calls

PROGRAM = 'my-tool'
FOLLOWING = {
    'my-tool': ['cluster', 'report'],
    'my-tool cluster': ['down', 'up'],
    'my-tool cluster up': ['-h', '--directory', '--drivers'],
    'my-tool cluster down': ['-h'],
    'my-tool report': ['-h', '--html'],
}

#: How a shell is asked, after the script: the words before the cursor are
#: arguments, the last one may be empty.
ASKED = {
    'bash': 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _my_tool; '
            'printf "%s\\n" "${COMPREPLY[@]}"',
    # The functions of its completion system need a terminal.
    'zsh': 'words=("$@"); CURRENT=$#; PREFIX=$@[-1]; _my_tool',
    'fish': 'complete -C "$argv"',
}
ZSH = ('compdef() { : }; _files() { print -l *(N) }\n'
       'compadd() { print -l -- ${(M)${(P)@[-1]}:#$PREFIX*} }\n')


class ScriptTest(testscenarios.WithScenarios, testtools.TestCase):

    scenarios = [(shell, {'shell': shell}) for shell in ASKED]

    def setUp(self):
        super().setUp()
        if shutil.which(self.shell) is None:
            self.skipTest(f'{self.shell} is not installed')
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (self.folder / 'file').touch()
        script = completion.SCRIPTS[self.shell](PROGRAM, FOLLOWING)
        if self.shell == 'zsh':
            script = ZSH + script
        self.script = script + ASKED[self.shell]

    def complete(self, *words):
        """What the shell offers at the end of these words."""
        argv = [self.shell, '-c', self.script]
        if self.shell != 'fish':
            argv.append('script')
        ended = subprocess.run(
            [*argv, *words], cwd=self.folder, capture_output=True, text=True,
            timeout=60, check=False,
            env={'PATH': '/usr/bin:/bin', 'HOME': str(self.folder)})
        self.assertEqual((0, ''), (ended.returncode, ended.stderr))
        # fish describes them, behind a tab.
        return {line.partition('\t')[0]
                for line in ended.stdout.splitlines() if line}

    def test_groups_verbs_and_options(self):
        for expected, *words in (
                ({'cluster', 'report'}, ''),
                ({'down', 'up'}, 'cluster', ''),
                ({'up'}, 'cluster', 'u'),
                ({'--directory', '--drivers'}, 'cluster', 'up', '--d'),
                ({'--html'}, 'report', '--h'),
                # After what may be names of files.
                ({'--html'}, 'report', 'file', '--h'),
                # Options of the program itself come first.
                ({'cluster', 'report'}, '--debug', '')):
            self.assertEqual(expected, self.complete(PROGRAM, *words), words)

    def test_files(self):
        (self.folder / 'the report').touch()
        found = self.complete(PROGRAM, 'report', '')
        # fish escapes it.
        self.assertLessEqual({'file'} if self.shell == 'fish' else {
            'file', 'the report'}, found)
        self.assertNotIn('file', self.complete(PROGRAM, 'cluster', ''))


class CommandTest(testtools.TestCase):

    def test_every_shell_has_every_command_and_its_options(self):
        for shell in completion.SCRIPTS:
            out = self.useFixture(fixtures.StringStream('out')).stream
            with fixtures.MonkeyPatch('sys.stdout', out):
                self.assertEqual(0, main.main(['complete', shell]))
            out.seek(0)
            script = out.read()
            for command in calls.commands():
                self.assertIn(f'magnum-capi {command.replace("_", " ")}',
                              script)
            self.assertIn('api-paste', script)
