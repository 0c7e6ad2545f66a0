# SPDX-License-Identifier: Apache-2.0
"""What changed between runs, and the grid of several."""

import dataclasses

import testtools

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.reports import compare
from magnum_capi_tempest.conformance.reports import grid
from magnum_capi_tempest.conformance import required
from tests.unit.conformance import by_hand


class DifferenceTest(testtools.TestCase):

    def kinds(self, before, after):
        """Names of specs by kind of change."""
        found = compare.difference(by_hand.result(*before),
                                   by_hand.result(*after))
        return {kind: [c.name for c in getattr(found, kind)]
                for kind in compare.KINDS if getattr(found, kind)}

    def test_each_change_has_its_kind(self):
        failing = by_hand.failed('a'), by_hand.unfinished('a')
        passing, skip = by_hand.passed('a'), by_hand.skipped('a')
        for before, after, wanted in (
                *((passing, after, 'new_failures') for after in failing),
                *((skip, after, 'new_failures') for after in failing),
                *((None, after, 'new_failures') for after in failing),
                *((before, after, 'still_failing') for before in failing
                  for after in failing),
                *((before, passing, 'fixed') for before in failing),
                *((before, skip, 'newly_skipped') for before in failing),
                *((before, None, 'removed') for before in failing),
                (passing, skip, 'newly_skipped'),
                (passing, None, 'removed'),
                (skip, passing, 'newly_run'),
                (None, passing, 'added'),
                (passing, passing, None),
                (skip, skip, None), (skip, None, None), (None, skip, None)):
            found = self.kinds([before] if before else [],
                               [after] if after else [])

            self.assertEqual({wanted: ['a']} if wanted else {}, found,
                             (before, after))

    def test_label_changed(self):
        old, new = ('[sig-node] Sysctls should work [MinimumKubeletVersion:1'
                    '.21] [Conformance]',
                    '[sig-node] Sysctls should work [Conformance]')

        found = compare.difference(
            by_hand.result(by_hand.passed(old)),
            by_hand.result(by_hand.failed(new)))

        change, = found.new_failures
        self.assertEqual((new, old, model.PASSED),
                         (change.name, change.was, change.before))
        self.assertEqual((), found.added + found.removed)
        self.assertEqual([new], [c.name for c in found.renamed])

    def test_sig_changed(self):
        self.assertEqual(
            {'renamed': ['[sig-auth] Pod "x" runs']},
            self.kinds([by_hand.passed("[sig-node] Pod 'x' runs")],
                       [by_hand.passed('[sig-auth] Pod "x" runs')]))

    def test_doubtful_rename_is_none(self):
        self.assertEqual(
            {'added': ['[sig-c] x'], 'removed': ['[sig-a] x', '[sig-b] x']},
            self.kinds([by_hand.passed('[sig-a] x'),
                        by_hand.passed('[sig-b] x')],
                       [by_hand.passed('[sig-c] x')]))

    def test_renames_from_1_34_to_1_35(self):
        # Three required tests only lost or got a label.
        old, new = (set(required.of(v).names) for v in ('v1.34', 'v1.35'))

        found = compare.renames(old - new, new - old)

        self.assertEqual(3, len(found))
        self.assertEqual(
            '[sig-node] Sysctls [LinuxOnly] [NodeConformance] should reject '
            'invalid sysctls [MinimumKubeletVersion:1.21] [Conformance]',
            found['[sig-node] Sysctls [LinuxOnly] [NodeConformance] should '
                  'reject invalid sysctls [Conformance]'])

    def test_two_specs_of_one_name_count_as_the_worse(self):
        self.assertEqual(
            {'new_failures': ['a']},
            self.kinds([by_hand.passed('a'), by_hand.passed('a')],
                       [by_hand.failed('a'), by_hand.passed('a')]))

    def test_durations_of_what_passed_twice(self):
        found = compare.difference(
            by_hand.result(by_hand.passed('slower', 1), by_hand.passed('f', 9),
                           by_hand.passed('faster', 60),
                           by_hand.passed('same', 3),
                           by_hand.passed('?', None)),
            by_hand.result(by_hand.passed('slower', 11),
                           by_hand.failed('f', seconds=99),
                           by_hand.passed('faster', 1),
                           by_hand.passed('same', 4),
                           by_hand.passed('?', 70)))

        self.assertEqual(
            [('faster', -59), ('slower', 10)],
            [(c.name, c.delta) for c in found.durations])

    def test_real_runs(self):
        found = compare.difference(by_hand.real(by_hand.PARALLEL),
                                   by_hand.real(by_hand.RERUN))

        self.assertEqual((4, 0, 384), (
            len(found.fixed), len(found.new_failures),
            len(found.newly_skipped)))

    def test_real_runs_of_two_minors(self):
        found = compare.difference(by_hand.real(by_hand.MAGNUM),
                                   by_hand.real(by_hand.PARALLEL))

        self.assertEqual((1, 4, 0), (
            len(found.fixed), len(found.new_failures),
            len(found.newly_skipped)))

    def test_two_full_runs_of_other_names(self):
        before = by_hand.real(by_hand.PARALLEL)
        after = dataclasses.replace(before, specs=tuple(
            dataclasses.replace(
                s, name=s.name.replace('[Conformance]', '[New]'))
            for s in before.specs))

        found = compare.difference(before, after)
        table = grid.build([before, after])

        self.assertGreater(len(found.renamed), 400)
        self.assertEqual(384, table.all_passed)


class GridTest(testtools.TestCase):

    def build(self, *runs):
        return grid.build([by_hand.result(*specs) for specs in runs])

    def test_what_passed_everywhere_is_counted_only(self):
        found = self.build([by_hand.passed('a'), by_hand.failed('b')],
                           [by_hand.passed('a'), by_hand.passed('b')])

        self.assertEqual([grid.Row('b', ('failed', 'passed'))],
                         list(found.rows))
        self.assertEqual(1, found.all_passed)

    def test_what_ran_nowhere_is_not_there(self):
        found = self.build([by_hand.skipped('a')], [])

        self.assertEqual(((), (), 0),
                         (found.rows, found.partial, found.all_passed))

    def test_passed_and_not_run_everywhere(self):
        found = self.build([by_hand.passed('a'), by_hand.passed('b')],
                           [by_hand.skipped('a')])

        self.assertEqual([grid.Row('a', ('passed', 'skipped')),
                          grid.Row('b', ('passed', 'absent'))],
                         list(found.partial))

    def test_most_failures_first(self):
        found = self.build(
            [by_hand.failed('a'), by_hand.failed('b')],
            [by_hand.passed('a'), by_hand.unfinished('b')])

        self.assertEqual(['b', 'a'], [row.name for row in found.rows])

    def test_renamed_test_is_one_row_across_three_runs(self):
        found = self.build([by_hand.failed('[sig-a] x')],
                           [by_hand.passed('[sig-b] x')],
                           [by_hand.passed('[sig-c] x')])

        self.assertEqual(
            [grid.Row('[sig-c] x', ('failed', 'passed', 'passed'))],
            list(found.rows))

    def test_columns_are_named_by_what_is_known(self):
        column, other = grid.build([
            by_hand.result(title='one', cluster=model.Cluster(
                'v1.34.9', driver='k8s_capi_v1', cni='cilium')),
            by_hand.result(title='two')]).columns

        self.assertEqual(('one', 'k8s_capi_v1', 'cilium', 'v1.34.9'),
                         column.head)
        self.assertEqual(('two',), other.head)
