# SPDX-License-Identifier: Apache-2.0

"""Judges a result; only this module decides that a run passed.

Other programs exit with 0 although tests failed, count their own machinery as
passed tests and take "0 of 0" for a success (Sonobuoy issues 1305, 1966,
2030). Here a run has passed only if specs ran, all of them passed, the record
is complete, and a certified run left out nothing that certification requires.
"""

import dataclasses

from magnum_capi_tempest.conformance import model

PASSED = 'passed'
FAILED = 'failed'
INCOMPLETE = 'incomplete'
HARNESS_ERROR = 'harness error'

#: Exit code of the command line for each outcome. 2 is wrong usage.
EXIT_CODES = {PASSED: 0, FAILED: 1, INCOMPLETE: 3, HARNESS_ERROR: 3}


@dataclasses.dataclass(frozen=True)
class Verdict:
    """How a run ended, and why.

    :param outcome: PASSED, FAILED, INCOMPLETE or HARNESS_ERROR.
    :param reasons: the causes, the most important first, and problems of the
        cluster; empty if it passed.
    :param eligible: the run can be submitted to CNCF as is.
    :param hindrances: obstacles to certification, even of a run that passed.
    :param missing: required tests that did not run, by codename.
    :param remarks: remarks on the verdict, a line each.
    """

    outcome: str
    reasons: tuple[str, ...] = ()
    eligible: bool = False
    hindrances: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.outcome]


def judge(result, required=None):
    """Judge a result.

    :param result: :class:`~.model.Result`.
    :param required: :class:`~.model.Required`, the tests that certification
        requires for the cluster's version; None if unknown.
    :returns: :class:`Verdict`.
    """
    failures = result.failures
    missing = _missing(result, required.names) if required else ()
    harness = _harness_reasons(result)
    incomplete = _incomplete_reasons(result, required, missing)
    failed = [s for s in failures if s.status == model.FAILED]
    reasons = []
    if failed:
        reasons.append(f'{len(failed)} of {len(result.ran)} specs failed')
    if failed:
        outcome = FAILED
    elif harness:
        outcome = HARNESS_ERROR
    elif incomplete:
        outcome = INCOMPLETE
    else:
        outcome = PASSED
    reasons += harness + incomplete
    if outcome != PASSED:
        reasons += [f'seen in the cluster: {sign}' for sign in result.signs]
    hindrances = _hindrances(result, required, missing)
    if outcome != PASSED:
        hindrances = [f'the run did not pass: {outcome}', *hindrances]
    return Verdict(outcome, tuple(reasons), not hindrances,
                   tuple(hindrances), missing,
                   tuple(_remarks(result, required)))


def _remarks(result, required):
    if (required and required.remark and required.certifies
            and result.mode == model.CERTIFIED):
        yield required.remark
    for error in result.infra_errors:
        if not _decides(error, result):
            yield (f'{error.where}: {error.message} (not in the e2e tests, '
                   'which completed)')
    yield from result.remarks


def _decides(error, result):
    """Does it cast doubt on the e2e tests?

    Errors elsewhere, such as missing journals of nodes, do so only if the
    tests did not complete, as they may be the reason.
    """
    plugin = error.where.partition('/')[0]
    return (plugin == result.plugin or not result.ran
            or not result.suite_finished)


def _missing(result, required):
    passed = {s.name for s in result.specs if s.status == model.PASSED}
    return tuple(name for name in required if name not in passed)


def _harness_reasons(result):
    reasons = [f'{e.where}: {e.message}' for e in result.infra_errors
               if _decides(e, result)]
    reasons += [f'suite node {n.name} failed' for n in result.suite_nodes
                if n.status == model.FAILED]
    return reasons


def _incomplete_reasons(result, required, missing):
    reasons = []
    if not result.plugin:
        names = ', '.join(plugin.name for plugin in result.plugins)
        return ['there are no e2e tests in the record; its plugins are: '
                f'{names or "none"}', *result.problems]
    if not result.ran:
        reasons.append('no spec ran')
    unfinished = [s for s in result.specs if s.status == model.UNFINISHED]
    if unfinished:
        reasons.append(f'{len(unfinished)} specs did not end')
    if not result.suite_finished:
        reasons.append('the suite did not complete')
    if result.planned is not None and result.planned != result.begun and not (
            # Older versions of Ginkgo do not report which specs skipped
            # themselves.
            result.suite_succeeded and result.begun < result.planned):
        reasons.append(f'{result.begun} specs were started, but '
                       f'{result.planned} were planned')
    reasons += result.problems
    if result.mode == model.CERTIFIED and missing and not required.remark:
        reasons.append(_sum(required, missing))
    return reasons


def _hindrances(result, required, missing):
    found = []
    if not result.whole:
        found.append('the record was not read to its end')
    if result.stand_in_images:
        found.append('the images of the run are stand-ins')
    if result.mode != model.CERTIFIED:
        found.append(_other_run(result, required))
    if required is None:
        found.append('there is no list of required tests for '
                     f'Kubernetes {result.cluster.kubernetes or "?"}')
        return found
    if not required.certifies:
        found.append(required.remark)
    if missing and result.mode == model.CERTIFIED:
        found.append(_sum(required, missing))
    return found


def _other_run(result, required):
    """The mode of a run not meant for certification, and what it ran."""
    text = ('the record does not show that it is a certified run'
            if result.mode == model.UNKNOWN else
            f'it is not a certified run; the mode is {result.mode}')
    if required is None:
        return text
    ran = {s.name: s.status for s in result.ran}
    ran = [ran[name] for name in required.names if name in ran]
    bad = len(ran) - ran.count(model.PASSED)
    return (f'{text}: {len(ran)} of {len(required.names)} required tests ran'
            + (f', of which {bad} did not pass' if bad else ''))


def _sum(required, missing):
    return (f'{len(missing)} of {len(required.names)} required tests did not '
            'pass')
