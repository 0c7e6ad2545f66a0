# SPDX-License-Identifier: Apache-2.0

"""WHERE do containers run?

Our own engine (dockerd) in its own namespaces: it is isolated from other
engines of this machine, nothing listens on an address of the host, and no
container reaches the outside world. ::

    if problem := containers.problem():
        raise unittest.SkipTest(problem)
    engine = containers.Engine(directory)
    access = engine.up(progress)
    access.client().containers.run(...)
    engine.down()

When the first process of those namespaces ends, Linux removes everything:
containers, mounts, interfaces, the route to them. Only control groups are
left, which the next command on the folder removes.
"""

from tools.offline.containers.access import Access
from tools.offline.containers.engine import Engine
from tools.offline.containers.host import problem

__all__ = ['Access', 'Engine', 'problem']
