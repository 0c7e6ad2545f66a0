# SPDX-License-Identifier: Apache-2.0


"""The table of breaks, with their times and expected reports."""

import dataclasses
import re
import typing

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance import verdict
from magnum_capi_tempest import texts
from tests.proofs.broken_clusters import breaks

BEFORE, DURING = 'before the run', 'during the run'

#: One test, which takes seconds.
QUICK = runner.Plan(mode=model.QUICK, timeout=900, stand_in=True)
#: A test that calls a service by its name, twice, each for at most 2 minutes.
BY_NAME = runner.Plan(
    mode=model.FOCUSED, timeout=1500, stand_in=True,
    expression='should be able to change the type from ExternalName to '
               'ClusterIP')
#: Tests of jobs, for some minutes.
LONG = runner.Plan(
    mode=model.FOCUSED, timeout=1500, stand_in=True,
    expression=r'\[sig-apps\] (StatefulSet|Deployment).*\[Conformance\]',
    skip=r'\[Serial\]|\[Disruptive\]|\[Slow\]')

#: Replaces an outcome: an error named the cause, and nothing was created.
NOT_BEGUN = 'not begun'

BROKEN = verdict.HARNESS_ERROR, verdict.INCOMPLETE
REFUSED = (NOT_BEGUN,)


@dataclasses.dataclass(frozen=True)
class Case:
    """One run in a cluster that is broken.

    :param breaks: function of breaks.Machines.
    :param outcomes: right ones, possibly NOT_BEGUN.
    :param cause: regular expression of a line of the report that names it.
    :param prepare: as ``breaks``, called before the run if the break is
        during it.
    """

    name: str
    broken: str
    when: str
    breaks: typing.Callable
    plan: runner.Plan
    outcomes: tuple[str, ...]
    cause: str
    prepare: typing.Callable | None = None


#: Clusters, and the cases for each, in this order.
CLUSTERS = {
    'dns': (
        Case('dns', 'CoreDNS scaled to 0', BEFORE, breaks.no_dns, BY_NAME,
             (verdict.FAILED,), 'cluster DNS: none of its pods is ready'),
    ),
    'network': (
        Case('network', 'Network plugin removed', BEFORE, breaks.no_network,
             QUICK, BROKEN, 'FailedCreatePodSandBox.*(flannel|cni)'),
        Case('network-configuration',
             'Network plugin and its configuration removed', BEFORE,
             breaks.no_network_configuration, QUICK, REFUSED,
             'nodes not ready:.*cni'),
    ),
    'disk': (
        Case('disk', 'Disk of a worker full', DURING, breaks.full_disk, LONG,
             BROKEN, 'DiskPressure|Evicted.*(low on|pressure)',
             breaks.small_disk),
        Case('disk-before', 'Disk of a worker full', BEFORE,
             breaks.full_disk, QUICK, REFUSED,
             'no schedulable node.*disk-pressure'),
    ),
    'power': (
        Case('power', 'Worker powered off', DURING, breaks.power_cut, LONG,
             BROKEN, 'Kubelet stopped posting'),
        Case('power-before', 'Worker powered off', BEFORE, breaks.still_off,
             QUICK, REFUSED, 'nodes not ready:.*Kubelet stopped posting'),
    ),
}


def cause(case, report) -> str:
    """The shortest line of a report that names the cause; empty: none does.

    :param report: text.
    """
    return min((texts.line(line.strip(' -!#*|'), 300)
                for line in report.splitlines()
                if re.search(case.cause, line)), key=len, default='')
