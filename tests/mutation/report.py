# SPDX-License-Identifier: Apache-2.0

"""What came of a sample: for programs, and as a table."""

import json

from cosmic_ray import work_item

#: Outcomes of a mutant. UNTESTED: no test reaches it.
KILLED, TIMEOUT, SURVIVED, UNTESTED = OUTCOMES = (
    'killed', 'timeout', 'survived', 'untested')


def mutants(sample: list) -> list[dict]:
    """The mutants of a sample, by file and line.

    :param sample: items and results, see Session.sample.
    :returns: ``file``, ``line``, ``definition``, ``operator``, ``before``,
        ``after``, ``outcome``, and what Processes.run returns.
    """
    found = []
    for item, result in sample:
        (spec,) = item.mutations
        before, after = change(result.diff)
        run = json.loads(result.output)
        if result.test_outcome == work_item.TestOutcome.KILLED:
            outcome = (KILLED if 'failed' in run['killers'].values()
                       else TIMEOUT)
        else:
            outcome = SURVIVED if run['tests'] else UNTESTED
        found.append({
            'file': str(spec.module_path), 'line': spec.start_pos[0],
            'definition': spec.definition_name or '',
            'operator': spec.operator_name, 'before': before, 'after': after,
            'outcome': outcome, **run})
    return sorted(found, key=lambda one: (
        one['file'], one['line'], one['operator'], one['after']))


def table(room: str, found: list[dict], alarms: list[str]) -> str:
    """Counts in columns, then what needs a look, one a line."""
    counts = {outcome: sum(one['outcome'] == outcome for one in found)
              for outcome in OUTCOMES}
    killed = counts[KILLED] + counts[TIMEOUT]
    columns = {'room': room, 'mutants': len(found), **counts,
               'score': f'{100 * killed / len(found):.1f} %' if found else '-',
               'false alarms': len(alarms)}
    widths = [max(len(head), len(str(value)))
              for head, value in columns.items()]
    lines = ['  '.join(str(text).ljust(width)
                       for text, width in zip(row, widths)).rstrip()
             for row in (columns, columns.values())]
    for one in found:
        if one['outcome'] in (SURVIVED, UNTESTED):
            lines.append(
                f'{one["outcome"]}: {one["file"]}:{one["line"]} '
                f'{one["definition"]}: {one["before"]} -> {one["after"]}')
    lines += [f'FALSE ALARM: {test}' for test in alarms]
    return '\n'.join(lines)


def change(diff: str) -> tuple[str, str]:
    """The lines before and after, as one line each, without indentation."""
    lines = diff.splitlines()[2:]
    return tuple(' '.join(' '.join(
        line[1:] for line in lines if line[0] == sign).split())
        for sign in '-+')
