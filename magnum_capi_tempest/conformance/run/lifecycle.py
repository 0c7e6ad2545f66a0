# SPDX-License-Identifier: Apache-2.0

"""Starts, attaches to and aborts runs: all that users can do with them.

The handle of a run is its folder, which :mod:`.runs` describes.
"""

import collections.abc
import contextlib
import dataclasses
import datetime
import pathlib
import time
import uuid

from magnum_capi import errors
from magnum_capi import progress as progress_
from magnum_capi import waiting
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import elsewhere
from magnum_capi_tempest.conformance.run import finishing
from magnum_capi_tempest.conformance.run import hydrophone
from magnum_capi_tempest.conformance.run import kubeconfigs
from magnum_capi_tempest.conformance.run import namespaces
from magnum_capi_tempest.conformance.run import preflight
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest.conformance.run import sonobuoy
from magnum_capi_tempest.conformance.run import watch
from magnum_capi_tempest.conformance import sources
from magnum_capi_tempest.conformance import verdict
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest import toolchain

_RUNNERS: dict[str, collections.abc.Callable[
    [runner.Plan, str, str], runner.Runner]] = {
        model.SONOBUOY: sonobuoy.Sonobuoy,
        model.HYDROPHONE: hydrophone.Hydrophone}


@dataclasses.dataclass(frozen=True)
class Runtime:
    """What a run needs from this machine; tests provide their own.

    :param ensure: function of names and progress: name -> path of program.
    :param connect: see :func:`kubeconfigs.access`.
    """

    progress: progress_.Progress = dataclasses.field(
        default_factory=progress_.Progress)
    ensure: collections.abc.Callable[
        [list[str], progress_.Progress],
        collections.abc.Mapping[str, object]] = toolchain.ensure
    connect: kubeconfigs.Connect | None = None
    clock: waiting.Clock = time
    pace: waiting.Pace = watch.PACE
    limits: watch.Limits | None = None


@dataclasses.dataclass(frozen=True)
class RunRequest:
    """The run that a user requests.

    :param folder: of the run, absolute; made if missing.
    :param keep: leave namespace and roles when the run is over.
    :param skip_preflight: start the tests without checking the cluster.
    """

    target: runs.Target
    plan: runner.Plan
    folder: pathlib.Path
    backend: str = model.SONOBUOY
    keep: bool = False
    skip_preflight: bool = False


def preview(request: RunRequest, program: str = '') -> list[list[str]]:
    """Every command line that a run would call; nothing is changed.

    :raises UsageError: the request is invalid, or names what does not exist.
    :raises EnvironmentProblem: Magnum cannot be asked for the cluster.
    """
    planned = _planned(
        request, program, request.target.kubeconfig
        or f'KUBECONFIG-OF-{request.target.cluster}')
    kubeconfigs.check(request.target)
    return planned.preview(request.folder)


def check(request: RunRequest, runtime: Runtime) -> None:
    """Only check whether the cluster is fit for a run.

    :raises UsageError: the request is invalid.
    :raises EnvironmentProblem: it is not fit.
    """
    planned = _planned(request)
    with kubeconfigs.access(request.target, runtime.connect) as access:
        _preflight(request, planned, kube.Client(access.kubeconfig),
                   runtime.progress)


def run(request: RunRequest, runtime: Runtime) -> verdict.Verdict:
    """Run the tests to their end.

    :raises UsageError: the request is invalid, or there is another run in the
        folder.
    :raises EnvironmentProblem: the cluster is not fit for it, or the folder
        for results cannot be written; nothing was created.
    """
    planned = _planned(request)
    with kubeconfigs.access(request.target, runtime.connect) as access:
        reader = kube.Client(access.kubeconfig)
        seen = _preflight(request, planned, reader, runtime.progress)
        plan = dataclasses.replace(
            request.plan, stand_in=request.plan.stand_in or seen.stand_in)
        runs.make_folder(request.folder)
        # Building it takes minutes, so the cluster is checked first.
        driven = _runner(request.backend, plan, access, runtime)
        record = runs.Run(
            request.folder,
            dataclasses.replace(request.target, context=access.context),
            plan, request.backend,
            started=datetime.datetime.now(datetime.timezone.utc).isoformat(),
            nodes=tuple(sorted(n.name for n in seen.nodes)),
            about=dataclasses.replace(
                access.about, kubernetes=seen.version), keep=request.keep,
            warnings=seen.warnings,
            mark=uuid.uuid4().hex if driven.takes_namespace else '')
        runs.save(record)
        runtime.progress.info(
            f'run {plan.mode} on {request.target}, results in '
            f'{request.folder}')
        with _left_running(record, runtime):
            record = _start(record, driven, reader, runtime)
            return finishing.finish(record, driven, reader, runtime)


