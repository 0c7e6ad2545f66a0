# SPDX-License-Identifier: Apache-2.0

"""Sonobuoy's command lines, and the meaning of its answers.

What not to use, and why (measured with v0.57.5): ``run --wait`` and ``wait``
give up after one error of the API; ``retrieve -x`` follows links out of its
folder; ``run --rerun-failed`` runs everything if nothing failed.
"""

import dataclasses
import json
import pathlib
import re
import types
import typing

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi import progress as progress_
from magnum_capi import waiting
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance import names
from magnum_capi_tempest.conformance.run import objects
from magnum_capi_tempest.conformance.run import retrieve
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest import json_types
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest import texts

NAMESPACE = 'sonobuoy'

#: Most names of failures to keep, and most characters of a name.
_FAILURES, _NAME = 100, 2048

#: Timeouts of a call, in seconds.
_ASK, _CREATE, _DELETE = 60, 180, 900

#: Most characters of its prose.
_MESSAGE = 300


def parse_status(text: str) -> runner.Status | None:
    """Read ``status --json``.

    :returns: None for the prose that it prints instead, with exit code 0,
        while the aggregator's pod is pending, has no status yet, or has
        ended (cmd/sonobuoy/app/status.go, printPodInfo).
    """
    try:
        data = json.loads(text)
        tar = data.get('tar-info') or {}
        archive = runner.Archive(
            pathlib.PurePosixPath(str(tar.get('name') or '')).name,
            str(tar.get('sha256') or '').lower(), int(tar.get('size') or 0))
        state = str(data['status'])
        if state == runner.COMPLETE and not (
                archive.name and archive.sha256 and archive.size > 0):
            # One of size 0 is announced before there is one (issue 1932).
            state = 'post-processing'
        return runner.Status(state, tuple(
            _plugin(p) for p in data.get('plugins') or ()), archive)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


#: A line of logrus in Sonobuoy's standard error.
_LOGGED = re.compile(r'time="[^"]*" level=(\w+) msg="((?:[^"\\]|\\.)*)"'
                     r'(?: error="((?:[^"\\]|\\.)*)")?')


def _plugin(data: json_types.Object) -> runner.Plugin:
    progress = data.get('progress') or {}
    return runner.Plugin(
        str(data['plugin']), str(data.get('node') or 'global'),
        str(data['status']), str(data.get('result-status') or ''),
        max(int(progress.get('total') or 0), 0),
        max(int(progress.get('completed') or 0), 0),
        len(progress.get('failures') or ()), tuple(
            names.spec(texts.line(str(name), _NAME))
            for name in (progress.get('failures') or ())[:_FAILURES]))


