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


@dataclasses.dataclass(frozen=True, slots=True)
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
    :param line: of its element in the JUnit file, from 1; 0 if unknown.
    """

    name: str
    status: str
    detail: str = ''
    seconds: float | None = None
    failure: str = ''
    output: str = ''
    line: int = 0

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

    :param where: plugin, and node if there is one: ``e2e``,
        ``systemd-logs/worker-1``.
    :param message: the program's own words, shortened and redacted.
    """

    where: str
    message: str


@dataclasses.dataclass(frozen=True)
class PluginResult:
    """One plugin of a Sonobuoy run.

    :param status: Sonobuoy's word for the plugin as a whole: ``passed``,
        ``failed``, ``unknown``, ``timeout`` or one of the plugin's own; empty
        if it has none.
    """

    name: str
    status: str = ''


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


@dataclasses.dataclass(frozen=True)
class Log:
    """What the e2e log says about the whole suite.

    :param planned: specs that Ginkgo would run ("Will run N of M specs"),
        None if it did not say.
    :param ran: specs that ran, from the last lines; None without such a
        line: the suite did not end.
    :param seconds: duration of the suite, None likewise.
    :param counts: Ginkgo's words to numbers, ``{'Passed': 384, ...}``.
    :param server: version of the API server, empty if unknown.
    :param versions: releases that the log names, ``v1.34``, each with the
        number of its first line.
    :param seed: the random seed of the suite, empty if unknown.
    :param end: the line of sums, "SUCCESS! -- 424 Passed | ...".
    :param last: the last lines, cleaned, for a reader.
    """

    planned: int | None = None
    ran: int | None = None
    seconds: float | None = None
    counts: abc.Mapping[str, int] = dataclasses.field(
        default_factory=lambda: types.MappingProxyType({}))
    server: str = ''
    versions: tuple[tuple[str, int], ...] = ()
    seed: str = ''
    end: str = ''
    last: str = ''

    @property
    def success(self) -> bool:
        """Ginkgo says SUCCESS: it was not interrupted."""
        return self.end.startswith('SUCCESS!')


@dataclasses.dataclass(frozen=True)
class Result:
    """Everything that a record says about one run.

    :param title: its name in a report or a comparison.
    :param source: file or folder that it was read from.
    :param sha256: of the archive, empty for loose files.
    :param mode: what was requested: QUICK, CERTIFIED ... UNKNOWN.
    :param started: aware datetime, None if unknown.
    :param seconds: duration of the suite, None if unknown.
    :param specs: one entry per spec, including skipped ones.
    :param plugin: the one that ran them, empty if there is none.
    :param log: the e2e log; None if there is none.
    :param image: of the tests, empty if unknown.
    :param stand_in_images: True if the images of the run, or its nodes,
        identify themselves as stand-ins for upstream's: such a run does not
        prove conformance.
    :param cluster_warnings: problems of the cluster during the run, a line
        each, in the order in which they were seen.
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
    mode: str = UNKNOWN
    started: datetime.datetime | None = None
    seconds: float | None = None
    specs: tuple[Spec, ...] = ()
    suite_nodes: tuple[SuiteNode, ...] = ()
    infra_errors: tuple[InfraError, ...] = ()
    plugins: tuple[PluginResult, ...] = ()
    plugin: str = E2E
    cluster: Cluster = Cluster()
    log: Log | None = None
    image: str = ''
    stand_in_images: bool = False
    cluster_warnings: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    facts: abc.Mapping[str, str] = dataclasses.field(
        default_factory=lambda: types.MappingProxyType({}))

    @property
    def planned(self) -> int | None:
        """How many specs Ginkgo said it would run, None if it did not."""
        return self.log.planned if self.log else None

    @property
    def suite_finished(self) -> bool:
        """Ginkgo wrote its last lines, so nothing was cut off."""
        return self.log is not None and self.log.ran is not None

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
