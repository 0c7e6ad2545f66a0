# SPDX-License-Identifier: Apache-2.0


"""The records of conformance runs on this machine.

A run lives in a cluster and continues without us. Its record is written before
anything is created there, so that after Ctrl-C, kill -9 or a power failure,
``status``, ``resume``, ``retrieve`` and ``abort`` can find it. A record
contains no secret: a kubeconfig from Magnum is created anew each time.
"""

import contextlib
import dataclasses
import datetime
import json
import os
import pathlib
import re

from magnum_capi import errors
from magnum_capi import folders
from magnum_capi import outfile
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest import paths

#: Stages of a run, in order.
PLANNED = 'planned'      # nothing was created
STARTED = 'started'      # it may run in the cluster
RETRIEVED = 'retrieved'  # its results are here
ENDED = 'ended'          # nothing of it is in the cluster any more

_NAME = re.compile(r'[A-Za-z0-9][A-Za-z0-9._-]{0,99}')
_FILE = 'run.json'


@dataclasses.dataclass(frozen=True)
class Target:
    """The cluster of a run.

    :param cluster: name or UUID of a Magnum cluster.
    :param cloud: name in clouds.yaml, empty for OS_CLOUD and the like.
    :param kubeconfig: absolute path, or several separated by colons, instead
        of ``cluster``.
    :param context: of the kubeconfig; the current one if empty.
    """

    cluster: str = ''
    cloud: str = ''
    kubeconfig: str = ''
    context: str = ''

    def __str__(self):
        if self.cluster:
            return f'cluster {self.cluster}'
        return self.kubeconfig + (
            f', context {self.context}' if self.context else '')


@dataclasses.dataclass(frozen=True)
class Run:
    """One run.

    :param results: folder for its results, absolute.
    :param started: when its objects were requested, ISO 8601 with zone; empty
        before.
    :param nodes: names of the nodes before the run.
    :param archive: path of the archive, or of the folder of result files.
    :param sha256: of the archive, verified when it was retrieved.
    :param about: what is known about the cluster, :class:`model.Cluster`.
    :param keep: leave its objects in the cluster at the end.
    :param signs: observed problems of the cluster, a line each.
    :param mark: of its namespace, see :mod:`.namespaces`; empty if the
        program of the run creates the namespace.
    :param uid: of the namespace, for a run that was found in a cluster and
        started by something else.
    """

    name: str
    target: Target
    plan: runner.Plan
    results: str
    backend: str = model.SONOBUOY
    stage: str = PLANNED
    started: str = ''
    nodes: tuple[str, ...] = ()
    archive: str = ''
    sha256: str = ''
    about: model.Cluster = model.Cluster()
    keep: bool = False
    signs: tuple[str, ...] = ()
    mark: str = ''
    uid: str = ''

    def elapsed(self, now=None) -> float:
        """Seconds since it was started, 0 before."""
        if not self.started:
            return 0.0
        now = now or datetime.datetime.now(datetime.timezone.utc)
        began = datetime.datetime.fromisoformat(self.started)
        return max((now - began).total_seconds(), 0.0)


