# SPDX-License-Identifier: Apache-2.0

"""What came of a sample: for programs, and as a table."""

import itertools
import json
import pathlib
import re
import tomllib

from cosmic_ray import work_item

#: Outcomes of a mutant. UNTESTED: no test reaches it.
KILLED, TIMEOUT, SURVIVED, UNTESTED, EQUIVALENT = OUTCOMES = (
    'killed', 'timeout', 'survived', 'untested', 'equivalent')

_TABLE = pathlib.Path(__file__).with_name('equivalents.toml')


def mutants(sample: list, known: dict) -> list[dict]:
    """The mutants of a sample, by file and line.

    :param sample: items and results, see Session.sample.
    :param known: see :func:`equivalents`.
    :returns: ``file``, ``line``, ``definition``, ``operator``, ``before``,
        ``after``, ``outcome``, ``why`` it is equivalent, and what
        Session.run returns.
    """
    found = []
    for item, result in sample:
        (spec,) = item.mutations
        before, after = change(result.diff)
        why = _reason(known, str(spec.module_path), before, after)
        run = json.loads(result.output)
        if result.test_outcome == work_item.TestOutcome.KILLED:
            outcome = (KILLED if 'failed' in run['killers'].values()
                       else TIMEOUT)
        elif why := why or _rule(known, before, after):
            outcome = EQUIVALENT
        else:
            outcome = SURVIVED if run['tests'] else UNTESTED
        found.append({
            'file': str(spec.module_path), 'line': spec.start_pos[0],
            'definition': spec.definition_name or '',
            'operator': spec.operator_name, 'before': before, 'after': after,
            'outcome': outcome, 'why': why, **run})
    return sorted(found, key=lambda one: (
        one['file'], one['line'], one['operator'], one['after']))


def table(room: str, found: list[dict], alarms: list[str]) -> str:
    """Counts in columns, then what needs a look, one a line."""
    counts = {outcome: sum(one['outcome'] == outcome for one in found)
              for outcome in OUTCOMES}
    judged = len(found) - counts[EQUIVALENT]
    killed = counts[KILLED] + counts[TIMEOUT]
    columns = {'room': room, 'mutants': len(found), **counts,
               'score': f'{100 * killed / judged:.1f} %' if judged else '-',
               'false alarms': len(alarms)}
    widths = [max(len(head), len(str(value)))
              for head, value in columns.items()]
    lines = ['  '.join(str(text).ljust(width)
                       for text, width in zip(row, widths)).rstrip()
             for row in (columns, columns.values())]
    for one in found:
        if one['outcome'] in (SURVIVED, UNTESTED):
            lines.append(_line(one['outcome'], one))
    lines += [_line('NOT equivalent', one) for one in disproved(found)]
    lines += [f'FALSE ALARM: {test}' for test in alarms]
    return '\n'.join(lines)


def disproved(found: list[dict]) -> list[dict]:
    """Called equivalent, but a test fails because of them."""
    return [one for one in found
            if one['why'] and one['outcome'] in (KILLED, TIMEOUT)]


def _line(word, one):
    return (f'{word}: {one["file"]}:{one["line"]} {one["definition"]}: '
            f'{one["before"]} -> {one["after"]}')


def change(diff: str) -> tuple[str, str]:
    """The lines before and after, as one line each, without indentation."""
    lines = diff.splitlines()[2:]
    return tuple(' '.join(' '.join(
        line[1:] for line in lines if line[0] == sign).split())
        for sign in '-+')


def equivalents(path: pathlib.Path = _TABLE) -> dict:
    """Read the table: ``rules``, and ``mutants`` by file.

    :raises ValueError: one is without a reason.
    """
    known = tomllib.loads(path.read_text('utf-8'))
    for *one, why in itertools.chain(
            known['rules'], *known['mutants'].values()):
        if not why.strip():
            raise ValueError(f'{one}: needs a reason')
    return known


def _reason(known, file, before, after):
    return next((why for *one, why in known['mutants'].get(file, ())
                 if one == [before, after]), '')


def _rule(known, before, after):
    return next((why for change, why in known['rules']
                 if re.fullmatch(change, f'{before}\n{after}')), '')
