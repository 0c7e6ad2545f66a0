# SPDX-License-Identifier: Apache-2.0

"""Many clusters at a time, like the spec scale of Cluster API's own tests.

They are requested in quick succession, as by users, not all at once. The
upstream test runs with rate limiting of reconcilers, which is the default.
A sandbox has it disabled, unless it is created with:

  magnum-capi sandbox up --rate-limiting
  magnum-capi sandbox tempest -r test_many_clusters --option many_clusters=20
"""

import time
import typing

from tempest import config
from tempest.lib import decorators

from magnum_capi_tempest.tests.common import details
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common import observations
from magnum_capi_tempest.tests.common import operations
from magnum_capi_tempest.tests.common import waiters

CONF = config.CONF

#: Seconds between two requests.
STAGGER = 3

#: What was seen of each cluster, by its uuid.
States: typing.TypeAlias = dict[str, observations.Observation]


def _limit(count: int) -> int:
    """Seconds to wait until so many clusters are complete, or gone."""
    return int(CONF.magnum_capi.build_timeout + 15 * count)


@flags.promise('lifecycle.cluster.many')
class ManyClustersTest(operations.BaseOperationsTest):

    needs = ('many_clusters',)
    # Tempest ends a test that takes longer than its timeout.
    TIMEOUT_SCALING_FACTOR = 6

    @decorators.attr(type='scale')
    @decorators.idempotent_id('7a94eda4-fd94-4dfd-9ce1-c9b5b3da572c')
    def test_all_are_complete_in_time_and_go(self) -> None:
        template, keypair = self.create_template(), self.create_keypair()
        began = time.monotonic()
        asked: list[str] = []

        for number in range(CONF.magnum_capi.many_clusters):
            self.wait_until(began + number * STAGGER)
            asked.append(self.request_cluster(template, keypair=keypair))

        took = self.wait_for_all(asked, began)
        self.addDetail('seconds until complete', details.text(took))
        for uuid in asked:
            self.assert_usable(self.magnum.clusters.show_cluster(uuid))
        self.assert_all_go(asked)

    @staticmethod
    def wait_until(when: float) -> None:
        waiters.until(time.monotonic, lambda now: now >= when, 'the next one',
                      timeout=STAGGER + 1)

    def wait_for_all(self, asked: list[str], began: float) -> dict[str, float]:
        """Return seconds by uuid, counted from the first request."""
        took: dict[str, float] = {}

        def poll() -> States:
            state = self.observe_all(asked)
            for uuid, one in state.items():
                if one.status == 'CREATE_COMPLETE':
                    took.setdefault(uuid, round(time.monotonic() - began, 1))
            return state

        waiters.until(
            poll, lambda state: len(took) == len(asked),
            f'{len(asked)} clusters to be complete', failed=self.failures,
            timeout=_limit(len(asked)), describe=self.counted)
        return took

    def observe_all(self, asked: list[str]) -> States:
        return {uuid: self.waiter.observe(uuid) for uuid in asked}

    @staticmethod
    def failures(state: States) -> str:
        """Return which clusters have failed, and how; '' if none."""
        return '; '.join(f'{uuid} is {one}' for uuid, one in state.items()
                         if observations.is_failed(one.status))

    @staticmethod
    def counted(state: States) -> str:
        """Return how many clusters have which status, a text."""
        found = [str(one.status) for one in state.values()]
        return ', '.join(f'{found.count(status)} {status}'
                         for status in sorted(set(found)))

    def assert_all_go(self, asked: list[str]) -> None:
        """Delete all at once; the cleanup checks that all are gone."""
        for uuid in asked:
            self.magnum.clusters.delete_cluster(uuid)
        waiters.until(
            lambda: self.observe_all(asked),
            lambda state: all(one.cluster is None and not one.trouble
                              for one in state.values()),
            f'{len(asked)} clusters to go', failed=self.failures,
            timeout=_limit(len(asked)), describe=self.counted)
