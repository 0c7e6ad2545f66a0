# SPDX-License-Identifier: Apache-2.0

"""Zuul's executor, whose log streamer listens on one address.

Run by Zuul's Python: ``executor.py ADDRESS OPTION...``. The address of
zuul.cmd.executor is "::", all of this machine, and no setting changes that.
"""

import sys

from zuul.cmd import executor
from zuul.lib import log_streamer

ADDRESS = sys.argv.pop(1)


class _LogStreamer(log_streamer.LogStreamer):

    def __init__(self, host, port, jobdir_root):
        # Its socket is of IPv6.
        super().__init__(f'::ffff:{ADDRESS}', port, jobdir_root)


log_streamer.LogStreamer = _LogStreamer
sys.exit(executor.main())
