# SPDX-License-Identifier: Apache-2.0

"""Hydrophone, the second runner: its command lines and its two files.

Hydrophone (kubernetes-sigs) creates one pod, follows its log, copies
``e2e.log`` and ``junit_01.xml`` and removes the pod, in a single call that
must stay connected. It has no status. So it is ended as soon as its pod
exists, the pod is watched, and ``--continue`` fetches the files when the tests
have ended. Its exit code is Ginkgo's, so a failure of tests looks like one of
its own: the files decide.
"""

import collections.abc
import contextlib
import ctypes
import dataclasses
import pathlib
import re
import shutil
import signal
import tempfile
import types
import typing

from magnum_capi import errors
from magnum_capi import outfile
from magnum_capi import processes
from magnum_capi import progress as progress_
from magnum_capi import waiting
from magnum_capi_tempest.conformance import archive
from magnum_capi_tempest.conformance import damage
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import objects
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest import json_types
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest import texts

NAMESPACE = 'conformance'
LOG, JUNIT = 'e2e.log', 'junit_01.xml'
_IMAGE = 'registry.k8s.io/conformance'
#: Its pod, and the container with the tests: pkg/conformance/const.go, v0.8.0.
POD, _CONTAINER = 'e2e-conformance-test', 'conformance-container'

#: Seconds to create its objects, to copy its files, and to remove it.
_CREATE, _TRANSFER, _CLEANUP = 180, 600, 900
#: Prefix of the folder into which one call fetches.
_CALL = 'fetched-'
#: Variables for which it has its own options.
_OPTIONS = {'E2E_EXTRA_ARGS': '--extra-args',
            'E2E_EXTRA_GINKGO_ARGS': '--extra-ginkgo-args'}


