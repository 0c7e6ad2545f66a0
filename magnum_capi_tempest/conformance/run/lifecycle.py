# SPDX-License-Identifier: Apache-2.0


"""The life of a run: everything that users can do with it.

The record is written before anything is created, so that every run can be
resumed. :mod:`.launch` and :mod:`.finishing` do the work.
"""

import contextlib
import dataclasses
import datetime
import functools
import pathlib
import time
import typing
import uuid

from magnum_capi import errors
from magnum_capi import progress as progress_
from magnum_capi import waiting
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import completion
from magnum_capi_tempest.conformance.run import finishing
from magnum_capi_tempest.conformance.run import foreign
from magnum_capi_tempest.conformance.run import hydrophone
from magnum_capi_tempest.conformance.run import kubeconfigs
from magnum_capi_tempest.conformance.run import launch
from magnum_capi_tempest.conformance.run import outcome
from magnum_capi_tempest.conformance.run import retrieve as retrieve_
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest.conformance.run import sonobuoy
from magnum_capi_tempest.conformance.run import watch
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest import toolchain

#: How often to observe. Sonobuoy itself updates its status every 5 s.
PACE = waiting.Pace(first=2, factor=1.5, most=15)

_BACKENDS = {model.SONOBUOY: sonobuoy, model.HYDROPHONE: hydrophone}


@dataclasses.dataclass(frozen=True)
class Runtime:
    """What a run needs from this machine; tests provide their own.

    :param ensure: function of names and progress: name -> path of program.
    :param connect: see :func:`kubeconfigs.access`.
    """

    store: runs.Store = dataclasses.field(default_factory=runs.Store)
    progress: progress_.Progress = dataclasses.field(
        default_factory=progress_.Progress)
    ensure: typing.Callable = toolchain.ensure
    connect: typing.Callable | None = None
    clock: typing.Any = time
    pace: waiting.Pace = PACE
    limits: completion.Limits | None = None


@dataclasses.dataclass(frozen=True)
class RunRequest:
    """The run that a user requests.

    :param results: folder for the results of the run.
    :param name: of the run; generated if empty.
    :param replace: remove an earlier run from the namespace.
    :param keep: leave namespace and roles when the run is over.
    :param skip_preflight: start the tests without checking the cluster.
    """

    target: runs.Target
    plan: runner.Plan
    results: pathlib.Path
    backend: str = model.SONOBUOY
    name: str = ''
    replace: bool = False
    keep: bool = False
    skip_preflight: bool = False


def preview(request: RunRequest, program='') -> list[list[str]]:
    """Every command line that a run would call; nothing is changed.

    :raises UsageError: the request is invalid, or names what does not exist.
    :raises EnvironmentProblem: Magnum cannot be asked for the cluster.
    """
    kind = _BACKENDS[request.backend]
    kind.refuse(request.plan)
    runner.check_files(request.plan)
    kubeconfigs.check(request.target)
    return kind.backend(
        request.plan, program or request.backend,
        request.target.kubeconfig or f'KUBECONFIG-OF-{request.target.cluster}'
    ).preview(request.plan, request.results)


def run(request: RunRequest, runtime: Runtime) -> outcome.Outcome:
    """Run the tests to their end.

    :raises UsageError: the request is invalid, or Hydrophone's files would
        replace those of another run.
    :raises EnvironmentProblem: the cluster is not fit for it, or the folder
        for results cannot be written; nothing was created.
    """
    kind = _BACKENDS[request.backend]
    kind.refuse(request.plan)
    runner.check_files(request.plan)
    with runtime.store.reserved(request.name, request.target) as name, \
            kubeconfigs.access(request.target, runtime.connect) as access:
        reader = kube.Client(access.kubeconfig)

        @functools.cache
        def driver():
            # Building the program takes minutes, so the cluster is checked
            # first.
            program = runtime.ensure([request.backend], runtime.progress)
            return kind.backend(request.plan, program[request.backend],
                                access.kubeconfig)

        planned = kind.backend(request.plan, request.backend,
                               access.kubeconfig)
        seen = launch.prepare(
            request, planned.commands.namespace, dict(planned.labels),
            lambda: driver().delete(), reader, runtime.progress)
        # Not only hours later.
        retrieve_.make_folder(request.results)
        if request.backend == model.HYDROPHONE:
            hydrophone.refuse_folder(request.results / name)
        driven = driver()
        if seen.stand_in:
            request = dataclasses.replace(request, plan=dataclasses.replace(
                request.plan, stand_in=True))
        record = runs.Run(
            name, dataclasses.replace(request.target, context=access.context),
            request.plan, str(request.results.absolute()),
            request.backend, runs.STARTED,
            datetime.datetime.now(datetime.timezone.utc).isoformat(),
            tuple(sorted(n.name for n in seen.nodes)),
            about=dataclasses.replace(
                access.about, kubernetes=seen.version), keep=request.keep,
            signs=seen.signs,
            mark=(uuid.uuid4().hex if kind.takes_namespace(request.plan)
                  else ''))
        runtime.store.save(record)
        runtime.progress.info(
            f'run {name}: {request.plan.mode} on {request.target}')
        launch.make_namespace(record, driven, reader, runtime)
        with _left_running(record, runtime):
            if request.backend == model.HYDROPHONE:
                return finishing.follow(record, driven, reader, runtime, False)
            launch.create(record, driven, runtime)
            return finishing.finish(record, driven, reader, runtime)


