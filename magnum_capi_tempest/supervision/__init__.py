# SPDX-License-Identifier: Apache-2.0
"""Keeps programs running: a thin layer over supervisord.

Rooms describe their programs as :class:`Program`; this module makes
supervisord (the PyPI package "supervisor") start them, in dependency order,
and waits until each is ready. :mod:`.runmarks` makes sure that no process is
left behind.
"""

from magnum_capi_tempest.supervision.model import Program
from magnum_capi_tempest.supervision.model import Status
from magnum_capi_tempest.supervision.observation import tail
from magnum_capi_tempest.supervision.supervisor import Supervisor

__all__ = ['Program', 'Status', 'Supervisor', 'tail']
