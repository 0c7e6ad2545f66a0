# SPDX-License-Identifier: Apache-2.0

"""The processes of a session."""

import contextlib
import os

from magnum_capi_tempest import proc


def members(session: int) -> list[int]:
    """The processes of a session that have not ended."""
    found = []
    for entry in os.listdir('/proc'):
        with contextlib.suppress(ValueError, ProcessLookupError):
            if os.getsid(int(entry)) == session and not proc.ended(int(entry)):
                found.append(int(entry))
    return found
