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


def of_archive(record: runs.Run) -> Outcome:
    """Read a whole archive, or Hydrophone's folder.

    :raises Damage: it is gone, or broken.
    """
    path = pathlib.Path(record.archive)
    result = archive.read(path, title=record.name, sha256=record.sha256)
    return _judged(record, result, path)


def of_nothing(record: runs.Run, reason) -> Outcome:
    """The outcome of a run about which nothing is known: a harness error."""
    result = model.Result(
        record.name, record.results, record.backend,
        infra_errors=(model.InfraError(infra.classify(reason), 'e2e',
                                       reason),))
    return _judged(record, result, None)


def told(record: runs.Run, result: model.Result) -> model.Result:
    """The result, completed from the record of its run."""
    return dataclasses.replace(
        result, cluster_warnings=tuple(dict.fromkeys(
            (*result.cluster_warnings, *record.signs))),
        stand_in_images=result.stand_in_images or record.plan.stand_in)


def _judged(record, result, source):
    about = {name: value for name, value in dataclasses.asdict(
        record.about).items() if value and name != 'nodes'}
    mode = record.plan.mode if result.mode == model.UNKNOWN else result.mode
    result = dataclasses.replace(
        told(record, result), mode=mode,
        cluster=dataclasses.replace(result.cluster, **about))
    return Outcome(record, result, verdict_.judge(result), source)
