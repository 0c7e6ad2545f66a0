# SPDX-License-Identifier: Apache-2.0
"""``magnum-capi GROUP VERB``: where the command line begins."""

import atexit
import gc
import sys

from magnum_capi.cli import app
from magnum_capi.cli import endings


def main(argv: list[str] | None = None) -> int:
    """Entry point of the console script; returns the exit code."""
    argv = sys.argv[1:] if argv is None else argv
    # At exit Python searches all remaining objects for cycles several times,
    # which takes a tenth of the time of a short command.
    atexit.register(gc.freeze)
    return endings.cleaned(lambda: app.MagnumCapi().run(argv))


if __name__ == '__main__':
    sys.exit(main())
