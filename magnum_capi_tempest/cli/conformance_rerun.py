# SPDX-License-Identifier: Apache-2.0
"""``magnum-capi conformance rerun``: was it a flake?"""

import argparse
import dataclasses
import pathlib
import shlex

from magnum_capi.cli import base
from magnum_capi_tempest.cli import conformance_report
from magnum_capi_tempest.cli import conformance_run
from magnum_capi_tempest.cli import conformance_target
from magnum_capi_tempest.conformance import report
from magnum_capi_tempest.conformance import rerun
from magnum_capi_tempest.conformance import rerunning
from magnum_capi_tempest.conformance.run import lifecycle
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance import sources
from magnum_capi_tempest import report as reports
from magnum_capi_tempest.report import terminal


class Rerun(base.Judging):
    """Rerun only the failed specs of a conformance run.

    A spec that passes now is reported as flaky; the verdict of the first run
    does not change. Exit code: 0 all specs passed this time, 1 some failed
    again, 2 wrong usage: there was nothing to run, 3 not exactly the failed
    specs ran, or the harness failed.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument('record', metavar='RECORD', help=sources.HELP)
        conformance_target.add(parser, 'default: the cluster of the first run')
        parser.add_argument(
            '--results', type=pathlib.Path, metavar='DIR',
            default=pathlib.Path('.'),
            help='Folder for the results (default: the current one).')
        parser.add_argument(
            '--times', type=_positive, default=1, metavar='N',
            help='How many times to run them; a spec is flaky if it passes '
                 'every time (default: 1).')
        parser.add_argument(
            '--list', action='store_true',
            help='Print the names of the specs without running them.')
        parser.add_argument(
            '--dry-run', action='store_true',
            help='Check that the cluster exists, and print the commands '
                 'without running them.')
        parser.add_argument(
            '--replace', action='store_true',
            help='Remove what an earlier run left in the cluster first.')
        conformance_run.add_skip_preflight(parser)
        conformance_report.add_output(
            parser, 'report of the first run, with the results of the rerun,',
            'HTML, Markdown, JSON, JUnit')
        return parser

    def act(self, args):
        judged, notes = sources.loaded(args.record)
        names = rerun.wanted(judged.result)
        if args.list:
            print('\n'.join(names))
            return 0
        request = _request(args, notes.run)
        if args.dry_run:
            return _preview(names, request)
        conformance_report.check_output(args.html, args.folder)
        return _run_again(args, judged, request)


def _request(args, record):
    """What to run, from the command line and the record of the first run."""
    target = conformance_target.named(args)
    if not target:
        target = record.target if record else conformance_target.of(args)
    plan = record.plan if record else runner.Plan()
    more = {'backend': record.backend} if record else {}
    return lifecycle.RunRequest(target, plan, args.results.absolute(),
                                replace=args.replace,
                                skip_preflight=args.skip_preflight, **more)


def _preview(names, request):
    for plan in rerunning.plans(names, request.plan):
        for argv in lifecycle.preview(dataclasses.replace(request, plan=plan)):
            print(shlex.join(map(str, argv)))
    return 0


def _run_again(args, judged, request):
    ended, results = rerunning.execute(
        judged.result, request, lifecycle.Runtime(), times=args.times)
    shown = report.view(judged.result, judged.verdict, results)
    if args.folder:
        report.write(args.folder, shown)
    if args.html:
        reports.write_file(args.html, report.to_html(shown))
    if args.format == 'json':
        print(report.to_json(shown, rerun={
            'exit_code': ended.exit_code,
            'deviations': list(ended.deviations),
            'broken': list(ended.broken)}), end='')
    elif args.format == 'markdown':
        print(report.to_markdown(shown), end='')
    else:
        say = terminal.printer()
        say(f'The verdict of the first run remains: {judged}')
        terminal.show_sections(say, report.ended(ended))
    return ended.exit_code


def _positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError('must be 1 or more')
    return number
