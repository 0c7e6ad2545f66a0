# SPDX-License-Identifier: Apache-2.0

"""``run.json``, the handle of a run, beside its archive.

A run lives in a cluster and continues without us. The file is written before
anything is created there, so that after Ctrl-C, kill -9 or a power failure
``attach`` and ``abort`` can find the run, and so that its results are known
with the cluster they belong to. It contains no secret: a kubeconfig from
Magnum is created anew each time.
"""

import contextlib
import dataclasses
import datetime
import json
import os
import pathlib

from magnum_capi import errors
from magnum_capi import folders
from magnum_capi import outfile
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest import json_types
from magnum_capi_tempest import texts

FILE = 'run.json'
#: Most bytes of it that are read.
_MOST = 1 << 20

#: Stages of a run, in order.
STARTED = 'started'      # it may run in the cluster
FETCHED = 'fetched'      # its results are here
ENDED = 'ended'          # nothing of it is in the cluster any more


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

    def __str__(self) -> str:
        if self.cluster:
            return f'cluster {self.cluster}'
        return self.kubeconfig + (
            f', context {self.context}' if self.context else '')


@dataclasses.dataclass(frozen=True)
class Run:
    """One run.

    :param folder: where its file and its results are; not in the file.
    :param elsewhere: something else started it: another machine, or
        Sonobuoy or Hydrophone alone. Of its plan only the namespace is known.
    :param started: when its objects were requested, ISO 8601 with zone.
    :param nodes: names of the nodes before the run.
    :param archive: name of the archive in the folder; "." for result files
        without one; empty before they are fetched.
    :param sha256: of the archive, verified when it was retrieved.
    :param about: what is known about the cluster.
    :param keep: leave its objects in the cluster at the end.
    :param warnings: observed problems of the cluster, a line each.
    :param mark: of its namespace, see :mod:`.namespaces`; empty if the run
        was started elsewhere, or its program creates the namespace.
    :param uid: of its namespace, if it has no mark.
    """

    folder: pathlib.Path
    target: Target
    plan: runner.Plan
    backend: str = model.SONOBUOY
    elsewhere: bool = False
    stage: str = STARTED
    started: str = ''
    nodes: tuple[str, ...] = ()
    archive: str = ''
    sha256: str = ''
    about: model.Cluster = model.Cluster()
    keep: bool = False
    warnings: tuple[str, ...] = ()
    mark: str = ''
    uid: str = ''

    @property
    def source(self) -> pathlib.Path:
        """The archive, or the folder of result files."""
        return self.folder / self.archive

    def elapsed(self) -> float:
        """Seconds since it was started."""
        now = datetime.datetime.now(datetime.timezone.utc)
        began = datetime.datetime.fromisoformat(self.started)
        return max((now - began).total_seconds(), 0.0)


def default_folder(target: Target, began: datetime.datetime | None = None
                   ) -> pathlib.Path:
    """A folder in the current one: the cluster and the time of the start.

    :param began: aware datetime, now by default.
    """
    began = began or datetime.datetime.now(datetime.timezone.utc)
    stem = (target.cluster or target.context
            or pathlib.Path(target.kubeconfig).stem)
    stem = ''.join(c if c.isascii() and c.isalnum() else '-' for c in stem)
    return pathlib.Path(
        f'conformance-{stem[:60].strip("-") or "run"}-{began:%Y%m%d-%H%M%S}'
    ).absolute()


def make_folder(folder: pathlib.Path) -> None:
    """Make the folder of a new run, which must be its own.

    :raises UsageError: there is a run, or files of Hydrophone.
    :raises EnvironmentProblem: it cannot be written to.
    """
    for name in FILE, 'junit_01.xml', 'e2e.log':
        if (folder / name).exists():
            raise errors.UsageError(
                'There is another run in this folder', where=folder,
                last_seen=name, hint='Use another --output, or "magnum-capi '
                f'conformance attach {folder}"')
    try:
        folders.private(folder)
        # A full disk or a missing permission is no surprise hours later.
        with outfile.whole(folder / '.try', outfile.PRIVATE) as stream:
            stream.write(b'x')
        (folder / '.try').unlink()
    except (OSError, errors.EnvironmentProblem) as e:
        raise errors.EnvironmentProblem(
            f'Cannot write to the folder for results: {e}', where=folder,
            hint='Name another one with --output') from e


