# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi conformance run | attach | abort``.

Exit codes: 0 passed, 1 tests failed, 2 wrong usage, 3 incomplete, or nothing
is known about the cluster.
"""

import argparse
import collections.abc
import dataclasses
import json
import os
import pathlib
import shlex
import typing

from magnum_capi.cli import base
from magnum_capi import errors
from magnum_capi_tempest.cli import conformance_target
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance import report
from magnum_capi_tempest.conformance import rerun
from magnum_capi_tempest.conformance.run import elsewhere
from magnum_capi_tempest.conformance.run import lifecycle
from magnum_capi_tempest.conformance.run import messages
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest.conformance.run import watch
from magnum_capi_tempest.conformance import sources
from magnum_capi_tempest.conformance import verdict
from magnum_capi_tempest.report import terminal

if typing.TYPE_CHECKING:
    import rich.console

_INCOMPLETE = verdict.EXIT_CODES[verdict.INCOMPLETE]


class Run(base.Judging):
    """Run the conformance tests in a cluster and print the verdict.

    After Ctrl-C the run continues in the cluster; use "attach" or "abort".
    Exit code: 0 passed, 1 tests failed, 2 wrong usage, 3 incomplete, or
    nothing is known about the cluster, also if the preflight stops the run.
    With --rerun, the verdict of the first run does not change, and the exit
    code says whether all of its failures passed this time.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        conformance_target.add(parser, 'the cluster to test')
        _add_tests(parser)
        _add_images(parser)
        _add_execution(parser)
        return parser

    def act(self, args: argparse.Namespace) -> int:
        runtime = lifecycle.Runtime()
        if args.rerun:
            first, notes = sources.loaded(args.rerun)
            names = rerun.wanted(first.result)
            request = _rerun(args, notes.run, names)
        else:
            request = request_of(args)
        if args.dry_run:
            for argv in lifecycle.preview(request):
                print(shlex.join(argv))
            return 0
        if args.preflight:
            lifecycle.check(request, runtime)
            return 0
        if not args.rerun:
            return show(lifecycle.run(request, runtime))
        runtime.progress.info(f'rerunning {len(names)} specs')
        return _show_rerun(first, names, lifecycle.run(request, runtime))


class _OfRun(base.Judging):

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'folder', nargs='?', metavar='FOLDER', type=pathlib.Path,
            help='folder of the run, with its run.json (default: the only run '
                 'in or below the current folder that has not ended)')
        conformance_target.add(
            parser, 'look for the run in this cluster, whoever started it')
        parser.add_argument(
            '--namespace', help='namespace of the run in that cluster '
            '(default: that of Sonobuoy or Hydrophone)')
        return parser

    def which(self, args: argparse.Namespace,
              **options: typing.Any
              ) -> pathlib.Path | elsewhere.Elsewhere:
        """The run that the arguments name; see :func:`lifecycle.attach`.

        :raises UsageError: they contradict each other.
        """
        target = conformance_target.named(args)
        if args.folder and (target or args.namespace):
            raise errors.UsageError(
                'Name the folder of a run, or a cluster to look for one in, '
                'not both',
                hint='Omit either the folder, or --cluster, --kubeconfig, '
                     '--context and --namespace')
        if target is None and not args.namespace:
            return args.folder or pathlib.Path('.')
        return elsewhere.Elsewhere(target or conformance_target.of(args),
                                   args.namespace or '', **options)


