# SPDX-License-Identifier: Apache-2.0

"""Asks several sources at one time, for a bounded time.

Evidence must never replace the failure that it explains, nor hold it up: a
source that fails or hangs is said so in its place.
"""

import threading
import time


def together(sources, seconds, clock=time):
    """Call functions side by side and return what each of them returned.

    A call that hangs is left behind in its own daemon thread, which ends
    with the process; it changes nothing, as evidence is read only.

    :param sources: dict of names and functions without arguments.
    :param seconds: for all of them.
    :returns: dict of the same names and values; a text that begins with
        "not available" where there is none.
    """
    found = {}

    def ask(name, function):
        try:
            found[name] = function()
        except Exception as e:
            found[name] = f'not available: {type(e).__name__}: {e}'

    threads = [threading.Thread(target=ask, args=item, daemon=True)
               for item in sources.items()]
    end = clock.monotonic() + seconds
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0, end - clock.monotonic()))
    # What comes from now on comes too late, also between two looks.
    done = dict(found)
    return {name: done.get(
        name, f'not available: no answer in {seconds:g} s')
        for name in sources}
