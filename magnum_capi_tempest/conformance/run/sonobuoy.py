# SPDX-License-Identifier: Apache-2.0


"""Sonobuoy's command lines, and the meaning of its answers.

Pure functions create the command lines, so that a dry run prints exactly what
a run calls. :class:`Sonobuoy` calls them.

What not to use, and why (measured with v0.57.5): ``run --wait`` and ``wait``
give up after one error of the API; ``retrieve -x`` follows links out of its
folder; ``run --rerun-failed`` runs everything if nothing failed.
"""

import dataclasses
import json
import pathlib
import re
import types

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance import names
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest import texts
from magnum_capi_tempest.toolchain import pins

NAMESPACE = 'sonobuoy'
#: The only plugin by default: systemd-logs needs root on every node, and its
#: results take gigabytes (Sonobuoy issues 1167, sonobuoy-plugins 210).
PLUGIN = 'e2e'
#: Name of the aggregator, which is no plugin, for "sonobuoy logs".
AGGREGATOR = 'sonobuoy'

#: Most names of failures to keep, and most characters of a name.
_FAILURES, _NAME = 100, 2048

#: Timeouts of a call, in seconds.
ASK, CREATE, TRANSFER, DELETE = 60, 180, 1800, 900

RUNNING = 'running'
COMPLETE = 'complete'
FAILED = 'failed'


@dataclasses.dataclass(frozen=True)
class Tarball:
    """The archive that the aggregator holds: size in bytes."""

    name: str = ''
    sha256: str = ''
    size: int = 0

    @property
    def ready(self) -> bool:
        # An archive of size 0 is announced before there is one
        # (Sonobuoy issue 1932).
        return self.size > 0 and bool(self.sha256)


@dataclasses.dataclass(frozen=True)
class Plugin:
    """A plugin on a node, or one of the whole cluster ("global").

    :param total: specs that it will run, 0 if unknown.
    :param completed: specs that passed so far, as counted by Sonobuoy.
    :param failures: names of the first failed ones, as codenames.
    """

    name: str
    node: str
    status: str
    result: str = ''
    total: int = 0
    completed: int = 0
    failed: int = 0
    message: str = ''
    failures: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Status:
    """The full answer of ``sonobuoy status --json``."""

    status: str
    plugins: tuple[Plugin, ...] = ()
    tarball: Tarball = Tarball()


def parse_status(text: str) -> Status | None:
    """Read ``status --json``.

    :returns: None for the prose that it prints instead, with exit code 0,
        while the aggregator's pod is pending, has no status yet, or has
        ended (cmd/sonobuoy/app/status.go, printPodInfo).
    """
    try:
        data = json.loads(text)
        tar = data.get('tar-info') or {}
        return Status(
            str(data['status']),
            tuple(_plugin(p) for p in data.get('plugins') or ()),
            Tarball(pathlib.PurePosixPath(str(tar.get('name') or '')).name,
                    str(tar.get('sha256') or '').lower(),
                    int(tar.get('size') or 0)))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


#: A line of logrus in Sonobuoy's standard error.
_LOGGED = re.compile(r'time="[^"]*" level=(\w+) msg="((?:[^"\\]|\\.)*)"'
                     r'(?: error="((?:[^"\\]|\\.)*)")?')


def failure_message(output: str) -> str:
    """The message of a failed call on one line, without its warnings."""
    lines = []
    for line in output.splitlines():
        logged = _LOGGED.match(line)
        if logged is None:
            lines.append(line)
        elif logged[1] not in ('debug', 'info', 'warning'):
            lines.append(' '.join(filter(None, logged.group(2, 3))))
    return texts.line(' '.join(lines) or output, 300)


def _plugin(data):
    progress = data.get('progress') or {}
    return Plugin(
        str(data['plugin']), str(data.get('node') or 'global'),
        str(data['status']), str(data.get('result-status') or ''),
        max(int(progress.get('total') or 0), 0),
        max(int(progress.get('completed') or 0), 0),
        len(progress.get('failures') or ()),
        str(progress.get('msg') or ''), tuple(
            names.spec(texts.line(str(name), _NAME))
            for name in (progress.get('failures') or ())[:_FAILURES]))


