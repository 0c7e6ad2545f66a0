# SPDX-License-Identifier: Apache-2.0
"""Runs ``tempest run`` against a sandbox.

Tempest runs from the environment that this package is installed in. It gets
a workspace in the sandbox's folder; the results go to a folder that outlives
the sandbox.
"""

import collections.abc
import contextlib
import dataclasses
import importlib.util
import os
import pathlib
import sys
import typing

import yaml

from magnum_capi import driver_info
from magnum_capi import errors
from magnum_capi import progress
from magnum_capi_sandbox import access
from magnum_capi_sandbox import locks
from magnum_capi_sandbox import nodes
from magnum_capi_sandbox import spec as specs
from magnum_capi_sandbox import usable_drivers
from magnum_capi_sandbox import versions
from magnum_capi_tempest import promises
from magnum_capi_tempest import runmarks
from magnum_capi_tempest.toolchain import lock
from magnum_capi_tempest.workspace import folder
from magnum_capi_tempest.workspace import runs

if typing.TYPE_CHECKING:
    from magnum_capi_sandbox import box as boxes

#: The tests of magnum-tempest-plugin that can run here: those marked "slow"
#: need pods on the workload cluster, and sleep for ten minutes.
THIRD_PARTY = r'^(?!.*\[.*\bslow\b.*\])magnum_tempest_plugin\.tests\.api'

#: The life of a cluster, and of two drivers' clusters side by side, by the
#: attribute of its promise.
QUICK = (r'magnum_capi.*(ClusterLifecycleTest|'
         rf'{promises.attribute("discovery.clash.side-by-side")})')

#: Which promises are tested: those that this sandbox keeps; or, to see the
#: tests fail, also all of driver discovery, those that drivers are known to
#: break, or both.
PROMISES = ('kept', 'discovery', 'driver', 'all')


@dataclasses.dataclass(frozen=True)
class Order:
    """What to run.

    :param concurrency: number of workers; None: see :func:`workers`.
    :param promise: one of :data:`PROMISES`.
    :param options: more options of [magnum_capi], (name, value) each.
    :param fixture: more fields of the discovery fixture, likewise.
    :param arguments: more arguments for ``tempest run``.
    :param results: folder of the results, a new one by default.
    :param described: description of the driver; by default that of its own
        distribution, or ours.
    """

    regex: str | None = None
    driver: str | None = None
    third_party: bool = False
    concurrency: int | None = None
    promise: str = 'kept'
    options: tuple[tuple[str, str], ...] = ()
    fixture: tuple[tuple[str, object], ...] = ()
    arguments: tuple[str, ...] = ()
    results: pathlib.Path | None = None
    described: driver_info.Description | None = None


#: The overlay of Helm values that every sandbox has for tests.
OVERLAY = 'operators'

#: Folder of the configuration of runs, in the workspace. ``sandbox env`` has
#: another one, so that it cannot change a run.
ETC = 'etc-run'


@contextlib.contextmanager
def alone(box: 'boxes.Box', progress: progress.Progress
          ) -> collections.abc.Iterator[None]:
    """Wait until nobody else runs tests in the sandbox.

    Runs would share tempest.conf, and see each other's clusters as leaks. The
    tests of a killed run, which are still going on, are ended.
    """
    with lock.hold(locks.file('tempest', box.directory),
                   'runs Tempest in this sandbox', progress):
        sweep(box.directory)
        yield


def sweep(directory: pathlib.Path) -> None:
    """End what is left of a killed run in the sandbox in this folder."""
    runmarks.sweep(workspace(directory))


def workspace(directory: pathlib.Path) -> pathlib.Path:
    """Tempest's folder of the sandbox in a folder."""
    return directory / 'tempest'


def prepare(box: 'boxes.Box', order: Order,
            artifact_dir: pathlib.Path | None = None, etc: str = folder.ETC
            ) -> pathlib.Path:
    """Make the workspace with tempest.conf; returns its folder.

    :param artifact_dir: folder for evidence, by default none.
    :param etc: folder of tempest.conf, below the workspace.
    """
    where = workspace(box.directory)
    conf, fixture = _config(box, order, artifact_dir, etc)
    folder.lay_out(where, conf, etc=etc, fixture=fixture)
    return where


def prepare_for_user(box: 'boxes.Box') -> list[pathlib.Path]:
    """Make the workspace of ``sandbox env``, but change no edited file.

    :returns: paths of the files that somebody has edited.
    """
    try:
        driver = chosen(box)
    except errors.UsageError:
        # It is up to the user, who can edit the file.
        driver = None
    return folder.update(workspace(box.directory),
                         *_config(box, Order(driver=driver)))


def chosen(box: 'boxes.Box') -> str | None:
    """Name of the driver that templates name if the user names none.

    :returns: None: Magnum has nothing to choose from.
    :raises UsageError: see :func:`.usable_drivers.to_test`.
    """
    if box.spec().requirements:
        return usable_drivers.to_test(box)
    return None


