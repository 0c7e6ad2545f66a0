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

    def test_a_table_without_rows_says_so(self):
        code, said = self.list_of(iter(()))

        self.assertEqual(0, code)
        self.assertTrue(said.strip())

    def test_programs_get_an_empty_list(self):
        self.assertEqual((0, '[]'), tuple(
            part.strip() if isinstance(part, str) else part
            for part in self.list_of([], '-f', 'json')))

    def test_rows(self):
        self.assertIn('one', self.list_of([('one',)])[1])


class JudgingTest(testtools.TestCase):

    def test_verdict_is_the_exit_code(self):
        self.assertEqual([0, 1, 2], [run(lambda: code)[0]
                                     for code in (0, 1, 2)])

    def test_error_is_no_verdict(self):
        code, said = run(failing(errors.MagnumCapiError('No network')))
        self.assertEqual(3, code)
        self.assertEqual('magnum-capi: No network\n', said)

    def test_wrong_usage_keeps_its_code(self):
        self.assertEqual(2, run(failing(errors.UsageError('No such run')))[0])

    def test_bug_is_no_verdict(self):
        code, said = run(failing(ZeroDivisionError('a bug')))
        self.assertEqual(3, code)
        self.assertIn('ZeroDivisionError: a bug', said)
