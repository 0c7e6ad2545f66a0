# SPDX-License-Identifier: Apache-2.0
"""What all commands share: how they end, and who may say something."""

import contextlib
import logging
import sys
import warnings

from cliff import command
from cliff import lister

from magnum_capi.cli import endings


@contextlib.contextmanager
def quiet(debug):
    """What drivers and libraries say meanwhile is no part of an answer."""
    before = logging.root.manager.disable
    with contextlib.redirect_stdout(sys.stderr), warnings.catch_warnings():
        if not debug:
            warnings.simplefilter('ignore')
            logging.disable(logging.WARNING)
        try:
            yield
        finally:
            logging.disable(before)


def add_config_file(parser):
    """Let a command be given the configuration of Magnum with the driver's."""
    parser.add_argument(
        '--config-file', action='append', default=[], metavar='FILE',
        help='Configuration of Magnum with the group k8s_capi, may be '
             'repeated; /etc/magnum/magnum.conf and the like by default.')


class _Explained:

    def get_epilog(self):
        """What stands below a command's help: not whose command it is.

        To say that, cliff reads the metadata of every installed
        distribution, which takes longer than most commands do.
        """
        return self._epilog or ''

    def run(self, parsed_args):
        """Run the command; returns its exit code."""
        return endings.explained(
            lambda: super(_Explained, self).run(parsed_args),
            self.app.options.debug)


class Command(_Explained, command.Command):
    """A command that does something."""


class Judging(Command):
    """A command whose exit code 1 is a verdict: an error never has it."""

    def run(self, parsed_args):
        return endings.judged(
            lambda: command.Command.run(self, parsed_args),
            self.app.options.debug)

    def take_action(self, args):
        return self.act(args)


class Lister(_Explained, lister.Lister):
    """A command that shows a table, also as JSON, YAML or CSV."""
