# SPDX-License-Identifier: Apache-2.0

"""What a conformance run left behind, whatever program drove it.

A Result is read from a Sonobuoy archive or from Hydrophone's two files. It
carries what was found, without judging: the verdict is
:mod:`magnum_capi_tempest.conformance.verdict`'s.

Three kinds of entry share one JUnit file and must not be mixed up:

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
#: It began and the suite was stopped before its end, or its process died.
UNFINISHED = 'unfinished'
#: Detail of a spec that was chosen, began, and called it off by itself:
#: "only supported for providers [gce]".
SKIPPED_ITSELF = 'skipped itself'
#: Every status of a spec, the ones to look at first in front.
STATUSES = (FAILED, UNFINISHED, SKIPPED, PASSED)

#: The plugin whose test cases are specs.
E2E = 'e2e'

SONOBUOY = 'sonobuoy'
HYDROPHONE = 'hydrophone'

QUICK = 'quick'
NON_DISRUPTIVE = 'non-disruptive-conformance'
#: Side by side, without what takes long; Sonobuoy knows what that is.
LITE = 'conformance-lite'
CERTIFIED = 'certified-conformance'
#: Focus and skip expressions of the caller.
FOCUSED = 'focus'
#: What was asked for is not recorded.
UNKNOWN = 'unknown'

#: Set in the environment of the e2e plugin, and so in its definition, by
#: whoever runs images that are stand-ins for upstream's.
STAND_IN_VARIABLE = 'MAGNUM_CAPI_IMAGES'
#: Its value; and a word in what nodes of such images say of their system.
STAND_IN = 'stand-in'


@dataclasses.dataclass(frozen=True)
class Spec:
    """One test of the suite and how it ended.

    :param name: without ``[It]`` and without blanks around it, control
        characters removed.
    :param status: one of STATUSES. A panicked, interrupted, aborted or timed
        out spec is FAILED, or UNFINISHED where it was not given its time.
    :param detail: Ginkgo's own word for the status (``timedout``,
        ``panicked`` ...), empty when it adds nothing.
    :param seconds: None when the record does not say.
    :param failure: message and location of the failure, without colours.
    :param output: what the spec wrote, the end of it; bounded by the reader.
    """

    name: str
    status: str
    detail: str = ''
    seconds: float | None = None
    failure: str = ''
    output: str = ''

    @property
    def conformance(self) -> bool:
        """Is it one of the tests that certify a cluster?"""
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
    """Machinery of Ginkgo around the specs: set-up, tear-down, reports."""

    name: str
    status: str
    failure: str = ''


@dataclasses.dataclass(frozen=True)
class InfraError:
    """The harness failed somewhere; no statement about the cluster.

    :param kind: ``timeout``, ``image-pull``, ``evicted``, ``crashed``,
        ``lost`` (pod or node gone), ``other``.
    :param where: plugin, and node when there is one: ``e2e``,
        ``systemd-logs/worker-1``.
    :param message: the program's own words, bounded, secrets removed.
    """

    kind: str
    where: str
    message: str


@dataclasses.dataclass(frozen=True)
class PluginResult:
    """One plugin of a Sonobuoy run, as Sonobuoy itself summarised it.

    :param status: Sonobuoy's word: ``passed``, ``failed``, ``unknown``,
        ``timeout`` or one of the plugin's own.
    :param counts: mapping of status to number of leaf items, suite nodes
        included: what ``sonobuoy results`` prints.
    """

    name: str
    status: str
    counts: abc.Mapping[str, int] = dataclasses.field(
        default_factory=lambda: types.MappingProxyType({}))


@dataclasses.dataclass(frozen=True)
class Cluster:
    """What was tested; empty where nobody knows.

    :param kubernetes: version of the API server, ``v1.34.9``.
    :param nodes: names of the nodes when the results were collected.
    :param name: name of the Magnum cluster.
    :param driver: Magnum driver that made it.
    :param image: image of its nodes.
    """

    kubernetes: str = ''
    nodes: tuple[str, ...] = ()
    name: str = ''
    driver: str = ''
    cni: str = ''
    image: str = ''


#: The command that gets the tests of a release.
UPDATE = 'magnum-capi conformance lists update'


@dataclasses.dataclass(frozen=True)
class Required:
    """The tests that certify a release.

    :param names: as a spec's name is.
    :param version: release that they are of, ``v1.36.5``.
    :param remark: why they may not be those of the cluster's release; such
        a list decides nothing against the cluster.
    :param certifies: who passed all of them can be certified by them.
    """

    names: tuple[str, ...]
    version: str = ''
    remark: str = ''
    certifies: bool = True


@dataclasses.dataclass(frozen=True)
class Result:
    """Everything that one run says.

    :param title: what to call it in a report or a comparison.
    :param source: file or folder that it was read from.
    :param sha256: of the archive, empty for loose files.
    :param verified: the whole archive was read and its checksum and
        structure were found good, now or when it was retrieved.
    :param mode: one of MODES.
    :param started: aware datetime, None when nothing carries a time.
    :param seconds: how long the suite ran, None when it does not say.
    :param planned: how many specs Ginkgo said it would run ("Will run N of
        M specs"), None when there is no such line.
    :param suite_finished: Ginkgo wrote its last line, so nothing was cut.
    :param suite_succeeded: and that line says so: of the planned specs only
        those did not run that skipped themselves.
    :param specs: one entry a spec, skipped ones too.
    :param whole: the record was read to its end; False where the reader was
        told to stop behind the results of the e2e tests.
    :param stand_in_images: True when the images of the run, or its nodes,
        say that they are stand-ins for upstream's: such a run proves no
        conformance.
    :param signs: what was wrong with the cluster around the run, a line
        each, the first that was seen in front.
    :param problems: why the record cannot be trusted as it is, a line each:
        counts that disagree, duplicate specs, a missing member.
    :param remarks: what else of it could not be read, a line each; decides
        nothing.
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
        """Number of specs that Ginkgo began: as many as it planned."""
        return sum(spec.ran or spec.detail == SKIPPED_ITSELF
                   for spec in self.specs)

    @property
    def failures(self) -> tuple[Spec, ...]:
        """The specs that failed or did not end."""
        return tuple(spec for spec in self.specs
                     if spec.status in (FAILED, UNFINISHED))
