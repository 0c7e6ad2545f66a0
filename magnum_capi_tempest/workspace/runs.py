# SPDX-License-Identifier: Apache-2.0

"""Run Tempest in a workspace, and record the results.

Tempest runs from the environment that this package is installed in. Its tests
log their requests, with passwords and private keys. No secret leaves the
workers (:mod:`.worker`), and none is in the recorded stream, even if another
program ran the tests.
"""

import collections.abc
import contextlib
import io
import itertools
import os
import pathlib
import shlex
import sys
import tempfile
import time
import typing

import subunit
import testtools

from magnum_capi import errors
from magnum_capi import folders
from magnum_capi import outfile
from magnum_capi import processes
from magnum_capi_tempest import foreground
from magnum_capi_tempest import paths
from magnum_capi_tempest.workspace import conf
from magnum_capi_tempest.workspace import folder
from magnum_capi_tempest.workspace import live
from magnum_capi_tempest.workspace import pool
from magnum_capi_tempest.workspace import redacting

#: Regular expression for Tempest that selects the whole suite.
SUITE = 'magnum_capi'

#: The recorded run, in the folder of the results.
STREAM = 'run.subunit'

#: Folder of the evidence of failed tests, in the folder of the results.
ARTEFACTS = 'artefacts'

#: The program that stestr runs as Python.
_WORKER = 'magnum_capi_tempest.workspace.worker'

#: Exit code of Tempest when no test matches (stestr/commands/run.py,
#: _run_tests). When it cannot list its tests it is 100
#: (stestr/test_processor.py).
_NOTHING = 1


class RunCutOff(errors.MagnumCapiError):
    """Tempest ended on its own before all of its tests had run.

    :param stream: file with what is recorded of them.
    """

    def __init__(self, what: str, *, stream: pathlib.Path, **kwargs: typing.Any
                 ) -> None:
        super().__init__(what, **kwargs)
        self.stream = stream


def new_results(prefix: str = '') -> pathlib.Path:
    """Make a folder for the results of a run, named after the current time.

    Runs that begin in the same second do not share one.
    """
    parent = folders.private(paths.state() / 'results')
    name = time.strftime(f'{prefix}%Y%m%dT%H%M%S', time.gmtime())
    for number in itertools.count(2):
        with contextlib.suppress(FileExistsError):
            found = parent / name
            found.mkdir(mode=0o700)
            return found
        name = f'{name.partition("_")[0]}_{number}'
    raise AssertionError('not reached')


