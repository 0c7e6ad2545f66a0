# SPDX-License-Identifier: Apache-2.0

"""WHERE do containers run?

An engine (dockerd) of our own in namespaces of its own: nothing of it is
seen by, or mixed with, another engine of this machine, nothing listens on
an address of the host, and no container reaches the world outside. ::

    if problem := containers.problem():
        raise unittest.SkipTest(problem)
    engine = containers.Engine(directory)
    access = engine.up(progress)
    access.load(archives, progress)
    access.client().containers.run(...)
    engine.down()

Linux ends it all with the first process of those namespaces: containers,
mounts, interfaces, the route to them. What is left are control groups,
which the next command on the folder removes.
"""

from magnum_capi_tempest.containers.access import Access
from magnum_capi_tempest.containers.engine import Engine
from magnum_capi_tempest.containers.host import problem

__all__ = ['Access', 'Engine', 'problem']
