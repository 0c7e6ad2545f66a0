# SPDX-License-Identifier: Apache-2.0

"""Judges a result; only this module decides that a run passed.

Other programs exit with 0 although tests failed, count their own machinery as
passed tests and take "0 of 0" for a success (Sonobuoy issues 1305, 1966,
2030). Here a run has passed only if specs ran, all of them passed, the record
is complete, and a certified run left out nothing that certification requires.

The JUnit file of every run names each ``[Conformance]`` spec of its suite,
also those that were skipped, so it says itself what had to run. CNCF's list of
the minor version is a cross-check.
"""

import collections.abc
import dataclasses

from magnum_capi_tempest.conformance import failures
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance import names
from magnum_capi_tempest.conformance import required
from magnum_capi_tempest import texts

PASSED = 'passed'
FAILED = 'failed'
INCOMPLETE = 'incomplete'
HARNESS_ERROR = 'harness error'

#: Exit code of the command line for each outcome. 2 is wrong usage.
EXIT_CODES = {PASSED: 0, FAILED: 1, INCOMPLETE: 3, HARNESS_ERROR: 3}

#: Where upstream's image of the tests is.
_IMAGE = 'registry.k8s.io/conformance'


@dataclasses.dataclass(frozen=True)
class Verdict:
    """A result, how its run ended, and why.

    :param outcome: PASSED, FAILED, INCOMPLETE or HARNESS_ERROR.
    :param reasons: the causes, the most important first, and problems of the
        cluster; empty if it passed.
    :param certification_blockers: obstacles to certification, even of a run
        that passed.
    :param missing: tests that certification requires and that did not pass,
        by codename.
    :param remarks: remarks on the verdict, a line each.
    """

    result: model.Result
    outcome: str
    reasons: tuple[str, ...] = ()
    certification_blockers: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.outcome]

    @property
    def eligible(self) -> bool:
        """The run can be submitted to CNCF as is."""
        return not self.certification_blockers

    @property
    def finished(self) -> bool:
        """The run came to its end, whatever its outcome."""
        return self.outcome in (PASSED, FAILED)

    @property
    def conclusion(self) -> str:
        """The verdict in a few words, without its name."""
        if self.reasons:
            return self.reasons[0]
        number = len(self.result.ran)
        return ('the one spec that ran passed' if number == 1
                else f'all {number} specs that ran passed')

    def __str__(self) -> str:
        return f'{self.outcome.upper()}: {self.conclusion}'


def judge(result: model.Result,
          wanted: collections.abc.Collection[str] | None = None) -> Verdict:
    """Judge a result.

    :param wanted: names of the tests that CNCF requires; by default those of
        the cluster's minor version.
    """
    known = {spec.name for spec in result.specs}
    dropped = 0
    if wanted is None:
        version = result.cluster.kubernetes
        wanted = required.of(version, known or None)
        dropped = len(required.of(version) or ()) - len(wanted or ())
    passed = {spec.name for spec in result.specs
              if spec.status == model.PASSED}
    left_out = tuple(dict.fromkeys(
        spec.name for spec in result.specs
        if spec.conformance and spec.name not in passed))
    absent = tuple(name for name in wanted or () if name not in known)
    lacks = [*_lacks(result, left_out, absent, len(wanted or ()))]

    failed = [*_failed(result)]
    harness = [*_harness(result)]
    incomplete = [*_incomplete(result)]
    if result.mode == model.CERTIFIED and result.plugin:
        incomplete += lacks
    outcome = (FAILED if failed else HARNESS_ERROR if harness
               else INCOMPLETE if incomplete else PASSED)
    reasons = failed + harness + incomplete
    blockers = [*_blockers(result, lacks)]
    if outcome != PASSED:
        reasons += [f'seen in the cluster: {warning}'
                    for warning in result.cluster_warnings]
        blockers.insert(0, f'the run did not pass: {outcome}')
    return Verdict(
        result, outcome, tuple(reasons), tuple(blockers), left_out + absent,
        tuple(_remarks(result, wanted, dropped)))


