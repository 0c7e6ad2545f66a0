# SPDX-License-Identifier: Apache-2.0


"""What to run, and what the two programs that run it have in common.

A :class:`Plan` contains everything that a user requested about a run. A
:class:`Runner` (Sonobuoy, Hydrophone) converts it to the command lines of its
program, and starts, observes, fetches and removes a run.
"""

import collections.abc
import dataclasses
import pathlib
import re
import typing

from magnum_capi import errors
from magnum_capi import progress as progress_
from magnum_capi import waiting
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest import json_types

if typing.TYPE_CHECKING:
    # Reading a record needs the plan of its run, but no client of clusters.
    from magnum_capi_tempest.conformance.run import objects
    from magnum_capi_tempest.kubeclient import kube

#: Longest text of an environment variable or argument of a program, in bytes:
#: MAX_ARG_STRLEN of Linux is 128 KiB, including the name of the variable and
#: the closing zero, and ginkgo passes the focus on as an argument, "--focus=".
LONGEST = 128 * 1024 - 256

#: Ginkgo matches ``--focus`` with this, a blank and the text of a spec
#: (ginkgo/v2/internal/focus.go; kubernetes/test/e2e/e2e.go, RunSpecs).
SUITE = 'Kubernetes e2e suite'

#: Focus of Sonobuoy's modes, cmd/sonobuoy/app/modes.go of v0.57.5.
FOCUS = {model.QUICK: 'Pods should be submitted and removed',
         model.NON_DISRUPTIVE: r'\[Conformance\]',
         model.LITE: r'\[Conformance\]',
         model.CERTIFIED: r'\[Conformance\]'}
#: Skip of the modes, from the same source; except LITE, which has 60 names.
SKIP = {model.NON_DISRUPTIVE: r'\[Disruptive\]|NoExecuteTaintManager'}

#: E2E_EXTRA_ARGS as "sonobuoy gen" sets it. Overriding the variable without
#: this disables progress reports (Sonobuoy issue 1507).
PROGRESS = '--progress-report-url=http://localhost:8099/progress'

#: Default time limits by mode, in seconds.
TIMEOUTS = {model.QUICK: 1800, model.NON_DISRUPTIVE: 4 * 3600,
            model.LITE: 4 * 3600, model.CERTIFIED: 6 * 3600,
            model.FOCUSED: 4 * 3600}

#: The form of a namespace's name, RFC 1123.
_LABEL = re.compile(r'[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?')
_VARIABLE = re.compile(r'[A-Za-z_][A-Za-z0-9_]*')
_VERSION = re.compile(r'v\d+\.\d+\.\d+\S*')
_OWNED = ('E2E_FOCUS', 'E2E_SKIP', 'E2E_PARALLEL', 'KUBE_TEST_REPO_LIST')


@dataclasses.dataclass(frozen=True)
class Images:
    """Sources of the images of a run; empty is the program's default.

    :param sonobuoy: image of aggregator and worker.
    :param conformance: image with the e2e tests; its version must be that
        of the cluster.
    :param busybox: image that Hydrophone collects the results with.
    :param mirrors: YAML file in the form of KUBE_TEST_REPO_LIST: a registry
        for each upstream one.
    :param docker_config: Docker credentials for private registries.
    :param pull_policy: ``Always``, ``IfNotPresent`` or ``Never``, also for
        the plugin.
    """

    sonobuoy: str = ''
    conformance: str = ''
    busybox: str = ''
    mirrors: pathlib.Path | None = None
    docker_config: pathlib.Path | None = None
    pull_policy: str = ''


