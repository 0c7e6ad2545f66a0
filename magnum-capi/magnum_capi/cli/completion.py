# SPDX-License-Identifier: Apache-2.0
"""``magnum-capi complete``: completion for bash, zsh and fish.

A script has a table of the words that may follow: after the program's name
groups of commands, after a group its verbs, after a command its options and
names of files. Nothing else is needed to complete, neither this program nor
the package bash-completion.
"""

import argparse
import collections
import collections.abc
import shlex
import typing

from magnum_capi.cli import base

#: What may follow words, by these words with blanks between them.
Next: typing.TypeAlias = dict[str, list[str]]

_BASH = """\
{function}() {{
    local -A next=(
{table}
    )
    local cur=${{COMP_WORDS[COMP_CWORD]}} path={program} word
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        [[ $word == -* || ! -v next["$path $word"] ]] && break
        path="$path $word"
    done
    COMPREPLY=($(compgen -W "${{next[$path]}}" -- "$cur"))
    if [[ ${{next[$path]}} == -* && $cur != -* ]]; then
        compopt -o filenames 2> /dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    fi
}}
complete -F {function} {program}
"""

_ZSH = """\
{function}() {{
    local -A next=(
{table}
    )
    local path_={program} word
    for word in ${{words[2,CURRENT-1]}}; do
        [[ $word == -* || -z ${{next[$path_ $word]}} ]] && break
        path_="$path_ $word"
    done
    local -a found=(${{=next[$path_]}})
    if [[ $found[1] == -* && $PREFIX != -* ]]; then
        _files
    else
        compadd -a found
    fi
}}
compdef {function} {program}
"""

_FISH = """\
function {function}
    set -l plain
    for word in (commandline -opc)
        string match -q -- '-*' $word; and break
        set -a plain $word
    end
    string match -q -- "$argv" "$plain"
end
{table}
"""


class Complete(base.Command):
    """Print a script that completes commands in a shell."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'shell', choices=sorted(SCRIPTS),
            help='bash: add eval "$(magnum-capi complete bash)" to ~/.bashrc; '
                 'zsh: the same with zsh to ~/.zshrc, below compinit; fish: '
                 'write the script to '
                 '~/.config/fish/completions/magnum-capi.fish.')
        return parser

    def take_action(self, args: argparse.Namespace) -> None:
        """Print the script."""
        program = self.app.NAME
        print(SCRIPTS[args.shell](program, self._following(program)),
              end='', file=self.app.stdout)

    def _following(self, program: str) -> Next:
        commands = self.app.command_manager
        found: Next = collections.defaultdict(list)
        for name in sorted(commands.commands):
            words = [program, *name.split()]
            for end in range(1, len(words)):
                known = found[' '.join(words[:end])]
                if words[end] not in known:
                    known.append(words[end])
            factory, *_ = commands.find_command(name.split())
            parser = factory(self.app, None, name).get_parser(name)
            # argparse has no public list of a parser's options.
            found[' '.join(words)] = [
                option for action in parser._actions
                for option in action.option_strings]
        return found


def bash(program: str, following: Next) -> str:
    """The script for bash 4.2 or newer; pure."""
    return _BASH.format(program=program, function=_function(program),
                        table=_table(following, '[{}]={}'))


def zsh(program: str, following: Next) -> str:
    """The script for zsh; pure."""
    return _ZSH.format(program=program, function=_function(program),
                       table=_table(following, '{} {}'))


def fish(program: str, following: Next) -> str:
    """The script for fish 3 or newer; pure."""
    lines = []
    for words, after in sorted(following.items()):
        is_command = after[0].startswith('-')
        pattern = words + ('*' if is_command else '')
        begin = f"complete -c {program} -n '{_function(program)} " + (
            f'"{pattern}"\'')
        if is_command:
            flags = [f"-{'l' if option.startswith('--') else 's'} "
                     f"{option.lstrip('-')}" for option in after]
            lines += [f'{begin} {flag}' for flag in flags]
        else:
            lines.append(f'{begin} -f -a {shlex.quote(" ".join(after))}')
    return _FISH.format(function=_function(program), table='\n'.join(lines))


#: Functions of program and table, by shell.
SCRIPTS: dict[str, collections.abc.Callable[[str, Next], str]] = {
    'bash': bash, 'fish': fish, 'zsh': zsh}


def _function(program: str) -> str:
    return '_' + program.replace('-', '_')


def _table(following: Next, form: str) -> str:
    return '\n'.join(
        '        ' + form.format(shlex.quote(words),
                                 shlex.quote(' '.join(after)))
        for words, after in sorted(following.items()))
