# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.


"""The life of a run: begin, watch, fetch, clean up; and pick it up again.

Order matters here and nowhere else: the record is written before anything is
created, results are checked before the cluster is cleaned, and a run that did
not end well is left as it is for people to look at.
"""

import contextlib
import dataclasses
import datetime
import pathlib
import time
import typing

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.running import ends
from magnum_capi_tempest.conformance.running import hydrophone
from magnum_capi_tempest.conformance.running import kube
from magnum_capi_tempest.conformance.running import kubeconfigs
from magnum_capi_tempest.conformance.running import observe
from magnum_capi_tempest.conformance.running import outcome
from magnum_capi_tempest.conformance.running import preflight
from magnum_capi_tempest.conformance.running import retrieve as retrieve_
from magnum_capi_tempest.conformance.running import runner
from magnum_capi_tempest.conformance.running import runs
from magnum_capi_tempest.conformance.running import salvage
from magnum_capi_tempest.conformance.running import snapshot
from magnum_capi_tempest.conformance.running import sonobuoy
from magnum_capi_tempest.conformance.running import telling
from magnum_capi_tempest.conformance.running import watch as watch_
from magnum_capi_tempest import errors
from magnum_capi_tempest import progress as progress_
from magnum_capi_tempest import toolchain
from magnum_capi_tempest.toolchain import leftovers
from magnum_capi_tempest import waiting

#: How often to look. Sonobuoy itself renews its status every 5 s.
PACE = waiting.Pace(first=2, factor=1.5, most=15)

_BACKENDS = {model.SONOBUOY: sonobuoy, model.HYDROPHONE: hydrophone}