@dataclasses.dataclass(frozen=True)
class Plan:
    """What to run, and for how long at most.

    :param mode: of :mod:`.model`, except UNKNOWN; with FOCUSED,
        ``expression`` selects the specs.
    :param expression: regular expression (Go's) of specs to run; see
        :func:`exactly`.
    :param skip: regular expression of specs to skip.
    :param parallel: Ginkgo processes.
    :param env: more variables of the e2e plugin, (name, value) pairs.
    :param kubernetes: version of the conformance image; that of the cluster
        if empty.
    :param node_selector: labels of the node for the aggregator, as all
        results are lost with it: (key, value) pairs.
    :param namespace: empty for the program's default.
    :param timeout: seconds for the whole run; 0 for the mode's default.
    :param stall: seconds without any progress after which the run counts as
        stuck.
    :param stand_in: the images are stand-ins for upstream's.
    """

    mode: str = model.NON_DISRUPTIVE
    expression: str = ''
    skip: str = ''
    parallel: int = 1
    env: tuple[tuple[str, str], ...] = ()
    images: Images = Images()
    kubernetes: str = ''
    node_selector: tuple[tuple[str, str], ...] = ()
    namespace: str = ''
    timeout: int = 0
    stall: int = 2700
    stand_in: bool = False

    def __post_init__(self) -> None:
        """Refuse what no backend could run.

        :raises UsageError: says what is wrong, and what to use instead.
        """
        _check_tests(self)
        _check_values(self)

    @property
    def seconds(self) -> int:
        return self.timeout or TIMEOUTS[self.mode]

    @property
    def focus_expression(self) -> str:
        """The focus for Ginkgo."""
        return self.expression or FOCUS[self.mode]

    @property
    def skip_expression(self) -> str:
        """The skip for Ginkgo."""
        return self.skip or SKIP.get(self.mode, '')

    @property
    def variables(self) -> dict[str, str]:
        """Variables of the e2e plugin besides focus and skip."""
        found = dict(self.env)
        extra = found.get('E2E_EXTRA_ARGS')
        if extra is not None and '--progress-report-url' not in extra:
            separator = found.get('E2E_EXTRA_ARGS_SEP') or ' '
            found['E2E_EXTRA_ARGS'] = separator.join(
                filter(None, [extra, PROGRESS]))
        if self.stand_in:
            # No test reads it; it becomes part of the plugin's definition, and
            # so of every archive of the run.
            found[model.STAND_IN_VARIABLE] = model.STAND_IN
        if self.parallel > 1:
            # Not E2E_PARALLEL: with it and an empty skip, the conformance
            # image skips every [Serial] spec (kubernetes/kubernetes,
            # test/conformance/image/go-runner/cmd.go).
            given = found.get('E2E_EXTRA_GINKGO_ARGS', '')
            found['E2E_EXTRA_GINKGO_ARGS'] = ' '.join(
                filter(None, [f'--procs={self.parallel}', given]))
        return found


#: States of a run, and of its plugins; Sonobuoy's words.
RUNNING = 'running'
COMPLETE = 'complete'
FAILED = 'failed'

#: The plugin with the tests. The only one by default: systemd-logs needs root
#: on every node, and its results take gigabytes (Sonobuoy issues 1167,
#: sonobuoy-plugins 210).
TESTS = 'e2e'


