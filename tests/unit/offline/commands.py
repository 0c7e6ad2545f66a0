# SPDX-License-Identifier: Apache-2.0

"""Runs the programs of tools/offline."""

import contextlib
import importlib
import io


def run(name, *argv):
    """Run a program; return its exit code and its output."""
    program = importlib.import_module(f'tools.offline.{name}.__main__')
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = program.main([str(word) for word in argv])
    return code, out.getvalue()
