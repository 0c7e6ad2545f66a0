# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi`` as a user calls it: exit code, output, complaints."""

import contextlib
import io
from unittest import mock

from magnum_capi.cli import main


def call(*argv):
    """Run the program; returns exit code, standard output and error."""
    return _captured(io.StringIO(), lambda: main.main([*map(str, argv)]))


def command(kind, *argv):
    """Run one command, without the application around it."""
    out = io.StringIO()
    app = mock.Mock(stdout=out)
    app.options.debug = False
    made = kind(app, None)
    return _captured(out, lambda: made.run(
        made.get_parser('x').parse_args([*map(str, argv)])))


def _captured(out, act):
    with contextlib.redirect_stdout(out), \
            contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            code = act()
        except SystemExit as e:
            code = e.code or 0
    return code, out.getvalue(), err.getvalue()
