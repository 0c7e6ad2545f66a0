# SPDX-License-Identifier: Apache-2.0

"""The promises and their tests as reStructuredText, for the documentation."""

import re

from magnum_capi_tempest import promises

_SPECIAL = re.compile(r'([\\`*_|<>:])')


def render(tests) -> str:
    """The promises by profile, and the tests of each promise.

    :param tests: :class:`~.suite.Test` objects.
    """
    out = []
    for profile in promises.PROFILES:
        out += _title(f'Profile {profile}')
        out += _table(['promise', 'what and why'], (
            [f'``{one.id}``' + (', core' if one.core else ''),
             escape(f'{one.title}. {one.rationale}')]
            for one in promises.known().values() if one.profile == profile))
    out += _title('Magnum')
    out += _table(['promise', 'what', 'unmodified Magnum 23'], (
        [f'``{one.id}``', escape(f'{one.title}.'), escape(one.otherwise)]
        for one in promises.of_magnum().values()))
    out += _title('Tests')
    out += _table(['test', 'promise', 'needs'], (
        [f'``{test.id}``', f'``{test.promise}``' if test.promise else '',
         ', '.join(f'``{name}``' for name in sorted(test.required))]
        for test in tests))
    return '\n'.join(out)


def _title(title):
    return ['', title, '~' * len(title), '']


def _table(heads, rows):
    yield from ('.. list-table::', '   :header-rows: 1', '')
    for cells in (heads, *rows):
        for number, cell in enumerate(cells):
            yield f'   {"* -" if number == 0 else "  -"} {cell}'.rstrip()
    yield ''


def escape(said) -> str:
    """A text without effect in reStructuredText."""
    return _SPECIAL.sub(r'\\\1', said)