@dataclasses.dataclass(frozen=True)
class Commands:
    """Creates command lines.

    :param program: path of sonobuoy.
    :param kubeconfig: path.
    """

    program: str
    kubeconfig: str
    namespace: str = NAMESPACE

    def _line(self, verb, *arguments):
        return [self.program, verb, '--kubeconfig', self.kubeconfig,
                '--namespace', self.namespace, *arguments]

    def run(self, plan) -> list[str]:
        """Create the objects of a run; returns at once."""
        argv = self._line('run', '--plugin', PLUGIN)
        if plan.mode != model.FOCUSED:
            argv += ['--mode', plan.mode]
        if plan.mode == model.FOCUSED or plan.skip:
            # After --mode, which sets both.
            argv += [f'--e2e-focus={plan.focus_expression}',
                     f'--e2e-skip={plan.skip_expression}']
        for name, value in sorted(plan.variables.items()):
            argv += ['--plugin-env', f'{PLUGIN}.{name}={value}']
        # The aggregator's own timeout. Ours ends first, so that we can still
        # inspect the run.
        argv += ['--timeout', str(plan.seconds + 600)]
        for key, value in plan.node_selector:
            argv += ['--aggregator-node-selector', f'{key}:{value}']
        # The preflight checks (preflight.py) and the namespace are ours.
        argv += ['--skip-preflight=dnscheck,existingnamespace']
        return argv + self._images(plan)

    def _images(self, plan):
        images, argv = plan.images, []
        if plan.kubernetes and not images.conformance:
            argv += ['--kubernetes-version', plan.kubernetes]
        for option, value in (
                ('--sonobuoy-image', images.sonobuoy),
                ('--kube-conformance-image', images.conformance),
                ('--e2e-repo', images.mirror),
                ('--e2e-repo-config', images.mirrors),
                ('--e2e-docker-config-file', images.docker_config),
                ('--image-pull-policy', images.pull_policy)):
            if value:
                argv += [option, str(value)]
        if images.pull_policy:
            argv.append('--force-image-pull-policy')
        return argv

    def status(self) -> list[str]:
        return self._line('status', '--json')

    def retrieve(self, folder, name) -> list[str]:
        """Fetch the archive as ``folder/name``; never ``--extract``."""
        return self._line('retrieve', str(folder), '--filename', name)

    def logs(self, plugin, follow=False) -> list[str]:
        """Print logs of a plugin's pods.

        :param plugin: AGGREGATOR for the aggregator.
        :param follow: print new lines until interrupted.
        """
        return self._line('logs', '--plugin', plugin,
                          *(('--follow',) if follow else ()))

    def delete(self, wait=10) -> list[str]:
        """Remove namespace and roles.

        Never --all: it removes the namespaces of every run of e2e tests in the
        cluster, and the roles of every Sonobuoy (pkg/client/delete.go of
        v0.57.5).

        :param wait: minutes.
        """
        return self._line('delete', f'--wait={wait}')


@dataclasses.dataclass(frozen=True)
class Sonobuoy:
    """Calls the program."""

    commands: Commands
    name = model.SONOBUOY
    #: Of the namespace, as "sonobuoy gen" creates it.
    labels = types.MappingProxyType(
        {'pod-security.kubernetes.io/enforce': 'privileged'})

    def preview(self, plan, output) -> list[list[str]]:
        """Every command line that a run of the plan would call, in order.

        :param output: folder for the results of the run.
        """
        c = self.commands
        return [c.run(plan), c.status(), c.retrieve(output, 'ARCHIVE.part'),
                c.delete()]

    def run(self, plan):
        """Create the objects of a run.

        :raises CommandFailed: not all of them could be created.
        """
        processes.run(self.commands.run(plan), timeout=CREATE, merge=True)

    def status(self) -> str:
        """The output of ``status --json``, JSON or not.

        Exit code 1 with JSON, from a failed aggregator, also counts as an
        answer.

        :raises CommandFailed: no answer.
        """
        try:
            return processes.run(self.commands.status(), timeout=ASK)
        except errors.CommandFailed as e:
            for line in e.output.splitlines():
                if parse_status(line) is not None:
                    return line
            raise

    def retrieve(self, folder: pathlib.Path, name: str):
        """Fetch the archive once, unchecked.

        :raises CommandFailed: it was not fetched, or is incomplete.
        """
        processes.run(self.commands.retrieve(folder, name), timeout=TRANSFER)

    def logs(self, plugin) -> str:
        """The logs of a plugin's pods so far.

        :param plugin: see :meth:`Commands.logs`.
        :raises CommandFailed: they cannot be read.
        """
        return processes.run(self.commands.logs(plugin), timeout=TRANSFER)

    def follow(self, plugin):
        """Yield the lines of a plugin's logs until Sonobuoy ends.

        :raises CommandFailed: it ended with an error.
        """
        argv = self.commands.logs(plugin, follow=True)
        with processes.start(argv, stdin=processes.NOTHING,
                             stdout=processes.PIPE, text=True,
                             errors='replace') as process:
            try:
                yield from process.stdout
            except BaseException:
                process.kill()
                raise
        if process.returncode:
            raise errors.CommandFailed(argv, process.returncode, '')

    def delete(self):
        """Remove everything of the run from the cluster."""
        processes.run(self.commands.delete(), timeout=DELETE, merge=True)


def backend(plan, program, kubeconfig) -> Sonobuoy:
    """Sonobuoy for a plan and a cluster."""
    return Sonobuoy(Commands(str(program), str(kubeconfig),
                             plan.namespace or NAMESPACE))


def default_image() -> str:
    """Image of the aggregator that the pinned program uses by default."""
    version = pins.load().programs['sonobuoy'].version
    return f'sonobuoy/sonobuoy:v{version}'


def takes_namespace(plan: runner.Plan) -> bool:
    """Whether a run can use an existing namespace."""
    return True


def refuse(plan: runner.Plan):
    """Refuse what Sonobuoy does not support.

    :raises UsageError: the plan requires it.
    """
    if plan.images.busybox:
        raise errors.UsageError('Sonobuoy does not use a busybox image',
                                hint='Omit --busybox-image')