def resume(which, runtime: Runtime,
           results: pathlib.Path | None = None) -> outcome.Outcome:
    """Watch a run that an earlier command started, until it ends.

    It is then removed from the cluster, unless it is to be kept.

    :param which: the name of a run, None for the only one that has not ended,
        or the :class:`.foreign.Where` to search; here and below.
    :param results: folder for fetched files, instead of the run's own; here
        and below.
    :raises UsageError: the run was ended, or its results are elsewhere.
    """
    record = _chosen(which, runtime, results)
    if record.backend == model.HYDROPHONE and record.stage == runs.STARTED:
        record = finishing.collect(record, runtime)
    if record.stage in (runs.RETRIEVED, runs.ENDED):
        if pathlib.Path(record.archive).parent != pathlib.Path(
                record.results):
            raise _fetched(record)
        ended = outcome.of_archive(record)
        if record.stage == runs.RETRIEVED and not record.keep:
            # Of a command that was killed, or could not do it itself.
            _remove(record, runtime)
        return ended
    with _access(record, runtime) as (driven, reader):
        with _left_running(record, runtime):
            if record.backend == model.HYDROPHONE:
                return finishing.follow(record, driven, reader, runtime, True)
            return finishing.finish(record, driven, reader, runtime)


def retrieve(which, runtime: Runtime,
             results: pathlib.Path | None = None) -> outcome.Outcome:
    """Fetch the results of a complete run, and leave it in the cluster.

    :raises UsageError: there are none yet, or the run is gone.
    """
    record = _chosen(which, runtime, results)
    if record.backend != model.SONOBUOY:
        raise errors.UsageError(
            'Hydrophone fetches its results itself',
            hint='magnum-capi conformance resume')
    if record.stage == runs.ENDED:
        raise _fetched(record)
    with _access(record, runtime) as (driven, _):
        status = sonobuoy.parse_status(_answer(driven))
        return finishing.fetch(record, driven, status and status.tarball,
                               runtime)


def logs(which, runtime: Runtime, plugin) -> str:
    """The logs of a plugin's pods so far.

    :param plugin: see :meth:`.sonobuoy.Commands.logs`.
    """
    record = _in_cluster(which, runtime)
    with _access(record, runtime) as (driven, _):
        return driven.logs(plugin)


def follow(which, runtime: Runtime, plugin):
    """Yield lines of a plugin's logs, until interrupted.

    :param plugin: see :meth:`.sonobuoy.Commands.logs`.
    """
    record = _in_cluster(which, runtime)
    with _left_running(record, runtime), \
            _access(record, runtime) as (driven, _):
        yield from driven.follow(plugin)


def abort(which, runtime: Runtime):
    """End a run and remove all of it from the cluster."""
    record = _chosen(which, runtime)
    with _access(record, runtime) as (driven, reader):
        finishing.end_hydrophone(record)
        finishing.delete(record, driven, reader, runtime)


def status(which, runtime: Runtime) -> tuple[runs.Run, watch.Watch | None]:
    """The record of a run, and one observation if it is in progress."""
    record = _chosen(which, runtime)
    if record.stage == runs.ENDED or record.backend != model.SONOBUOY:
        return record, None
    with _access(record, runtime) as (driven, reader):
        return record, finishing.look(record, driven, reader, runtime)


def _chosen(which, runtime, results=None):
    record = (foreign.find(which, runtime)
              if isinstance(which, foreign.Where)
              else runtime.store.choose(which))
    if results is None or str(results) == record.results:
        return record
    if record.backend == model.HYDROPHONE:
        raise errors.UsageError(
            f'Hydrophone writes the results of the run {record.name} to the '
            'folder that it was started with',
            where=record.results, hint='Omit --results')
    return dataclasses.replace(record, results=str(results))


def _in_cluster(which, runtime):
    record = _chosen(which, runtime)
    if record.backend != model.SONOBUOY or record.stage == runs.ENDED:
        raise errors.UsageError(
            f'The run {record.name} is not in a cluster any more'
            if record.stage == runs.ENDED else
            'Hydrophone prints its own log while it runs')
    return record


def _fetched(record):
    if not record.archive:
        return errors.UsageError(f'The run {record.name} was aborted')
    return errors.UsageError(
        f'The results of the run {record.name} have already been fetched',
        where=record.archive, hint='Copy them' if record.stage == runs.ENDED
        else 'To fetch them again, use "magnum-capi conformance retrieve"')


def _remove(record, runtime):
    """Remove a run whose results count, whatever becomes of its cluster."""
    try:
        with _access(record, runtime) as (driven, reader):
            finishing.delete(record, driven, reader, runtime, lenient=True)
    except errors.MagnumCapiError as e:
        runtime.progress.info(
            f'Not removed: {e}. Try "magnum-capi conformance abort '
            f'{record.name}"')


@contextlib.contextmanager
def _access(record, runtime):
    kind = _BACKENDS[record.backend]
    program = runtime.ensure([record.backend],
                             runtime.progress)[record.backend]
    with kubeconfigs.access(record.target, runtime.connect) as access:
        yield (kind.backend(record.plan, program, access.kubeconfig),
               kube.Client(access.kubeconfig))


@contextlib.contextmanager
def _left_running(record, runtime):
    """Tell a user who interrupts how to continue."""
    try:
        yield
    except KeyboardInterrupt:
        runtime.progress.info(
            'The run continues in the cluster. To watch it again: magnum-capi '
            f'conformance resume {record.name}. "status" shows its state '
            'once, "abort" ends it')
        raise


def _answer(driven):
    try:
        return driven.status()
    except errors.CommandFailed as e:
        raise errors.EnvironmentProblem(
            'Sonobuoy does not report the state of the run',
            last_seen=sonobuoy.failure_message(e.output)) from None
