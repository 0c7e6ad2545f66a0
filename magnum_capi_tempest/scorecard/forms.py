# SPDX-License-Identifier: Apache-2.0

"""Reports for people: in a terminal, as Markdown, and as an HTML page.

One report, or several side by side. Each form shows, in this order: the
verdict, why the driver does not pass, the state of every promise.
"""

import collections.abc
import pathlib
import typing

from magnum_capi_tempest import json_types
from magnum_capi_tempest import promises
from magnum_capi_tempest.report import markdown
from magnum_capi_tempest.report import terminal
from magnum_capi_tempest.scorecard import judge
from magnum_capi_tempest.scorecard import report as reports_
from magnum_capi_tempest import texts

if typing.TYPE_CHECKING:
    import rich.console

TITLE = 'Promises that drivers keep'

#: Characters of a reason, which is shown whole: it says what was measured.
_WHOLE = 4000

_VERDICTS = {judge.PASSED: ('PASSED', 'passes core'),
             judge.FAILED: ('FAILED', 'fails core'),
             judge.UNTESTED: ('INCOMPLETE', 'did not complete core')}
_STYLES = {judge.PASSED: 'green', judge.FAILED: 'red',
           judge.UNSUPPORTED: 'dim'}
_UNKNOWN: judge.Judgement = {
    'state': judge.UNTESTED, 'reason': 'newer than the report'}


class Reason(typing.NamedTuple):
    """Why a promise is not kept, or not known to be."""

    promise: promises.Promise
    found: judge.Judgement

    def __str__(self) -> str:
        issue = self.found.get('known_issue')
        return (f'{self.promise.id}{" (core)" if self.promise.core else ""}: '
                f'{self.found["state"]}: {self.found.get("reason", "")}'
                + (f' (known: {issue})' if issue else ''))


def name(report: reports_.Report) -> str:
    return texts.line(report['driver']['name'])


def good(reports: collections.abc.Sequence[json_types.Object]) -> bool:
    """Whether every driver keeps all core promises."""
    return all(one['verdict'] == judge.PASSED for one in reports)


def headline(reports: collections.abc.Sequence[json_types.Object]) -> str:
    """The verdict in one line."""
    if len(reports) == 1:
        return sentence(reports[0])
    passed = sum(one['verdict'] == judge.PASSED for one in reports)
    return (f'{"PASSED" if good(reports) else "FAILED"}: {passed} of '
            f'{len(reports)} drivers pass core')


def sentence(report: reports_.Report) -> str:
    """The verdict on a driver in one line."""
    profiles = report['profiles']
    count = {state: sum(one['core'][state] for one in profiles.values())
             for state in judge.STATES}
    others = [profile for profile, one in profiles.items()
              if one['state'] != judge.PASSED]
    mark, phrase = _VERDICTS[report['verdict']]
    return (f'{mark}: {name(report)} {phrase}: {count[judge.PASSED]} of '
            f'{sum(count.values())} core promises passed'
            + ''.join(f', {number} {state}' for state, number
                      in count.items() if number and state != judge.PASSED)
            + (f' ({", ".join(others)})' if others else ''))


def remarks(report: reports_.Report) -> list[str]:
    """Problems of the run, and failed tests of Magnum itself."""
    failures = report['magnum']['failures']
    return [*report['problems'], *([
        f'{texts.number(len(failures), "test")} of Magnum itself failed, '
        f'which judge no driver: {", ".join(failures[:3])}'
        + (' ...' if failures[3:] else '')] if failures else [])]


def reasons(report: reports_.Report) -> list[Reason]:
    """Promises that are not kept or not tested: failures and core first.

    Without those that :func:`unasked` counts.
    """
    order = (judge.FAILED, judge.UNTESTED)
    return sorted((one for one in _cells(report)
                   if one.found['state'] in order and not _unasked(one)),
                  key=lambda one: (order.index(one.found['state']),
                                   not one.promise.core))


def unasked(report: reports_.Report) -> str:
    """How many promises outside core the run left out, as with --core.

    :returns: a sentence; empty if there are none.
    """
    count = sum(map(_unasked, _cells(report)))
    return '' if not count else (
        f'{texts.number(count, "promise")} outside core '
        f'{"was" if count == 1 else "were"} not tested: {judge.NOT_RUN}')


def _unasked(one: Reason) -> bool:
    return not one.promise.core and one.found.get('reason') == judge.NOT_RUN


def _cells(report: reports_.Report) -> list[Reason]:
    return [Reason(one, cell(report, one.id))
            for _, promises_ in rows([report]) for one in promises_]


