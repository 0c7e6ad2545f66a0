# SPDX-License-Identifier: Apache-2.0

"""The sandboxes of the proof, one after the other, and what runs in each."""

import functools
import itertools

from magnum_capi_sandbox import releases
from magnum_capi_tempest import texts
from tests.proofs.discovery import box as box_module
from tests.proofs.discovery import compare
from tests.proofs.discovery import parts
from tests.proofs.discovery import suite
from tests.proofs import proof

#: Functions of :mod:`.parts`, and the arguments of :class:`.box.Box`.
PARTS = {
    'filter': (parts.cured_or_named, {'with_filter': True}),
    'plain': (parts.rest, {'with_filter': False}),
    'broken-filter': (parts.broken, {'with_filter': True, 'broken': True}),
    'broken-plain': (parts.broken, {'with_filter': False, 'broken': True}),
    'patched': (parts.patched, {'with_filter': False, 'patched': True}),
    'broken-patched': (parts.patched, {
        'with_filter': False, 'patched': True, 'broken': True}),
    **{f'{name}-{release.name}': (parts.earlier, {
        'with_filter': with_filter, 'magnum': release.name})
        for release in releases.RELEASES[:-1]
        for name, with_filter in (('filter', True), ('plain', False))},
}
#: Columns of a table, and whether a driver is broken: with the filter,
#: without, and with the patches instead.
COLUMNS = ((('filter', 'plain', 'patched'), False),
           (('broken-filter', 'broken-plain', 'broken-patched'), True),
           *(((f'filter-{r.name}', f'plain-{r.name}'), False)
             for r in releases.RELEASES[:-1]))


class Discovery(proof.Proof):
    name = 'discovery'
    summary = ('Prove that the tests of driver discovery fail where they '
               'must, and only there.')
    words = 'as expected', 'NOT as expected'
    port_base = 29000
    one_sandbox = False

    def cases(self, args):
        return [proof.Case(name, data=part) for name, part in PARTS.items()]

    def run(self, work, case):
        function, options = case.data
        with box_module.Box(work, case.name, **options) as box:
            problems, run = function(box, _tests())
        yield {'problems': problems,
               'tests': {test.name: test.status for test in run.tests}}

    def judge(self, case, seen, results):
        problems = seen['problems']
        return proof.Row(not problems, '\n  '.join((
            f'{case.name}: {texts.number(len(seen["tests"]), "test")}',
            *problems)))

    def epilogue(self, found):
        """A row for every test that shows a deviation."""
        runs = {record.case: seen['tests']
                for record in found for seen in record.seen}
        rows = []
        for names, is_broken in COLUMNS:
            if runs.keys() & set(names):
                rows += [('deviation', 'test', *names),
                         *compare.table(
                             [t for t in _tests()
                              if (compare.BROKEN in t.deviations)
                              is is_broken],
                             *(runs.get(name, {}) for name in names))]
        widths = [max(map(len, column)) for column in
                  itertools.zip_longest(*rows, fillvalue='')]
        return '\n'.join(
            '  '.join(cell.ljust(width) for cell, width
                      in zip(row, widths)).rstrip() for row in rows)


@functools.cache
def _tests():
    return suite.load()


PROOF = Discovery()