@dataclasses.dataclass(frozen=True)
class World:
    """What a run needs of this machine; tests give their own.

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
    limits: ends.Limits | None = None


@dataclasses.dataclass(frozen=True)
class Wish:
    """What a person wants to run.

    :param results: folder for what the run leaves.
    :param name: of the run; made when empty.
    :param replace: remove what an earlier run has left in the namespace.
    :param keep: leave namespace and roles when the run is over.
    """

    target: runs.Target
    plan: runner.Plan
    results: pathlib.Path
    backend: str = model.SONOBUOY
    name: str = ''
    replace: bool = False
    keep: bool = False


def preview(wish: Wish, program='') -> list[list[str]]:
    """Every command line that a run would call; nothing is looked at."""
    kind = _BACKENDS[wish.backend]
    kind.refuse(wish.plan)
    runner.check_files(wish.plan)
    return kind.backend(
        wish.plan, program or wish.backend,
        wish.target.kubeconfig or f'KUBECONFIG-OF-{wish.target.cluster}'
    ).preview(wish.plan, wish.results)


def run(wish: Wish, world: World) -> outcome.Outcome:
    """Run the tests to their end.

    :raises UsageError: the wish cannot be.
    :raises EnvironmentProblem: the cluster is not fit for it; nothing was
        created then.
    """
    kind = _BACKENDS[wish.backend]
    kind.refuse(wish.plan)
    runner.check_files(wish.plan)
    name = wish.name or world.store.new_name(wish.target)
    if wish.name and (world.store.folder(name) / 'run.json').exists():
        raise errors.UsageError(f'There is a run {name} already',
                                where=world.store.folder(name))
    program = world.ensure([wish.backend], world.progress)[wish.backend]
    with kubeconfigs.access(wish.target, world.connect) as access:
        driven = kind.backend(wish.plan, program, access.kubeconfig)
        reader = kube.Reader(access.kubeconfig, access.scratch)
        seen = _preflight(wish, driven, reader, world.progress)
        if seen.stand_in:
            wish = dataclasses.replace(wish, plan=dataclasses.replace(
                wish.plan, stand_in=True))
        record = runs.Run(
            name, wish.target, wish.plan, str(wish.results.absolute()),
            wish.backend, runs.STARTED,
            datetime.datetime.now(datetime.timezone.utc).isoformat(),
            tuple(sorted(n.name for n in seen.nodes)),
            about=dataclasses.replace(
                access.about, kubernetes=seen.version), keep=wish.keep,
            signs=seen.signs)
        world.store.save(record)
        world.progress.info(f'run {name}: {wish.plan.mode} on {wish.target}')
        with _left_running(record, world):
            if wish.backend == model.HYDROPHONE:
                return _follow(record, driven, world, False)
            _create(record, driven, world)
            return _finish(record, driven, reader, world)


def resume(name, world: World) -> outcome.Outcome:
    """Watch a run to its end that an earlier command has begun."""
    record = world.store.choose(name)
    if record.stage in (runs.RETRIEVED, runs.ENDED):
        if not record.archive:
            raise errors.UsageError(f'The run {record.name} was ended')
        return outcome.of_archive(record)
    with _access(record, world) as (driven, reader):
        with _left_running(record, world):
            if record.backend == model.HYDROPHONE:
                return _follow(record, driven, world, True)
            return _finish(record, driven, reader, world)


def retrieve(name, world: World) -> outcome.Outcome:
    """Fetch the results of a run that is complete, and leave it there.

    :raises UsageError: there are none yet.
    """
    record = world.store.choose(name)
    if record.backend != model.SONOBUOY:
        raise errors.UsageError(
            'Hydrophone fetches its files itself',
            hint='magnum-capi conformance resume')
    with _access(record, world) as (driven, _):
        status = sonobuoy.parse_status(_answer(driven))
        return _fetch(record, driven, status and status.tarball, world)


def abort(name, world: World):
    """End a run and remove everything of it from the cluster."""
    record = world.store.choose(name)
    with _access(record, world) as (driven, _):
        _end_hydrophone(record)
        _delete(record, driven, world)


def status(name, world: World) -> tuple[runs.Run, watch_.Watch | None]:
    """What is known of a run, and one look at it while it is there."""
    record = world.store.choose(name)
    if record.stage == runs.ENDED or record.backend != model.SONOBUOY:
        return record, None
    with _access(record, world) as (driven, reader):
        begin = _begin(record, world)
        seen = _observer(record, driven, reader, world).look()
        return record, watch_.step(begin, seen, _limits(record, world))


@contextlib.contextmanager
def _access(record, world):
    kind = _BACKENDS[record.backend]
    program = world.ensure([record.backend],
                           world.progress)[record.backend]
    with kubeconfigs.access(record.target, world.connect) as access:
        yield (kind.backend(record.plan, program, access.kubeconfig),
               kube.Reader(access.kubeconfig, access.scratch))


@contextlib.contextmanager
def _left_running(record, world):
    """Say how to go on when a person goes away."""
    try:
        yield
    except KeyboardInterrupt:
        world.progress.info(
            f'The run goes on in the cluster. "magnum-capi conformance '
            f'resume {record.name}" watches it again, "status" looks once, '
            '"abort" ends it')
        raise


def _preflight(wish, driven, reader, progress):
    namespace = driven.commands.namespace
    with progress.step('preflight'):
        seen = snapshot.look(reader, namespace)
    if wish.replace and seen.namespace:
        with progress.step(f'removing the namespace {namespace}'):
            driven.delete()
        seen = snapshot.look(reader, namespace)
    found = preflight.check(seen, wish.plan, namespace,
                            _images(wish, seen.version))
    for finding in found:
        progress.info(f'preflight: {finding}')
    blockers = [f for f in found if f.level == preflight.BLOCKER]
    if blockers:
        raise errors.EnvironmentProblem(
            'The cluster is not ready for the tests: '
            + '; '.join(f.text for f in blockers),
            hint=blockers[0].hint or 'Nothing was created')
    return seen


def _images(wish, version):
    """Names of the images without which nothing starts."""
    images = wish.plan.images
    tests = images.conformance or (
        f'{hydrophone.IMAGE}:{wish.plan.kubernetes or version}')
    if wish.backend == model.HYDROPHONE:
        return [images.busybox or hydrophone.BUSYBOX, tests]
    pinned = sonobuoy.default_image()
    return [images.sonobuoy or pinned, tests]


def _create(record, driven, world):
    with world.progress.step('creating the run'):
        try:
            driven.run(record.plan)
        except errors.CommandFailed as e:
            said = sonobuoy.spoken(e.output)
            with contextlib.suppress(errors.CommandFailed):
                driven.delete()
                world.store.save(dataclasses.replace(
                    record, stage=runs.ENDED))
            raise errors.EnvironmentProblem(
                'The run could not be created, and what there was of it has '
                'been removed', where=e.argv[0], last_seen=said) from None


def _begin(record, world):
    return watch_.start(world.clock.monotonic(), frozenset(record.nodes),
                        record.elapsed())


def _observer(record, driven, reader, world):
    return observe.Observer(
        driven, reader, world.clock,
        datetime.datetime.fromisoformat(record.started))


def _limits(record, world):
    return world.limits or ends.Limits(record.plan.seconds,
                                       record.plan.stall)


def _finish(record, driven, reader, world):
    state = _watch(record, driven, reader, world)
    record = dataclasses.replace(record, signs=tuple(dict.fromkeys(
        (*record.signs, *state.signs))))
    world.store.save(record)
    if state.outcome == ends.COMPLETE:
        found = _fetch(record, driven, state.tarball, world)
        if not record.keep:
            _delete(found.run, driven, world, lenient=True)
        return found
    world.progress.info(f'{state.outcome}: {state.reason}')
    if state.outcome == ends.UNREACHABLE:
        return outcome.of_nothing(record, state.reason)
    with world.progress.step('saving what there is'):
        saved = salvage.save(reader, driven.commands.namespace,
                             pathlib.Path(record.results) / record.name)
    for note in saved.notes:
        world.progress.info(note)
    world.progress.info('The run is left in the cluster to be looked at; '
                        f'"magnum-capi conformance abort {record.name}" '
                        'removes it')
    return outcome.of_salvage(record, saved, state.reason)


def _watch(record, driven, reader, world):
    observer = _observer(record, driven, reader, world)
    limits, state = _limits(record, world), _begin(record, world)
    with world.progress.step(f'run {record.name}') as note:
        def look():
            nonlocal state
            state = watch_.step(state, observer.look(), limits)
            for text in state.notes:
                world.progress.info(text)
            note(telling.line(state, world.clock.monotonic()))
            return state

        # The watch itself ends every wait; the timeout here is a net.
        return waiting.wait_for(
            look, done=lambda s: bool(s.outcome),
            timeout=limits.deadline + limits.silence + 600,
            what=f'the run {record.name}', pace=world.pace,
            clock=world.clock, describe=lambda s: telling.line(
                s, world.clock.monotonic()))


def _fetch(record, driven, tarball, world):
    archive = retrieve_.fetch(
        driven, tarball or sonobuoy.Tarball(), pathlib.Path(record.results),
        world.progress, clock=world.clock)
    record = dataclasses.replace(record, stage=runs.RETRIEVED,
                                 archive=str(archive), sha256=tarball.sha256)
    world.store.save(record)
    return outcome.of_archive(record)


def _follow(record, driven, world, go_on):
    """Let Hydrophone run to its end, or take up what it has begun."""
    folder = _end_hydrophone(record)
    with world.progress.step(f'run {record.name} with Hydrophone'):
        try:
            driven.run(record.plan, folder, go_on)
        except errors.CommandFailed as e:
            said = hydrophone.spoken(e.output) or e.what
            return outcome.of_nothing(
                record, f'Hydrophone ended without results: {said}')
    record = dataclasses.replace(record, stage=runs.ENDED,
                                 archive=str(folder))
    world.store.save(record)
    return outcome.of_archive(record)


def _end_hydrophone(record):
    """End what a killed command has left; returns the folder of its files.

    Hydrophone goes on without us. Two of them would fetch the files and
    remove the run at the same time.
    """
    folder = pathlib.Path(record.results) / record.name
    if record.backend == model.HYDROPHONE:
        leftovers.end(folder)
    return folder


def _delete(record, driven, world, lenient=False):
    try:
        with world.progress.step('removing the run from the cluster'):
            driven.delete()
    except errors.CommandFailed as e:
        if not lenient:
            raise errors.EnvironmentProblem(
                'The run could not be removed', where=record.target,
                last_seen=sonobuoy.spoken(e.output)) from None
        world.progress.info(
            'Not removed: ' + sonobuoy.spoken(e.output) + '. Try "magnum-capi '
            f'conformance abort {record.name}"')
        return
    world.store.save(dataclasses.replace(record, stage=runs.ENDED))


def _answer(driven):
    try:
        return driven.status()
    except errors.CommandFailed as e:
        raise errors.EnvironmentProblem(
            'Sonobuoy does not say how the run is',
            last_seen=sonobuoy.spoken(e.output)) from None
