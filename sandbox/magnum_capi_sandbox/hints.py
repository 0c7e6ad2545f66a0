# SPDX-License-Identifier: Apache-2.0
"""Command lines that messages show, for the sandbox that they are about."""

import os
import pathlib
import shlex
import shutil
import sys

from magnum_capi_tempest import paths


def default_directory() -> pathlib.Path:
    """Folder of the sandbox when none is named."""
    return paths.state() / 'sandbox'


def command(verb: str, directory: pathlib.Path) -> str:
    """The command line of a command for the sandbox in a folder.

    :param verb: one of "magnum-capi sandbox".
    :returns: to be copied into any shell of the user, which need not have the
        variable by which a script has moved the state folder, nor this
        program on PATH.
    """
    words = [program(), 'sandbox', verb]
    if directory != default_directory() or 'MAGNUM_CAPI_STATE' in os.environ:
        words += ['--directory', str(directory)]
    return shlex.join(words)


def program() -> str:
    """How to call this program: its path, unless PATH finds it."""
    own = pathlib.Path(sys.executable).with_name('magnum-capi')
    found = shutil.which(own.name)
    if own.exists() and (not found or not own.samefile(found)):
        return str(own)
    return own.name


def take_down(directory: pathlib.Path) -> str:
    """What to do when another sandbox is in the way."""
    return (f'Take it down first: {command("down", directory)}; or name '
            'another --directory')