def _config(box: 'boxes.Box', order: Order,
            artifact_dir: pathlib.Path | None = None, etc: str = folder.ETC
            ) -> tuple[str, str]:
    """Texts of tempest.conf and of its discovery fixture.

    :param etc: folder of both, below the workspace.
    """
    spec = box.spec()
    options = dict(_clashing(box, spec, order)) | dict(order.options)
    names = [name for name in options.get('clashing_drivers', '').split(',')
             if name]
    fixture = {
        'marks': usable_drivers.marks(box, names),
        'value_overlay': OVERLAY,
    } | (
        access.of_clash() if spec.clash else {}) | dict(order.fixture)
    options = {'discovery_fixture': str(
        workspace(box.directory) / etc / folder.FIXTURE)} | options
    return access.tempest_config(
        spec.layout(box.directory), box.passwords(), spec, order.driver,
        order.third_party, order.promise, tuple(options.items()),
        artifact_dir, described(box, order)), yaml.safe_dump(fixture)


def under_test(box: 'boxes.Box', order: Order) -> str:
    """Name of the driver that the tests are about; empty: it is not known."""
    if order.driver:
        return order.driver
    return usable_drivers.choice(box)


def described(box: 'boxes.Box', order: Order
              ) -> driver_info.Description | None:
    """The description of the driver that the tests are about, if any."""
    return order.described or usable_drivers.description(
        box, under_test(box, order))


def run(box: 'boxes.Box', order: Order) -> tuple[pathlib.Path, dict[str, str]]:
    """Run the tests; Tempest's output goes to the terminal.

    Only one run at a time is possible, see :func:`alone`.

    :returns: the recorded subunit stream, and facts for a report. Reports go
        to the folder of the stream.
    :raises EnvironmentProblem: Tempest is not installed.
    :raises UsageError: the third-party suite cannot run in this sandbox.
    :raises MagnumCapiError: no test ran.
    :raises RunCutOff: see :func:`.runs.run`.
    """
    spec = box.spec()
    if order.third_party and not importlib.util.find_spec(
            'magnum_tempest_plugin'):
        raise errors.EnvironmentProblem(
            'magnum-tempest-plugin is not installed', where=sys.prefix,
            hint='pip install magnum-tempest-plugin')
    if order.third_party and spec.clash:
        raise errors.UsageError(
            'magnum-tempest-plugin names no driver in its templates, and the '
            'drivers of this sandbox conflict', where=str(box.directory),
            hint='Start a sandbox without --clash')
    results = (order.results or runs.new_results()).absolute()
    workspace = prepare(box, order, results / runs.ARTEFACTS, ETC)
    regex = order.regex or (THIRD_PARTY if order.third_party else runs.SUITE)
    # Ignore the cloud of the user's shell; no proxy is needed.
    env = {k: v for k, v in os.environ.items()
           if not k.startswith('OS_') and 'proxy' not in k.lower()}
    # The kubernetes client writes keys into temporary files, which disappear
    # with the sandbox even when the run is killed.
    env['TMPDIR'] = str(box.directory / 'tmp')
    # Not the sandbox's own mark: "up" ends everything that has that one.
    env[runmarks.MARK] = str(workspace)
    env |= access.of_nodes(spec.machines)
    # A sandbox may stand for months, and a run logs a megabyte a minute.
    log = workspace / 'tempest.log'
    with contextlib.suppress(FileNotFoundError):
        log.replace(log.with_name('tempest.log.1'))
    number = (workers(spec) if order.concurrency is None
              else order.concurrency)
    stream = runs.run(
        workspace, ['--regex', regex, '--concurrency', str(number),
                    *order.arguments],
        results / runs.STREAM, etc=workspace / ETC, env=env)
    return stream, {**_facts(box, spec, order), 'tests': regex}


def _facts(box: 'boxes.Box', spec: specs.Spec, order: Order) -> dict[str, str]:
    """What was tested, with what: versions by part.

    A sandbox that a test has broken cannot tell all of them, nor can one
    whose chart has gone.
    """
    found = {
        'driver': order.driver or "Magnum's choice",
        'discovery filter': 'yes' if spec.discovery_filter else 'no',
        'nodes': spec.nodes,
        'profile': spec.profile,
    }
    try:
        made = versions.made(box)
    except (errors.MagnumCapiError, OSError):
        return found
    if order.driver in made.drivers:
        found['driver'] += f' ({" ".join(made.drivers[order.driver])})'
    return {
        'Magnum': made.versions['magnum'], **found,
        'Cluster API': made.versions['cluster_api'],
        'provider': made.versions['infrastructure'],
        'chart': made.versions['chart'],
    }


def workers(spec: specs.Spec) -> int:
    """Number of workers with which a sandbox runs tests by default.

    Tests mostly wait: with four workers, two processors were idle for half of
    the time. But nodes and servers that are real programs need the processors
    themselves.
    """
    if spec.nodes != nodes.MEMORY or spec.openstack:
        return 2
    return min(3 * len(os.sched_getaffinity(0)), 8)


def _clashing(box: 'boxes.Box', spec: specs.Spec, order: Order
              ) -> tuple[tuple[str, str], ...]:
    """The option for drivers that clash, if there are some.

    A test of two drivers takes the first two: the one under test comes first.
    """
    if 'clashing_drivers' in dict(order.options) or not spec.requirements:
        return ()
    names = sorted(usable_drivers.drivers(box),
                   key=lambda name: name != order.driver)
    if len(names) < 2:
        return ()
    return (('clashing_drivers', ','.join(names)),)
