# SPDX-License-Identifier: Apache-2.0

import contextlib
import io
import types

import testtools

from magnum_capi.cli import base
from magnum_capi import errors


def run(act):
    """Exit code of a command that does this, and what it says."""
    class Command(base.Judging):
        """Judge something."""

        def act(self, args):
            return act()

    app = types.SimpleNamespace(
        options=types.SimpleNamespace(debug=False))
    with contextlib.redirect_stderr(io.StringIO()) as said:
        code = Command(app, None).run(types.SimpleNamespace())
    return code, said.getvalue()


def failing(error):
    def act():
        raise error
    return act


class ListerTest(testtools.TestCase):

    def list_of(self, rows, *options):
        class Command(base.Lister):
            """List something."""

            def take_action(self, args):
                return ('Name',), rows

        app = types.SimpleNamespace(
            options=types.SimpleNamespace(debug=False), stdout=io.StringIO())
        command = Command(app, None)
        code = command.run(command.get_parser('x').parse_args(options))
        return code, app.stdout.getvalue()

    def test_without_rows(self):
        code, said = self.list_of(iter(()))
        # A table says so.
        self.assertEqual((0, True), (code, bool(said.strip())))
        code, said = self.list_of([], '-f', 'json')
        self.assertEqual((0, '[]'), (code, said.strip()))


class JudgingTest(testtools.TestCase):

    def test_an_error_is_no_verdict(self):
        for act, code, said in (
                (lambda: 0, 0, ''), (lambda: 1, 1, ''), (lambda: 2, 2, ''),
                (failing(errors.MagnumCapiError('No network')), 3,
                 'magnum-capi: No network\n'),
                (failing(errors.UsageError('No such run')), 2, 'No such run'),
                (failing(ZeroDivisionError('a bug')), 3,
                 'ZeroDivisionError: a bug')):
            found, text = run(act)
            self.assertEqual(code, found, said)
            self.assertIn(said, text)
