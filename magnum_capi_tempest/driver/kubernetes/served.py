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

"""Which kinds does the server of a management cluster have?

It is asked now and then; what its answer says is read in :mod:`kinds`.
"""

import threading

from magnum_capi_tempest.driver.kubernetes import kinds

#: Seconds for which the kinds of a server are taken for known.
_KINDS_AGE = 600

_DISCOVERY = ', '.join((
    'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
    'application/json;g=apidiscovery.k8s.io;v=v2beta1;'
    'as=APIGroupDiscoveryList',
    'application/json'))


class Served:
    """The kinds of a server, kept for a while; for several threads.

    :param connection: rest.Rest.
    """

    def __init__(self, connection, clock):
        self._rest = connection
        self._clock = clock
        self._kinds = {}
        self._until = None
        self._lock = threading.Lock()

    def kind(self, name):
        """Return the kinds.Kind of that name, None when it is not served.

        A kind that is missing is looked for again at most every ten
        minutes, as all are: an operator may install it later.
        """
        if name in kinds.BUILT_IN:
            return kinds.BUILT_IN[name]
        with self._lock:
            now = self._clock.monotonic()
            if self._until is None or now >= self._until:
                self._kinds = self._discover()
                self._until = now + _KINDS_AGE
            return self._kinds.get(name)

    def _discover(self):
        answer = self._rest.request(
            'GET', '/apis', headers={'Accept': _DISCOVERY})
        if answer.get('kind') == 'APIGroupDiscoveryList':
            return kinds.aggregated(answer)
        found = []
        for group, version in kinds.preferences(answer):
            resources = self._rest.find('GET', f'/apis/{group}/{version}')
            if resources:
                found.append((group, version, resources))
        return kinds.listed(found)