def cell(report: reports_.Report, promise_id: str) -> judge.Judgement:
    """The judgement of a promise, which may be newer than the report."""
    return typing.cast(judge.Judgement, report['promises'].get(
        promise_id, _UNKNOWN))


def rows(reports: collections.abc.Sequence[json_types.Object]
         ) -> collections.abc.Iterator[tuple[str, list[promises.Promise]]]:
    """Yield a profile and its promises that are in any of the reports."""
    for profile in promises.PROFILES:
        if any(profile in report['profiles'] for report in reports):
            yield profile, [one for one in promises.known().values()
                            if one.profile == profile]


def worst(reports: collections.abc.Sequence[json_types.Object], promise_id: str
          ) -> str:
    """The state of a promise that needs attention most."""
    states = {cell(one, promise_id)['state'] for one in reports}
    order = (judge.FAILED, judge.UNTESTED, judge.UNSUPPORTED, judge.PASSED)
    return next(state for state in order if state in states)


def to_markdown(reports: collections.abc.Sequence[json_types.Object]) -> str:
    """Markdown for a review comment or a CI job's summary."""
    out = [f'## {"✅" if good(reports) else "❌"} '
           f'{markdown.escape(headline(reports))}', '']
    for report in reports:
        if len(reports) > 1:
            out += [f'### {markdown.escape(sentence(report))}', '']
        out += [f'- ⚠️ {markdown.escape(line)}' for line in remarks(report)]
        out += [f'- {markdown.escape(str(one), _WHOLE)}'
                for one in [*reasons(report), *filter(None, [
                    unasked(report)])]]
    heads = ['promise', 'core', *map(name, reports)]
    out += ['', _row(heads), f'|{" --- |" * len(heads)}']
    out += [_row([one.id, 'core' if one.core else '', *(
        cell(report, one.id)['state'] for report in reports)])
        for _, found in rows(reports) for one in found]
    return '\n'.join(out) + '\n'


def _row(cells: collections.abc.Sequence[str]) -> str:
    return f'| {" | ".join(map(markdown.escape, cells))} |'


def to_html(reports: collections.abc.Sequence[json_types.Object]) -> str:
    """A page in the common style."""
    from magnum_capi_tempest.report import html
    profiles = list(rows(reports))
    states = [worst(reports, one.id)
              for _, found in profiles for one in found]
    return html.page(
        'scorecard.html', package='magnum_capi_tempest.scorecard',
        title=TITLE, headline=headline(reports), good=good(reports),
        reports=reports, name=name, sentence=sentence, remarks=remarks,
        reasons=reasons, unasked=unasked,
        profiles=profiles, cell=cell, worst=lambda one: worst(reports, one),
        states=judge.STATES, totals=[
            (state, f'{states.count(state)} {state}')
            for state in judge.STATES if state in states])


def show(reports: collections.abc.Sequence[json_types.Object], *,
         page: pathlib.Path | None = None,
         console: 'rich.console.Console | None' = None) -> None:
    """Print reports.

    :param page: path of the HTML page, printed last if given.
    :param console: ``rich.console.Console``, standard output by default.
    """
    import rich.box
    from rich.table import Table
    from rich.text import Text
    console = console or terminal.make_console()
    say = terminal.printer(console)
    say()
    say(headline(reports), 'bold green' if good(reports) else 'bold red')
    for report in reports:
        if len(reports) > 1:
            say()
            say(sentence(report), _STYLES.get(report['verdict'], 'yellow'))
        for line in remarks(report):
            say(f'! {texts.line(line)}', 'yellow')
        for one in reasons(report):
            say(f'  {texts.line(str(one), _WHOLE)}')
        if unasked(report):
            say(f'  {unasked(report)}', 'dim')
    table = Table(box=rich.box.SIMPLE_HEAD, pad_edge=False)
    table.add_column('promise (bold: core)', overflow='fold')
    for report in reports:
        # As wide as the longest state: three drivers fit 80 columns.
        table.add_column(Text(name(report)), overflow='fold',
                         max_width=max(map(len, judge.STATES)))
    for _, found in rows(reports):
        for promise in found:
            cells = [cell(report, promise.id) for report in reports]
            if all(_unasked(Reason(promise, one)) for one in cells):
                # A table with them would push the verdict off the screen.
                continue
            states = [one['state'] for one in cells]
            table.add_row(Text(promise.id, 'bold' if promise.core else ''), *(
                Text(state, _STYLES.get(state, '')) for state in states))
        table.add_section()
    console.print(table)
    if page:
        say(f'Report: {page}')
