# SPDX-License-Identifier: Apache-2.0


"""Hydrophone, the second backend: its command lines and its two files.

Hydrophone (kubernetes-sigs) creates one pod, follows its log, copies
``e2e.log`` and ``junit_01.xml`` and removes the pod, in a single call that
must stay connected; ``--continue`` resumes an existing run. It has no status
and no archive: its result is a folder.

Its exit code is Ginkgo's, so a failure of tests looks like one of its own: the
files decide.
"""

import contextlib
import dataclasses
import pathlib
import re
import shutil
import tempfile
import types

from magnum_capi import errors
from magnum_capi import folders
from magnum_capi import outfile
from magnum_capi import processes
from magnum_capi_tempest.conformance import archive
from magnum_capi_tempest.conformance import damage
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest import texts
from magnum_capi_tempest.toolchain import leftovers

NAMESPACE = 'conformance'
LOG, JUNIT = 'e2e.log', 'junit_01.xml'
IMAGE = 'registry.k8s.io/conformance'
BUSYBOX = 'registry.k8s.io/e2e-test-images/busybox:1.36.1-1'

_CLEANUP = 900
#: Prefix of the folder into which one call fetches.
_CALL = 'fetched-'
#: Variables for which it has its own options.
_OPTIONS = {'E2E_EXTRA_ARGS': '--extra-args',
            'E2E_EXTRA_GINKGO_ARGS': '--extra-ginkgo-args'}


@dataclasses.dataclass(frozen=True)
class Commands:
    """Makes command lines; see :class:`sonobuoy.Commands`."""

    program: str
    kubeconfig: str
    namespace: str = NAMESPACE

    def _line(self, *arguments):
        return [self.program, '--kubeconfig', self.kubeconfig,
                '--namespace', self.namespace, *arguments]

    def run(self, plan, output, go_on=False) -> list[str]:
        """Run the tests to their end, or resume an existing run.

        :param output: folder for the two files.
        """
        argv = self._line('--output-dir', str(output),
                          '--disable-progress-status')
        if go_on:
            return [*argv, '--continue']
        if takes_namespace(plan):
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
        images = plan.images
        conformance = images.conformance or (
            f'{IMAGE}:{plan.kubernetes}' if plan.kubernetes else '')
        for option, value in (
                ('--conformance-image', conformance),
                ('--busybox-image', images.busybox),
                ('--test-repo', images.mirror),
                ('--test-repo-list', images.mirrors)):
            if value:
                argv += [option, str(value)]
        return argv

    def delete(self) -> list[str]:
        return self._line('--cleanup')


@dataclasses.dataclass(frozen=True)
class Hydrophone:
    """Calls the program."""

    commands: Commands
    name = model.HYDROPHONE
    labels = types.MappingProxyType({})

    def preview(self, plan, output) -> list[list[str]]:
        """Every command line that a run of the plan would call, in order.

        :param output: folder for the results of the run.
        """
        return [self.commands.run(plan, output), self.commands.delete()]

    def run(self, plan, output: pathlib.Path, go_on=False):
        """Run to the end; both files are then in ``output``.

        They are fetched into a new folder in it. What broke off there stays:
        no other copy may be left.

        :raises CommandFailed: it ended without them.
        :raises Damage: it ended well, but they are missing or cut off.
        """
        folders.private(output)
        fetched = pathlib.Path(tempfile.mkdtemp(prefix=_CALL, dir=output))
        failed = damage.Damage('Both files of Hydrophone are not here',
                               where=fetched)
        with outfile.for_owner_only(), tempfile.TemporaryDirectory(
                dir=output) as spool:
            try:
                processes.run(
                    self.commands.run(plan, fetched, go_on),
                    timeout=plan.seconds, spool=spool,
                    env=leftovers.marked(output),
                    hint='The run may continue in the cluster; watch it with '
                         '"magnum-capi conformance resume"')
            except errors.CommandFailed as e:
                failed = e
        if not collect(output):
            with contextlib.suppress(OSError):
                fetched.rmdir()
            raise failed

    def delete(self):
        """Remove everything of the run from the cluster."""
        processes.run(self.commands.delete(), timeout=_CLEANUP, merge=True)


def collect(output: pathlib.Path) -> bool:
    """Whether both files of a run are here and whole.

    Those that a call has fetched, even if the command that started it was
    killed, are put into ``output``. Only then are broken copies removed.

    :param output: folder of the run.
    """
    calls = sorted(output.glob(f'{_CALL}*'))
    whole = next((folder for folder in (output, *calls) if _whole(folder)),
                 None)
    if whole is None:
        return False
    if whole != output:
        for name in LOG, JUNIT:
            shutil.copy2(whole / name, output)
    for folder in calls:
        shutil.rmtree(folder)
    return True


def _whole(folder):
    """The JUnit file is fetched last, and its end shows that it is whole."""
    files = folder / JUNIT, folder / LOG
    if not all(file.is_file() and file.stat().st_size for file in files):
        return False
    try:
        archive.read(folder)
    except damage.Damage:
        return False
    return True


def failure_message(output: str) -> str:
    """The message of a failed call on one line, without its successes."""
    lines = [line for line in output.splitlines()
             if not re.match(r'\d\d:\d\d:\d\d INF ', line)]
    return texts.line(' '.join(lines) or output, 300)


def backend(plan, program, kubeconfig) -> Hydrophone:
    """Hydrophone for a plan and a cluster."""
    return Hydrophone(Commands(str(program), str(kubeconfig),
                               plan.namespace or NAMESPACE))


def takes_namespace(plan: runner.Plan) -> bool:
    """Whether a run can use an existing namespace.

    With one, v0.8.0 forgets the name before it creates the ConfigMap for
    --test-repo-list (pkg/conformance/deploy.go).
    """
    return plan.images.mirrors is None


def refuse(plan: runner.Plan):
    """Refuse what Hydrophone does not support.

    :raises UsageError: the plan requires it.
    """
    images = plan.images
    for there, option in (
            (images.sonobuoy, '--sonobuoy-image'),
            (images.docker_config, '--docker-config'),
            (images.pull_policy, '--image-pull-policy'),
            (plan.node_selector, '--aggregator-node'),
            (plan.mode == model.LITE, f'--mode {model.LITE}')):
        if there:
            raise errors.UsageError(f'Hydrophone does not support {option}',
                                    hint='Use Sonobuoy')
    for name, value in plan.env:
        if name not in _OPTIONS or ',' in value:
            raise errors.UsageError(
                f'Hydrophone cannot set {name}={value}',
                hint='It supports E2E_EXTRA_ARGS and E2E_EXTRA_GINKGO_ARGS, '
                     'without commas')


def refuse_folder(output: pathlib.Path):
    """Refuse the folder of a run if it has files, of another one.

    :raises UsageError: it has.
    """
    if output.exists() and any(output.iterdir()):
        raise errors.UsageError(
            'There are files of another run in the folder of this one',
            where=output, hint='Use another --name or --results')
