# SPDX-License-Identifier: Apache-2.0
"""The record of a sandbox: one small file in its folder.

The file is created first and removed last. So a folder without a record is
never ours to remove, and a record that is not "ready" comes from an
interrupted run.
"""

import contextlib
import dataclasses
import fcntl
import json
import pathlib

from magnum_capi import errors
from magnum_capi import outfile
from magnum_capi_sandbox.cloud import environment
from magnum_capi_sandbox import hints
from magnum_capi_sandbox import infrastructure as infrastructures
from magnum_capi_sandbox import nodes as nodes_
from magnum_capi_sandbox import releases
from magnum_capi_sandbox import spec
from magnum_capi_tempest.management import hosted
from magnum_capi_tempest.management import standalone
from magnum_capi_tempest import paths

#: Name of the file.
NAME = 'sandbox.json'


@dataclasses.dataclass(frozen=True)
class Record:
    """How a sandbox was made.

    :param prefix: its network, ``127.77``.
    :param chart: path of the chart that drivers are pointed at.
    :param ready: whether it has been up.
    :param additions: what it has beyond a default sandbox.
    :param nodes: what the nodes of its clusters are.
    :param magnum: name of Magnum's release.
    :param magnum_wheel: a Magnum of the user's own, with its traits.
    :param infrastructure: one of :data:`.infrastructure.KINDS`.
    :param management: one of ``management.standalone.BACKENDS``.
    """

    profile: str
    prefix: str
    port_base: int
    chart: str
    ready: bool = False
    additions: spec.Additions = spec.Additions()
    nodes: nodes_.Nodes = nodes_.Nodes()
    magnum: str = releases.NEWEST.name
    magnum_wheel: str | None = None
    infrastructure: str = infrastructures.MEMORY
    management: str = standalone.BACKENDS[0]

    @property
    def pods(self) -> bool:
        """Whether Cluster API runs in pods."""
        return self.management == hosted.BACKEND

    @property
    def release(self) -> releases.Release:
        return dataclasses.replace(releases.get(self.magnum),
                                   wheel=self.magnum_wheel)


#: Stands for a record that cannot be read: damaged, or of another version of
#: this program. Only the user may have such a sandbox removed.
UNREADABLE = Record('?', '?', 0, '?')


def load(directory: pathlib.Path) -> Record | None:
    """The record of a folder, None when it is not a sandbox's.

    :returns: it may be :data:`UNREADABLE`.
    """
    try:
        values = json.loads((directory / NAME).read_text())
        added, machines = (
            {k: tuple(v) if isinstance(v, list) else v
             for k, v in values.pop(name).items()}
            for name in ('additions', 'nodes'))
        return Record(**values, additions=spec.Additions(**added),
                      nodes=nodes_.Nodes(**machines))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (AttributeError, KeyError, TypeError, ValueError):
        return UNREADABLE


def save(directory, record):
    outfile.write_private(
        directory / NAME, json.dumps(dataclasses.asdict(record)) + '\n')


def load_readable(directory) -> Record | None:
    """The record of a folder, None when it is not a sandbox's.

    :raises UsageError: it cannot be read.
    """
    record = load(directory)
    if record == UNREADABLE:
        raise errors.UsageError(
            'The record of this sandbox cannot be read: another version of '
            'this program may have written it', where=directory / NAME,
            hint='Use that version, or name another --directory. To remove '
                 f'the sandbox with all of its data: '
                 f'{hints.command("down", directory)}')
    return record


def require_ready(directory) -> Record:
    """The record of a sandbox that is up.

    :raises UsageError: there is none, or it cannot be read.
    """
    record = load_readable(directory)
    if record is None or not record.ready:
        raise errors.UsageError(
            'There is no sandbox', where=directory,
            hint=f'Start one with: {hints.command("up", directory)}')
    return record


def lock_file(purpose, directory) -> pathlib.Path:
    """Path of a lock for a sandbox's folder; it outlives the folder.

    :raises EnvironmentProblem: the cache folder cannot be used.
    """
    folder = paths.cache() / 'locks'
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as e:
        raise errors.EnvironmentProblem(
            f'Cannot use the cache folder: {e.strerror}', where=folder,
            hint='Make it writable, or set MAGNUM_CAPI_CACHE to another '
                 'one') from e
    return folder / f'{purpose}-{environment.digest(str(directory))}.lock'


@contextlib.contextmanager
def locked(directory):
    """Allow one ``up`` or ``down`` at a time in a folder.

    :raises UsageError: another command is running.
    """
    with open(lock_file('sandbox', directory), 'w') as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise errors.UsageError(
                'Another command is starting or stopping this sandbox',
                where=directory, hint='Wait until it has finished') from None
        yield
