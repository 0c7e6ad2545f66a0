# SPDX-License-Identifier: Apache-2.0


"""Commands of a page, typed into a shell one after the other.

They share variables and the current folder, as if typed by a person. Home,
state and temporary files are in a folder of the test; the cache is the user's
own warm one.
"""

import dataclasses
import os
import pathlib
import subprocess
import sys

import fixtures

from magnum_capi_tempest import paths
from tests.unit.docs import pages

#: Prefix of the line that separates a command's end from its output.
_END = '\x1e'


@dataclasses.dataclass(frozen=True)
class Seen:
    """The output of a command, and its exit code."""

    command: pages.Command
    output: str
    code: int


class Shell(fixtures.Fixture):
    """A person at a terminal.

    :param folder: for home, state and temporary files.
    :param env: more variables of the environment.
    """

    def __init__(self, folder, **env):
        self._folder = pathlib.Path(folder)
        self._more = env

    def _setUp(self):
        for name in ('home', 'state', 'tmp'):
            (self._folder / name).mkdir()
        self.env = {
            name: value for name, value in os.environ.items()
            if not name.startswith(('OS_', 'KUBECONFIG'))} | {
            'COLUMNS': '79',
            'HOME': str(self._folder / 'home'),
            'MAGNUM_CAPI_CACHE': str(paths.cache()),
            'MAGNUM_CAPI_STATE': str(self._folder / 'state'),
            'PATH': os.pathsep.join(
                (os.path.dirname(sys.executable), os.environ['PATH'])),
            'TMPDIR': str(self._folder / 'tmp'),
            'XDG_CACHE_HOME': os.environ.get(
                'XDG_CACHE_HOME', os.path.expanduser('~/.cache')),
            **self._more}
        self.addCleanup(self.run, 'magnum-capi sandbox down', timeout=600)

    def run(self, text, cwd='/', timeout=1800):
        """Run a text in a shell; returns its output."""
        return subprocess.run(
            ['bash', '-c', text], cwd=cwd, env=self.env,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors='replace',
            timeout=timeout, check=False).stdout

    def type(self, commands, cwd, replace=(), timeout=1800):
        """Run commands until one ends with an unexpected code.

        :param replace: pairs of a text of the page and its replacement on
            this machine.
        :returns: :class:`Seen` for each command that ran.
        """
        script = ''.join(
            f'{_replaced(c.text, replace)}\nend=$?; echo; echo {_END}$end\n'
            f'[ $end -eq {c.code} ] || exit\n' for c in commands)
        return _read(commands,
                     self.run(script, cwd, timeout).split(f'\n{_END}'))


def _read(commands, parts):
    """Parse the parts, which begin with the previous command's exit code."""
    output, seen = parts[0], []
    for command, part in zip(commands, parts[1:]):
        code, _, rest = part.partition('\n')
        seen.append(Seen(command, output, int(code)))
        output = rest
    return seen


def _replaced(text, replace):
    for old, new in replace:
        text = text.replace(old, new)
    return text
