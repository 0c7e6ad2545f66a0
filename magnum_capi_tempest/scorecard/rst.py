# SPDX-License-Identifier: Apache-2.0

"""Reports as reStructuredText, for the documentation.

Promises by profile with the behaviour of drivers, and the tests of each
promise. Both are shown even without reports.
"""

import re

from magnum_capi_tempest import promises
from magnum_capi_tempest.scorecard import forms

_SPECIAL = re.compile(r'([\\`*_|<>:])')


def render(reports, tests) -> str:
    """The promises, the drivers' behaviour, and the tests of each promise.

    :param reports: :class:`~.report.Report` objects.
    :param tests: :class:`~.suite.Test` objects.
    """
    out = [*map(_measured, reports), '']
    for profile in promises.PROFILES:
        out += _title(f'Profile {profile}')
        out += _table(['promise', 'what and why', *(
            report.name for report in reports)], (
            [f'``{one.id}``' + (', core' if one.core else ''),
             escape(f'{one.title}. {one.rationale}'),
             *(_cell(forms.cell(report, one.id)) for report in reports)]
            for one in promises.known().values() if one.profile == profile))
    out += _title('Tests')
    out += _table(['test', 'promise', 'needs'], (
        [f'``{test.id}``', f'``{test.promise}``' if test.promise else '',
         ', '.join(f'``{name}``' for name in sorted(test.required))]
        for test in tests))
    return '\n'.join(out)


def _measured(report):
    versions = ', '.join(f'{key} {value}'
                         for key, value in report.versions.items())
    return (f'* {escape(report.sentence)}. Measured {report.started[:10]} in '
            f'{report.seconds / 60:.0f} min, nodes: {report.nodes} '
            f'({escape(versions)}).')


def _title(title):
    return ['', title, '~' * len(title), '']


def _cell(found):
    return f'**{found.state}** {escape(forms.words(found).partition(": ")[2])}'


def _table(heads, rows):
    yield from ('.. list-table::', '   :header-rows: 1', '')
    for cells in (heads, *rows):
        for number, cell in enumerate(cells):
            yield f'   {"* -" if number == 0 else "  -"} {cell}'.rstrip()
    yield ''


def escape(said) -> str:
    """A text without effect in reStructuredText."""
    return _SPECIAL.sub(r'\\\1', said)
