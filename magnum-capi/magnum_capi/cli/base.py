# SPDX-License-Identifier: Apache-2.0
"""What all commands share: exit codes, quiet libraries."""

import abc
import argparse
import collections.abc
import contextlib
import logging
import sys
import typing
import warnings

from cliff import command
from cliff import lister
from cliff import show

from magnum_capi.cli import endings


#: Names of columns, and rows.
Table: typing.TypeAlias = tuple[
    collections.abc.Sequence[str], collections.abc.Iterable[typing.Any]]


@contextlib.contextmanager
def quiet(debug: bool) -> collections.abc.Iterator[None]:
    """Keep output of drivers and libraries out of the command's own."""
    before = logging.root.manager.disable
    with contextlib.redirect_stdout(sys.stderr), warnings.catch_warnings():
        if not debug:
            warnings.simplefilter('ignore')
            logging.disable(logging.WARNING)
        try:
            yield
        finally:
            logging.disable(before)


class _Explained(command.Command):

    def get_epilog(self) -> str:
        """The text below a command's help, without its distribution.

        To name that, cliff reads the metadata of every installed
        distribution, which takes longer than most commands do.
        """
        return self._epilog or ''

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Run the command; returns its exit code."""
        return endings.explained(
            lambda: super(_Explained, self).run(parsed_args),
            self.app.options.debug)


class Command(_Explained):
    """A command that does something."""


class Judging(Command):
    """A command whose exit code 1 is a verdict: an error never has it."""

    def run(self, parsed_args: argparse.Namespace) -> int:
        return endings.judged(
            lambda: command.Command.run(self, parsed_args),
            self.app.options.debug)

    def take_action(self, parsed_args: argparse.Namespace) -> int | None:
        return self.act(parsed_args)

    @abc.abstractmethod
    def act(self, args: argparse.Namespace) -> int | None:
        """Do the work; returns the exit code, None is 0."""


class Verdict(_Explained):
    """A command that shows something, whose exit code 1 is a verdict.

    :ivar code: the exit code if there is no error; take_action sets it.
    """

    code = 0

    def run(self, parsed_args: argparse.Namespace) -> int:
        return endings.judged(
            lambda: super(_Explained, self).run(parsed_args) or self.code,
            self.app.options.debug)


class ShowOne(_Explained, show.ShowOne):
    """A command that shows fields of one thing, also as JSON or YAML."""


class Lister(_Explained, lister.Lister):
    """A command that shows a table, also as JSON, YAML or CSV.

    :cvar empty: what a table without rows says.
    """

    empty = 'There is nothing to list.'

    def produce_output(self, parsed_args: argparse.Namespace,
                       column_names: collections.abc.Sequence[str],
                       data: collections.abc.Iterable[typing.Any]) -> int:
        """Show the rows; a table without any would be an empty line."""
        rows = list(data)
        if not rows and parsed_args.formatter == 'table':
            print(self.empty, file=self.app.stdout)
            return 0
        return super().produce_output(parsed_args, column_names, rows)
