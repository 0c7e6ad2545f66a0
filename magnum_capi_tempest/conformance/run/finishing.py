# SPDX-License-Identifier: Apache-2.0

"""Brings a run from its start to its outcome, and removes it.

Results are checked before the cluster is cleaned up. A run that did not end
well is left in the cluster for inspection, and no verdict is made of a part of
its results.
"""

import collections.abc
import contextlib
import dataclasses
import typing

from magnum_capi import errors
from magnum_capi import outfile
from magnum_capi import progress as progress_
from magnum_capi import waiting
from magnum_capi_tempest.conformance.run import namespaces
from magnum_capi_tempest.conformance.run import objects
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest.conformance.run import watch
from magnum_capi_tempest.conformance import sources
from magnum_capi_tempest.conformance import verdict
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest import redact
from magnum_capi_tempest import texts

if typing.TYPE_CHECKING:
    from magnum_capi_tempest.conformance.run import lifecycle

#: What the pods of a run that did not end had written.
LOGS = 'pods.log'

#: Seconds until the namespaces of interrupted tests must be gone.
DELETION = 180

#: Bytes of a log that have its beginning.
_BEGIN = 1 << 20


def finish(record: runs.Run, driven: runner.Runner, reader: kube.Client,
           runtime: 'lifecycle.Runtime') -> verdict.Verdict:
    """Watch a run to its end; fetch and remove it, or save its logs.

    :raises EnvironmentProblem: another run has its namespace, or the results
        cannot be fetched.
    """
    require_own(record, driven, reader)
    state = watch.follow(
        driven, reader, begin(record, runtime), limits(record, runtime),
        runtime.progress, runtime.clock, runtime.pace)
    with contextlib.suppress(errors.EnvironmentProblem):
        # Another command may have watched it, too.
        now = runs.load(record.folder)
        if now.archive:
            return sources.of_run(now)
        if now.stage == runs.ENDED:
            return sources.of_nothing(
                now, 'another command has aborted the run')
    record = dataclasses.replace(record, warnings=tuple(dict.fromkeys(
        (*record.warnings, *state.warnings, *_system_warnings(reader)))))
    runs.save(record)
    status = state.seen.status
    if state.outcome == watch.COMPLETE and status is not None:
        require_own(record, driven, reader)
        return _fetch(record, driven, reader, runtime, status)
    runtime.progress.info(f'{state.outcome}: {state.reason}')
    if state.outcome != watch.UNREACHABLE:
        _save_logs(record, driven, reader, runtime.progress)
        runtime.progress.info(
            'The run is left in the cluster for inspection. To remove it: '
            f'magnum-capi conformance abort {record.folder}')
    return sources.of_nothing(record, state.reason)


def require_own(record: runs.Run, driven: runner.Runner, reader: kube.Client
                ) -> None:
    """Refuse to take the run of others for this one.

    The namespace may have been removed and created again since then. It is
    not refused as long as the API does not answer.

    :raises EnvironmentProblem: its namespace belongs to another run.
    """
    name = driven.namespace
    try:
        found = reader.get(namespaces.path(name))
    except kube.KubeError:
        return
    if found and (record.mark or record.uid) and not namespaces.belongs(
            found, record.mark, record.uid):
        raise errors.EnvironmentProblem(
            f'The run is gone: the namespace {name} belongs to another run',
            where=record.target, hint='To forget it: magnum-capi conformance '
            f'abort {record.folder}')


def _fetch(record: runs.Run, driven: runner.Runner, reader: kube.Client,
           runtime: 'lifecycle.Runtime', status: runner.Status
           ) -> verdict.Verdict:
    record = dataclasses.replace(
        record, archive=driven.fetch(status, record.folder, runtime.progress,
                                     runtime.clock),
        sha256=status.archive.sha256, stage=runs.FETCHED)
    if not driven.leaves:
        record = dataclasses.replace(record, stage=runs.ENDED)
    runs.save(record)
    ended = sources.of_run(record)
    if record.stage != runs.ENDED and not record.keep:
        delete(record, driven, reader, runtime, lenient=True)
    elif record.elsewhere and driven.leaves:
        runtime.progress.info(
            'The run was started elsewhere and is left in the cluster. To '
            f'remove it: magnum-capi conformance abort {record.folder}')
    return ended


def begin(record: runs.Run, runtime: 'lifecycle.Runtime') -> watch.State:
    return watch.start(runtime.clock.monotonic(), record.elapsed(),
                       record.nodes)