def save(run: Run) -> None:
    """Write the file atomically, safe against a power failure."""
    data = dataclasses.asdict(run)
    del data['folder']
    with outfile.whole(run.folder / FILE, outfile.PRIVATE) as stream:
        stream.write(json.dumps(data, indent=1, default=str).encode())
        stream.flush()
        os.fsync(stream.fileno())


def load(folder: pathlib.Path) -> Run:
    """Read the file of a folder.

    :raises EnvironmentProblem: there is none, or it cannot be read.
    """
    file = pathlib.Path(folder).absolute() / FILE
    try:
        if file.exists() and not file.is_file():
            raise ValueError('it is not a regular file')
        with open(file, 'rb') as stream:
            return _from_dict(file.parent, json.loads(stream.read(_MOST)))
    except (OSError, ValueError, TypeError, KeyError, AttributeError,
            RecursionError, errors.UsageError) as e:
        raise errors.EnvironmentProblem(
            'The file of a run cannot be read: '
            f'{texts.line(str(e))}', where=file) from e


def find(folder: pathlib.Path) -> Run:
    """The only run in a folder, or directly below it, that has not ended.

    :raises UsageError: there is none, or more than one.
    """
    folder = pathlib.Path(folder).absolute()
    if (folder / FILE).exists():
        return load(folder)
    found = []
    for file in sorted(folder.glob(f'*/{FILE}')):
        # A broken one does not hide others.
        with contextlib.suppress(errors.MagnumCapiError):
            found.append(load(file.parent))
    found = [run for run in found if run.stage != ENDED]
    if len(found) == 1:
        return found[0]
    raise errors.UsageError(
        'Which run?' if found else 'There is no run in this folder',
        where=folder,
        last_seen=', '.join(r.folder.name for r in found) or None,
        hint='Name the folder of a run, or its cluster and --namespace')


def beside(source: pathlib.Path, sha256: str = '') -> Run | None:
    """The run that left an archive, or a folder of result files.

    :param sha256: of the archive. The file of another run says nothing of it.
    """
    source = pathlib.Path(source)
    folder = source if source.is_dir() else source.parent
    try:
        run = load(folder)
    except errors.MagnumCapiError:
        return None
    return run if run.sha256 == sha256 and run.archive else None


def _from_dict(folder: pathlib.Path, data: json_types.Object) -> Run:
    """A run from a file that may come from anywhere.

    :raises ValueError, TypeError, KeyError, UsageError: it is not one.
    """
    plan = dict(data['plan'])
    images = dict(plan['images'])
    for file in 'mirrors', 'docker_config':
        images[file] = images[file] and pathlib.Path(images[file])
    plan['images'] = runner.Images(**images)
    for pairs in 'env', 'node_selector':
        plan[pairs] = tuple(tuple(pair) for pair in plan[pairs])
    about = dict(data['about'])
    about['nodes'] = tuple(about['nodes'])
    run = Run(**{
        **data, 'folder': folder, 'target': Target(**data['target']),
        'plan': runner.Plan(**plan), 'nodes': tuple(data['nodes']),
        'warnings': tuple(data['warnings']),
        'about': model.Cluster(**about)})
    lines = [value for part in (run, run.target, run.about)
             for field in dataclasses.fields(part)
             if field.default == '' for value in [getattr(part, field.name)]]
    if not all(isinstance(text, str) for text in (
            *lines, *run.nodes, *run.warnings, *run.about.nodes)):
        raise TypeError('a value is not a text')
    if datetime.datetime.fromisoformat(run.started).tzinfo is None:
        raise ValueError('the time of the start has no zone')
    if (run.stage not in (STARTED, FETCHED, ENDED)
            or run.backend not in (model.SONOBUOY, model.HYDROPHONE)
            or run.archive not in ('', '.', pathlib.Path(run.archive).name)):
        raise ValueError('a value is unknown')
    return run