def run(workspace: pathlib.Path, arguments: collections.abc.Iterable[object],
        stream: pathlib.Path, *, etc: pathlib.Path,
        env: collections.abc.Mapping[str, str] | None = None,
        grace: float = foreground.CLEANUP) -> pathlib.Path:
    """Run tests, and show a line for each of them on the terminal.

    Only the owner can read the stream. If a run is stopped early, the finished
    tests are recorded, and the interrupted ones delete what they created.
    What they created is recorded as evidence is: see :func:`artefacts`.

    :param workspace: folder, see :mod:`.folder`.
    :param arguments: for ``tempest run``.
    :param stream: file for the recorded subunit stream, without secrets.
    :param etc: folder of the tempest.conf to use.
    :param env: the whole environment, by default the caller's.
    :param grace: seconds that tests get for that after SIGTERM.
    :returns: absolute path of the stream.
    :raises EnvironmentProblem: Tempest is not installed.
    :raises MagnumCapiError: no test matches, or none ran for another reason.
    :raises RunCutOff: Tempest ended on its own before it had recorded the
        run, or one of its workers was killed; the finished tests are in the
        stream.
    :raises KeyboardInterrupt: Ctrl-C; Tempest with its workers has ended.
    :raises SystemExit: the same for SIGTERM.
    """
    workspace = pathlib.Path(workspace)
    command = [program_path('tempest'), 'run', '--subunit',
               *map(str, arguments)]
    env = {**(os.environ if env is None else env),
           'TEMPEST_CONFIG_DIR': str(pathlib.Path(etc).absolute())}
    # A shell splits PYTHON at blanks, so that it cannot have the path.
    python = pathlib.Path(sys.executable)
    env['PATH'] = f'{python.parent}{os.pathsep}{env.get("PATH", os.defpath)}'
    env['PYTHON'] = f'{python.name} -m {_WORKER}'
    stream = pathlib.Path(stream).absolute()
    # As oslo.config reads it.
    env['OS_MAGNUM_CAPI__ARTIFACT_DIR'] = str(artefacts(etc, stream))
    stream.parent.mkdir(parents=True, exist_ok=True)
    before = _recorded(workspace)
    earlier = _streams(workspace)
    try:
        with outfile.for_owner_only(), tempfile.TemporaryDirectory(
                prefix='magnum-capi-workers-') as workers:
            shared = pathlib.Path(workers)
            pool.make(shared)
            code = foreground.run(command, cwd=workspace,
                                  env={**env, folder.WORKERS: workers},
                                  read=live.Live().read, cleanup=grace)
            killed = os.listdir(shared / pool.ALIVE)
    except (KeyboardInterrupt, SystemExit):
        _rescue(_streams(workspace) - earlier, stream, etc)
        raise
    if _recorded(workspace) == before:
        if _rescue(_streams(workspace) - earlier, stream, etc):
            raise RunCutOff(
                'Tempest ended before all of its tests had run', stream=stream,
                where=stream, last_seen=f'exit code {code}',
                hint='See its message above, and whether disk or memory is '
                     'full')
        if code == _NOTHING:
            raise errors.MagnumCapiError(
                'No test matches', where=shlex.join(map(str, arguments)),
                hint='To list all tests: tempest run --list-tests, in '
                     f'{workspace}')
        raise errors.MagnumCapiError(
            'Tempest did not run any test',
            where=' '.join(map(str, command)), last_seen=f'exit code {code}',
            hint='See its message above')
    # The repository's own files use version 1 of the protocol.
    recorded = processes.run([program_path('stestr'), 'last', '--subunit'],
                             cwd=workspace, timeout=120, binary=True)
    _keep(recorded, stream, etc)
    if killed:
        # stestr takes the tests of such a worker for run
        # (stestr/output.py, ReturnCodeToSubunit).
        raise RunCutOff(
            'A process that ran tests was killed, so tests are missing',
            stream=stream, where=stream, last_seen=f'exit code {code}',
            hint='See whether memory is full')
    return stream


def artefacts(etc: pathlib.Path, stream: pathlib.Path) -> pathlib.Path:
    """Folder of the evidence of a run, and of the record of what it created.

    :param etc: folder of tempest.conf, which may name the folder.
    :param stream: file for the recorded stream; its folder has it otherwise.
    """
    return pathlib.Path(conf.read(etc).artifact_dir
                        or pathlib.Path(stream).with_name(ARTEFACTS))


def _rescue(paths: collections.abc.Set[pathlib.Path], stream: pathlib.Path,
            etc: pathlib.Path) -> bool:
    """Record what stestr wrote of a run; returns whether there is any."""
    found = [content for path in paths if (content := path.read_bytes())]
    for content in found:
        _keep(_of_version_2(content), stream, etc)
    return bool(found)


def _keep(recorded: bytes, stream: pathlib.Path, etc: pathlib.Path) -> None:
    with outfile.whole(stream, outfile.PRIVATE) as f:
        redacting.copy(io.BytesIO(recorded), f, folder.known_secrets(etc))


def _streams(workspace: pathlib.Path) -> set[pathlib.Path]:
    """Files of stestr's runs: of those it finished, and of the others."""
    repository = workspace / '.stestr'
    return {*repository.glob('[0-9]*'), *repository.glob('tmp*')}


def _of_version_2(content: bytes) -> bytes:
    """Convert a stream of version 1, which may be truncated, to version 2."""
    found = io.BytesIO()
    result = testtools.ExtendedToStreamDecorator(
        subunit.v2.StreamResultToBytes(found))
    result.startTestRun()
    try:
        subunit.ProtocolTestCase(io.BytesIO(content)).run(result)
    finally:
        result.stopTestRun()
    return found.getvalue()


def _recorded(workspace: pathlib.Path) -> str:
    """stestr's counter of the recorded runs of a workspace: text."""
    try:
        return (workspace / '.stestr' / 'next-stream').read_text().strip()
    except FileNotFoundError:
        return '0'


def make_repository(workspace: pathlib.Path) -> None:
    """Make the folder of recorded runs, without which tests cannot be listed.

    :raises EnvironmentProblem: Tempest is not installed.
    """
    if not (pathlib.Path(workspace) / '.stestr').exists():
        processes.run([program_path('stestr'), 'init'], cwd=workspace,
                      timeout=120)


def program_path(name: str) -> pathlib.Path:
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
