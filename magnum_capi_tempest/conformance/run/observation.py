# SPDX-License-Identifier: Apache-2.0

"""What does one look at a run show? Pure.

:mod:`.observe` makes these out of what Sonobuoy and the cluster say;
:mod:`.watch` folds them into what is known.
"""

import dataclasses

from magnum_capi_tempest.conformance.run import sonobuoy
from magnum_capi_tempest.conformance.run import symptoms as symptoms_


@dataclasses.dataclass(frozen=True)
class Pod:
    """A pod of the run.

    :param plugin: "" for the aggregator.
    :param phase: Pending, Running, Succeeded, Failed, Unknown.
    :param reason: why it waits or has failed, ``ImagePullBackOff``,
        ``Evicted``; empty when it does neither.
    """

    name: str
    plugin: str = ''
    phase: str = ''
    reason: str = ''
    message: str = ''
    node: str = ''


@dataclasses.dataclass(frozen=True)
class Observation:
    """One look at a run.

    :param at: seconds, a clock's that only goes forward.
    :param status: what Sonobuoy said, None when it said nothing usable.
    :param said: its prose when it said no status.
    :param error: why there was no answer at all; empty when there was one.
    :param gone: the API answered that namespace or aggregator are not there.
    :param pods: the pods of the run; None when they could not be listed.
    :param log: total, passed, failed as the log of the tests has them; None
        when it was not read.
    :param log_size: of that log, bytes.
    :param nodes: names of all nodes; None when they could not be listed.
    :param bad: nodes that are not ready, and why: (name, text) pairs.
    :param symptoms: what is wrong with the cluster, :mod:`.symptoms`; None
        when nobody looked.
    """

    at: float
    status: sonobuoy.Status | None = None
    said: str = ''
    error: str = ''
    gone: bool = False
    pods: tuple[Pod, ...] | None = None
    log: tuple[int, int, int] | None = None
    log_size: int = 0
    nodes: frozenset[str] | None = None
    bad: tuple[tuple[str, str], ...] = ()
    symptoms: tuple[symptoms_.Symptom, ...] | None = None
