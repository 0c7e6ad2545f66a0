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
"""Keeps programs running: a thin layer over supervisord.

Rooms describe what must run as :class:`Program`; this module has supervisord
(the PyPI package "supervisor") start them, in dependency order, and waits
until each is ready. That nothing stays behind is :mod:`.runmarks`'s part.
"""

from magnum_capi_tempest.supervision.model import Program
from magnum_capi_tempest.supervision.model import Status
from magnum_capi_tempest.supervision.observation import tail
from magnum_capi_tempest.supervision.supervisor import Supervisor

__all__ = ['Program', 'Status', 'Supervisor', 'tail']
