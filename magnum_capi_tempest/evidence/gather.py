# SPDX-License-Identifier: Apache-2.0

"""Queries several sources in parallel, with a time limit.

Evidence must never hide the failure that it explains, nor delay it: a source
that fails or hangs is reported in its place.
"""

import collections.abc
import threading
import time
import typing

_Found = typing.TypeVar('_Found')


def run_in_parallel(
        sources: collections.abc.Mapping[
            str, collections.abc.Callable[[], _Found]],
        seconds: float) -> dict[str, _Found | str]:
    """Call functions in parallel and return their results.

    A call that hangs is left in its own daemon thread, which ends with the
    process; it changes nothing, as evidence is only read.

    :param sources: dict of names and functions without arguments.
    :param seconds: for all of them.
    :returns: dict of the same names and values; without a value, a text that
        begins with "not available".
    """
    found: dict[str, _Found | str] = {}

    def ask(name: str, function: collections.abc.Callable[[], _Found]) -> None:
        try:
            found[name] = function()
        except Exception as e:
            found[name] = f'not available: {type(e).__name__}: {e}'

    threads = [threading.Thread(target=ask, args=item, daemon=True)
               for item in sources.items()]
    end = time.monotonic() + seconds
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0, end - time.monotonic()))
    # Anything that arrives now is too late; do not mix it in.
    done = dict(found)
    return {name: done.get(
        name, f'not available: no answer in {seconds:g} s')
        for name in sources}
