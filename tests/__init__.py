# SPDX-License-Identifier: Apache-2.0

"""The tests of this project."""

import signal

# nohup and a script's "&" have programs ignore SIGINT, also those that these
# start. Tests interrupt programs, and themselves.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
