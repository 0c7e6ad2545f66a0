# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

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
