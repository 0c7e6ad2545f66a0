# SPDX-License-Identifier: Apache-2.0

"""The summary for a terminal or a CI log: verdict first, then what to do.

Paths and errors are neither wrapped nor coloured, as users copy them.
"""

import collections.abc
import pathlib
import sys
import typing

from magnum_capi_tempest.report import model
from magnum_capi_tempest.report import text

if typing.TYPE_CHECKING:
    import rich.console

#: Lines of a failure's reason that are shown, from its start and from its end,
#: where programs say what went wrong; its file has all of them.
HEAD, TAIL = 2, 1
#: Characters of such a line: our own errors say last what was last seen.
WIDTH = 500
#: Most failures that are shown.
FAILURES = 20
#: Most lines of a section that are shown.
SECTION = 20


def make_console() -> 'rich.console.Console':
    """A ``rich.console.Console`` whose reader may close it: "... | head"."""
    import rich.console

    class Console(rich.console.Console):

        def on_broken_pipe(self) -> None:
            # Rich's own exits with 1, which is a verdict.
            raise

    return Console(highlight=False)


def printer(console: 'rich.console.Console | None' = None
            ) -> collections.abc.Callable[..., None]:
    """A function ``say(text, style)`` that prints without wrapping.

    :param console: ``rich.console.Console``, standard output by default.
    """
    if console is None and not sys.stdout.isatty():
        # Importing rich takes as long as reading an archive.
        return lambda content='', style='': print(text.clean(content))
    from rich.text import Text
    console = console or make_console()

    def say(content: str = '', style: str = '') -> None:
        # A Text is never parsed for markup, whatever the name of a test.
        console.print(Text(text.clean(content), style=style), soft_wrap=True)

    return say


def show_sections(say: collections.abc.Callable[..., None],
                  sections: collections.abc.Iterable[model.Section]) -> None:
    """Print :class:`~.model.Section` objects, limited in lines."""
    for section in sections:
        say()
        if section.folded:
            say(f'{text.line(section.title)}.')
            continue
        say(f'{text.line(section.title)}:')
        for line in section.lines[:SECTION]:
            say(f'  {text.line(line)}')
        if len(section.lines) > SECTION:
            say(f'  ... and {len(section.lines) - SECTION} more')


def show(run: model.Run, *, report: pathlib.Path | None = None,
         failures: collections.abc.Mapping[str, pathlib.Path] | None = None,
         console: 'rich.console.Console | None' = None, again: str = ''
         ) -> None:
    """Print a run.

    :param report: path of the HTML report, printed last if given.
    :param failures: dict of the ids of failed tests to the paths of files
        with all that is known about them.
    :param console: ``rich.console.Console``, standard output by default.
    :param again: command that runs the failed tests again.
    """
    say = printer(console)
    say()
    say(f'{run.mark}: {text.line(run.title)}: {text.line(run.verdict)}',
        'bold green' if run.ok else 'bold red')
    counts = ', '.join(words for _, words in run.totals)
    say(f'{counts or "no tests"} in {text.duration(run.seconds)}')
    for problem in run.problems:
        say(f'! {text.line(problem)}', 'yellow')
    for key, value in run.facts.items():
        say(f'  {text.line(key)}: {text.line(value)}')
    show_sections(say, run.sections)
    for test in run.failures[:FAILURES]:
        say()
        say(f'✗ {text.line(test.id)}', 'red')
        lines = test.reason.splitlines() or ['no reason was recorded']
        left = len(lines) - HEAD - TAIL
        if left > 0:
            lines[HEAD:-TAIL] = [f'... {left} more lines in its file']
        for line in lines:
            say(f'    {text.line(line, WIDTH)}')
        if failures:
            say(f'    All of it: {failures[test.id]}')
    if len(run.failures) > FAILURES:
        say()
        say(f'... and {len(run.failures) - FAILURES} more failures')
    slowest = run.slowest()
    if len(slowest) > 1:
        say()
        say('Slowest:')
        for test in slowest:
            say(f'  {text.duration(test.seconds):>12}  '
                f'{text.line(test.name)}')
    if again and run.failures:
        say()
        say(f'To run what failed again: {again}')
    if report:
        say()
        say(f'Report: {report}')