class Attach(_OfRun):
    """Watch a run until it ends, fetch its results and print the verdict.

    A run that was started elsewhere, also by Sonobuoy or Hydrophone alone, is
    found in its cluster, and is not removed from it. Exit code: 0 passed, 1
    tests failed, 2 wrong usage, 3 incomplete, or nothing is known about the
    cluster; with --once also 3 while there are no results here.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--output', type=pathlib.Path, metavar='DIR',
            help='folder for a run that was started elsewhere (default: a new '
                 'one in the current folder)')
        parser.add_argument(
            '--remove', action='store_true',
            help='remove a run that was started elsewhere when its results '
                 'are fetched; Hydrophone always does')
        parser.add_argument(
            '--once', action='store_true',
            help='show its state once, and change nothing')
        parser.add_argument(
            '-f', '--format', choices=['text', 'json'], default='text',
            help='output format of --once (default: text)')
        return parser

    def act(self, args: argparse.Namespace) -> int:
        if args.format != 'text' and not args.once:
            raise errors.UsageError('--format needs --once')
        which = self.which(args, folder=args.output and args.output.absolute(),
                           remove=args.remove)
        if not isinstance(which, elsewhere.Elsewhere) and (
                args.output or args.remove):
            raise errors.UsageError(
                '--output and --remove are for a run that was started '
                'elsewhere', hint='Name its cluster or --namespace')
        runtime = lifecycle.Runtime()
        if not args.once:
            return show(lifecycle.attach(which, runtime))
        record, state = lifecycle.observe(which, runtime)
        if state is None and record.archive:
            ended = sources.of_run(record)
            code, outcome = ended.exit_code, ended.outcome
        else:
            code, outcome = _INCOMPLETE, ''
        now = runtime.clock.monotonic()
        if args.format == 'json':
            print(json.dumps({
                'folder': str(record.folder), 'stage': record.stage,
                'backend': record.backend, 'cluster': str(record.target),
                'started': record.started, 'verdict': outcome,
                'watch': state and messages.document(state, now)}, indent=1),
                file=self.app.stdout)
        else:
            for line in _lines(record, state, outcome, now):
                print(line, file=self.app.stdout)
        return code


class Abort(_OfRun):
    """Abort a run and remove all of its objects from the cluster.

    A run that was started elsewhere is ended only if its cluster or namespace
    is named.
    """

    def act(self, args: argparse.Namespace) -> None:
        lifecycle.abort(self.which(args), lifecycle.Runtime())


def _lines(record: runs.Run, state: watch.State | None, outcome: str,
           now: float) -> collections.abc.Iterator[str]:
    """The state of a run, for people."""
    yield (f'{record.folder}: {record.stage}, {record.backend}, '
           f'{record.target}' + (f', {outcome}' if outcome else ''))
    if state is None:
        return
    yield messages.line(state, now)
    yield from messages.details(state)
    yield from state.notes
    if state.outcome:
        yield f'{state.outcome} {state.reason}'.strip()


def _rerun(args: argparse.Namespace, record: runs.Run | None,
           names: collections.abc.Sequence[str]) -> lifecycle.RunRequest:
    """The request to run these specs again.

    :param record: of the first run, which has its target, and its plan unless
        it was started elsewhere; None if its run.json is not there.
    :raises UsageError: the arguments choose other tests.
    """
    if args.mode or args.focus or args.test or args.skip:
        raise errors.UsageError(
            'The tests of a rerun are those that failed',
            hint='Omit --mode, --focus, --test and --skip, or --rerun')
    target = conformance_target.named(args)
    if not target:
        target = record.target if record else conformance_target.of(args)
    request = request_of(args, target)
    plan = request.plan
    if record and not record.elsewhere:
        changes = _changes(plan) | {'images': dataclasses.replace(
            record.plan.images, **_changes(plan.images))}
        if args.parallel:
            changes['parallel'] = args.parallel
        plan = dataclasses.replace(record.plan, **changes)
    return dataclasses.replace(
        request, backend=args.backend or (
            record.backend if record else request.backend),
        plan=dataclasses.replace(
            plan, mode=model.FOCUSED, expression=runner.exactly(names),
            skip=''))


def _changes(options: runner.Plan | runner.Images) -> dict[str, typing.Any]:
    """What is not as by default, by its name."""
    return {field.name: value for field in dataclasses.fields(options)
            if (value := getattr(options, field.name)) != field.default}


def _show_rerun(first: verdict.Verdict, names: collections.abc.Sequence[str],
                judged: verdict.Verdict) -> int:
    """Show how a rerun ended; return its exit code."""
    ended = rerun.conclude(first.result, names, judged)
    say = terminal.printer()
    say(f'The verdict of the first run remains: {first}')
    terminal.show_sections(say, report.ended(ended))
    _show_source(judged)
    return ended.exit_code


def show(judged: verdict.Verdict, console: 'rich.console.Console | None' = None
         ) -> int:
    """Show how a run ended; return the exit code of its verdict."""
    terminal.show(report.view(judged).run, console=console)
    _show_source(judged, console)
    return judged.exit_code


def _show_source(judged: verdict.Verdict,
                 console: 'rich.console.Console | None' = None) -> None:
    if judged.result.source:
        terminal.printer(console)(f'Results: {judged.result.source}')


def request_of(args: argparse.Namespace, target: runs.Target | None = None
               ) -> lifecycle.RunRequest:
    """The run that the arguments of ``conformance run`` ask for.

    :param target: that of the arguments by default.
    :raises UsageError: they contradict each other.
    """
    target = target or conformance_target.of(args)
    if args.focus and args.test:
        raise errors.UsageError('--focus and --test exclude each other')
    chosen = runner.exactly(args.test) if args.test else args.focus or ''
    plan = runner.Plan(
        mode=args.mode or (model.FOCUSED if chosen
                           else model.NON_DISRUPTIVE),
        expression=chosen, skip=args.skip or '',
        parallel=1 if args.parallel is None else args.parallel,
        env=tuple(args.env),
        images=runner.Images(
            args.sonobuoy_image or '', args.conformance_image or '',
            args.busybox_image or '', _absolute(args.registry_mirrors),
            _absolute(args.docker_config), args.image_pull_policy or ''),
        kubernetes=args.kubernetes_version or '',
        node_selector=tuple(args.aggregator_node),
        namespace=args.namespace or '', timeout=args.timeout or 0,
        stall=args.stall,
        stand_in=os.environ.get(model.STAND_IN_VARIABLE) == model.STAND_IN)
    return lifecycle.RunRequest(
        target, plan, args.output.absolute() if args.output
        else runs.default_folder(target), args.backend or model.SONOBUOY,
        args.keep, args.skip_preflight)


def _add_tests(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group('tests')
    group.add_argument(
        '--mode', choices=[*runner.FOCUS, model.FOCUSED],
        help=f'which tests to run (default: {model.NON_DISRUPTIVE}); '
             f'{model.CERTIFIED} is what CNCF requires: its tests disturb '
             'other workloads of the cluster')
    group.add_argument('--focus', metavar='REGEX',
                       help='run the tests that match this Go regular '
                            'expression')
    group.add_argument('--test', action='append', default=[], metavar='NAME',
                       help='run the test with this name; may be repeated')
    group.add_argument('--rerun', metavar='ARCHIVE',
                       help='run only the tests that failed in this archive, '
                            'or folder of a run, with its options unless '
                            'others are given')
    group.add_argument('--skip', metavar='REGEX', help='skip the tests that '
                       'match this Go regular expression')
    group.add_argument('--parallel', type=int, metavar='N',
                       help='number of parallel Ginkgo processes (default: 1)')
    group.add_argument(
        '--env', type=_pair, action='append', default=[],
        metavar='NAME=VALUE', help='environment variable of the e2e plugin; '
        'may be repeated')
    group.add_argument('--kubernetes-version', metavar='vX.Y.Z',
                       help='version of the tests (default: that of the '
                            'cluster)')


def _add_images(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group('images')
    for option, what in (
            ('sonobuoy', "of Sonobuoy's aggregator and worker"),
            ('conformance', 'with the tests'),
            ('busybox', 'that Hydrophone collects the results with')):
        group.add_argument(f'--{option}-image', metavar='IMAGE',
                           help=f'image {what}')
    group.add_argument(
        '--registry-mirrors', type=pathlib.Path, metavar='FILE',
        help='YAML file that maps each upstream registry to a mirror '
             '(KUBE_TEST_REPO_LIST)')
    group.add_argument(
        '--docker-config', type=pathlib.Path, metavar='FILE',
        help='Docker credentials for private registries')
    group.add_argument('--image-pull-policy',
                       choices=['Always', 'IfNotPresent', 'Never'],
                       help='pull policy of the run, also for the tests; use '
                            'Never if the images were imported on the nodes')


def _add_execution(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group('execution')
    group.add_argument('--backend',
                       choices=[model.SONOBUOY, model.HYDROPHONE],
                       help='program that runs the tests (default: '
                            f'{model.SONOBUOY})')
    group.add_argument('--output', type=pathlib.Path, metavar='DIR',
                       help='folder of the run, for run.json and the results '
                            '(default: a new one in the current folder, '
                            'named after the cluster and the time)')
    group.add_argument('--namespace',
                       help="namespace of the run (default: the backend's "
                            'own)')
    group.add_argument(
        '--aggregator-node', type=_pair, action='append', default=[],
        metavar='LABEL=VALUE', help='label of the node that the aggregator '
        'must run on, as the results are lost with its pod; may be repeated')
    group.add_argument('--timeout', type=int, metavar='SECONDS',
                       help='limit of the whole run, in seconds (default by '
                            'mode: '
                            + ', '.join(f'{m} {s}' for m, s in
                                        runner.TIMEOUTS.items()) + ')')
    group.add_argument('--stall', type=int, default=2700, metavar='SECONDS',
                       help='seconds without any progress after which the run '
                            'counts as stuck (default: 2700)')
    group.add_argument('--keep', action='store_true',
                       help='keep the namespace of the run when it ends')
    group.add_argument('--skip-preflight', action='store_true',
                       help='start the tests without checking whether the '
                            'cluster is fit for them')
    only = group.add_mutually_exclusive_group()
    only.add_argument('--preflight', action='store_true',
                      help='only check whether the cluster is fit')
    only.add_argument('--dry-run', action='store_true',
                      help='check that what the arguments name exists, and '
                           'print the commands without running them')


def _pair(text: str) -> tuple[str, str]:
    key, found, value = text.partition('=')
    if not key or not found:
        raise argparse.ArgumentTypeError(f'{text!r} is not NAME=VALUE')
    return key, value


def _absolute(path: pathlib.Path | None) -> pathlib.Path | None:
    return path and path.absolute()
