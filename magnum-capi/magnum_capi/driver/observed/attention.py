# SPDX-License-Identifier: Apache-2.0

"""How closely the next look at a cluster looks. Pure.

One request tells that a Cluster is not finished; a failure, the reason that
its owner reads and a request that was lost take all of its parts. Cluster API
sums up its parts in the conditions of the Cluster, so while that stays exactly
as it is, the parts are asked seldom: mostly a machine is being built then, for
minutes.
"""

import dataclasses

from magnum_capi.kube import kinds

#: Looks from one that reads everything to the next, while something happens.
THOROUGH = 3

#: The same while nothing does. Events do not show in the Cluster, nor does a
#: request that was lost while the conductor lived on; the second look of a new
#: conductor is thorough.
CALM = 30


@dataclasses.dataclass
class Attention:
    """What is kept between two looks at a busy cluster.

    :param looks: number of looks.
    :param last: number of the last thorough one. The first look is too
        early for one, the second is not.
    :param version: of the Cluster then.
    :param restless: what was found then may change unseen; or nothing was
        found, because the look did not come to its end.
    """

    looks: int = 0
    last: int = 2 - THOROUGH
    version: str | None = None
    restless: bool = True

    def next(self, cluster: kinds.Object | None,
             restless: bool = False) -> bool:
        """Count a look, and say whether it has to be thorough.

        :param cluster: Cluster as it is now, None when there is none.
        :param restless: what to look for does not show in the Cluster.
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
        """Note that a thorough look came to its end.

        :param restless: whether it found what may change unseen.
        """
        self.restless = restless
