# SPDX-License-Identifier: Apache-2.0
"""``magnum-capi sandbox ...``: a whole cloud on loopback."""

import argparse
import functools
import pathlib
import shlex
import sys

from magnum_capi.cli import base
from magnum_capi import errors
from magnum_capi import progress
from magnum_capi_tempest import leaks
from magnum_capi_tempest import rehearsal
from magnum_capi_tempest import report
from magnum_capi_tempest import sandbox
from magnum_capi_tempest.sandbox import access
from magnum_capi_tempest.sandbox.cloud import environment
from magnum_capi_tempest.sandbox import infrastructure
from magnum_capi_tempest.sandbox import lifecycle
from magnum_capi_tempest.sandbox import logs
from magnum_capi_tempest.sandbox import magnum_wheel
from magnum_capi_tempest.sandbox import nodes
from magnum_capi_tempest.sandbox import profiles
from magnum_capi_tempest.sandbox import record as records
from magnum_capi_tempest.sandbox import releases
from magnum_capi_tempest.sandbox import tempest_run

_RELEASES = ', '.join(f'{r.name} ({r.version})' for r in releases.RELEASES)


class _OfSandbox:
    """Adds the option that every command of this group has."""

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--directory', type=pathlib.Path, metavar='DIR',
            help='folder of the sandbox; sandboxes in different folders run '
                 f'side by side (default: {lifecycle.default_directory()})')
        return parser


class Up(_OfSandbox, base.Command):
    """Start a sandbox; on a running one, start what is missing of it."""

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--profile', help='what it is made of: '
            f'{", ".join(profiles.PROFILES)} (default: {profiles.DEFAULT})')
        parser.add_argument(
            '--chart', type=pathlib.Path, metavar='DIR',
            help='folder of the Helm chart that drivers use, for example '
                 'openstack-cluster of capi-helm-charts with its '
                 'dependencies (default: charts/sandbox-cluster)')
        parser.add_argument(
            '--port-base', type=int, metavar='N',
            help='first of its ports (default: 25000)')
        parser.add_argument(
            '--install', action='append', default=[], metavar='REQ',
            help='install drivers for Magnum: a folder, a wheel, an archive '
                 'or a requirement; may be repeated')
        parser.add_argument(
            '--magnum-conf', action='append', default=[], type=pathlib.Path,
            metavar='FILE', help="a file to add to Magnum's configuration; "
            'may be repeated, later ones win')
        parser.add_argument(
            '--discovery-filter', action='store_true',
            help="give Magnum's API the filter of the discovery "
                 'specification')
        parser.add_argument(
            '--clash', action='store_true',
            help='install drivers that clash with magnum-capi-helm, for '
                 'tests')
        parser.add_argument(
            '--nodes', choices=nodes.KINDS,
            help='what nodes of clusters are: in memory, there at once and '
                 'without pods, or real ones in containers of an engine of '
                 'its own, which needs root and image archives (default: '
                 f'{nodes.MEMORY})')
        parser.add_argument(
            '--images', type=pathlib.Path, metavar='DIR',
            help='folder of "magnum-capi images build", for --nodes docker '
                 '(default: images in the cache folder)')
        magnum = parser.add_mutually_exclusive_group()
        magnum.add_argument(
            '--magnum', metavar='RELEASE',
            help='release of Magnum, by its name or by the first number of '
                 f'its version: {_RELEASES}; or a folder with a checkout, or '
                 f'a wheel, of Magnum (default: {releases.NEWEST.name})')
        magnum.add_argument(
            '--magnum-patches', dest='magnum', action='store_const',
            const=magnum_wheel.PATCHED,
            help=f'{releases.NEWEST.name} of PyPI with the patches of '
                 'upstream/magnum, in an environment of its own')
        parser.add_argument(
            '--infrastructure', choices=infrastructure.KINDS,
            help='what is under the clusters: machines and networks in '
                 'memory, or servers, ports and load balancers of a real '
                 'Nova, Neutron and Octavia, of which only the hypervisor '
                 f'is replaced (default: {infrastructure.MEMORY}, unless a '
                 'driver needs more services)')
        parser.add_argument(
            '--rate-limiting', action='store_true',
            help='have the controllers of Cluster API look at an object once '
                 'a second at most, as upstream does by default; everything '
                 'takes longer then')
        return parser

    def take_action(self, args):
        box = sandbox.Sandbox(args.directory)
        say = progress.Progress()
        record = box.up(sandbox.Spec(
            args.profile, args.chart, args.port_base, tuple(args.install),
            tuple(args.magnum_conf), args.discovery_filter, args.clash,
            args.nodes, args.images, args.rate_limiting, args.magnum,
            args.infrastructure), say)
        say.info(f'Ready: Keystone at {box.layout().auth_url}, profile '
                 f'{record.profile}. Use it: eval "$(magnum-capi sandbox '
                 'env)"')


