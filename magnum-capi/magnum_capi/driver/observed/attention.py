# SPDX-License-Identifier: Apache-2.0

"""How thorough the next look at a cluster must be. Pure.

One request shows that a Cluster is not finished; finding a failure, the reason
for its owner or a lost request takes all of its parts. Cluster API sums up the
parts in the conditions of the Cluster, so while the Cluster does not change,
its parts are rarely read: usually a machine is being built then, which takes
minutes.
"""

import dataclasses

from magnum_capi.kube import kinds

#: Looks between two thorough ones, while something happens.
THOROUGH = 3

#: The same while nothing happens. The Cluster does not show Events, or a
#: request that was lost while the conductor survived; the second look of a new
#: conductor is thorough.
CALM = 30


@dataclasses.dataclass
class Attention:
    """What is kept between two looks at a busy cluster.

    :param looks: number of looks.
    :param last: number of the last thorough one. The first look is too early
        for one, the second is not.
    :param version: resourceVersion of the Cluster then.
    :param restless: what was found then may change without a change of the
        Cluster; or the look did not complete.
    """

    looks: int = 0
    last: int = 2 - THOROUGH
    version: str | None = None
    restless: bool = True

    def next(self, cluster: kinds.Object | None,
             restless: bool = False) -> bool:
        """Count a look, and return whether it must be thorough.

        :param cluster: present Cluster, None when there is none.
        :param restless: the Cluster does not show what to look for.
        """
        self.looks += 1
        since = self.looks - self.last
        version = (cluster['metadata'].get('resourceVersion') if cluster
                   else None)
        if since < THOROUGH or since < CALM and not (
                restless or self.restless or version is None
                or version != self.version):
            return False
        self.last, self.version = self.looks, version
        self.restless = True
        return True

    def found(self, restless: bool) -> None:
        """Record that a thorough look is complete.

        :param restless: whether it found something that may change without a
            change of the Cluster.
        """
        self.restless = restless
