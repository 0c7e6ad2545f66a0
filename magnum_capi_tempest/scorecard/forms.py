# SPDX-License-Identifier: Apache-2.0

"""Reports side by side, as Markdown and in a terminal."""

import collections.abc

import rich.box
from rich.table import Table
from rich.text import Text

from magnum_capi_tempest import promises
from magnum_capi_tempest.report import markdown
from magnum_capi_tempest.report import terminal
from magnum_capi_tempest.report import text
from magnum_capi_tempest.scorecard import judge
from magnum_capi_tempest import texts

TITLE = 'Promises that drivers keep'

#: Most characters of a behaviour in a table; other formats have all of it.
WIDTH = 160

_STYLES = {judge.PASSED: 'green', judge.FAILED: 'red',
           judge.ENVIRONMENT: 'yellow'}

_UNKNOWN = judge.Judgement(judge.UNTESTED, 'newer than the report')

#: What a reader should do about a verdict.
NEXT = {
    judge.PASSED: 'Nothing to do.',
    judge.FAILED: 'Start with the core promises that failed; each has its '
                  'tests and what they measured.',
    judge.UNTESTED: 'Some core promises were not tested, or could not be, '
                    'because the cloud lacks something; their lines say why.',
}


def cell(report, promise_id: str) -> judge.Judgement:
    """The judgement of a promise, which may be newer than the report."""
    return report.promises.get(promise_id, _UNKNOWN)


def words(found: judge.Judgement) -> str:
    """A judgement in one line."""
    issue = f' (known: {found.known_issue})' if found.known_issue else ''
    return f'{found.state}: {found.said}{issue}'


def rows(reports) -> collections.abc.Iterator[tuple]:
    """Yield a profile and its promises that are in any of the reports."""
    asked = {name for report in reports for name in report.asked}
    for profile in promises.PROFILES:
        if profile in asked:
            yield profile, [one for one in promises.known().values()
                            if one.profile == profile]


def summary(reports) -> list[str]:
    """Sentences: each verdict, failed tests of Magnum itself, problems."""
    lines = []
    for report in reports:
        lines.append(f'{report.sentence}. {NEXT[report.verdict]}')
        lines += [f'{report.name}: {problem}' for problem in report.problems]
        if report.magnum.failures:
            lines.append(
                f'{report.name}: '
                f'{texts.number(len(report.magnum.failures), "test")} of '
                'Magnum itself failed, which judge no driver: '
                f'{", ".join(report.magnum.failures[:3])}')
    return lines


def to_markdown(reports) -> str:
    """Markdown for a review comment or a CI job's summary."""
    good = all(report.verdict == judge.PASSED for report in reports)
    out = [f'## {"✅" if good else "❌"} {TITLE}', '']
    out += [f'- {markdown.escape(line)}' for line in summary(reports)]
    for profile, found in rows(reports):
        out += ['', f'### {profile}', '',
                _row(['promise', 'core', *(one.name for one in reports)]),
                _row(['---'] * (len(reports) + 2), escape=False)]
        out += [_row([one.id, 'core' if one.core else '', *(
            words(cell(report, one.id)) for report in reports)])
            for one in found]
    return '\n'.join(out) + '\n'


def _row(cells, escape=True):
    if escape:
        # The report package cuts lines at less than a behaviour's length.
        cells = [markdown.escape(one[:WIDTH]) for one in cells]
    return f'| {" | ".join(cells)} |'


def show(reports, *, page=None, console=None):
    """Print reports.

    :param page: path of the HTML page, printed last if given.
    :param console: ``rich.console.Console``, standard output by default.
    """
    console = console or terminal.make_console()
    say = terminal.printer(console)
    say()
    good = all(report.verdict == judge.PASSED for report in reports)
    say(TITLE, 'bold green' if good else 'bold red')
    for line in summary(reports):
        say(f'  {line}')
    for profile, found in rows(reports):
        table = Table(box=rich.box.SIMPLE_HEAD, pad_edge=False)
        table.add_column(profile, overflow='fold')
        for report in reports:
            table.add_column(Text(text.line(report.name)), ratio=1,
                             overflow='fold')
        for one in found:
            name = one.id.removeprefix(f'{profile}.')
            table.add_row(
                Text(name, 'bold' if one.core else ''),
                *(_shown(cell(report, one.id)) for report in reports))
        console.print(table)
    say('Bold: core.')
    if page:
        say(f'Report: {page}')


def _shown(found):
    return Text.assemble(
        (found.state, _STYLES.get(found.state, 'dim')),
        (f' {text.line(words(found).partition(": ")[2], WIDTH)}', 'dim'))
