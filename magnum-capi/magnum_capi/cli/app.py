# SPDX-License-Identifier: Apache-2.0
"""The application of cliff: finds the command and runs it."""

import argparse
import ast
import collections.abc
import importlib.metadata
import importlib.util
import itertools
import pathlib
import sys
import typing

from cliff import app
from cliff import command
from cliff import commandmanager
from cliff import help as cliff_help

from magnum_capi import errors

_PACKAGE = 'magnum-capi'

#: Distributions that add commands.
_ADDITIONS = ('magnum-capi-tempest', 'magnum-capi-sandbox')

#: How the distributions beside this one are installed. They are not on PyPI,
#: where somebody else could register their names.
_PLUGIN = ('magnum-capi-tempest has it: pip install . '
           'in a checkout of the repository')
_SANDBOX = ('magnum-capi-sandbox has it: pip install . ./sandbox '
            'in a checkout of the repository')

#: What brings the commands that begin with these words.
_ELSEWHERE = {
    'conformance': _PLUGIN,
    'driver new': _PLUGIN,
    'driver test': _PLUGIN,
    'evidence': _PLUGIN,
    'management': _PLUGIN,
    'report': _PLUGIN,
    'sandbox': _SANDBOX,
    'tempest': _PLUGIN,
}


class Commands(commandmanager.CommandManager):
    """Knows every command by name and loads the one that runs.

    cliff's own loads all of them to run one, and with them every library
    that any of them needs: most of a second and 40 MB.
    """

    def load_commands(self, namespace: str) -> None:
        """Find the commands of a group of entry points."""
        self.group_list.append(namespace)
        for entry in importlib.metadata.entry_points(group=namespace):
            self.commands[entry.name.replace('_', ' ')] = entry

    def add_command(self, name: str, command_class: type[command.Command],
                    *args: typing.Any, **kwargs: typing.Any) -> None:
        """Add a command, unless an entry point has its name."""
        if not isinstance(self.commands.get(name),
                          importlib.metadata.EntryPoint):
            super().add_command(name, command_class, *args, **kwargs)

    def group(self, words: collections.abc.Sequence[str]) -> list[str]:
        """Names of the commands that begin with these words.

        :returns: none if the words are themselves a command.
        """
        if ' '.join(words) in self.commands:
            return []
        return sorted(name for name in self.commands
                      if name.split()[:len(words)] == [*words])

    def description(self, name: str) -> str:
        """The first line of a command's docstring."""
        entry = self.commands[name]
        try:
            text = _docstring(entry) or entry.load().__doc__ or ''
        except Exception as e:
            # Of another distribution, or it lacks a library.
            return f'(cannot be loaded: {e})'
        return text.strip().partition('\n')[0].rstrip('.')


def _docstring(entry: typing.Any) -> str | None:
    """Docstring of an entry point's class, without the import of its module.

    To import all commands takes seconds, to parse their sources a tenth of
    one.

    :returns: None if the source does not have it.
    """
    if not isinstance(entry, importlib.metadata.EntryPoint):
        return None
    # find_spec would import the packages that a module is in.
    package, *rest = entry.module.split('.')
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    path = pathlib.Path(spec.submodule_search_locations[0], *rest)
    tree = ast.parse(path.with_suffix('.py').read_bytes())
    return next((ast.get_docstring(node) for node in tree.body
                 if isinstance(node, ast.ClassDef)
                 and node.name == entry.attr), None)


def versions() -> str:
    """The version of this distribution, and lines of those beside it."""
    found = [importlib.metadata.version(_PACKAGE)]
    for name in _ADDITIONS:
        try:
            found.append(f'{name} {importlib.metadata.version(name)}')
        except importlib.metadata.PackageNotFoundError:
            continue
    return '\n'.join(found)


class Help(cliff_help.HelpCommand):
    """Print help for a command, a group of commands, or all."""

    app: 'MagnumCapi'

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Print it; returns the exit code."""
        if self.app.print_group(parsed_args.cmd):
            return 0
        code = self.app.refuse_missing(parsed_args.cmd)
        if code:
            return code
        return super().take_action(parsed_args)


class MagnumCapi(app.App):
    """The application; its commands are found by entry points."""

    NAME = 'magnum-capi'
    command_manager: Commands

    def __init__(self) -> None:
        super().__init__(
            description='Cluster API drivers for OpenStack Magnum: discover, '
                        'run\nand, with magnum-capi-tempest, test them.',
            version=versions(),
            command_manager=Commands('magnum_capi.cli'),
            deferred_help=True)
        self.command_manager.add_command('help', Help)

    def build_option_parser(
            self, description: str | None, version: str | None,
            argparse_kwargs: dict[str, typing.Any] | None = None,
    ) -> argparse.ArgumentParser:
        """The parser of options before the command; keeps line breaks."""
        return super().build_option_parser(description, version, {
            **(argparse_kwargs or {}),
            'formatter_class': argparse.RawDescriptionHelpFormatter})

    def print_help_if_requested(self) -> None:
        """Print the help of the application and exit, if asked to."""
        if self.options.deferred_help:
            self.print_group([])
            raise cliff_help.HelpExit()

    def interact(self) -> None:
        """Without a command there is only help; cliff would open a shell."""
        self.print_group([])
        raise SystemExit(2)

    def run_subcommand(self, argv: list[str]) -> int:
        """Run a command; for a group of commands, print its help.

        A command of a distribution that is not installed exits with code 3.
        """
        words = [*itertools.takewhile(lambda word: word[:1] != '-', argv)]
        if self.print_group(words):
            return 2
        return self.refuse_missing(words) or super().run_subcommand(argv)

    def refuse_missing(self, words: list[str]) -> int:
        """Say which distribution has a command that is not installed.

        :returns: the exit code, 0 if this is no such command.
        """
        for count in (1, 2):
            begin = ' '.join(words[:count])
            if begin in _ELSEWHERE and not any(
                    f'{name} '.startswith(f'{begin} ')
                    for name in self.command_manager.commands):
                problem = errors.EnvironmentProblem(
                    f'The command "{begin}" is not installed',
                    where=sys.prefix, hint=_ELSEWHERE[begin])
                print(f'{self.NAME}: {problem}', file=self.stderr)
                return problem.exit_code
        return 0

    def get_fuzzy_matches(self, cmd: str) -> list[str]:
        """What a user may have meant: of a known group, its commands."""
        return (self.command_manager.group([cmd])
                or super().get_fuzzy_matches(cmd))

    def print_group(self, words: collections.abc.Sequence[str]) -> bool:
        """Print the help of the commands that begin with these words.

        :returns: whether there are any.
        """
        names = self.command_manager.group(words)
        if not names:
            return False
        width = max(map(len, names))
        if words:
            print('usage:', self.NAME, *words, 'COMMAND ...', file=self.stdout)
        else:
            self.parser.print_help(self.stdout)
        print('\nCommands:', file=self.stdout)
        for name in names:
            print(f'  {name:{width}}  '
                  f'{self.command_manager.description(name)}',
                  file=self.stdout)
        print(f'\n"{self.NAME} help COMMAND" tells more.', file=self.stdout)
        return True
