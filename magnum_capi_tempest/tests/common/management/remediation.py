# SPDX-License-Identifier: Apache-2.0

"""The base of tests that lose machines: management access and waits."""

import functools
import time

from tempest import config

from magnum_capi import waiting
from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common.management import capi_objects
from magnum_capi_tempest.tests.common.management import graph
from magnum_capi_tempest.tests.common import observations
from magnum_capi_tempest.tests.common import operations

CONF = config.CONF

#: Seconds without a change after which a cluster is at rest: Magnum polls its
#: status every 10, and a driver may check it thoroughly every third time.
REST_SECONDS = 35


class BaseManagementTest(operations.BaseOperationsTest):
    """A test of changes behind Magnum's back.

    :cvar cluster_api: capi_objects.Management, in addition to the reader of
        the base.
    """

    required_options = (*base.TEMPLATE_OPTIONS, 'management_kubeconfig',
                        'management_changes')

    @classmethod
    def setup_clients(cls):
        super().setup_clients()
        cls.cluster_api = capi_objects.Management(
            CONF.magnum_capi.management_kubeconfig)

    def machines(self, cluster):
        return self.cluster_api.machines(observations.stack_id(cluster))

    def a_machine(self, cluster, control_plane=False):
        """Return a running machine, and the names of all of them.

        A COMPLETE cluster may not have any yet. Other tests check whether that
        is right.
        """
        def running(machines):
            return [m for m in machines if m.phase == 'Running'
                    and m.control_plane is control_plane]

        machines = waiting.wait_for(
            functools.partial(self.machines, cluster), done=running,
            what='a machine to run', pace=self.pace(),
            timeout=CONF.magnum_capi.build_timeout,
            describe=lambda found: ', '.join(map(str, found)) or 'none')
        return running(machines)[0], {m.name for m in machines}

    def wait_for_replacement(self, cluster, lost, before):
        """Wait until another machine has replaced a lost one.

        :param lost: capi_objects.Machine.
        :param before: names of all machines before it was lost.
        :returns: the new capi_objects.Machine.
        """
        return capi_objects.replacement(before, lost, waiting.wait_for(
            functools.partial(self.machines, cluster),
            done=lambda machines: capi_objects.replacement(
                before, lost, machines),
            what=f'another machine to replace {lost.name}',
            timeout=CONF.magnum_capi.build_timeout, pace=self.pace(),
            describe=lambda found: ', '.join(map(str, found)) or 'none'))

    def fail_until_noticed(self, cluster, lost):
        """Make a node fail until Cluster API deletes its machine.

        A running kubelet, or the sandbox, reports the node as ready again, so
        remediation may miss a single failure.
        """
        inside = self.workload(cluster)

        def poll():
            found = [m for m in self.machines(cluster)
                     if m.name == lost.name and not m.going]
            if found:
                inside.fail_node(lost.node)
            return found

        waiting.wait_for(
            poll, done=lambda found: not found, pace=self.pace(),
            timeout=CONF.magnum_capi.build_timeout,
            what=f'{lost.name} to be taken away', describe=str)

    def assert_holds(self, seconds, poll, wrong, what):
        """Watch something for a time in which nothing may go wrong.

        :param poll: function that returns a state.
        :param wrong: function of a state: what is wrong with it, or None.
        :returns: the last state.
        """
        end = time.monotonic() + seconds
        return waiting.wait_for(
            poll, done=lambda state: time.monotonic() >= end and not wrong(
                state), failed=wrong, what=what, pace=self.pace(),
            timeout=seconds + CONF.magnum_capi.build_timeout,
            describe=lambda state: wrong(state) or 'nothing wrong')

    def assert_rests(self, stack_id, seconds):
        """Assert that a cluster comes to rest, and stays at rest.

        :param seconds: for which nothing may be written after that.
        """
        def look():
            return (self.cluster_api.objects(stack_id)
                    + self.cluster_api.secrets(stack_id))

        last, since = look(), time.monotonic()

        def unrest():
            nonlocal last, since
            now = look()
            found, last = graph.changes(last, now), now
            if found:
                since = time.monotonic()
            return found

        waiting.wait_for(
            unrest, timeout=CONF.magnum_capi.build_timeout, pace=self.pace(),
            done=lambda _: time.monotonic() - since >= REST_SECONDS,
            what=f'{stack_id} to come to rest', describe='; '.join)
        before = last
        self.assert_holds(
            seconds, look,
            lambda now: '; '.join(graph.changes(before, now)) or None,
            f'nothing to be written to objects of {stack_id}')
