# SPDX-License-Identifier: Apache-2.0

"""Faults of the management API, injected by the proxy."""

import contextlib
import dataclasses

from tests.proofs.driver_faults import bench as bench_module
from tests.proofs.driver_faults import rules

_WRITES = '^(POST|PUT|PATCH|DELETE) '
_ALL = ''

#: Durations of a shorter and of a longer fault than the 30 s for which the
#: driver retries requests.
SHORT, LONG = 15, 40


@dataclasses.dataclass(frozen=True)
class Fault:
    """A fault of the management API.

    :param seconds: its duration.
    :param rule: rules.Rule; None: it refuses connections.
    """

    text: str
    seconds: int
    rule: rules.Rule | None = None


DOWN = Fault('management API down', LONG)
SLOW = Fault('management API slow, 3 s more for each answer', LONG,
             rules.Rule(_ALL, rules.Action.DELAY, seconds=3))
CONFLICT = Fault('management API answers writes with 409', SHORT,
                 rules.Rule(_WRITES, rules.Action.ANSWER, status=409))
TOO_MANY = Fault('management API answers 429, Retry-After 2', LONG,
                 rules.Rule(_ALL, rules.Action.ANSWER, status=429, seconds=2))
ERROR = Fault('management API answers 500', LONG,
              rules.Rule(_ALL, rules.Action.ANSWER, status=500))


def run(fault, box):
    """Rows of a fault during each operation."""
    with bench_module.Bench(box) as bench:
        _polled, created, resized, upgraded, deleted = bench.operations(
            f'{fault.text}, for {fault.seconds} s')
        with _disturbed(box.proxy, fault.rule):
            created.create()
            resized.resize(2)
            upgraded.upgrade()
            deleted.delete()
            bench.settle(bench.cases, fault.seconds)
        yield from bench.finish()


@contextlib.contextmanager
def _disturbed(proxy, rule):
    if rule is not None:
        with proxy.disturbed(rule):
            yield
        return
    proxy.refuse()
    try:
        yield
    finally:
        proxy.listen()
