# SPDX-License-Identifier: Apache-2.0
"""``magnum-capi GROUP VERB``: where the command line begins."""

import os
import sys

from magnum_capi.cli import app


def main(argv: list[str] | None = None) -> int:
    """Entry point of the console script; returns the exit code."""
    argv = sys.argv[1:] if argv is None else argv
    try:
        return app.MagnumCapi().run(argv)
    except BrokenPipeError:
        # The reader of our output has gone: "magnum-capi ... | head".
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


if __name__ == '__main__':
    sys.exit(main())
