# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi conformance run`` and commands for existing runs.

Exit codes: 0 passed, 1 tests failed, 2 wrong usage, 3 incomplete, or the
harness failed and nothing is known about the cluster.
"""

import argparse
import os
import pathlib
import shlex

from magnum_capi.cli import base
from magnum_capi import errors
from magnum_capi_tempest.cli import conformance_target
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance import report
from magnum_capi_tempest.conformance.run import completion
from magnum_capi_tempest.conformance.run import foreign
from magnum_capi_tempest.conformance.run import lifecycle
from magnum_capi_tempest.conformance.run import messages
from magnum_capi_tempest.conformance.run import outcome
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance.run import sonobuoy
from magnum_capi_tempest.conformance import verdict
from magnum_capi_tempest import redact
from magnum_capi_tempest.report import terminal
from magnum_capi_tempest import texts

_HARNESS = verdict.EXIT_CODES[verdict.HARNESS_ERROR]


class _OfRun(base.Judging):

    #: Without arguments, and if this machine has left no run, the run in the
    #: cluster of $KUBECONFIG is used.
    implied = True

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'name', nargs='?', metavar='RUN',
            help='name of the run (default: the one that this machine left in '
                 'a cluster'
                 + (', else the one in the cluster of $KUBECONFIG)'
                    if self.implied else ')'))
        conformance_target.add(
            parser, 'look for the run in this cluster, whoever started it')
        parser.add_argument(
            '--namespace', help='namespace of the run, if the cluster has '
            'several runs (default: any)')
        return parser

    def which(self, args, runtime):
        """The run that the arguments name; see :func:`lifecycle.resume`.

        :raises UsageError: they contradict each other.
        """
        target = conformance_target.named(args)
        if args.name:
            if target or args.namespace:
                raise errors.UsageError(
                    'Name a run, or a cluster to look for one in, not both',
                    hint='Omit either the name, or --cluster, --kubeconfig, '
                         '--context and --namespace')
            return args.name
        implied = (self.implied and os.environ.get('KUBECONFIG')
                   and not runtime.store.left())
        if target is None and (args.namespace or implied):
            target = conformance_target.of(args)
        return target and foreign.Where(target, args.namespace or '')


class _Fetching(_OfRun):

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--results', type=pathlib.Path, metavar='DIR',
            help='folder for the archive (default: the one given when the run '
                 'was started, or the current one if it was started '
                 'elsewhere)')
        return parser


class Run(base.Judging):
    """Run the conformance tests in a cluster and print the verdict.

    After Ctrl-C the run continues in the cluster; use "status", "resume" or
    "abort". Exit code: 0 passed, 1 tests failed, 2 wrong usage, 3 incomplete
    or the harness failed.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        conformance_target.add(parser, 'the cluster to test')
        _add_tests(parser)
        _add_images(parser)
        _add_course(parser)
        return parser

    def act(self, args):
        request = request_of(args)
        if args.dry_run:
            for argv in lifecycle.preview(request):
                print(shlex.join(argv), file=self.app.stdout)
            return 0
        return show(lifecycle.run(request, lifecycle.Runtime()))


class Resume(_Fetching):
    """Resume watching a run until it ends, and print the verdict.

    A run that was started with plain "sonobuoy run" is not removed from the
    cluster.
    """

    def act(self, args):
        runtime = lifecycle.Runtime()
        return show(lifecycle.resume(
            self.which(args, runtime), runtime, _absolute(args.results)))


class Retrieve(_Fetching):
    """Fetch the results of a complete run, and leave it in the cluster.

    Sizes and checksums are compared with what the aggregator announced.
    """

    def act(self, args):
        runtime = lifecycle.Runtime()
        return show(lifecycle.retrieve(
            self.which(args, runtime), runtime, _absolute(args.results)))


class Logs(_OfRun):
    """Print what the pods of a run have written so far: "sonobuoy logs".

    Secrets and control characters are removed.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--plugin', default=sonobuoy.PLUGIN,
            help=f'plugin of Sonobuoy, or "{sonobuoy.AGGREGATOR}" for its '
                 f'aggregator (default: {sonobuoy.PLUGIN})')
        parser.add_argument(
            '-f', '--follow', action='store_true',
            help='keep printing new lines until Ctrl-C; a secret that spans '
                 'lines is not recognized then')
        return parser

    def act(self, args):
        runtime = lifecycle.Runtime()
        which = self.which(args, runtime)
        if args.follow:
            for line in lifecycle.follow(which, runtime, args.plugin):
                self._print(line)
        else:
            self._print(lifecycle.logs(which, runtime, args.plugin))
        return 0

    def _print(self, text):
        for line in texts.clean(redact.redact(text)).splitlines():
            print(line, file=self.app.stdout)
        self.app.stdout.flush()


class Abort(_OfRun):
    """Abort a run and remove all of its objects from the cluster.

    A run that was started on another machine is ended only if its cluster or
    namespace is named.
    """

    implied = False

    def act(self, args):
        runtime = lifecycle.Runtime()
        lifecycle.abort(self.which(args, runtime), runtime)


class Status(_OfRun):
    """Show the state of a run, or with --all those of this machine.

    Exit code: 0 the run is in progress or complete, 3 it is lost, stuck or
    stalled.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument('--all', action='store_true',
                            help='list all runs that this machine started, '
                                 'without asking any cluster')
        return parser

    def act(self, args):
        runtime = lifecycle.Runtime()
        if args.all:
            for record in runtime.store.all():
                self._print(record)
            return 0
        record, state = lifecycle.status(self.which(args, runtime), runtime)
        self._print(record)
        if state is None:
            return 0
        out = self.app.stdout
        print(messages.line(state, runtime.clock.monotonic()), file=out)
        for note in (*messages.plugins(state.status), *state.notes):
            print(note, file=out)
        if not state.outcome:
            return 0
        print(f'{state.outcome} {state.reason}'.strip(), file=out)
        return 0 if state.outcome == completion.COMPLETE else _HARNESS

    def _print(self, record):
        print(f'{record.name}: {record.stage}, {record.plan.mode}, '
              f'{record.target}'
              + (f', results {record.archive}' if record.archive else ''),
              file=self.app.stdout)


