# SPDX-License-Identifier: Apache-2.0

"""A program "docker" that answers from files and keeps what it is asked."""

import os
import pathlib

import fixtures

HOST = 'unix:///run/d.sock'

_SCRIPT = """#!/bin/sh
[ "$1" != --host ] || shift 2
echo "$*" >> {folder}/asked
for words in "$1 $2" "$1"; do
    file="{folder}/$words"
    if [ -e "$file" ]; then
        cat "$file"
        exit 0
    fi
done
echo "cannot $1" >&2
exit 1
"""


class Docker(fixtures.Fixture):
    """Puts the program on PATH.

    :param answers: output by the first one or two words; all other commands
        fail.
    """

    def __init__(self, **answers):
        self._answers = {'context inspect': HOST, 'version': ''} | answers

    def _setUp(self):
        self._folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        script = self._folder / 'bin' / 'docker'
        script.parent.mkdir()
        script.write_text(_SCRIPT.format(folder=self._folder))
        script.chmod(0o755)
        self.useFixture(fixtures.EnvironmentVariable(
            'PATH', f'{script.parent}:{os.environ["PATH"]}'))
        self.answer(**self._answers)

    def answer(self, **answers):
        """Change answers; None: the command fails."""
        for words, text in answers.items():
            file = self._folder / words
            if text is None:
                file.unlink(missing_ok=True)
            else:
                file.write_text(text)

    @property
    def asked(self):
        """All commands, without the host."""
        file = self._folder / 'asked'
        return file.read_text().splitlines() if file.exists() else []
