# SPDX-License-Identifier: Apache-2.0

"""The documentation of the bugs, as reStructuredText."""

from magnum_capi_tempest.scorecard import suite
from tests.proofs.driver_mutants import tables

#: Drivers by the letter of their bugs.
_DRIVERS = {'H': 'Bugs of magnum-capi-helm 1.4.0',
            'V': 'Bugs of magnum-cluster-api 0.38.2',
            'C': 'Former bugs of k8s_capi_v1'}


def page(bugs) -> str:
    """All bugs, in sections by driver.

    :param bugs: tables.Bugs.
    """
    lines = []
    for letter, title in _DRIVERS.items():
        lines += [title, '-' * len(title), '']
        for bug in bugs:
            if bug.id.startswith(letter):
                lines += _bug(bug)
    return '\n'.join(lines)


def _bug(bug):
    title = f'{bug.id}: {bug.title}'
    yield from (title, '^' * len(title), '', bug.wrong, '',
                f'*Here:* {bug.here}', '')
    if bug.unseen:
        yield from (f'*Why not through the REST API:* {bug.unseen}', '')
    for test in bug.tests:
        place = next(place for place in (
            tables.UNIT, tables.FUNCTIONAL, tables.TEMPEST)
            if test.startswith(f'{place}.'))
        judged = (suite.get(test).promise if place == tables.TEMPEST
                  else '')
        yield f'* {_KINDS[place]}: ``{test.removeprefix(f"{place}.")}``' + (
            f' (``{judged}``)' if judged else '')
    yield ''


_KINDS = {tables.UNIT: 'unit', tables.FUNCTIONAL: 'functional',
          tables.TEMPEST: 'Tempest'}
