# SPDX-License-Identifier: Apache-2.0

"""What the tests have in common: clusters, and that nothing is left."""

import time

from magnum_capi import waiting
from magnum_capi_tempest.tests.common import observations
from tests.proofs import case
from tests.proofs.driver_faults import leaks
from tests.proofs.robustness import box

#: Seconds for an operation that takes longer than planned.
PATIENCE = 2400

_PACE = waiting.Pace(0.5, 1, 0.5)


class RobustnessTest(case.ProofTest):
    """``user`` has the clusters."""

    kind = box.Box

    def open(self):
        super().open()
        self.user = self.box.user
        self.search = leaks.Search(self.box, self.user)

    def tell(self, text):
        """Print figures."""
        self.box.progress.info(f'{self.id().rpartition(".")[2]}: {text}')

    def clusters(self, *wanted):
        """Complete clusters, made at once.

        :param wanted: what :meth:`.cloud.Cloud.create` takes, for each.
        :returns: pairs of uuid and name of the release.
        """
        uuids = []
        for arguments in wanted:
            uuids.append(self.user.create(**arguments))
            self.addCleanup(self.remove, uuids[-1])
        return [(uuid, self.user.wait_created(uuid).stack_id)
                for uuid in uuids]

    def remove(self, uuid):
        """Delete what a failed test has left: the next one needs room."""
        state = self.user.observe(uuid)
        if state.trouble or state.cluster:
            self.box.up()
            self.user.magnum('DELETE', f'clusters/{uuid}')
            self.user.wait_gone(uuid)

    def assert_deleted(self, uuid):
        self.user.delete(uuid, PATIENCE)
        self.assertEqual([], self.search.wait_gone(uuid))

    def uids(self, release):
        """UIDs of all Machines of a cluster, a set."""
        return {found.body['metadata']['uid'] for found
                in self.box.api.objects(release, ('Machine',))}

    def follow(self, uuid, over, what, also=None):
        """Look at a cluster until an operation is over; no status may fail.

        :param over: function of an observations.Observation.
        :param also: called at each look.
        :returns: pairs of a status and the seconds until it was seen, each
            status once until another one comes.
        """
        start, seen = time.monotonic(), []

        def poll():
            if also:
                also()
            state = self.user.observe(uuid)
            status = state.trouble or state.status or 'gone'
            if [status] != [last for last, _ in seen[-1:]]:
                seen.append((status, round(time.monotonic() - start)))
            return state

        waiting.wait_for(
            poll, done=over, what=what, timeout=PATIENCE, describe=str,
            failed=lambda state: (observations.is_failed(state.status)
                                  and str(state)),
            pace=_PACE)
        return seen