class Down(_OfSandbox, base.Command):
    """End a sandbox and remove everything of it."""

    def take_action(self, args):
        sandbox.Sandbox(args.directory).down(progress.Progress())


class Status(_OfSandbox, base.Lister):
    """Show the programs of a sandbox.

    Exit code: 0 all of them run, 1 some do not, or there is no sandbox.
    """

    def take_action(self, args):
        box = sandbox.Sandbox(args.directory)
        try:
            found = box.status()
        except errors.UsageError as e:
            # Not the exit code of a wrong call: who brings one up if there is
            # none may have nothing but this code to tell them apart.
            raise errors.MagnumCapiError(
                e.what, where=e.where, hint=e.hint) from e
        self._bad = not found or any(s.state != 'RUNNING' for s in found)
        rows = [(s.name, s.state, s.pid or '', round(s.memory / 2**20),
                 round(s.cpu, 1)) for s in found]
        rows.append(('total', '', '', sum(r[3] for r in rows),
                     round(sum(r[4] for r in rows), 1)))
        return ('Program', 'State', 'PID', 'Memory MiB', 'CPU s'), rows

    def run(self, parsed_args):
        return super().run(parsed_args) or int(self._bad)


class Logs(_OfSandbox, base.Command):
    """Print the logs of a sandbox's programs."""

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument('program', nargs='*',
                            help='names as in "sandbox status"')
        parser.add_argument('-n', '--lines', type=int, default=50,
                            help='last lines of each (default: 50)')
        parser.add_argument('-f', '--follow', action='store_true',
                            help='go on printing what comes')
        return parser

    def take_action(self, args):
        logs.show(sandbox.Sandbox(args.directory), args.program, args.lines,
                  args.follow, self.app.stdout)


class Env(_OfSandbox, base.Command):
    """Print shell commands that select a sandbox for other programs."""

    def take_action(self, args):
        box = sandbox.Sandbox(args.directory)
        tempest_run.prepare(box, tempest_run.Order())
        record = records.require_ready(box.directory)
        venv = environment.ensure(progress.Progress(),
                                  kind=record.infrastructure)
        for name, value in access.variables(
                box.layout(), venv, record.nodes).items():
            print(f'export {name}={shlex.quote(value)}',
                  file=self.app.stdout)


class Set(_OfSandbox, base.Command):
    """Change Magnum's configuration and restart Magnum."""

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--no-restart', action='store_true',
            help='only write it; what Magnum reads when it starts takes '
                 'effect later')
        parser.add_argument(
            'change', nargs='+', metavar='GROUP.OPTION=VALUE',
            help='for example drivers.default_driver=k8s_capi_helm_v1; an '
                 'empty VALUE takes back what was set before; "-" is all '
                 'lines of standard input')
        return parser

    def take_action(self, args):
        sandbox.Sandbox(args.directory).set(
            [line for word in args.change for line in _lines(word)],
            not args.no_restart, progress.Progress())


class Upgrade(_OfSandbox, base.Command):
    """Replace a sandbox's Magnum by a later release; its clusters stay.

    For the profile "full" only: Magnum's migrations fail on SQLite.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument('release', help=f'one of {_RELEASES}')
        return parser

    def take_action(self, args):
        sandbox.Sandbox(args.directory).upgrade(
            args.release, progress.Progress())


class Rehearse(_OfSandbox, base.Lister):
    """Rehearse an upgrade of Magnum with clusters that live on.

    Makes a sandbox of the profile "full" with the first release, two
    clusters, and upgrades Magnum as OpenStack allows it; resizes the clusters
    after each upgrade, gives them a newer Kubernetes, deletes them, and takes
    the sandbox down. The Kubernetes APIs and Magnum's are asked all the time.

    Exit code: 0 all went well, 1 a step failed or something is left, 2 it
    cannot be rehearsed.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument('--from', dest='start', required=True,
                            metavar='RELEASE', help=f'one of {_RELEASES}')
        parser.add_argument('--to', dest='end', metavar='RELEASE',
                            default=releases.NEWEST.name,
                            help=f'default: {releases.NEWEST.name}')
        parser.add_argument(
            '--install', action='append', default=[], metavar='REQ',
            help='install drivers for Magnum, as of "sandbox up"; for every '
                 'release anew; may be repeated')
        parser.add_argument('--driver', required=True,
                            help='name of the driver that has to go on')
        parser.add_argument(
            '--results', type=pathlib.Path, metavar='FILE',
            help='also write what was seen into this file, as JSON')
        parser.add_argument('--keep', action='store_true',
                            help='leave the sandbox up')
        return parser

    def take_action(self, args):
        plan = rehearsal.Plan(releases.get(args.start),
                              releases.get(args.end), args.driver)
        releases.route(plan.start, plan.end)
        box = sandbox.Sandbox(args.directory)
        if records.load(box.directory):
            raise errors.UsageError(
                'There is a sandbox already', where=box.directory,
                hint='Take it down first, or name another --directory')
        say = progress.Progress()
        box.up(sandbox.Spec('full', install=tuple(args.install),
                            magnum=plan.start.name), say)
        try:
            outcome = rehearsal.Rehearsal(
                box, plan, functools.partial(snapshot, box), say).run()
        finally:
            if not args.keep:
                box.down(say)
        if args.results:
            rehearsal.write(args.results, outcome)
        self._outcome = outcome
        return ('Magnum', 'Step', 'Seconds'), [
            (s.magnum, s.what, s.seconds) for s in outcome.steps]

    def run(self, parsed_args):
        code = super().run(parsed_args)
        if code:
            return code
        for one in self._outcome.answers:
            print(one, file=self.app.stdout)
        for one in self._outcome.left:
            print(f'left: {one}', file=self.app.stdout)
        for one in self._outcome.forgotten:
            print(f'forgotten by Magnum {releases.NEWEST.name}: {one}',
                  file=self.app.stdout)
        return 1 if self._outcome.left else 0


