# SPDX-License-Identifier: Apache-2.0

"""Short Markdown, for a review comment or a CI job's summary."""

import collections.abc
import re

from magnum_capi_tempest.report import model
from magnum_capi_tempest.report import text

FAILURES = 10
LINES = 10
SECTION = 10


def render(run: model.Run) -> str:
    """The verdict, the facts and the first failures."""
    mark = '✅' if run.ok else '❌'
    if run.outcome and not run.ok:
        mark += f' {run.mark}:'
    out = [f'## {mark} {escape(run.title)}: {escape(run.verdict)}', '']
    counts = ', '.join(words for _, words in run.totals)
    out += [f'{counts or "no tests"} in {text.duration(run.seconds)}', '']
    out += [f'- ⚠️ {escape(problem)}' for problem in run.problems]
    out += [f'- {escape(key)}: {escape(value)}'
            for key, value in run.facts.items()]
    out += sections(run.sections)
    for test in run.failures[:FAILURES]:
        lines = text.clean(test.reason).splitlines()[:LINES]
        # A fence longer than any run of backticks in the text cannot be
        # closed from inside.
        longest = max((len(ticks) for ticks in re.findall(
            '`+', ''.join(lines))), default=0)
        fence = '`' * max(3, longest + 1)
        out += ['', f'### {escape(test.name)}', '', f'{fence}text',
                *(text.reason(line) for line in lines), fence]
    if len(run.failures) > FAILURES:
        out += ['', f'... and {len(run.failures) - FAILURES} more.']
    return '\n'.join(out).rstrip() + '\n'


def sections(some: collections.abc.Iterable[model.Section]) -> list[str]:
    """Lines for :class:`~.model.Section` objects, limited in number."""
    out = []
    for section in some:
        if section.folded:
            out += ['', f'{escape(section.title)}.']
            continue
        out += ['', f'### {escape(section.title)}', '']
        out += [f'- {escape(line)}' for line in section.lines[:SECTION]]
        if len(section.lines) > SECTION:
            out += [f'- ... and {len(section.lines) - SECTION} more']
    return out


def escape(value: str, width: int = 200) -> str:
    """One line of text without effect in Markdown and its HTML."""
    return re.sub(r'([\\`*_\[\]<>&#|~!])', r'\\\1', text.line(value, width))