def show(ending: outcome.Outcome, console=None) -> int:
    """Show how a run ended; return the exit code of its verdict."""
    terminal.show(report.view(ending.result, ending.verdict).run,
                  console=console)
    if ending.source:
        terminal.printer(console)(f'Results: {ending.source}')
    return ending.verdict.exit_code


def request_of(args) -> lifecycle.RunRequest:
    """The run that the arguments of ``conformance run`` ask for.

    :raises UsageError: they contradict each other.
    """
    chosen = args.focus or args.test
    plan = runner.Plan(
        mode=args.mode or (model.FOCUSED if chosen
                           else model.NON_DISRUPTIVE),
        focus=tuple(args.test), expression=args.focus or '',
        skip=args.skip or '', parallel=args.parallel,
        env=tuple(args.env),
        images=runner.Images(
            args.sonobuoy_image or '', args.conformance_image or '',
            args.busybox_image or '', args.registry_mirror or '',
            _absolute(args.registry_mirrors), _absolute(args.docker_config),
            args.image_pull_policy or ''),
        kubernetes=args.kubernetes_version or '',
        node_selector=tuple(args.aggregator_node),
        namespace=args.namespace or '', timeout=args.timeout or 0,
        stall=args.stall,
        stand_in=args.stand_ins or os.environ.get(
            model.STAND_IN_VARIABLE) == model.STAND_IN)
    return lifecycle.RunRequest(
        conformance_target.of(args), plan, args.results.absolute(),
        args.backend, args.name or '', args.replace, args.keep,
        args.skip_preflight)


def _add_tests(parser):
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
    group.add_argument('--skip', metavar='REGEX', help='skip the tests that '
                       'match this Go regular expression')
    group.add_argument('--parallel', type=int, default=1, metavar='N',
                       help='number of parallel Ginkgo processes (default: 1)')
    group.add_argument(
        '--env', type=_pair, action='append', default=[],
        metavar='NAME=VALUE', help='environment variable of the e2e plugin; '
        'may be repeated')
    group.add_argument('--kubernetes-version', metavar='vX.Y.Z',
                       help='version of the tests (default: that of the '
                            'cluster)')


def _add_images(parser):
    group = parser.add_argument_group('images')
    for option, what in (
            ('sonobuoy', "of Sonobuoy's aggregator and worker"),
            ('conformance', 'with the tests'),
            ('busybox', 'that Hydrophone collects the results with')):
        group.add_argument(f'--{option}-image', metavar='IMAGE',
                           help=f'image {what}')
    group.add_argument('--registry-mirror', metavar='REGISTRY',
                       help="registry to pull the tests' images from")
    group.add_argument(
        '--registry-mirrors', type=pathlib.Path, metavar='FILE',
        help='YAML file that maps each upstream registry to a mirror '
             '(KUBE_TEST_REPO_LIST)')
    group.add_argument(
        '--docker-config', type=pathlib.Path, metavar='FILE',
        help='Docker credentials for private registries')
    group.add_argument(
        '--stand-ins', action='store_true',
        help="mark every report: the images are stand-ins, not upstream's "
             f'(default: if {model.STAND_IN_VARIABLE} is {model.STAND_IN}, or '
             'the nodes report stand-ins)')
    group.add_argument('--image-pull-policy',
                       choices=['Always', 'IfNotPresent', 'Never'],
                       help='pull policy of the run, also for the tests; use '
                            'Never if the images were imported on the nodes')


def _add_course(parser):
    group = parser.add_argument_group('course')
    group.add_argument('--backend', default=model.SONOBUOY,
                       choices=[model.SONOBUOY, model.HYDROPHONE],
                       help='program that runs the tests (default: '
                            f'{model.SONOBUOY})')
    group.add_argument('--name', help='name of the run (default: the name of '
                       'the cluster and the time)')
    group.add_argument('--results', type=pathlib.Path, metavar='DIR',
                       default=pathlib.Path('.'),
                       help='folder for the archive (default: the current '
                            'one)')
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
    group.add_argument('--replace', action='store_true',
                       help='remove what an earlier run left in the cluster '
                            'first')
    add_skip_preflight(group)
    group.add_argument('--keep', action='store_true',
                       help='keep the namespace of the run when it ends')
    group.add_argument('--dry-run', action='store_true',
                       help='check that what the arguments name exists, and '
                            'print the commands without running them')


def add_skip_preflight(parser):
    """Add the option that overrides what the preflight finds."""
    parser.add_argument('--skip-preflight', action='store_true',
                        help='start the tests without checking whether the '
                             'cluster is fit for them')


def _pair(text):
    key, found, value = text.partition('=')
    if not key or not found:
        raise argparse.ArgumentTypeError(f'{text!r} is not NAME=VALUE')
    return key, value


def _absolute(path):
    return path and path.absolute()