def attach(which: pathlib.Path | elsewhere.Elsewhere,
           runtime: Runtime) -> verdict.Verdict:
    """Watch a run that another command started, until it ends.

    It is then removed from the cluster, unless it is to be kept.

    :param which: the folder of a run; here and below.
    :raises UsageError: there is none, or it was aborted.
    """
    if not isinstance(which, elsewhere.Elsewhere):
        record = _collected(runs.find(which))
        if record.archive:
            ended = sources.of_run(record)
            if record.stage != runs.ENDED and not record.keep:
                # Of a command that was killed, or could not do it itself.
                _remove(record, runtime)
            return ended
        if record.stage == runs.ENDED:
            raise errors.UsageError('The run was aborted',
                                    where=record.folder)
    with _reached(which, runtime) as (record, driven, reader):
        if record.archive:
            return sources.of_run(record)
        if record.elsewhere and record.keep and not driven.leaves:
            raise errors.UsageError(
                'Hydrophone removes a run when it has fetched its results',
                where=record.target, hint='If that is wanted, use --remove')
        if not (record.folder / runs.FILE).exists():
            runs.make_folder(record.folder)
            runs.save(record)
        with _left_running(record, runtime):
            return finishing.finish(record, driven, reader, runtime)


def observe(which: pathlib.Path | elsewhere.Elsewhere, runtime: Runtime
            ) -> tuple[runs.Run, watch.State | None]:
    """A run, and one observation if it is in progress; nothing is changed.

    :raises EnvironmentProblem: its namespace belongs to another run.
    """
    if not isinstance(which, elsewhere.Elsewhere):
        record = runs.find(which)
        if record.archive or record.stage == runs.ENDED:
            return record, None
    with _reached(which, runtime) as (record, driven, reader):
        finishing.require_own(record, driven, reader)
        return record, watch.step(
            finishing.begin(record, runtime),
            watch.observe(driven, reader, runtime.clock),
            finishing.limits(record, runtime))


def abort(which: pathlib.Path | elsewhere.Elsewhere, runtime: Runtime
          ) -> None:
    """End a run and remove all of it from the cluster."""
    if not isinstance(which, elsewhere.Elsewhere) \
            and runs.find(which).stage == runs.ENDED:
        raise errors.UsageError('The run has already ended', where=which)
    with _reached(which, runtime) as (record, driven, reader):
        finishing.delete(record, driven, reader, runtime)


def _planned(request: RunRequest, program: str = '', kubeconfig: str = ''
             ) -> runner.Runner:
    """The runner of a request, whose program need not be here yet.

    :raises UsageError: it does not support what is requested.
    """
    planned = _RUNNERS[request.backend](
        request.plan, program or request.backend, kubeconfig)
    if request.keep and not planned.leaves:
        raise errors.UsageError(
            'Hydrophone removes a run when it has fetched its results',
            hint='Omit --keep, or use Sonobuoy')
    planned.refuse()
    runner.check_files(request.plan)
    return planned


def _runner(backend: str, plan: runner.Plan, access: kubeconfigs.Access,
            runtime: Runtime) -> runner.Runner:
    program = runtime.ensure([backend], runtime.progress)[backend]
    return _RUNNERS[backend](plan, str(program), str(access.kubeconfig))


def _preflight(request: RunRequest, planned: runner.Runner,
               reader: kube.Client, progress: progress_.Progress
               ) -> preflight.Snapshot:
    """The cluster before the run.

    :raises EnvironmentProblem: it is not fit.
    """
    with progress.step('preflight'):
        seen = preflight.read(reader, planned.namespace)
        found = [*preflight.occupied(seen, planned.namespace)]
        if not request.skip_preflight:
            found = [*preflight.check(seen, request.plan, planned.namespace)]
    for finding in found:
        progress.info(f'preflight: {finding}')
    blockers = [f for f in found if f.level == preflight.BLOCKER]
    if blockers:
        raise errors.EnvironmentProblem(
            'The cluster is not ready for the tests: '
            + '; '.join(f.text for f in blockers),
            hint=blockers[0].hint or 'Nothing was created')
    return seen


