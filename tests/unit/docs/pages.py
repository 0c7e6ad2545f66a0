# SPDX-License-Identifier: Apache-2.0


"""The commands that the documentation shows, as a reader would type them.

A block of commands is a ``code-block:: console``. A line that begins with
``$`` or ``#``, maybe behind the name of a machine, is a command, which goes on
in the next line after a backslash and in lines that begin with ``>``, as in a
shell. What else is there was printed; ``...`` stands for anything. A command
ends with 0 unless the comment ``# exit code N`` at its end says otherwise.
"""

import dataclasses
import pathlib
import re
import shlex
import textwrap

TOP = pathlib.Path(__file__).resolve().parents[3]
SOURCE = TOP / 'doc' / 'source'

#: The five that people land on: each begins with commands that a test runs.
ENTRIES = tuple(SOURCE / 'start' / f'{name}.rst' for name in (
    'driver-author', 'two-drivers', 'zuul-job-owner', 'devstack', 'cncf'))

_BLOCK = re.compile(
    r'^( *)\.\. code-block:: console\n((?:\1 +.*\n|\n)+)', re.M)
_PROMPT = re.compile(r'[\w-]*[$#] ')
_CODE = re.compile(r'# exit code (\d+)$')


@dataclasses.dataclass(frozen=True)
class Command:
    """A command of a page.

    :param text: for a shell; of several lines, maybe.
    :param shown: lines that it has printed.
    """

    text: str
    shown: tuple[str, ...] = ()

    @property
    def code(self) -> int:
        """The exit code that it has to have."""
        found = _CODE.search(self.text)
        return int(found[1]) if found else 0

    def printed(self, output: str) -> bool:
        """Whether an output is, or has in it, what the page shows."""
        wanted = '\n'.join(re.escape(line) for line in self.shown)
        wanted = wanted.replace(re.escape('...'), '.*?')
        return bool(re.search(wanted, '\n'.join(
            line.rstrip() for line in output.splitlines()), re.S))


def pages():
    """All pages of reStructuredText that people read, sorted."""
    return sorted({
        *TOP.glob('*.rst'), *SOURCE.rglob('*.rst'), *TOP.glob('*/README.rst'),
        *(path for folder in ('drivers', 'sandbox', 'tests', 'upstream')
          for path in TOP.glob(f'{folder}/**/*.rst'))})


def section(name: str, title: str) -> str:
    """The text of a section of a page, with its subsections.

    :raises LookupError: there is no such section.
    """
    _, *parts = re.split(r'^(.+)\n-+\n', (SOURCE / f'{name}.rst').read_text(),
                         flags=re.M)
    found = dict(zip(parts[::2], parts[1::2], strict=True))
    if title not in found:
        raise LookupError(f'{name} has no section {title}')
    return found[title]


def blocks(text: str) -> list[list[Command]]:
    """The blocks of commands of a page, in their order."""
    return [_commands(body) for _, body in _BLOCK.findall(text + '\n')]


def first(page: pathlib.Path) -> list[Command]:
    """The block that a page begins with.

    :raises LookupError: a section comes before it, or there is none.
    """
    text = page.read_text()
    head = re.split(r'^-+$', text, flags=re.M)[0]
    for commands in blocks(head):
        return commands
    raise LookupError(f'{page.name} does not begin with commands')


def written(text: str) -> list[str]:
    """Everything on a page that is a call of ``magnum-capi``, as a text.

    In blocks of commands, in other literal blocks and within sentences.
    """
    found = [c.text for commands in blocks(text) for c in commands]
    found += re.findall(
        r'^ +(magnum-capi (?:.*\\\n)*.*)$', text, re.M)
    found += [' '.join(words.split()) for words in re.findall(
        r'``(magnum-capi\s+[a-z][^`]*)``', text)]
    return found


def calls(text: str, program='magnum-capi') -> list[list[str | None]]:
    """Arguments of each call of a program in a text for a shell.

    A word that a shell would have to read first (variables) is None.
    """
    # What is within "$(...)" is called, too.
    text = re.sub(r'"\$(\(.*?\))"', r'\1', text.replace('\\\n', ' '))
    lexer = shlex.shlex(text, posix=True, punctuation_chars=';|&()<>\n')
    lexer.whitespace = ' \t'
    lexer.whitespace_split = True
    found, current = [], None
    first_word = True
    for word in lexer:
        if set(word) <= set(';|&()\n'):
            current, first_word = None, True
        elif first_word and word.partition('=')[0].isidentifier() and (
                '=' in word):
            continue
        elif first_word:
            first_word = False
            if word in (program, '$SANDBOX_MAGNUM_CAPI') or word.endswith(
                    f'/{program}'):
                current = []
                found.append(current)
        elif current is not None:
            current.append(None if '$' in word else word)
    return found


def _commands(body):
    found, going_on = [], False
    for line in textwrap.dedent(body).strip('\n').splitlines():
        prompt = _PROMPT.match(line)
        if prompt:
            found.append((line[prompt.end():], []))
        elif not found:
            continue
        elif going_on or line.startswith('> '):
            text, shown = found.pop()
            rest = line.strip() if going_on else line[2:]
            found.append((f'{text}\n{rest}', shown))
        else:
            found[-1][1].append(line.rstrip())
        going_on = found[-1][0].endswith('\\') and not found[-1][1]
    return [Command(text, tuple('\n'.join(shown).strip('\n').splitlines()))
            for text, shown in found]
