# SPDX-License-Identifier: Apache-2.0

"""Derives result and verdict from what a run left behind."""

import dataclasses
import pathlib

from magnum_capi_tempest.conformance import archive
from magnum_capi_tempest.conformance import infra
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest.conformance import verdict as verdict_


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a run ended.

    :param source: the archive, or the folder of result files; None if there
        is nothing.
    """

    run: runs.Run
    result: model.Result
    verdict: verdict_.Verdict
    source: pathlib.Path | None = None


def of_results(run: runs.Run) -> Outcome:
    """Read a whole archive, or the files of Hydrophone.

    :raises Damage: it is gone, or broken.
    """
    return _judged(run, archive.read(
        run.source, title=run.folder.name, sha256=run.sha256), run.source)


def of_nothing(run: runs.Run, reason: str) -> Outcome:
    """The outcome of a run about which nothing is known: a harness error."""
    return _judged(run, model.Result(
        run.folder.name, str(run.folder), run.backend,
        infra_errors=(model.InfraError(
            infra.classify(reason), model.E2E, reason),)), None)


def _judged(run, result, source):
    """The outcome of a result, completed from the file of its run."""
    # The record itself is the best source for the version.
    about = {name: value for name, value in dataclasses.asdict(
        run.about).items() if value and name != 'nodes'
        and not (name == 'kubernetes' and result.cluster.kubernetes)}
    known = not run.elsewhere and result.mode == model.UNKNOWN
    result = dataclasses.replace(
        result, mode=run.plan.mode if known else result.mode,
        cluster_warnings=run.warnings,
        stand_in_images=result.stand_in_images or run.plan.stand_in,
        cluster=dataclasses.replace(result.cluster, **about))
    return Outcome(run, result, verdict_.judge(result), source)
