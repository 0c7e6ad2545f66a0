# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi driver test FOLDER``: the part that needs a sandbox.

The plugin finds it by the entry point ``sandbox`` of the group
``magnum_capi_tempest.driver_test``.
"""

import argparse
import collections.abc
import contextlib
import dataclasses
import pathlib

from magnum_capi import errors
from magnum_capi import progress
import magnum_capi_sandbox as sandbox
from magnum_capi_sandbox.cli import sandbox as box_commands
from magnum_capi_sandbox import drivers
from magnum_capi_sandbox import hints
from magnum_capi_sandbox import locks
from magnum_capi_sandbox import nodes
from magnum_capi_sandbox import tempest_run
from magnum_capi_sandbox import usable_drivers
from magnum_capi_sandbox import versions
from magnum_capi_tempest.cli import driver_report
from magnum_capi_tempest.leaks import model
from magnum_capi_tempest import paths
from magnum_capi_tempest.scorecard import report
from magnum_capi_tempest.toolchain import lock
from magnum_capi_tempest.workspace import runs

_NODES = {nodes.MEMORY: 'memory', nodes.DOCKER: 'container'}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of a test in a sandbox."""
    parser.add_argument(
        '--magnum', metavar='RELEASE',
        help='Release of Magnum, as for "sandbox up".')
    box_commands.add_nodes(parser)
    parser.add_argument(
        '--keep', action='store_true',
        help='Do not take the sandbox down afterwards.')
    parser.add_argument(
        '--directory', type=pathlib.Path, metavar='BOX',
        help='Folder of a running sandbox that has the driver; it is not '
             'taken down.')


def check(args: argparse.Namespace) -> None:
    """Refuse options at once: it takes minutes to start a sandbox.

    :raises UsageError: they do not fit together, or nothing like the driver
        can be installed.
    """
    if not args.what and (args.nodes or args.infrastructure):
        raise errors.UsageError(
            '--nodes and --infrastructure are for a new sandbox')
    if args.what:
        drivers.requirement(args.what)


def run(args: argparse.Namespace, folder: pathlib.Path,
        ended: driver_report.Ended
        ) -> tuple[report.Report, model.Left | None]:
    """Run the suite in a sandbox, and see what it leaves there."""
    stream = folder / runs.STREAM
    left = None
    with _box(args) as box:
        made = versions.made(box)
        usable = usable_drivers.drivers(box)
        name = _chosen(args, box, usable)
        described = (driver_report.described_by(args.description, name)
                     or usable_drivers.description(box, name))
        asked = driver_report.asked(args, described)
        with ended.run(stream):
            *_, left = box.tempest(tempest_run.Order(
                regex=driver_report.regex(args, asked), driver=name,
                results=folder, concurrency=args.concurrency,
                promise='driver', described=described,
                options=tuple(args.option)),
                progress.Progress())
        kind = box.spec().nodes
    if left and not (args.keep or args.directory):
        left = dataclasses.replace(left, gone=True)
    about = report.of_driver(described, name)
    if name in made.drivers:
        about['distribution'] = ' '.join(made.drivers[name])
    return driver_report.judged(
        stream, about, described, made.versions, _NODES[kind], asked,
        ended), left


@contextlib.contextmanager
def _box(args: argparse.Namespace) -> collections.abc.Iterator[sandbox.Box]:
    """A running sandbox: the user's own, or one for this test."""
    if args.directory:
        yield sandbox.Box(args.directory)
        return
    box = sandbox.Box(paths.state() / 'driver-test')
    say = progress.Progress()
    with lock.hold(locks.file('driver-test', box.directory),
                   'tests a driver', say):
        kept = box.directory / 'kept'
        if kept.exists():
            raise errors.UsageError(
                'The sandbox of an earlier test was kept',
                where=box.directory,
                hint='To take it down: '
                     f'{hints.command("down", box.directory)}; or use '
                     '--directory to test in it')
        if box.directory.exists():
            # Of a test that was killed, with its build of the driver, perhaps
            # with another version of this program.
            box.down(say, force=True)
        # If it fails it leaves nothing.
        box.up(sandbox.Spec(
            install=(args.what,), magnum=args.magnum, nodes=args.nodes,
            infrastructure=args.infrastructure), say)
        try:
            yield box
        finally:
            if args.keep:
                kept.touch()
                say.info('The sandbox is still up. To take it down: '
                         f'{hints.command("down", box.directory)}')
            else:
                box.down(say)


def _chosen(
        args: argparse.Namespace, box: sandbox.Box, usable: list[str]) -> str:
    """The driver to test: the one that is named, or the only one."""
    if not args.driver:
        return usable_drivers.to_test(box)
    if args.driver not in usable:
        raise errors.UsageError(
            f'The driver {args.driver} cannot be used',
            where=args.what or args.directory,
            last_seen='; '.join((
                f'drivers that can be used: {", ".join(usable) or "none"}',
                *usable_drivers.others(box))),
            hint='Name another with --driver')
    return str(args.driver)