def _failed(result: model.Result) -> collections.abc.Iterator[str]:
    """Failures of the cluster."""
    failed = [s for s in result.specs if s.status == model.FAILED]
    if failed:
        yield f'{len(failed)} of {len(result.ran)} specs failed'
    elif not result.specs and result.log and result.log.counts.get('Failed'):
        # The JUnit file, with their names, is lost.
        yield (f'the e2e log counts {result.log.counts["Failed"]} failed '
               'specs')
    for node in result.suite_nodes:
        if node.status == model.FAILED and names.setup_node(node.name):
            # It waits until all nodes and the pods of kube-system are ready.
            why = next((line.strip() for line in node.failure.splitlines()
                        if line.strip()), 'it does not say why')
            yield (f'the cluster was not ready for the tests: {node.name} '
                   f'failed: {failures.redacted(why)}')


def _harness(result: model.Result) -> collections.abc.Iterator[str]:
    """Failures that say nothing about the cluster."""
    for error in result.infra_errors:
        if _decides(error, result):
            yield f'{error.where}: {error.message}'
    for node in result.suite_nodes:
        if node.status == model.FAILED and not names.setup_node(node.name):
            yield f'suite node {node.name} failed'


def _decides(error: model.InfraError, result: model.Result) -> bool:
    """Does it cast doubt on the e2e tests?

    Errors elsewhere, such as missing journals of nodes, do so only if the
    tests did not complete, as they may be the reason.
    """
    plugin = error.where.partition('/')[0]
    return (plugin == result.plugin or not result.ran
            or not result.suite_finished)


def _incomplete(result: model.Result) -> collections.abc.Iterator[str]:
    if not result.plugin:
        plugins = ', '.join(plugin.name for plugin in result.plugins)
        yield ('there are no e2e tests in the record; its plugins are: '
               f'{plugins or "none"}')
        yield from result.problems
        return
    if not result.ran:
        yield 'no spec ran'
    unfinished = [s for s in result.specs if s.status == model.UNFINISHED]
    if unfinished:
        yield f'{len(unfinished)} specs did not end'
    if not result.suite_finished:
        yield 'the suite did not complete'
    begun, planned = result.begun, result.planned
    if planned is not None and planned != begun and not (
            # Older versions of Ginkgo do not report which specs skipped
            # themselves.
            result.log and result.log.success and begun < planned):
        yield f'{begun} specs were started, but {planned} were planned'
    yield from result.problems


def _lacks(result: model.Result, left_out: tuple[str, ...],
           absent: tuple[str, ...], number: int
           ) -> collections.abc.Iterator[str]:
    """What a certified run lacks.

    :param number: of the tests that CNCF requires.
    """
    total = len({spec.name for spec in result.specs if spec.conformance})
    if left_out:
        yield f'{len(left_out)} of {total} required tests did not pass'
    if absent:
        yield (f'{len(absent)} of the {number} tests that CNCF requires '
               f'for {required.release(result.cluster.kubernetes)} are not in '
               'the run')


def _blockers(result: model.Result, lacks: list[str]
              ) -> collections.abc.Iterator[str]:
    if result.stand_in_images:
        yield 'the images of the run are stand-ins'
    if not required.release(result.cluster.kubernetes):
        yield 'the version of Kubernetes is not known'
    if result.mode == model.CERTIFIED:
        yield from lacks
        return
    text = ('the record does not show that it is a certified run'
            if result.mode == model.UNKNOWN else
            f'it is not a certified run; the mode is {result.mode}')
    tests = [spec for spec in result.specs if spec.conformance]
    ran = [spec for spec in tests if spec.ran]
    bad = sum(spec.status != model.PASSED for spec in ran)
    yield (f'{text}: {len(ran)} of {len(tests)} required tests ran'
           + (f', of which {bad} did not pass' if bad else ''))


def _remarks(result: model.Result,
             wanted: collections.abc.Collection[str] | None, dropped: int
             ) -> collections.abc.Iterator[str]:
    version = result.cluster.kubernetes
    if result.mode == model.CERTIFIED:
        if wanted is None and version:
            yield (f'there is no list of CNCF for Kubernetes {version}, so '
                   "only the run's own tests were checked")
        if dropped:
            yield (f'{texts.number(dropped, "test")} that CNCF requires '
                   f'for {required.source(version)} are not in the run: '
                   f'{version} may have dropped them')
        if result.image and not result.image.startswith(_IMAGE):
            yield (f'the image of the tests is {result.image}, a copy of '
                   f'{_IMAGE} at best')
    for error in result.infra_errors:
        if not _decides(error, result):
            yield (f'{error.where}: {error.message} (not in the e2e tests, '
                   'which completed)')
    yield from result.remarks
