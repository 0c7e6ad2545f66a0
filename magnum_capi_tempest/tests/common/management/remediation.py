# SPDX-License-Identifier: Apache-2.0

"""Machines that tests lose on purpose, and the waits for others."""

import collections.abc
import functools

from tempest import config

from magnum_capi_tempest import json_types
from magnum_capi_tempest.tests.common.management import capi_objects
from magnum_capi_tempest.tests.common.management import graph
from magnum_capi_tempest.tests.common import observations
from magnum_capi_tempest.tests.common import operations
from magnum_capi_tempest.tests.common import waiters

CONF = config.CONF

#: What tests need that change something behind Magnum's back.
NEEDS = ('management_kubeconfig', 'management_changes')

#: Seconds without a change after which a cluster is at rest: Magnum polls its
#: status every 10, and a driver may check it thoroughly every third time.
REST_SECONDS = 35


def management() -> capi_objects.Management:
    """Return the client of the management cluster, one for a process."""
    return _management(CONF.magnum_capi.management_kubeconfig)


@functools.cache
def _management(path: str) -> capi_objects.Management:
    return capi_objects.Management(path, patient=True)


class Machines:
    """The Machines of a cluster.

    :param cluster: its body.
    """

    def __init__(self, cluster: json_types.Object) -> None:
        self.api = management()
        self.stack_id = observations.stack_id(cluster)

    def all(self) -> list[capi_objects.Machine]:
        """Return a sorted list of capi_objects.Machine."""
        return self.api.machines(self.stack_id)

    def names(self) -> set[str]:
        return {machine.name for machine in self.all()}

    def running(self, control_plane: bool = False
                ) -> tuple[capi_objects.Machine, set[str]]:
        """Return a running machine, and the names of all of them.

        A COMPLETE cluster may not have any yet. Other tests check whether that
        is right.
        """
        def found(machines: list[capi_objects.Machine]
                  ) -> list[capi_objects.Machine]:
            return [m for m in machines if m.phase == 'Running'
                    and m.control_plane is control_plane]

        machines = waiters.until(
            self.all, found, 'a machine to run', describe=operations.listed)
        return found(machines)[0], {m.name for m in machines}

    def until_replaced(self, lost: capi_objects.Machine,
                       before: collections.abc.Collection[str]
                       ) -> capi_objects.Machine:
        """Wait until another machine has replaced a lost one.

        :param before: names of all machines before it was lost.
        :returns: the new one.
        """
        machines = waiters.until(
            self.all, functools.partial(
                capi_objects.replacement, before, lost),
            f'another machine to replace {lost.name}',
            describe=operations.listed)
        return next(m for m in machines if m.name not in before)

    def fail_until_noticed(self, lost: capi_objects.Machine,
                           inside: capi_objects.Workload) -> None:
        """Make a node fail until Cluster API deletes its machine.

        A running kubelet, or the sandbox, reports the node as ready again, so
        remediation may miss a single failure.

        :param inside: of the cluster.
        """
        def poll() -> list[capi_objects.Machine]:
            found = [m for m in self.all()
                     if m.name == lost.name and not m.going]
            if found:
                inside.fail_node(lost.node)
            return found

        waiters.until(poll, lambda found: not found,
                      f'{lost.name} to be taken away')


def assert_rests(stack_id: str, seconds: float) -> None:
    """Assert that a cluster comes to rest, and stays at rest.

    :param seconds: for which nothing may be written after that.
    """
    api = management()

    def read() -> list[capi_objects.Found]:
        return api.objects(stack_id) + api.secrets(stack_id)

    last = read()

    def unrest() -> list[str]:
        nonlocal last
        now = read()
        found, last = graph.changes(last, now), now
        return found

    waiters.until_steady(
        unrest, lambda found: not found, REST_SECONDS,
        f'{stack_id} to come to rest', describe='; '.join)
    waiters.until_over(
        seconds, read,
        lambda now: '; '.join(graph.changes(last, now)) or None,
        f'nothing to be written to objects of {stack_id}')