def limits(record: runs.Run, runtime: 'lifecycle.Runtime') -> watch.Limits:
    """How long to wait; only its own program limits the run of others."""
    return runtime.limits or watch.Limits(
        float('inf') if record.elsewhere else record.plan.seconds,
        record.plan.stall)


def _system_warnings(reader: kube.Client) -> tuple[str, ...]:
    try:
        return objects.warnings(pods=reader.items('/api/v1/pods'))
    except kube.KubeError:
        return ()


def _save_logs(record: runs.Run, driven: runner.Runner, reader: kube.Client,
               progress: progress_.Progress) -> None:
    """Save what the containers of the run have written so far."""
    found = [f'==> {where} <==\n{log}' for where, log in _logs(
        driven, reader)]
    if found:
        file = record.folder / LOGS
        outfile.write_private(
            file, texts.clean(redact.redact('\n'.join(found))))
        progress.info(f'Logs of the run so far: {file}')


def _logs(driven: runner.Runner, reader: kube.Client, **query: str | int
          ) -> collections.abc.Iterator[tuple[str, str]]:
    """Pod and container, and log, of all that can be read."""
    try:
        pods = reader.items(kube.pod_path(driven.namespace))
    except kube.KubeError:
        return
    for pod in pods:
        for container in (pod.get('spec') or {}).get('containers') or ():
            name = pod['metadata']['name']
            with contextlib.suppress(kube.KubeError):
                yield f'{name} {container["name"]}', reader.text(
                    kube.log_path(driven.namespace, name),
                    container=container['name'], **query)


def delete(record: runs.Run, driven: runner.Runner, reader: kube.Client,
           runtime: 'lifecycle.Runtime', lenient: bool = False) -> None:
    """Remove a run, and nothing else, from its cluster.

    :param lenient: report if it could not be removed, and continue.
    :raises EnvironmentProblem: it could not be removed.
    """
    name = driven.namespace
    try:
        with runtime.progress.step('removing the run from the cluster'):
            found = reader.get(namespaces.path(name))
            own = found is None or namespaces.belongs(
                found, record.mark, record.uid)
            if not own and not record.mark and not record.uid:
                raise errors.EnvironmentProblem(
                    f'It is unknown who created the namespace {name}',
                    hint=f'If nobody needs it: kubectl delete namespace {name}'
                )
            if own:
                # The logs go with the run.
                tests = set[str]().union(*(
                    objects.test_runs(log) for _, log in _logs(
                        driven, reader, limitBytes=_BEGIN)))
                driven.delete()
                _delete_namespaces_of(tests, reader, runtime)
    except errors.MagnumCapiError as e:
        message = (driven.failure_message(e.output)
                   if isinstance(e, errors.CommandFailed) else e.what)
        if not lenient:
            raise errors.EnvironmentProblem(
                'The run could not be removed', where=record.target,
                last_seen=message, hint=e.hint) from None
        runtime.progress.info(
            f'Not removed: {message}. Try "magnum-capi conformance abort '
            f'{record.folder}"')
        return
    if not own:
        runtime.progress.info(f'The namespace {name} does not belong to the '
                              'run any more and is not removed')
    _report_test_namespaces(reader, runtime.progress)
    if (record.folder / runs.FILE).exists():
        runs.save(dataclasses.replace(record, stage=runs.ENDED))


def _delete_namespaces_of(tests: collections.abc.Set[str], reader: kube.Client,
                          runtime: 'lifecycle.Runtime') -> None:
    """Delete what interrupted tests had no time to delete.

    :param tests: see :func:`objects.test_runs`.
    :raises WaitTimeout: some remain.
    """
    if not tests:
        return
    selector = f'e2e-run in ({",".join(sorted(tests))})'

    def left() -> list[str]:
        return [space['metadata']['name'] for space in reader.items(
            namespaces.ALL, labelSelector=selector)]

    for name in left():
        reader.delete(namespaces.path(name))
    waiting.wait_for(
        left, done=lambda names: not names, timeout=DELETION,
        what='the namespaces of the tests to be gone', describe=', '.join,
        pace=runtime.pace, clock=runtime.clock)


def _report_test_namespaces(reader: kube.Client,
                            progress: progress_.Progress) -> None:
    try:
        left = objects.test_namespaces(reader.items(
            namespaces.ALL, labelSelector='e2e-run'))
    except kube.KubeError:
        return
    if left:
        progress.info(
            'Namespaces of tests are not removed, as another run may be using '
            f'them: {", ".join(left)}. If there is none: kubectl delete '
            f'namespace {" ".join(left)}')
