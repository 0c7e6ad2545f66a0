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


"""How many nodes an upgrade replaces at once. Pure.

Magnum's ``max_batch_size`` is a number of nodes. Both charts hand the rollout
strategy of a MachineDeployment through as it is, from ``nodeGroupDefaults``
and, above that, from each of ``nodeGroups``. The charts' own takes one node
away before another one comes (maxUnavailable 1, maxSurge 0), so that an
upgrade needs no quota. The control plane is none of this: Cluster API
replaces its nodes one by one.
"""

from magnum_capi_tempest.driver.wanted import spec

_ROLLING = 'RollingUpdate'
_NONE = (0, '0', '0%')


def batch(size):
    """Check ``max_batch_size``.

    :returns: a number, or None when there is none.
    :raises spec.InvalidSpec: no batch can be of that size.
    """
    if size is None:
        return None
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise spec.InvalidSpec([
            f'max_batch_size is {size!r} and has to be a number of nodes, '
            '1 or more'])
    return size


def strategy(defaults, size):
    """The rolloutStrategy of node groups for an upgrade in batches.

    Where the operator lets new nodes come before old ones go, so many come;
    elsewhere so many go. A chart takes a 0 of a group for nothing and puts
    its default there (sprig's mustMerge), so the other number stays what it
    is.

    :param defaults: ``nodeGroupDefaults`` of the values, which an operator
        may have changed.
    :param size: of :func:`batch`.
    :returns: dict, empty when nothing is to be said.
    """
    there = defaults.get('rolloutStrategy') or {}
    if size is None or there.get('type', _ROLLING) != _ROLLING:
        return {}
    rolling = there.get('rollingUpdate') or {}
    key = ('maxSurge' if rolling.get('maxUnavailable') in _NONE
           else 'maxUnavailable')
    return {'rolloutStrategy': {'rollingUpdate': {key: size}}}