@dataclasses.dataclass(frozen=True)
class Plugin:
    """A plugin of Sonobuoy on a node, or one of the whole cluster ("global").

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
    failures: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Archive:
    """An archive that the aggregator holds: size in bytes."""

    name: str = ''
    sha256: str = ''
    size: int = 0


@dataclasses.dataclass(frozen=True)
class Status:
    """What a program says of its run.

    :param state: RUNNING, COMPLETE (its results can be fetched now), FAILED,
        or another word of the program.
    :param archive: of a complete run of Sonobuoy.
    :param message: its prose if it reported no state.
    """

    state: str
    plugins: tuple[Plugin, ...] = ()
    archive: Archive = Archive()
    message: str = ''


class Runner(typing.Protocol):
    """A program that runs the tests in a namespace of its own.

    Methods that call the program raise CommandFailed.

    :ivar name: of the program, in model.
    :ivar labels: of the namespace.
    :ivar takes_namespace: it uses an existing namespace.
    :ivar leaves: it leaves a run in the cluster when it has fetched results.
    :ivar tests: ``plugin`` of the pod that runs the tests, and ``container``
        that of its containers that logs them.
    """

    name: str
    leaves: bool
    tests: str
    container: str

    @property
    def namespace(self) -> str:
        ...

    @property
    def labels(self) -> collections.abc.Mapping[str, str]:
        ...

    @property
    def takes_namespace(self) -> bool:
        ...

    def refuse(self) -> None:
        """Refuse what the program does not support.

        :raises UsageError: the plan requires it.
        """

    def preview(self, output: object) -> list[list[str]]:
        """The command lines of a run, in order.

        :param output: folder for the results of the run.
        """

    def start(self, reader: 'kube.Client', folder: pathlib.Path) -> None:
        """Create the objects of the run in its namespace; return at once.

        :param folder: of the run.
        """

    def status(self, pods: list[json_types.Object] | None) -> Status | None:
        """What the program says of the run; None if that is unknown.

        :param pods: objects of the namespace; None: they are not known.
        """

    def pod(self, obj: json_types.Object) -> 'objects.Pod':
        """A pod of the run, with its part in it."""

    def fetch(self, status: Status, folder: pathlib.Path,
              progress: progress_.Progress, clock: waiting.Clock) -> str:
        """Fetch the results of a complete run, whole or not at all.

        :param folder: of the run.
        :returns: name of the archive in it; "." for files without one.
        :raises MagnumCapiError: they were not fetched; they may be later.
        """

    def fetched(self, folder: pathlib.Path) -> str:
        """What an earlier call has fetched although its caller was killed.

        :returns: as :meth:`fetch`; empty if there is nothing.
        """

    def delete(self) -> None:
        """Remove everything of the run from the cluster."""

    def failure_message(self, output: str) -> str:
        """The message of a failed call on one line."""


def exactly(names: collections.abc.Collection[str]) -> str:
    """The regular expression (in Go's syntax) that matches only these specs.

    :param names: as in :class:`model.Spec`.
    :raises UsageError: there are none: an empty expression would match
        everything.
    """
    if not names:
        raise errors.UsageError('No spec is named')
    # The reader strips names, Ginkgo does not.
    return f'^{SUITE} *({"|".join(map(_quote, names))}) *$'


def _quote(name: str) -> str:
    """A name for an expression (regexp.QuoteMeta).

    Where a name has several blanks in a row, the reader keeps one.
    """
    return ' +'.join(re.sub(r'([\\.+*?()|\[\]{}^$])', r'\\\1', word)
                     for word in name.split(' ') if word)


def _check_tests(plan: Plan) -> None:
    if plan.mode not in FOCUS and plan.mode != model.FOCUSED:
        raise errors.UsageError(
            f'Unknown mode {plan.mode}',
            hint=f'Use one of: {", ".join([*FOCUS, model.FOCUSED])}')
    if bool(plan.expression) != (plan.mode == model.FOCUSED):
        raise errors.UsageError(
            f'The mode {model.FOCUSED} needs specs to run'
            if plan.mode == model.FOCUSED else
            f'The mode {plan.mode} does not allow a focus',
            hint=f'Use the mode {model.FOCUSED} instead')
    if plan.mode == model.CERTIFIED and plan.skip:
        raise errors.UsageError(
            'A certified run skips nothing',
            hint=f'Omit --skip, or use the mode {model.NON_DISRUPTIVE}')
    if plan.mode == model.LITE and plan.skip:
        raise errors.UsageError(
            f'In the mode {model.LITE}, Sonobuoy decides what to skip',
            hint=f'Omit --skip, or use the mode {model.NON_DISRUPTIVE}')
    for what, text in (('focus', plan.focus_expression),
                       ('skip', plan.skip_expression)):
        _check_length(what, text)
        if any(ord(c) < 32 or ord(c) == 127 for c in text):
            raise errors.UsageError(
                f'The {what} has control characters', last_seen=repr(text))


def _check_length(what: str, text: str) -> None:
    size = len(text.encode())
    if size > LONGEST:
        raise errors.UsageError(
            f'The {what} has {size} bytes, but an environment variable can '
            f'hold at most {LONGEST}',
            hint='Split them over several runs, or use a regular expression')


def _check_values(plan: Plan) -> None:
    if plan.parallel < 1:
        raise errors.UsageError('At least one Ginkgo process is needed')
    if plan.timeout < 0 or plan.stall <= 0:
        raise errors.UsageError('Times must be positive numbers of seconds')
    if plan.namespace and not _LABEL.fullmatch(plan.namespace):
        raise errors.UsageError(
            f'{plan.namespace!r} is not a valid name for a namespace')
    if plan.kubernetes and not _VERSION.fullmatch(plan.kubernetes):
        raise errors.UsageError(
            f'{plan.kubernetes!r} is not a version of Kubernetes',
            hint='Use a version such as v1.34.9')
    for name, value in plan.env:
        if not _VARIABLE.fullmatch(name):
            raise errors.UsageError(f'{name!r} is not a valid name for a '
                                    'variable')
        if name in _OWNED:
            raise errors.UsageError(
                f'The variable {name} has an option of its own',
                hint='Use --focus, --skip, --parallel or --registry-mirrors')
        _check_length(f'variable {name}', value)


def check_files(plan: Plan) -> None:
    """Refuse a plan that names missing files.

    Separate from the plan itself: a resumed run no longer needs them.

    :raises UsageError: one of them is missing.
    """
    for file in (plan.images.mirrors, plan.images.docker_config):
        if file is not None and not file.is_file():
            raise errors.UsageError('There is no such file', where=file)
