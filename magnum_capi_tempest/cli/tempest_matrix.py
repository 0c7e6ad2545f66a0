# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi tempest matrix``: who keeps which promise?"""

import argparse
import pathlib
import time

from magnum_capi.cli import base
from magnum_capi import errors
from magnum_capi_tempest.cli import sandbox as box_commands
from magnum_capi_tempest.cli import tempest
from magnum_capi_tempest import paths
from magnum_capi_tempest import report
from magnum_capi_tempest import sandbox
from magnum_capi_tempest.sandbox import access
from magnum_capi_tempest.sandbox import record as records
from magnum_capi_tempest.sandbox import tempest_run
from magnum_capi_tempest.sandbox import usable_drivers
from magnum_capi_tempest.scorecard import columns
from magnum_capi_tempest.scorecard import flags
from magnum_capi_tempest.scorecard import forms
from magnum_capi_tempest.scorecard import page
from magnum_capi_tempest.workspace import folder as workspaces
from magnum_capi_tempest.workspace import runs

#: Files of --folder, and what makes their text.
FORMS = {'matrix.html': page.render, 'matrix.json': forms.to_json,
         'matrix.md': forms.to_markdown}


class Matrix(base.Judging):
    """Run the suite for each driver, and show who keeps which promise.

    Every promise is tried, declared or not. Exit code: 0 each driver keeps
    what it declares, 1 one does not.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        where = parser.add_argument_group(
            'what to look at', 'a sandbox by default')
        where.add_argument(
            '--directory', type=pathlib.Path, metavar='BOX',
            help='Folder of a sandbox that is up.')
        where.add_argument(
            '--workspace', type=pathlib.Path, metavar='DIR',
            help='Tempest workspace for another cloud, as "tempest init" '
                 'makes one; what its tempest.conf sets is declared.')
        where.add_argument(
            '--from', dest='recorded', action='append', default=[],
            type=_recorded, metavar='NAME=FILE',
            help='Run nothing: a recorded run (.subunit), or what --write '
                 'wrote (.json); may be repeated, also for one driver, '
                 'whose later runs count then.')
        where.add_argument(
            '--declared', action='append', default=[], type=_recorded,
            metavar='NAME=FILE', help='With --from: tempest.conf with the '
            'promises of that driver (default: those of the record, or of '
            'the options).')
        tempest.add_cloud(where, required=False)
        parser.add_argument(
            '--driver', action='append', default=[], metavar='NAME',
            help='Magnum driver to try; may be repeated (default: all of a '
                 'sandbox, the one that Magnum chooses elsewhere).')
        parser.add_argument(
            '-r', '--regex', default=tempest_run.DEFAULT,
            help='Tests to run (default: %(default)s).')
        parser.add_argument(
            '-c', '--concurrency', type=int, default=2,
            help='Workers (default: 2).')
        parser.add_argument(
            '--option', type=box_commands.option, action='append',
            default=[], metavar='NAME=VALUE', help='One more option of '
            '[magnum_capi] in tempest.conf; may be repeated.')
        parser.add_argument(
            '--results', type=pathlib.Path, metavar='DIR',
            help='Folder for the recorded runs (default: a new one below the '
                 'state folder).')
        parser.add_argument(
            '-f', '--format', choices=('text', 'markdown', 'json'),
            default='text', help='What to print (default: text).')
        parser.add_argument(
            '--html', type=pathlib.Path, metavar='FILE',
            help='Also write the matrix as one HTML page into this file.')
        parser.add_argument(
            '--folder', type=pathlib.Path, metavar='DIR',
            help='Also write it in every form (HTML, JSON, Markdown) into '
                 'this folder.')
        parser.add_argument(
            '--write', type=pathlib.Path, metavar='DIR',
            help='Also write what each driver did into matrix-DRIVER.json in '
                 'this folder, for --from.')
        return parser

    def act(self, args):
        records = gather(args)
        matrix = columns.lay(records)
        written = None
        if args.write:
            columns.write(records, args.write)
        if args.folder:
            for name, render in FORMS.items():
                path = report.write_file(args.folder / name, render(matrix))
                written = path if name == 'matrix.html' else written
        if args.html:
            written = report.write_file(args.html, page.render(matrix))
        if args.format == 'text':
            forms.show(matrix, page=written)
        else:
            self.app.stdout.write((
                forms.to_json if args.format == 'json'
                else forms.to_markdown)(matrix))
        return matrix.exit_code


def gather(args):
    """The columns that the options ask for.

    :raises UsageError: they ask for two things at once.
    """
    places = {'--from': args.recorded, '--workspace': args.workspace,
              '--cloud': args.cloud, '--directory': args.directory}
    asked = [name for name, value in places.items() if value]
    if len(asked) > 1:
        raise errors.UsageError(
            f'Either {" or ".join(asked)}: not both')
    if args.declared and not args.recorded:
        raise errors.UsageError('--declared is for --from')
    if args.cloud and not args.image:
        raise errors.UsageError('Which image do nodes boot from?',
                                hint='Name it by --image')
    if args.recorded:
        return recorded(args.recorded, args.declared)
    results = (args.results or paths.state() / 'results' / time.strftime(
        'matrix-%Y%m%dT%H%M%S', time.gmtime())).absolute()
    if args.workspace or args.cloud:
        workspace = args.workspace or results / 'workspace'
        if args.cloud:
            tempest.init(workspace, args)
        return list(of_workspace(workspace, args, results))
    return list(of_sandbox(sandbox.Sandbox(args.directory), args, results))


def recorded(some, declared=()):
    """Columns of files.

    :param some: (name, path) each.
    :param declared: (name, path of a tempest.conf) each.
    """
    promised = {name: flags.declared(_read(path), path)
                for name, path in declared}
    strangers = promised.keys() - {name for name, _ in some}
    if strangers:
        raise errors.UsageError(
            f'--from names no {", ".join(sorted(strangers))}')
    return columns.joined(columns.of_file(path, name, promised.get(name))
                          for name, path in some)


def of_workspace(workspace, args, results):
    """Run the suite in a workspace, for one driver after the other."""
    path = workspace / workspaces.ETC / 'tempest.conf'
    conf = _read(path)
    declared = flags.declared(conf, path)
    written = flags.parse(conf, path).get(
        'magnum_capi', 'driver', fallback='').strip()
    for driver in args.driver or [written]:
        name = driver or 'default'
        # Beside the one of the user, which stays as it is.
        etc = f'{workspaces.ETC}-matrix-{name}'
        workspaces.lay_out(workspace, flags.forced(
            conf, driver, path, args.option), etc=etc)
        stream = runs.run(
            workspace, ['--regex', args.regex, '--concurrency',
                        args.concurrency],
            results / f'{name}.subunit', etc=workspace / etc)
        yield columns.of_stream(
            stream, name, declared, asked=declared | flags.forced_on())


def of_sandbox(box, args, results):
    """Run the suite in a sandbox, for one driver after the other."""
    found = usable_drivers.drivers(box)
    if not found:
        raise errors.UsageError('This sandbox has no driver to try',
                                where=box.directory)
    for name in args.driver or found:
        order = tempest_run.Order(
            regex=args.regex, driver=name, concurrency=args.concurrency,
            promise='all', results=results / name, options=(
                *usable_drivers.clashing(found), *args.option))
        stream, facts = tempest_run.run(box, order)
        yield columns.of_stream(
            stream, name, flags.declared(_conf(box, name, 'kept')),
            {'profile': facts['profile']},
            flags.declared(_conf(box, name, order.promise)))


def _conf(box, driver, promise):
    """tempest.conf for a driver of a sandbox, with so many promises."""
    record = records.require_ready(box.directory)
    return access.tempest_config(
        box.layout(), box.passwords(), record.additions, driver,
        promise=promise, made_of=record.nodes)


def _recorded(text):
    name, equals, path = text.partition('=')
    if not (name and equals and path):
        raise argparse.ArgumentTypeError(f'{text!r} is not NAME=FILE')
    return name, pathlib.Path(path)


def _read(path):
    try:
        return path.read_text(encoding='utf-8')
    except (OSError, UnicodeDecodeError) as e:
        raise errors.UsageError(
            'There is no tempest.conf to read', where=path, last_seen=e,
            hint='"magnum-capi tempest init" makes a workspace') from e