class Store:
    """The records, one folder per run.

    :param root: by default in the state folder.
    """

    def __init__(self, root: pathlib.Path | None = None):
        self.root = root or paths.state() / 'conformance'

    def new_name(self, target: Target, now=None) -> str:
        """An unused name for a run: its cluster and the time."""
        now = now or datetime.datetime.now(datetime.timezone.utc)
        stem = (target.cluster or target.context
                or pathlib.Path(target.kubeconfig).stem)
        stem = re.sub(r'[^A-Za-z0-9-]+', '-', stem).strip('-')[:60] or 'run'
        base = f'{stem}-{now:%Y%m%d-%H%M%S}'
        name, number = base, 1
        while self.folder(name).exists():
            number += 1
            name = f'{base}-{number}'
        return name

    def folder(self, name) -> pathlib.Path:
        """The folder for the record of a run.

        :raises UsageError: the name is invalid.
        """
        if not _NAME.fullmatch(name):
            raise errors.UsageError(
                f'{name!r} is not a valid name for a run',
                hint='Use letters, digits, dots, dashes and underscores')
        return self.root / name

    @contextlib.contextmanager
    def reserved(self, name, target: Target):
        """Yield a name that no other process can take for a run.

        Its folder is made at once, and removed in the end if it has no record.

        :param name: of the run; generated from ``target`` if empty.
        :raises UsageError: the name is invalid, or taken.
        :raises EnvironmentProblem: the folder cannot be made.
        """
        folder = self._reserve(name, target)
        try:
            yield folder.name
        finally:
            with contextlib.suppress(OSError):
                folder.rmdir()

    def _reserve(self, name, target):
        folder = self.root
        try:
            folders.private(self.root)
            while True:
                folder = self.folder(name or self.new_name(target))
                try:
                    folder.mkdir(mode=0o700)
                    return folder
                except FileExistsError:
                    if name:
                        raise _taken(folder) from None
        except OSError as e:
            raise errors.EnvironmentProblem(
                f'Cannot make the folder of a run: {e.strerror}',
                where=folder) from e

    def save(self, run: Run):
        """Write a record atomically, safe against a power failure."""
        record = json.dumps(dataclasses.asdict(run), indent=1, default=str)
        with outfile.whole(
                self.folder(run.name) / _FILE, outfile.PRIVATE) as f:
            f.write(record.encode())
            f.flush()
            os.fsync(f.fileno())

    def load(self, name) -> Run:
        """Read a record.

        :raises UsageError: there is no such run.
        :raises EnvironmentProblem: its record cannot be read.
        """
        file = self.folder(name) / _FILE
        try:
            return _from_dict(json.loads(file.read_text(encoding='utf-8')))
        except FileNotFoundError:
            raise errors.UsageError(
                f'There is no run {name}', where=self.root,
                hint='Runs: ' + (', '.join(r.name for r in self.all())
                                 or 'none')) from None
        except (OSError, ValueError, TypeError, KeyError) as e:
            raise errors.EnvironmentProblem(
                f'The record of a run cannot be read: {e}',
                where=file) from e

    def all(self) -> list[Run]:
        """The runs with readable records, oldest first."""
        found = []
        for file in self.root.glob(f'*/{_FILE}'):
            try:
                found.append(self.load(file.parent.name))
            except errors.MagnumCapiError:
                continue
        return sorted(found, key=lambda r: (r.started or '~', r.name))

    def left(self) -> list[Run]:
        """The runs of which something may be left in a cluster."""
        return [r for r in self.all() if r.stage != ENDED]

    def choose(self, name=None) -> Run:
        """The run with a name, or the only one that has not ended.

        :raises UsageError: there is none, or more than one.
        """
        if name:
            return self.load(name)
        going = self.left()
        if len(going) == 1:
            return going[0]
        raise errors.UsageError(
            'Which run?' if going else 'No run has been left in a cluster',
            where=self.root, hint='Name one of ' + ', '.join(
                r.name for r in going or self.all()) if self.all() else None)


def _taken(folder):
    if (folder / _FILE).exists():
        return errors.UsageError(f'There is a run {folder.name} already',
                                 where=folder)
    return errors.UsageError(
        f'A run {folder.name} is just being started, or its start was killed',
        where=folder, hint='Use another --name; if none is being started, '
        'remove this folder')


def _from_dict(data):
    plan = dict(data['plan'])
    images = dict(plan['images'])
    for file in 'mirrors', 'docker_config':
        images[file] = images[file] and pathlib.Path(images[file])
    plan['images'] = runner.Images(**images)
    for pairs in 'env', 'node_selector':
        plan[pairs] = tuple(tuple(pair) for pair in plan[pairs])
    plan['focus'] = tuple(plan['focus'])
    about = dict(data['about'])
    about['nodes'] = tuple(about['nodes'])
    return Run(**{
        **data, 'target': Target(**data['target']),
        'plan': runner.Plan(**plan), 'nodes': tuple(data['nodes']),
        'signs': tuple(data.get('signs', ())),
        'about': model.Cluster(**about)})
