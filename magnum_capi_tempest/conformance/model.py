# SPDX-License-Identifier: Apache-2.0

"""What a conformance run left behind, whatever program drove it.

A Result is read from a Sonobuoy archive or from Hydrophone's two files. It
contains what was found, without judging it; that is left to
:mod:`magnum_capi_tempest.conformance.verdict`.

Three kinds of entry share one JUnit file and must not be confused:

* a *spec*, ``[It] [sig-apps] ...``: a test of the cluster. Only these count.
* a *suite node*, ``[ReportAfterSuite] ...``: machinery of Ginkgo, which
  Sonobuoy counts as passed tests.
* an *infrastructure error*, such as "timeout waiting for results": the
  harness failed; Sonobuoy shows it as a failed test of that name
  (vmware-tanzu/sonobuoy issue 1151).
"""

import collections
from collections import abc
import dataclasses
import datetime
import types

PASSED = 'passed'
FAILED = 'failed'
SKIPPED = 'skipped'
#: It began, but the suite was stopped before its end, or its process died.
UNFINISHED = 'unfinished'
#: Detail of a selected spec that began and then skipped itself: "only
#: supported for providers [gce]".
SKIPPED_ITSELF = 'skipped itself'
#: Every status of a spec, the most important first.
STATUSES = (FAILED, UNFINISHED, SKIPPED, PASSED)

#: The usual name of the plugin whose test cases are specs.
E2E = 'e2e'

SONOBUOY = 'sonobuoy'
HYDROPHONE = 'hydrophone'

QUICK = 'quick'
NON_DISRUPTIVE = 'non-disruptive-conformance'
#: Parallel, without slow tests, as Sonobuoy defines them.
LITE = 'conformance-lite'
CERTIFIED = 'certified-conformance'
#: The user's own focus and skip expressions.
FOCUSED = 'focus'
#: The record does not say what was requested.
UNKNOWN = 'unknown'

#: Set in the environment of the e2e plugin, and so in its definition, if the
#: images are stand-ins for upstream's.
STAND_IN_VARIABLE = 'MAGNUM_CAPI_IMAGES'
#: Its value, and a word in the system description of nodes with such images.
STAND_IN = 'stand-in'


@dataclasses.dataclass(frozen=True)
class Spec:
    """One test of the suite and how it ended.

    :param name: without ``[It]``, surrounding blanks and control characters.
    :param status: one of STATUSES. A panicked, interrupted, aborted or timed
        out spec is FAILED, or UNFINISHED if it was not given its time.
    :param detail: Ginkgo's own word for the status (``timedout``,
        ``panicked`` ...), empty if it adds nothing.
    :param seconds: None if the record does not say.
    :param failure: message and location of the failure, without colours.
    :param output: of the spec, up to the reader's limit: the part around the
        failure, or the end.
    """

    name: str
    status: str
    detail: str = ''
    seconds: float | None = None
    failure: str = ''
    output: str = ''

    @property
    def conformance(self) -> bool:
        """Is it one of the tests that certification requires?"""
        return '[Conformance]' in self.name

    @property
    def sig(self) -> str:
        """Special interest group that owns it, ``apps``; may be empty."""
        _, found, rest = self.name.partition('[sig-')
        return rest.partition(']')[0] if found else ''

    @property
    def ran(self) -> bool:
        return self.status != SKIPPED


@dataclasses.dataclass(frozen=True)
class SuiteNode:
    """Machinery of Ginkgo around the specs: setup, teardown, reports."""

    name: str
    status: str
    failure: str = ''


@dataclasses.dataclass(frozen=True)
class InfraError:
    """The harness failed somewhere; says nothing about the cluster.

    :param kind: ``timeout``, ``image-pull``, ``evicted``, ``crashed``,
        ``lost`` (pod or node gone), ``other``.
    :param where: plugin, and node if there is one: ``e2e``,
        ``systemd-logs/worker-1``.
    :param message: the program's own words, shortened and redacted.
    """

    kind: str
    where: str
    message: str


@dataclasses.dataclass(frozen=True)
class PluginResult:
    """One plugin of a Sonobuoy run, as summarised by Sonobuoy itself.

    :param status: Sonobuoy's word: ``passed``, ``failed``, ``unknown``,
        ``timeout`` or one of the plugin's own.
    :param counts: mapping of status to number of leaf items, including suite
        nodes, as printed by ``sonobuoy results``.
    """

    name: str
    status: str
    counts: abc.Mapping[str, int] = dataclasses.field(
        default_factory=lambda: types.MappingProxyType({}))


