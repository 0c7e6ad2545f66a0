# SPDX-License-Identifier: Apache-2.0


"""Starts a run: checks whether the cluster is fit for it, and creates it.

Nothing is created before the preflight checks, and nothing is left of a run
that could not be created.
"""

import dataclasses

from magnum_capi import errors
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import admission
from magnum_capi_tempest.conformance.run import dry_run
from magnum_capi_tempest.conformance.run import hydrophone
from magnum_capi_tempest.conformance.run import namespaces
from magnum_capi_tempest.conformance.run import preflight
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest.conformance.run import snapshot
from magnum_capi_tempest.conformance.run import sonobuoy
from magnum_capi_tempest.kubeclient import kube


def prepare(request, namespace, labels, delete, reader,
            progress) -> snapshot.Snapshot:
    """Check whether a cluster is fit; nothing is created.

    :param request: :class:`.lifecycle.RunRequest`; the run that it replaces
        is removed once the cluster is otherwise fit. Without a preflight only
        the namespace is checked.
    :param namespace: of the run; ``labels`` are those that it will have.
    :param delete: function that removes an earlier run.
    :raises EnvironmentProblem: it is not fit.
    """
    with progress.step('preflight'):
        seen = snapshot.look(reader, namespace)
    if request.replace and seen.namespace and seen.has_run:
        _refuse(_check(request, dataclasses.replace(seen, namespace=''),
                       namespace))
        with progress.step(f'removing the namespace {namespace}'):
            delete()
        seen = snapshot.look(reader, namespace)
    found = preflight.by_weight((
        *_check(request, seen, namespace),
        *(() if seen.namespace or request.skip_preflight
          else admission.check(dry_run.ask(reader, namespace, labels),
                               namespace))))
    for finding in found:
        progress.info(f'preflight: {finding}')
    _refuse(found)
    return seen


def _check(request, seen, namespace):
    if request.skip_preflight:
        return tuple(preflight.occupied(seen, namespace))
    return preflight.check(seen, request.plan, namespace,
                           _images(request, seen.version))


def _refuse(found):
    """Raise EnvironmentProblem if one of the findings is a blocker."""
    blockers = [f for f in found if f.level == preflight.BLOCKER]
    if blockers:
        raise errors.EnvironmentProblem(
            'The cluster is not ready for the tests: '
            + '; '.join(f.text for f in blockers),
            hint=blockers[0].hint or 'Nothing was created')


def _images(request, version):
    """Names of the images that are needed to start anything."""
    images = request.plan.images
    tests = images.conformance or (
        f'{hydrophone.IMAGE}:'
        f'{request.plan.kubernetes or preflight.release(version)}')
    if request.backend == model.HYDROPHONE:
        return [images.busybox or hydrophone.BUSYBOX, tests]
    pinned = sonobuoy.default_image()
    return [images.sonobuoy or pinned, tests]


def make_namespace(record, driven, reader, runtime):
    """Create the namespace of a run, if the program accepts one.

    :param runtime: :class:`.lifecycle.Runtime`, here and below.
    :raises KubeError: it could not be created: someone else has just done
        so, or the API refused or did not answer.
    """
    if not record.mark:
        return
    try:
        namespaces.create(reader, driven.commands.namespace, record.mark,
                          dict(driven.labels))
    except kube.KubeError as e:
        # Without an answer, or if a proxy or the API server gave up on it, it
        # may exist; then it has the run's mark.
        if e.status is not None and e.status < 500:
            runtime.store.save(dataclasses.replace(record, stage=runs.ENDED))
        raise


def create(record, driven, runtime):
    """Create the objects of a run; remove them if not all can be created.

    :raises EnvironmentProblem: it could not be created; says whether its
        objects have been removed.
    """
    with runtime.progress.step('creating the run'):
        try:
            driven.run(record.plan)
        except errors.CommandFailed as e:
            said = sonobuoy.failure_message(e.output)
            try:
                driven.delete()
            except errors.CommandFailed:
                raise errors.EnvironmentProblem(
                    'The run could not be created, and some of its objects '
                    'may be left', where=e.argv[0], last_seen=said,
                    hint='To remove them: magnum-capi conformance abort '
                    f'{record.name}') from None
            runtime.store.save(dataclasses.replace(record, stage=runs.ENDED))
            raise errors.EnvironmentProblem(
                'The run could not be created, and its objects have been '
                'removed', where=e.argv[0], last_seen=said) from None
