# SPDX-License-Identifier: Apache-2.0


"""Brings a run from its start to its outcome.

Results are checked before the cluster is cleaned up. A run that did not end
well is left in the cluster for inspection.
"""

import dataclasses
import pathlib

from magnum_capi import errors
from magnum_capi import outfile
from magnum_capi import waiting
from magnum_capi_tempest.conformance import damage
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import completion
from magnum_capi_tempest.conformance.run import hydrophone
from magnum_capi_tempest.conformance.run import messages
from magnum_capi_tempest.conformance.run import namespaces
from magnum_capi_tempest.conformance.run import observe
from magnum_capi_tempest.conformance.run import outcome
from magnum_capi_tempest.conformance.run import retrieve
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest.conformance.run import sonobuoy
from magnum_capi_tempest.conformance.run import watch
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.toolchain import leftovers


def look(record, driven, reader, runtime) -> watch.Watch:
    """Observe a run once, and report what that shows."""
    seen = _observer(driven, reader, runtime).look()
    return watch.step(_begin(record, runtime), seen, _limits(record, runtime))


def finish(record, driven, reader, runtime) -> outcome.Outcome:
    """Watch a run to its end; fetch and remove it, or save its logs.

    :param runtime: :class:`.lifecycle.Runtime`, here and below.
    """
    state = _watch(record, driven, reader, runtime)
    record = dataclasses.replace(record, signs=tuple(dict.fromkeys(
        (*record.signs, *state.signs))))
    runtime.store.save(record)
    if state.outcome == completion.COMPLETE:
        found = fetch(record, driven, state.tarball, runtime)
        if not record.keep:
            delete(found.run, driven, reader, runtime, lenient=True)
        elif record.uid:
            runtime.progress.info(
                'The run was started elsewhere and is left in the cluster. To '
                f'remove it: magnum-capi conformance abort {record.name}')
        return found
    runtime.progress.info(f'{state.outcome}: {state.reason}')
    if state.outcome == completion.UNREACHABLE:
        return outcome.of_nothing(record, state.reason)
    _save_logs(record, driven, runtime)
    runtime.progress.info('The run is left in the cluster for inspection. To '
                          'remove it: magnum-capi conformance abort '
                          f'{record.name}')
    return outcome.of_nothing(record, state.reason)


def _save_logs(record, driven, runtime):
    found = ''
    # Of all at once, Sonobuoy gives none if one container has none.
    for plugin in (sonobuoy.AGGREGATOR, sonobuoy.PLUGIN):
        try:
            found += driven.logs(plugin)
        except errors.CommandFailed as e:
            runtime.progress.info(f'No logs of {plugin}: '
                                  f'{sonobuoy.failure_message(e.output)}')
    if found:
        file = pathlib.Path(record.results) / f'{record.name}.log'
        outfile.write_private(file, found.encode())
        runtime.progress.info(f'Logs of the run so far: {file}')


def fetch(record, driven, tarball, runtime) -> outcome.Outcome:
    """Fetch the archive and read it; the run stays in the cluster.

    :param tarball: :class:`.sonobuoy.Tarball`, None if unknown.
    :raises UsageError: there is no archive yet.
    """
    archive = retrieve.fetch(
        driven, tarball or sonobuoy.Tarball(), pathlib.Path(record.results),
        runtime.progress, clock=runtime.clock)
    record = dataclasses.replace(record, stage=runs.RETRIEVED,
                                 archive=str(archive), sha256=tarball.sha256)
    runtime.store.save(record)
    return outcome.of_archive(record)


def follow(record, driven, reader, runtime, go_on) -> outcome.Outcome:
    """Let Hydrophone run to its end, or continue what it has begun.

    :raises EnvironmentProblem: the namespace belongs to someone else by now;
        Hydrophone would remove it at the end.
    """
    folder = files_of(record)
    if record.mark and not _has_namespace(record, driven, reader):
        runtime.store.save(dataclasses.replace(record, stage=runs.ENDED))
        raise errors.EnvironmentProblem(
            f'The namespace {driven.commands.namespace} does not belong to '
            'the run any more', where=record.target)
    with runtime.progress.step(f'run {record.name} with Hydrophone'):
        try:
            driven.run(record.plan, folder, go_on)
        except (errors.CommandFailed, damage.Damage) as e:
            # If its download broke off, it has not removed its pod.
            said = (hydrophone.failure_message(e.output) or e.what
                    if isinstance(e, errors.CommandFailed) else e.what)
            return outcome.of_nothing(
                record, f'Hydrophone ended without results: {said}. To fetch '
                f'them again: magnum-capi conformance resume {record.name}')
    ended = dataclasses.replace(record, stage=runs.ENDED, archive=str(folder))
    found = outcome.of_archive(ended)
    runtime.store.save(ended)
    return found


