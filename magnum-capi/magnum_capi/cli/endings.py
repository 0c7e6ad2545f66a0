# SPDX-License-Identifier: Apache-2.0
"""How a command ends: with which exit code, and with which words.

cliff's application answers every exception with exit code 1; the errors of
this project know theirs.
"""

import collections.abc
import sys

from magnum_capi import errors

#: Exit code of a judging command for an error that would have 1, and a bug.
BROKEN = 3

_Call = collections.abc.Callable[[], int]


def explained(call: _Call, debug: bool = False) -> int:
    """Call a command: a mistake of the user's is one line, not a trace.

    :param debug: raise it all the same.
    :returns: its exit code.
    """
    try:
        return call()
    except errors.MagnumCapiError as e:
        if debug:
            raise
        print(f'magnum-capi: {e}', file=sys.stderr)
        return e.exit_code
    except KeyboardInterrupt:
        print('magnum-capi: interrupted', file=sys.stderr)
        return 130


def judged(call: _Call, debug: bool = False) -> int:
    """Call a command whose exit code 1 is a verdict: no error has it."""
    verdicts: list[int] = []

    def act() -> int:
        verdicts.append(call())
        return verdicts[0]

    try:
        code = explained(act, debug)
    except BrokenPipeError:
        raise
    except Exception:
        # cliff would end with 1. It is imported where there is a bug only.
        import traceback
        traceback.print_exc()
        return BROKEN
    return BROKEN if code == 1 and not verdicts else code