@dataclasses.dataclass(frozen=True)
class Cluster:
    """The tested cluster; fields are empty if unknown.

    :param kubernetes: version of the API server, ``v1.34.9``.
    :param nodes: names of the nodes when the results were collected.
    :param name: name of the Magnum cluster.
    :param driver: Magnum driver that created it.
    :param image: image of its nodes.
    """

    kubernetes: str = ''
    nodes: tuple[str, ...] = ()
    name: str = ''
    driver: str = ''
    cni: str = ''
    image: str = ''


#: The command that fetches the tests of a release.
UPDATE = 'magnum-capi conformance lists update'


@dataclasses.dataclass(frozen=True)
class Required:
    """The tests that certification of a release requires.

    :param names: in the form of a spec's name.
    :param version: release that requires them, ``v1.36.5``.
    :param remark: why they may not be those of the cluster's release; such a
        list is never held against the cluster.
    :param certifies: passing all of them makes a cluster certifiable.
    """

    names: tuple[str, ...]
    version: str = ''
    remark: str = ''
    certifies: bool = True


@dataclasses.dataclass(frozen=True)
class Result:
    """Everything that a record says about one run.

    :param title: its name in a report or a comparison.
    :param source: file or folder that it was read from.
    :param sha256: of the archive, empty for loose files.
    :param verified: the whole archive was read, and its checksum and
        structure are good, now or when it was retrieved.
    :param mode: one of MODES.
    :param started: aware datetime, None if unknown.
    :param seconds: duration of the suite, None if unknown.
    :param planned: how many specs Ginkgo said it would run ("Will run N of
        M specs"), None if there is no such line.
    :param suite_finished: Ginkgo wrote its last line, so nothing was cut off.
    :param suite_succeeded: that line reports success: of the planned specs,
        only those that skipped themselves did not run.
    :param specs: one entry per spec, including skipped ones.
    :param plugin: the one that ran them, empty if there is none.
    :param whole: the record was read to its end; False if the reader was
        told to stop after the results of the e2e tests.
    :param stand_in_images: True if the images of the run, or its nodes,
        identify themselves as stand-ins for upstream's: such a run does not
        prove conformance.
    :param signs: problems of the cluster during the run, a line each, in the
        order in which they were seen.
    :param problems: why the record cannot be trusted as is, a line each:
        contradicting counts, duplicate specs, a missing member.
    :param remarks: other parts that could not be read, a line each; they
        have no influence on the verdict.
    :param facts: more that a reader may want to know, in this order.
    """

    title: str
    source: str
    backend: str = SONOBUOY
    backend_version: str = ''
    sha256: str = ''
    verified: bool = False
    mode: str = UNKNOWN
    started: datetime.datetime | None = None
    seconds: float | None = None
    planned: int | None = None
    suite_finished: bool = False
    suite_succeeded: bool = False
    specs: tuple[Spec, ...] = ()
    suite_nodes: tuple[SuiteNode, ...] = ()
    infra_errors: tuple[InfraError, ...] = ()
    plugins: tuple[PluginResult, ...] = ()
    plugin: str = E2E
    cluster: Cluster = Cluster()
    whole: bool = True
    stand_in_images: bool = False
    signs: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    facts: abc.Mapping[str, str] = dataclasses.field(
        default_factory=lambda: types.MappingProxyType({}))

    @property
    def counts(self) -> dict[str, int]:
        """Number of specs by status, for statuses that occur."""
        count = collections.Counter(spec.status for spec in self.specs)
        return {s: count[s] for s in STATUSES if count[s]}

    @property
    def ran(self) -> tuple[Spec, ...]:
        """The specs that were not skipped."""
        return tuple(spec for spec in self.specs if spec.ran)

    @property
    def begun(self) -> int:
        """Number of specs that Ginkgo began, to compare with ``planned``."""
        return sum(spec.ran or spec.detail == SKIPPED_ITSELF
                   for spec in self.specs)

    @property
    def failures(self) -> tuple[Spec, ...]:
        """The specs that failed or did not end."""
        return tuple(spec for spec in self.specs
                     if spec.status in (FAILED, UNFINISHED))
