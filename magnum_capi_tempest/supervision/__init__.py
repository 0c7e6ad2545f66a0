# SPDX-License-Identifier: Apache-2.0
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