class Tempest(_OfSandbox, base.Command):
    """Run Tempest against a sandbox and report on it."""

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '-r', '--regex', help='tests to run, as of "tempest run" '
            f'(default: {tempest_run.DEFAULT})')
        parser.add_argument(
            '--driver', help='Magnum driver that cluster templates ask for '
            '(default: the one that Magnum chooses)')
        parser.add_argument(
            '--third-party', action='store_true',
            help='run the API tests of magnum-tempest-plugin, except the slow '
                 'ones, instead of ours; needs the extra "third_party", and '
                 'a sandbox without --clash')
        parser.add_argument(
            '-c', '--concurrency', type=int, default=2,
            help='workers (default: 2)')
        parser.add_argument(
            '--promise', choices=tempest_run.PROMISES, default='kept',
            help='which promises to ask for: those that this sandbox keeps, '
                 'also all of driver discovery, all of drivers, or all, to '
                 'see what fails (default: kept)')
        parser.add_argument(
            '--option', type=options, action='extend', default=[],
            metavar='NAME=VALUE', help='one more option of [magnum_capi] in '
            'tempest.conf; may be repeated; "-" is all lines of standard '
            'input')
        parser.add_argument(
            '--results', type=pathlib.Path, metavar='DIR',
            help='folder for report.html and the like (default: a new one '
                 'below the state folder)')
        parser.add_argument(
            'arguments', nargs='*', metavar='-- ARGUMENTS',
            help='more arguments for "tempest run"')
        return parser

    def take_action(self, args):
        return tempest(sandbox.Sandbox(args.directory), tempest_run.Order(
            regex=args.regex, driver=args.driver,
            third_party=args.third_party, concurrency=args.concurrency,
            promise=args.promise, options=tuple(args.option),
            arguments=tuple(args.arguments), results=args.results))


def _lines(word):
    """The word, or the lines of standard input where it is "-"."""
    return [word] if word != '-' else [
        line for line in sys.stdin.read().splitlines() if line]


def options(text):
    """Each :func:`option` of a word or of standard input, for argparse."""
    return [option(line) for line in _lines(text)]


def option(text):
    """A word NAME=VALUE as (name, value), for argparse."""
    # Only here is oslo.config needed.
    from magnum_capi_tempest import config
    name, equals, value = text.partition('=')
    if not (name.isidentifier() and equals and value.isprintable()):
        raise argparse.ArgumentTypeError(f'{text!r} is not NAME=VALUE')
    if name not in {known.dest for known in config.OPTS}:
        raise argparse.ArgumentTypeError(
            f'[magnum_capi] has no option {name!r}: "oslo-config-generator '
            '--namespace magnum_capi_tempest" prints them all; what is in '
            '[magnum_capi_feature_enabled] is asked for with --promise')
    return name, value


def tempest(box, order) -> int:
    """Run Tempest, show the result; 0 when everything has passed."""
    before = snapshot(box)
    stream, facts = tempest_run.run(box, order)
    left = leaks.compare(before, snapshot(box),
                         stream.parent / tempest_run.ARTEFACTS, strict=True)
    ok = report.summarise(stream, stream.parent, 'tempest run', facts).ok
    print(left)
    # What others' tests leave is said, but it is not for us to mend.
    return 0 if ok and (order.third_party or not left.leaks) else 1


def snapshot(box):
    """What there is in a sandbox: nobody else works there."""
    layout = box.layout()
    return leaks.take(
        'sandbox-admin', layout.kubeconfig,
        clouds=layout.directory / 'clouds.yaml',
        real_nodes=records.require_ready(
            box.directory).infrastructure == infrastructure.OPENSTACK)