def collect(record, runtime) -> runs.Run:
    """The record of a run, which is RETRIEVED if Hydrophone's files are here.

    Hydrophone fetches them and removes its pod although the command that
    started it was killed. First ends what that left.
    """
    end_hydrophone(record)
    if hydrophone.collect(files_of(record)):
        record = dataclasses.replace(record, stage=runs.RETRIEVED,
                                     archive=str(files_of(record)))
        runtime.store.save(record)
    return record


def files_of(record) -> pathlib.Path:
    """The folder for Hydrophone's files."""
    return pathlib.Path(record.results) / record.name


def end_hydrophone(record):
    """End what a killed command left.

    Hydrophone keeps running without us. Two of them would fetch the files and
    remove the run at the same time.
    """
    if record.backend == model.HYDROPHONE:
        leftovers.end(files_of(record))


def delete(record, driven, reader, runtime, lenient=False):
    """Remove a run, and nothing else, from its cluster.

    :param lenient: report if it could not be removed, and continue.
    :raises EnvironmentProblem: it could not be removed.
    """
    try:
        with runtime.progress.step('removing the run from the cluster'):
            own = _has_namespace(record, driven, reader)
            if own:
                driven.delete()
    except (errors.CommandFailed, errors.EnvironmentProblem,
            kube.KubeError) as e:
        said = (sonobuoy.failure_message(e.output)
                if isinstance(e, errors.CommandFailed) else e.what)
        if not lenient:
            raise errors.EnvironmentProblem(
                'The run could not be removed', where=record.target,
                last_seen=said, hint=getattr(e, 'hint', None)) from None
        runtime.progress.info(
            f'Not removed: {said}. Try "magnum-capi conformance abort '
            f'{record.name}"')
        return
    if not own:
        runtime.progress.info(
            f'The namespace {driven.commands.namespace} does not belong to '
            'the run any more and is not removed')
    _tell_what_tests_left(reader, runtime)
    runtime.store.save(dataclasses.replace(record, stage=runs.ENDED))


def _tell_what_tests_left(reader, runtime):
    try:
        left = namespaces.of_tests(reader.items('/api/v1/namespaces'))
    except kube.KubeError:
        return
    if left:
        runtime.progress.info(
            'Namespaces of tests are not removed, as another run may be using '
            f'them: {", ".join(left)}. If there is none: kubectl delete '
            f'namespace {" ".join(left)}')


def _has_namespace(record, driven, reader):
    """Whether the namespace still belongs to the run, or is gone.

    :raises EnvironmentProblem: its owner is unknown.
    :raises KubeError: it cannot be read.
    """
    name = driven.commands.namespace
    own = namespaces.is_of(reader, name, record.mark, record.uid)
    if not own and not record.mark and not record.uid:
        raise errors.EnvironmentProblem(
            f'It is unknown who created the namespace {name}',
            hint='If nobody '
            f'needs it: kubectl delete namespace {name}')
    return own


def _watch(record, driven, reader, runtime):
    observer = _observer(driven, reader, runtime)
    limits, state = _limits(record, runtime), _begin(record, runtime)
    with runtime.progress.step(f'run {record.name}') as note:
        def look():
            nonlocal state
            state = watch.step(state, observer.look(), limits)
            for text in state.notes:
                runtime.progress.info(text)
            note(messages.line(state, runtime.clock.monotonic()))
            return state

        # The watch itself ends every wait; this timeout is a safety net.
        return waiting.wait_for(
            look, done=lambda s: bool(s.outcome),
            timeout=limits.deadline + limits.silence + 600,
            what=f'the run {record.name}', pace=runtime.pace,
            clock=runtime.clock, describe=lambda s: messages.line(
                s, runtime.clock.monotonic()))


def _begin(record, runtime):
    return watch.start(runtime.clock.monotonic(),
                       frozenset(record.nodes) or None, record.elapsed())


def _observer(driven, reader, runtime):
    return observe.Observer(driven, reader, runtime.clock)


def _limits(record, runtime):
    return runtime.limits or completion.Limits(record.plan.seconds,
                                               record.plan.stall)
