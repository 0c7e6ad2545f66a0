# SPDX-License-Identifier: Apache-2.0
"""Reruns the failures of a run, as decided by :mod:`.rerun`."""

import dataclasses

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance import rerun
from magnum_capi_tempest.conformance.run import lifecycle


def plans(names, plan) -> list:
    """What to run: the plan of the first run, restricted to these specs.

    Usually a single :class:`~..run.runner.Plan`, more if the names do not fit
    into one expression.

    :param plan: how to run: images, processes, time.
    """
    return [dataclasses.replace(
        plan, mode=model.FOCUSED, focus=(), expression=expression, skip='')
        for expression in rerun.expressions(names)]


def execute(result, request, runtime, *, times=1):
    """Rerun what failed, and check that exactly this ran.

    :param result: of the first run.
    :param request: :class:`~..run.lifecycle.RunRequest` with the plan of the
        first run.
    :param runtime: :class:`~..run.lifecycle.Runtime`.
    :param times: how often; a flake must pass each time.
    :returns: :class:`~.rerun.Ended`, and the results of all runs.
    :raises UsageError: nothing failed.
    """
    names = rerun.wanted(result)
    runtime.progress.info(f'rerunning {len(names)} specs')
    rounds = []
    for _ in range(times):
        ended = [
            lifecycle.run(dataclasses.replace(request, plan=plan), runtime)
            for plan in plans(names, request.plan)]
        rounds.append([(one.result, one.verdict) for one in ended])
    results = [one for pairs in rounds for one, _ in pairs]
    return rerun.conclude(result, names, rounds), results
