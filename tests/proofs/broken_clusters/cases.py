# SPDX-License-Identifier: Apache-2.0


"""The table of breaks, with their times and expected reports. Pure."""

import dataclasses
import typing

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance import verdict
from tests.proofs.broken_clusters import breaks
from tests.proofs.broken_clusters import table

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

BROKEN = verdict.HARNESS_ERROR, verdict.INCOMPLETE
#: Exit code of an error that names the cause; nothing was created.
REFUSED = (table.NOT_BEGUN,)


@dataclasses.dataclass(frozen=True)
class Case:
    """One run in a cluster that is broken.

    :param breaks: function of breaks.Machines.
    :param prepare: likewise, called before the run if the break is during it.
    """

    name: str
    broken: str
    when: str
    breaks: typing.Callable
    plan: runner.Plan
    expected: table.Expected
    prepare: typing.Callable | None = None


#: Clusters, and the cases for each, in this order.
CLUSTERS = {
    'dns': (
        Case('dns', 'CoreDNS scaled to 0', BEFORE, breaks.no_dns, BY_NAME,
             table.Expected((verdict.FAILED,),
                            'cluster DNS: none of its pods is ready')),
    ),
    'network': (
        Case('network', 'Network plugin removed', BEFORE, breaks.no_network,
             QUICK, table.Expected(
                 BROKEN, 'FailedCreatePodSandBox.*(flannel|cni)')),
        Case('network-configuration',
             'Network plugin and its configuration removed', BEFORE,
             breaks.no_network_configuration, QUICK,
             table.Expected(REFUSED, 'nodes not ready:.*cni')),
    ),
    'disk': (
        Case('disk', 'Disk of a worker full', DURING, breaks.full_disk, LONG,
             table.Expected(BROKEN, 'DiskPressure|Evicted.*(low on|pressure)'),
             breaks.small_disk),
        Case('disk-before', 'Disk of a worker full', BEFORE,
             breaks.full_disk, QUICK,
             table.Expected(REFUSED, 'no schedulable node.*disk-pressure')),
    ),
    'power': (
        Case('power', 'Worker powered off', DURING, breaks.power_cut, LONG,
             table.Expected(BROKEN, 'Kubelet stopped posting')),
        Case('power-before', 'Worker powered off', BEFORE, breaks.still_off,
             QUICK, table.Expected(
                 REFUSED, 'nodes not ready:.*Kubelet stopped posting')),
    ),
}
