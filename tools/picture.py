# SPDX-License-Identifier: Apache-2.0


"""Draws a picture of a command's output on a terminal, for the README.

Record and draw::

    script --quiet --command tools/run_sandbox.sh run.txt
    python tools/picture.py run.txt doc/source/images/run.svg

Only the end of a long run is drawn, and home is shown as ``~``. The picture
loads nothing, unlike rich's own, which loads fonts from another host.
"""

import argparse
import io
import pathlib
import re

from rich import console
from rich import terminal_theme
from rich import text

#: Columns, and number of last lines.
WIDTH, LINES = 80, 24

#: Anything but text: titles, sounds, and lines that "script" adds.
_NOISE = re.compile(
    r'\x1b\][^\x07]*\x07|\x1b\[[0-9;?]*[A-LN-Za-ln-z]|\x07'
    r'|^Script (started|done).*$', re.M)


def lines(record: str) -> list[str]:
    """The final lines, with their colours."""
    found = _NOISE.sub('', record.replace('\r\n', '\n')).strip('\n')
    # Progress messages rewrite lines.
    return [line.rsplit('\r', 1)[-1] for line in found.splitlines()]


def draw(shown: list[str], title: str) -> str:
    """An SVG of a terminal."""
    out = console.Console(
        record=True, width=WIDTH, file=io.StringIO(), color_system='truecolor',
        force_terminal=True)
    for line in shown:
        out.print(text.Text.from_ansi(line), overflow='ellipsis',
                  no_wrap=True)
    svg = out.export_svg(title=title, theme=terminal_theme.MONOKAI,
                         unique_id='run')
    svg = re.sub(r'@font-face \{.*?\}\n', '', svg, flags=re.S)
    return ''.join(f'{line.rstrip()}\n' for line in svg.splitlines())


def main():
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('record', type=pathlib.Path)
    parser.add_argument('picture', type=pathlib.Path)
    parser.add_argument('--home', default=str(pathlib.Path.home()))
    parser.add_argument('--title', default='tools/run_sandbox.sh')
    parser.add_argument('--lines', type=int, default=LINES)
    arguments = parser.parse_args()
    shown = lines(arguments.record.read_text(errors='replace'))
    arguments.picture.write_text(draw(
        [line.replace(arguments.home, '~')
         for line in shown[-arguments.lines:]], arguments.title))


if __name__ == '__main__':
    main()