@dataclasses.dataclass(frozen=True)
class Hydrophone:
    """A run with Hydrophone; see :class:`.runner.Runner`.

    :param program: path of hydrophone.
    :param kubeconfig: path.
    """

    plan: runner.Plan
    program: str
    kubeconfig: str
    name = model.HYDROPHONE
    labels: typing.ClassVar[typing.Mapping[str, str]] = types.MappingProxyType(
        {})
    leaves = False
    #: The pod with the tests also holds the results.
    tests = ''
    container = _CONTAINER

    @property
    def namespace(self) -> str:
        return self.plan.namespace or NAMESPACE

    @property
    def takes_namespace(self) -> bool:
        # With an existing one, v0.8.0 forgets the name before it creates the
        # ConfigMap for --test-repo-list (pkg/conformance/deploy.go).
        return self.plan.images.mirrors is None

    def _line(self, *arguments: str) -> list[str]:
        return [self.program, '--kubeconfig', self.kubeconfig,
                '--namespace', self.namespace, *arguments]

    def refuse(self) -> None:
        """Refuse what Hydrophone does not support.

        :raises UsageError: the plan requires it.
        """
        plan, images = self.plan, self.plan.images
        for there, option in (
                (images.sonobuoy, '--sonobuoy-image'),
                (images.docker_config, '--docker-config'),
                (images.pull_policy, '--image-pull-policy'),
                (plan.node_selector, '--aggregator-node'),
                (plan.mode == model.LITE, f'--mode {model.LITE}')):
            if there:
                raise errors.UsageError(
                    f'Hydrophone does not support {option}',
                    hint='Use Sonobuoy')
        for name, value in plan.env:
            if name not in _OPTIONS or ',' in value:
                raise errors.UsageError(
                    f'Hydrophone cannot set {name}={value}',
                    hint='It supports E2E_EXTRA_ARGS and '
                         'E2E_EXTRA_GINKGO_ARGS, without commas')

    def preview(self, output: object) -> list[list[str]]:
        return [self._run(output), self._continue(output)]

    def _run(self, output: object) -> list[str]:
        plan, images = self.plan, self.plan.images
        argv = self._line('--output-dir', str(output),
                          '--disable-progress-status')
        if self.takes_namespace:
            argv.append('--skip-preflight=namespace')
        if plan.mode in (model.CERTIFIED, model.NON_DISRUPTIVE):
            argv.append('--conformance')
        else:
            argv.append(f'--focus={plan.focus_expression}')
        if plan.skip_expression:
            argv.append(f'--skip={plan.skip_expression}')
        if plan.parallel > 1:
            argv += ['--parallel', str(plan.parallel)]
        for name, value in plan.env:
            for word in value.split():
                argv.append(f'{_OPTIONS[name]}={word}')
        conformance = images.conformance or (
            f'{_IMAGE}:{plan.kubernetes}' if plan.kubernetes else '')
        for option, given in (
                ('--conformance-image', conformance),
                ('--busybox-image', images.busybox),
                ('--test-repo-list', images.mirrors)):
            if given:
                argv += [option, str(given)]
        return argv

    def _continue(self, output: object) -> list[str]:
        return self._line('--output-dir', str(output),
                          '--disable-progress-status', '--continue')

    def start(self, reader: kube.Client, folder: pathlib.Path) -> None:
        """Let it create its objects, of which the pod is the last one.

        :raises CommandFailed: it ended, or did not create it in time.
        """
        path = kube.pod_path(self.namespace, POD)
        with tempfile.TemporaryDirectory(prefix=_CALL, dir=folder) as unused:
            argv = self._run(unused)
            code, output = _call(argv, _CREATE, lambda: _exists(reader, path))
            if not _exists(reader, path):
                raise errors.CommandFailed(argv, code, output)

    def status(self, pods: list[json_types.Object] | None
               ) -> runner.Status | None:
        for obj in pods or ():
            if obj['metadata']['name'] != POD:
                continue
            status = obj.get('status') or {}
            # Of a pod that has ended itself, nothing can be copied.
            ended = status.get('phase') == 'Running' and any(
                c.get('name') == _CONTAINER
                and (c.get('state') or {}).get('terminated')
                for c in status.get('containerStatuses') or ())
            return runner.Status(
                runner.COMPLETE if ended else runner.RUNNING)
        return None

    def pod(self, obj: json_types.Object) -> objects.Pod:
        found = objects.pod(obj)
        return found if found.name == POD else dataclasses.replace(
            found, plugin='?')

    def fetch(self, status: runner.Status, folder: pathlib.Path,
              progress: progress_.Progress, clock: waiting.Clock) -> str:
        """Fetch both files; Hydrophone then removes the run.

        They are fetched into a new folder. What broke off there stays: no
        other copy may be left.
        """
        fetched = pathlib.Path(tempfile.mkdtemp(prefix=_CALL, dir=folder))
        with progress.step('fetching the results'), outfile.for_owner_only():
            _, output = _call(self._continue(fetched), _TRANSFER)
        if self.fetched(folder):
            return '.'
        with contextlib.suppress(OSError):
            fetched.rmdir()
        raise errors.EnvironmentProblem(
            'Hydrophone ended without both result files', where=fetched,
            last_seen=self.failure_message(output),
            hint='To fetch them again: magnum-capi conformance attach '
            f'{folder}')

    def fetched(self, folder: pathlib.Path) -> str:
        """See :meth:`.runner.Runner.fetched`.

        Files of a call are put into ``folder`` if both are whole. Only then
        are broken copies removed.
        """
        calls = sorted(folder.glob(f'{_CALL}*'))
        whole = next((one for one in (folder, *calls) if _whole(one)), None)
        if whole is None:
            return ''
        if whole != folder:
            for name in LOG, JUNIT:
                shutil.copy2(whole / name, folder)
        for one in calls:
            shutil.rmtree(one)
        return '.'

    def delete(self) -> None:
        processes.run(self._line('--cleanup'), timeout=_CLEANUP, merge=True)

    def failure_message(self, output: str) -> str:
        """The message of a failed call on one line, without its successes."""
        lines = [line for line in output.splitlines()
                 if not re.match(r'\d\d:\d\d:\d\d INF ', line)]
        return texts.line(' '.join(lines) or output, 300)


def _call(argv: list[str], timeout: float,
          done: collections.abc.Callable[[], bool] = lambda: False
          ) -> tuple[int, str]:
    """Run the program until it ends, ``done()``, or for ``timeout`` seconds.

    If this process is killed, so is the program: one that outlived it would
    wait for the next pod of its name, fetch the results of that run and remove
    it.

    :returns: exit code, negative if it was killed; and output.
    """
    with tempfile.TemporaryFile('w+', errors='replace') as output:
        process = processes.start(
            argv, stdin=processes.NOTHING, stdout=output, stderr=output,
            start_new_session=True, preexec_fn=_die_with_parent)
        try:
            waiting.wait_for(
                lambda: process.poll() is not None or done(), done=bool,
                timeout=timeout, what='Hydrophone')
        except errors.WaitTimeout:
            pass
        finally:
            process.kill()
            process.wait()
        output.seek(0)
        return process.returncode, output.read()


def _die_with_parent() -> None:
    # PR_SET_PDEATHSIG of prctl(2).
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def _exists(reader: kube.Client, path: str) -> bool:
    try:
        return reader.get(path) is not None
    except kube.KubeError:
        return False


def _whole(folder: pathlib.Path) -> bool:
    """The JUnit file is fetched last, and its end shows that it is whole."""
    files = folder / JUNIT, folder / LOG
    if not all(file.is_file() and file.stat().st_size for file in files):
        return False
    try:
        archive.read(folder)
    except damage.Damage:
        return False
    return True
