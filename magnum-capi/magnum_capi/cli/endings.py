# SPDX-License-Identifier: Apache-2.0
"""How a command ends: its exit code and its last message.

cliff's application exits with code 1 for every exception; the errors of this
project have their own codes.
"""

import collections.abc
import sys

from magnum_capi import errors

#: Exit code of a judging command for bugs, and for errors whose code is 1.
BROKEN = 3

_Call = collections.abc.Callable[[], int]


def explained(call: _Call, debug: bool = False) -> int:
    """Call a command; an error is printed as one line, without a traceback.

    :param debug: raise the error instead.
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
    """Call a command whose exit code 1 is a verdict; errors use others."""
    verdicts: list[int] = []

    def act() -> int:
        verdicts.append(call())
        return verdicts[0]

    try:
        code = explained(act, debug)
    except BrokenPipeError:
        raise
    except Exception:
        # cliff would exit with 1. Imported only here, to save time.
        import traceback
        traceback.print_exc()
        return BROKEN
    return BROKEN if code == 1 and not verdicts else code
