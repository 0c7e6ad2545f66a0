# SPDX-License-Identifier: Apache-2.0

"""Who asks whom for what, in which order, as a drawing.

A line of text is a message, ``user -> filter: POST /v1/clusters``; ``-->``
is an answer, and a line without an arrow is said across the whole drawing.
Who takes part stands at the top, in the order in which they are named.
"""

import html
import re
import textwrap

_MESSAGE = re.compile(
    r'(?P<start>[^:]+?) (?P<arrow>-->|->) (?P<end>[^:]+?): (?P<text>.+)')

#: Pixels: between two lifelines, of a line of text, around a message.
_COLUMN, _LINE, _GAP = 172, 15, 16

_STYLE = """
.sequence text { font: 12.5px sans-serif; text-anchor: middle; fill: #222 }
/* Readable where a lifeline crosses. */
.sequence tspan { paint-order: stroke; stroke: #fafafa; stroke-width: 4px }
.sequence rect { fill: #e8f0fe; stroke: #4a6fa5 }
.sequence path { fill: none; stroke: #555; stroke-width: 1.2 }
.sequence .life { stroke: #bbb; stroke-dasharray: 3 3 }
.sequence .call, .sequence .answer { marker-end: url(#arrow) }
.sequence .answer { stroke-dasharray: 6 3 }
.sequence .across { font-style: italic }
@media (prefers-color-scheme: dark) {
  .sequence { background: #fafafa }
}
"""


def parse(lines) -> list[tuple[str, str, str, str]]:
    """Messages: who, the arrow, whom, the text; a remark has only a text.

    :raises ValueError: a line has an arrow and is no message.
    """
    found = []
    for line in lines:
        match = _MESSAGE.fullmatch(line.strip())
        if match:
            found.append(match.group('start', 'arrow', 'end', 'text'))
        elif '->' in line:
            raise ValueError(f'not "who -> whom: what": {line!r}')
        elif line.strip():
            found.append(('', '', '', line.strip()))
    return found


def parties(messages) -> list[str]:
    """Who takes part, in the order in which they are named."""
    return list(dict.fromkeys(
        name for start, _, end, _ in messages for name in (start, end)
        if name))


def svg(messages, title: str) -> str:
    """The drawing."""
    columns = {name: _COLUMN * (number + 0.5)
               for number, name in enumerate(parties(messages))}
    width = _COLUMN * len(columns)
    y, parts = 44, []
    for message in messages:
        drawn, height = _message(columns, width, y, message)
        parts.append(drawn)
        y += height
    heads = ''.join(_head(name, x, y) for name, x in columns.items())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="sequence" '
        f'viewBox="0 0 {width:g} {y + _GAP:g}" role="img" '
        f'style="max-width:{width:g}px;width:100%"><title>'
        f'{html.escape(title)}</title><style>{_STYLE}</style>'
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" '
        'markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z" style="fill:#555;stroke:none"/></marker>'
        f'</defs>{heads}{"".join(parts)}</svg>')


def _head(name, x, bottom):
    return (f'<path class="life" d="M{x:g} 34V{bottom:g}"/>'
            f'<rect x="{x - 74:g}" y="6" width="148" height="28" rx="5"/>'
            f'<text x="{x:g}" y="24.5">{html.escape(name)}</text>')


def _message(columns, width, y, message):
    """A message and the height that it takes."""
    start, arrow, end, text = message
    if not arrow:
        lines = textwrap.wrap(text, 90)
        return (_text(lines, width / 2, y + _GAP, 'across'),
                len(lines) * _LINE + _GAP)
    left, right = columns[start], columns[end]
    if start == end:
        lines = textwrap.wrap(text, 22)
        y += _GAP
        low = y + len(lines) * _LINE
        side = 'M{0:g} {1:g}h14V{2:g}h-12'.format(left, y - 9, low - 11)
        return (f'<path class="call" d="{side}"/>'
                + _text(lines, left + 20, y, style='text-anchor:start'),
                len(lines) * _LINE + _GAP)
    lines = textwrap.wrap(text, int(abs(right - left) / 7.5))
    low = y + _GAP + len(lines) * _LINE - 8
    kind = 'call' if arrow == '->' else 'answer'
    return (_text(lines, (left + right) / 2, y + _GAP)
            + f'<path class="{kind}" d="M{left:g} {low:g}H{right:g}"/>',
            len(lines) * _LINE + _GAP)


def _text(lines, x, y, kind='', style=''):
    attributes = (f' class="{kind}"' if kind else '') + (
        f' style="{style}"' if style else '')
    return f'<text{attributes}>' + ''.join(
        f'<tspan x="{x:g}" y="{y + number * _LINE:g}">{html.escape(line)}'
        '</tspan>' for number, line in enumerate(lines)) + '</text>'
