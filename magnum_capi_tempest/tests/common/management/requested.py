# SPDX-License-Identifier: Apache-2.0

"""Objects of a cluster that was requested, and that need not be complete.

Some wishes cannot come true on every cloud: a volume that is smaller than the
image, a proxy that nobody has, an API that the management cluster may not
reach. Whether they were passed on can be seen without nodes.
"""

import collections.abc
import dataclasses
import typing

from magnum_capi_tempest.tests.common import observations
from magnum_capi_tempest.tests.common import waiters

Found = typing.TypeVar('Found')


@dataclasses.dataclass(frozen=True)
class Look(typing.Generic[Found]):
    """A cluster and its objects at one moment.

    :param found: what was read of its objects; None: it had no stack_id yet.
    """

    cluster: observations.Observation
    found: Found | None = None


def until_there(waiter: waiters.ClusterWaiter, uuid: str,
                read: collections.abc.Callable[[str], Found],
                there: collections.abc.Callable[[Found], object], what: str
                ) -> Look[Found]:
    """Wait until a cluster has some objects, or is complete without them.

    The driver has done its part by then, so that a deletion cannot overtake
    the creation.

    :param uuid: of the cluster.
    :param read: function of its stack_id.
    :param there: whether what was read is what is waited for.
    :param what: the objects, in words.
    :returns: the last look.
    :raises WaitAborted: the creation failed before; its ``state`` is the
        last Look.
    """
    waiter.until_handed_over(uuid)
    failure = observations.creation_failure()

    def poll() -> Look[Found]:
        # In this order: a cluster that is complete has all of its objects.
        cluster = waiter.observe(uuid)
        return Look(cluster, read(cluster.stack_id)
                    if cluster.stack_id else None)

    return waiters.until(
        poll,
        lambda look: look.cluster.status == 'CREATE_COMPLETE' or (
            look.found is not None and there(look.found)),
        f'cluster {uuid} to have {what}',
        failed=lambda look: failure(look.cluster),
        describe=lambda look: str(look.cluster))