def _start(record: runs.Run, driven: runner.Runner, reader: kube.Client,
           runtime: Runtime) -> runs.Run:
    """Create namespace and objects; remove them if not all can be created.

    :returns: the record, which identifies the namespace.
    :raises KubeError: the namespace could not be created: someone else has
        just done so, or the API refused or did not answer.
    :raises EnvironmentProblem: the rest could not be created; says whether it
        has been removed.
    """
    if record.mark:
        try:
            namespaces.create(reader, driven.namespace, record.mark,
                              driven.labels)
        except kube.KubeError as e:
            # Without an answer, or if a proxy or the API server gave up on
            # it, it may exist; then it has the run's mark.
            if e.status is not None and e.status < 500:
                runs.save(dataclasses.replace(record, stage=runs.ENDED))
            raise
    with runtime.progress.step('creating the run'):
        try:
            driven.start(reader, record.folder)
        except errors.CommandFailed as e:
            raise _not_started(record, driven, e) from None
    if not record.mark:
        space = reader.get(namespaces.path(driven.namespace)) or {}
        record = dataclasses.replace(record, uid=(
            space.get('metadata') or {}).get('uid') or '')
        runs.save(record)
    return record


def _not_started(record: runs.Run, driven: runner.Runner,
                 error: errors.CommandFailed) -> errors.EnvironmentProblem:
    message, removed = driven.failure_message(error.output), False
    if record.mark:
        with contextlib.suppress(errors.CommandFailed):
            driven.delete()
            removed = True
    if not removed:
        return errors.EnvironmentProblem(
            'The run could not be created, and some of its objects may be '
            'left', where=error.argv[0], last_seen=message,
            hint='To remove them: magnum-capi conformance abort '
            f'{record.folder}')
    runs.save(dataclasses.replace(record, stage=runs.ENDED))
    return errors.EnvironmentProblem(
        'The run could not be created, and its objects have been removed',
        where=error.argv[0], last_seen=message)


def _collected(record: runs.Run) -> runs.Run:
    """The record of a run, with what a killed command had fetched."""
    found = record.archive or _RUNNERS[record.backend](
        record.plan, '', '').fetched(record.folder)
    if found != record.archive:
        record = dataclasses.replace(record, archive=found,
                                     stage=runs.FETCHED)
        runs.save(record)
    return record


def _remove(record: runs.Run, runtime: Runtime) -> None:
    """Remove a run whose results count, whatever becomes of its cluster."""
    try:
        with _reached(record.folder, runtime) as (record, driven, reader):
            finishing.delete(record, driven, reader, runtime, lenient=True)
    except errors.MagnumCapiError as e:
        runtime.progress.info(
            f'Not removed: {e}. Try "magnum-capi conformance abort '
            f'{record.folder}"')


@contextlib.contextmanager
def _reached(which: pathlib.Path | elsewhere.Elsewhere, runtime: Runtime
             ) -> collections.abc.Iterator[
                 tuple[runs.Run, runner.Runner, kube.Client]]:
    """Yield a run with its runner and a client of its cluster."""
    known = which if isinstance(which, elsewhere.Elsewhere) else runs.find(
        which)
    with kubeconfigs.access(known.target, runtime.connect) as access:
        reader = kube.Client(access.kubeconfig)
        record = (elsewhere.find(known, access, reader) if isinstance(
            known, elsewhere.Elsewhere) else known)
        yield (record, _runner(record.backend, record.plan, access, runtime),
               reader)


@contextlib.contextmanager
def _left_running(record: runs.Run, runtime: Runtime
                  ) -> collections.abc.Iterator[None]:
    """Tell a user who interrupts how to continue."""
    try:
        yield
    except KeyboardInterrupt:
        runtime.progress.info(
            'The run continues in the cluster. To watch it again: magnum-capi '
            f'conformance attach {record.folder}. "attach --once" shows its '
            'state, "abort" ends it')
        raise
