# SPDX-License-Identifier: Apache-2.0

"""Run Tempest in a workspace, and record what came of it.

Tempest runs from the environment that this package is installed in. Its tests
log their requests, with passwords and private keys: none of them leaves the
workers (:mod:`.worker`), and none is in the recorded stream, whoever ran the
tests.
"""

import io
import os
import pathlib
import sys

import subunit
import testtools

from magnum_capi import errors
from magnum_capi import folders
from magnum_capi import outfile
from magnum_capi import processes
from magnum_capi_tempest import foreground
from magnum_capi_tempest.workspace import folder
from magnum_capi_tempest.workspace import redacting

#: The program that stestr takes for Python.
_WORKER = 'magnum_capi_tempest.workspace.worker'


def run(workspace, arguments, stream, *, etc, env=None) -> pathlib.Path:
    """Run tests; what Tempest says goes to the terminal.

    What is made is for its owner only. Of a run that is ended early, those
    tests are recorded that had come to their end.

    :param workspace: folder, see :mod:`.folder`.
    :param arguments: of ``tempest run``.
    :param stream: file for the recorded subunit stream, without secrets.
    :param etc: folder of the tempest.conf to use.
    :param env: whole environment, the caller's own by default.
    :returns: absolute path of the stream.
    :raises EnvironmentProblem: Tempest is not installed.
    :raises MagnumCapiError: it did not run any test.
    :raises KeyboardInterrupt: Ctrl-C; Tempest with its workers has ended.
    :raises SystemExit: the same for SIGTERM.
    """
    workspace = pathlib.Path(workspace)
    command = [beside('tempest'), 'run', *map(str, arguments)]
    env = {**(os.environ if env is None else env),
           'TEMPEST_CONFIG_DIR': str(pathlib.Path(etc).absolute()),
           'PYTHON': f'{sys.executable} -m {_WORKER}'}
    stream = pathlib.Path(stream).absolute()
    folders.private(stream.parent)
    before = _recorded(workspace)
    earlier = _unfinished(workspace)
    try:
        with outfile.for_owner_only():
            foreground.run(command, cwd=workspace, env=env)
    except (KeyboardInterrupt, SystemExit):
        for path in _unfinished(workspace) - earlier:
            _keep(_of_version_2(path.read_bytes()), stream, etc)
        raise
    if _recorded(workspace) == before:
        raise errors.MagnumCapiError(
            'Tempest did not run any test',
            where=' '.join(map(str, command)), hint='See its message above')
    # The repository's own files are of version 1 of the protocol.
    recorded = processes.run([beside('stestr'), 'last', '--subunit'],
                             cwd=workspace, timeout=120, binary=True)
    _keep(recorded, stream, etc)
    return stream


def _keep(recorded, stream, etc):
    with outfile.whole(stream, outfile.PRIVATE) as f:
        redacting.copy(io.BytesIO(recorded), f, folder.known_secrets(etc))


def _unfinished(workspace):
    """Files of runs that stestr could not end; it renames others."""
    return set((workspace / '.stestr').glob('tmp*'))


def _of_version_2(content):
    """A stream of version 1, which may be cut, in version 2."""
    found = io.BytesIO()
    result = testtools.ExtendedToStreamDecorator(
        subunit.v2.StreamResultToBytes(found))
    result.startTestRun()
    try:
        subunit.ProtocolTestCase(io.BytesIO(content)).run(result)
    finally:
        result.stopTestRun()
    return found.getvalue()


def _recorded(workspace):
    """How many runs a workspace has recorded, as stestr counts: text."""
    try:
        return (workspace / '.stestr' / 'next-stream').read_text().strip()
    except FileNotFoundError:
        return '0'


def make_repository(workspace):
    """Make the folder of recorded runs, without which nothing is listed.

    :raises EnvironmentProblem: Tempest is not installed.
    """
    if not (pathlib.Path(workspace) / '.stestr').exists():
        processes.run([beside('stestr'), 'init'], cwd=workspace, timeout=120)


def beside(name) -> pathlib.Path:
    """A program of this Python environment.

    :raises EnvironmentProblem: it is not there.
    """
    path = pathlib.Path(sys.executable).with_name(name)
    if not path.exists():
        raise errors.EnvironmentProblem(
            f'{name} is not installed in the Python environment of this '
            'program', where=path,
            hint='pip install tempest')
    return path