@dataclasses.dataclass(frozen=True)
class Sonobuoy:
    """A run with Sonobuoy; see :class:`.runner.Runner`.

    :param program: path of sonobuoy.
    :param kubeconfig: path.
    """

    plan: runner.Plan
    program: str
    kubeconfig: str
    name = model.SONOBUOY
    #: As "sonobuoy gen" creates it.
    labels: typing.ClassVar[typing.Mapping[str, str]] = types.MappingProxyType(
        {'pod-security.kubernetes.io/enforce': 'privileged'})
    takes_namespace = leaves = True
    tests = container = runner.TESTS

    @property
    def namespace(self) -> str:
        return self.plan.namespace or NAMESPACE

    def _line(self, verb: str, *arguments: object) -> list[str]:
        return [self.program, verb, '--kubeconfig', self.kubeconfig,
                '--namespace', self.namespace, *map(str, arguments)]

    def refuse(self) -> None:
        """Refuse what Sonobuoy does not support.

        :raises UsageError: the plan requires it.
        """
        if self.plan.images.busybox:
            raise errors.UsageError('Sonobuoy does not use a busybox image',
                                    hint='Omit --busybox-image')

    def preview(self, output: object) -> list[list[str]]:
        return [self._run(), self._status(),
                self._retrieve(output, 'ARCHIVE.part'), self._delete()]

    def _run(self) -> list[str]:
        plan = self.plan
        argv = self._line('run', '--plugin', runner.TESTS)
        if plan.mode != model.FOCUSED:
            argv += ['--mode', plan.mode]
        if plan.mode == model.FOCUSED or plan.skip:
            # After --mode, which sets both.
            argv += [f'--e2e-focus={plan.focus_expression}',
                     f'--e2e-skip={plan.skip_expression}']
        for name, value in sorted(plan.variables.items()):
            argv += ['--plugin-env', f'{runner.TESTS}.{name}={value}']
        # The aggregator's own timeout. Ours ends first, so that we can still
        # inspect the run.
        argv += ['--timeout', str(plan.seconds + 600)]
        for key, value in plan.node_selector:
            argv += ['--aggregator-node-selector', f'{key}:{value}']
        # The preflight checks (preflight.py) and the namespace are ours.
        argv += ['--skip-preflight=dnscheck,existingnamespace']
        return argv + self._images()

    def _images(self) -> list[str]:
        images = self.plan.images
        argv: list[str] = []
        if self.plan.kubernetes and not images.conformance:
            argv += ['--kubernetes-version', self.plan.kubernetes]
        for option, value in (
                ('--sonobuoy-image', images.sonobuoy),
                ('--kube-conformance-image', images.conformance),
                ('--e2e-repo-config', images.mirrors),
                ('--e2e-docker-config-file', images.docker_config),
                ('--image-pull-policy', images.pull_policy)):
            if value:
                argv += [option, str(value)]
        if images.pull_policy:
            argv.append('--force-image-pull-policy')
        return argv

    def _status(self) -> list[str]:
        return self._line('status', '--json')

    def _retrieve(self, folder: object, name: str) -> list[str]:
        """Fetch the archive as ``folder/name``; never ``--extract``."""
        return self._line('retrieve', folder, '--filename', name)

    def _delete(self) -> list[str]:
        """Remove namespace and roles.

        Never --all: it removes the namespaces of every run of e2e tests in the
        cluster, and the roles of every Sonobuoy (pkg/client/delete.go of
        v0.57.5).
        """
        return self._line('delete', '--wait=10')

    def start(self, reader: kube.Client, folder: pathlib.Path) -> None:
        processes.run(self._run(), timeout=_CREATE, merge=True)

    def status(self, pods: list[json_types.Object] | None = None
               ) -> runner.Status:
        try:
            text = processes.run(self._status(), timeout=_ASK)
        except errors.CommandFailed as e:
            # With exit code 1 it also prints the JSON of a failed aggregator.
            for line in e.output.splitlines():
                found = parse_status(line)
                if found is not None:
                    return found
            raise
        return parse_status(text) or runner.Status(
            '', message=texts.line(text, _MESSAGE))

    def pod(self, obj: json_types.Object) -> objects.Pod:
        labels = obj['metadata'].get('labels') or {}
        aggregator = labels.get('sonobuoy-component') == 'aggregator'
        return objects.pod(obj, '' if aggregator else labels.get(
            'sonobuoy-plugin', '?'))

    def fetch(self, status: runner.Status, folder: pathlib.Path,
              progress: progress_.Progress, clock: waiting.Clock) -> str:
        return retrieve.fetch(
            lambda part, name: processes.run(
                self._retrieve(part, name), timeout=retrieve.TRANSFER),
            self.failure_message, status.archive, folder, progress, clock)

    def fetched(self, folder: pathlib.Path) -> str:
        # Its archive is only known with its checksum.
        return ''

    def delete(self) -> None:
        processes.run(self._delete(), timeout=_DELETE, merge=True)

    def failure_message(self, output: str) -> str:
        """The message of a failed call on one line, without its warnings."""
        lines = []
        for line in output.splitlines():
            logged = _LOGGED.match(line)
            if logged is None:
                lines.append(line)
            elif logged[1] not in ('debug', 'info', 'warning'):
                lines.append(' '.join(filter(None, logged.group(2, 3))))
        return texts.line(' '.join(lines) or output, _MESSAGE)
