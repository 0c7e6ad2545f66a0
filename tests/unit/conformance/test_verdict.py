# SPDX-License-Identifier: Apache-2.0

"""What a result is worth, and where a record contradicts itself."""

import dataclasses

import testtools

from magnum_capi_tempest.conformance import crosscheck
from magnum_capi_tempest.conformance import junit
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance import required
from magnum_capi_tempest.conformance import verdict
from tests.unit.conformance import by_hand

REQUIRED = ('a [Conformance]', 'b [Conformance]')


def certified(*specs, **kwargs):
    return by_hand.result(*specs, **({
        'mode': model.CERTIFIED,
        'cluster': model.Cluster(kubernetes='v1.34.9')} | kwargs))


def good(**kwargs):
    """A certified run of the two required tests."""
    return certified(*map(by_hand.passed, REQUIRED), **kwargs)


class VerdictTest(testtools.TestCase):

    def judge(self, result, outcome, *reasons, names=REQUIRED):
        found = verdict.judge(result, names)
        self.assertEqual(outcome, found.outcome)
        for pattern in reasons:
            self.assertRegex('\n'.join(found.reasons), pattern)
        self.assertEqual(bool(found.reasons), outcome != verdict.PASSED)
        return found

    def test_exit_codes(self):
        self.assertEqual(
            {'passed': 0, 'failed': 1, 'incomplete': 3, 'harness error': 3},
            verdict.EXIT_CODES)

    def test_passed_and_eligible(self):
        found = self.judge(good(), verdict.PASSED)

        self.assertEqual((True, (), ()), (
            found.eligible, found.certification_blockers, found.missing))
        self.assertEqual(0, found.exit_code)

    def test_failed_weighs_more_than_the_harness(self):
        result = by_hand.result(
            by_hand.failed('a'), infra_errors=(model.InfraError(
                'e2e', 'gone'),), finished=False)

        found = self.judge(result, verdict.FAILED, '1 of 1 specs failed',
                           'e2e: gone', 'did not complete')
        self.assertEqual(1, found.exit_code)
        self.assertRegex(found.reasons[0], 'failed')

    def test_harness_weighs_more_than_what_is_missing(self):
        for kwargs in (
                {'infra_errors': (model.InfraError('e2e', 'x'),)},
                {'suite_nodes': (model.SuiteNode(
                    '[ReportAfterSuite] x', model.FAILED),)}):
            self.judge(by_hand.result(**kwargs), verdict.HARNESS_ERROR,
                       'no spec ran')

    def test_a_cluster_that_was_not_ready_has_failed(self):
        """The setup of the suite waits for nodes and pods of kube-system."""
        for name in '[SynchronizedBeforeSuite]', '[BeforeSuite]':
            result = by_hand.result(suite_nodes=(model.SuiteNode(
                name, model.FAILED, '\n[FAILED] node n2 is not ready\nmore'),))

            found = self.judge(result, verdict.FAILED, 'no spec ran')

            self.assertEqual(
                'the cluster was not ready for the tests: '
                f'{name} failed: [FAILED] node n2 is not ready',
                found.reasons[0])
            self.assertEqual(1, found.exit_code)

    def test_another_plugin_that_failed_decides_nothing(self):
        errors = {'infra_errors': (model.InfraError(
            'systemd-logs', 'no nodes were found'),)}

        found = verdict.judge(good(**errors), REQUIRED)

        self.assertEqual((verdict.PASSED, True), (found.outcome,
                                                  found.eligible))
        self.judge(by_hand.result(**errors), verdict.HARNESS_ERROR)
        self.judge(good(finished=False, **errors),
                   verdict.HARNESS_ERROR)
        self.judge(good(infra_errors=(model.InfraError(
            'e2e/n1', 'no answer'),)), verdict.HARNESS_ERROR)

    def test_suite_nodes_that_passed_say_nothing(self):
        self.judge(good(suite_nodes=tuple(
            model.SuiteNode(name, model.PASSED) for name in (
                '[SynchronizedBeforeSuite]', '[ReportAfterSuite] x'))),
            verdict.PASSED)

    def test_what_makes_a_run_incomplete(self):
        passed = by_hand.passed('a')
        for specs, kwargs, reason in (
                ((), {}, 'no spec ran'),
                ((by_hand.skipped('a'),), {}, 'no spec ran'),
                ((passed, by_hand.unfinished('b')), {},
                 '1 specs did not end'),
                ((passed,), {'finished': False}, 'did not complete'),
                ((passed,), {'planned': 3},
                 '1 specs were started, but 3 were planned'),
                ((passed,), {'problems': ('counts differ',)},
                 'counts differ')):
            with self.subTest(reason):
                self.judge(by_hand.result(*specs, **kwargs),
                           verdict.INCOMPLETE, reason)

    def test_a_spec_that_called_itself_off_was_begun(self):
        result = by_hand.result(
            by_hand.passed('a'),
            by_hand.skipped('b', detail=model.SKIPPED_ITSELF), planned=2)

        self.judge(result, verdict.PASSED)

    def test_a_certified_run_needs_each_conformance_test_of_its_suite(self):
        """Its JUnit file names them all, whatever the release."""
        specs = (by_hand.passed(REQUIRED[0]), by_hand.skipped(REQUIRED[1]),
                 by_hand.skipped('[Slow] c'))
        for names in REQUIRED, REQUIRED[:1], ():
            found = self.judge(
                certified(*specs, cluster=model.Cluster('v1.99.0')),
                verdict.INCOMPLETE, '1 of 2 required tests did not pass',
                names=names)
            self.assertEqual((REQUIRED[1],), found.missing)

    def test_tests_of_cncf_that_the_run_does_not_know(self):
        found = self.judge(
            certified(by_hand.passed(REQUIRED[0])), verdict.INCOMPLETE,
            '1 of the 2 tests that CNCF requires for v1.34 are not in')

        self.assertEqual((REQUIRED[1],), found.missing)
        self.assertEqual(2, len(found.certification_blockers))

    def test_a_patch_release_that_dropped_tests(self):
        """CNCF's bot then has the new list, and accepts runs of both."""
        names = required.of('v1.36')
        dropped = [f'3 containers, {number} [Conformance]'
                   for number in range(3)]
        for version, some in (('v1.36.0', [*names, *dropped]),
                              ('v1.36.5', names)):
            found = self.judge(
                certified(*map(by_hand.passed, some),
                          cluster=model.Cluster(version)),
                verdict.PASSED, names=None)

            self.assertEqual((True, (), ()), (
                found.eligible, found.missing, found.remarks))

    def test_a_patch_release_that_is_newer_than_the_list(self):
        """It may have dropped tests; one that it skips is required."""
        names = required.of('v1.36')
        run = certified(*map(by_hand.passed, names[3:]),
                        cluster=model.Cluster('v1.36.99'))

        found = self.judge(run, verdict.PASSED, names=None)
        self.assertTrue(found.eligible)
        self.assertEqual(('3 tests that CNCF requires for v1.36.5 are not in '
                          'the run: v1.36.99 may have dropped them',),
                         found.remarks)

        self.judge(dataclasses.replace(run, specs=(
            *run.specs, by_hand.skipped(names[0]))), verdict.INCOMPLETE,
            '1 of 441 required tests did not pass', names=None)

    def test_the_same_or_an_older_release_without_a_test(self):
        for version in 'v1.36.5', 'v1.36.4':
            found = self.judge(
                certified(*map(by_hand.passed, required.of('v1.36')[1:]),
                          cluster=model.Cluster(version)),
                verdict.INCOMPLETE, '1 of the 443 tests', names=None)

            self.assertFalse(found.eligible)

    def test_a_minor_version_without_a_list_is_judged_by_its_own_tests(self):
        found = self.judge(good(cluster=model.Cluster('v1.99.0')),
                           verdict.PASSED, names=None)

        self.assertTrue(found.eligible)
        self.assertIn('no list of CNCF for Kubernetes v1.99.0',
                      found.remarks[0])

    def test_a_mirrored_image_is_remarked(self):
        for image, remarks in (
                ('registry.k8s.io/conformance:v1.34.9', 0),
                ('mirror.example.org/conformance:v1.34.9', 1)):
            found = self.judge(good(image=image), verdict.PASSED)

            self.assertEqual((True, remarks), (found.eligible,
                                               len(found.remarks)))

    def test_what_keeps_a_run_from_certification(self):
        """A run of another mode passes or fails nevertheless."""
        version = {'cluster': model.Cluster('v1.34.9')}
        for result, outcome, names, blocker in (
                (good(stand_in_images=True), verdict.PASSED, REQUIRED,
                 'the images of the run are stand-ins'),
                (good(cluster=model.Cluster()), verdict.PASSED, None,
                 'the version of Kubernetes is not known'),
                (good(mode=model.UNKNOWN), verdict.PASSED, REQUIRED,
                 'the record does not show that it is a certified run: '
                 '2 of 2 required tests ran'),
                (by_hand.result(
                    by_hand.passed('x'), *map(by_hand.skipped, REQUIRED),
                    mode=model.QUICK, **version), verdict.PASSED, REQUIRED,
                 'it is not a certified run; the mode is quick: 0 of 2 '
                 'required tests ran'),
                (by_hand.result(
                    by_hand.failed(REQUIRED[0]), by_hand.skipped(REQUIRED[1]),
                    mode=model.FOCUSED, **version), verdict.FAILED, REQUIRED,
                 'it is not a certified run; the mode is focus: 1 of 2 '
                 'required tests ran, of which 1 did not pass')):
            with self.subTest(blocker):
                found = self.judge(result, outcome, names=names)

                self.assertFalse(found.eligible)
                self.assertIn(blocker, found.certification_blockers)

    def test_what_was_wrong_with_the_cluster_explains_and_decides_nothing(
            self):
        warning = {'cluster_warnings': ('node n1: not ready',)}
        self.judge(good(**warning), verdict.PASSED)

        found = verdict.judge(by_hand.result(**warning))
        self.assertIn('seen in the cluster: node n1: not ready',
                      found.reasons)


class CrosscheckTest(testtools.TestCase):

    SPECS = [by_hand.passed('a'), by_hand.failed('b'), by_hand.skipped('c')]
    FOUND = {'passed': 1, 'failed': 1, 'skipped': 1}
    LOG = model.Log(planned=2, ran=2, seconds=1.0,
                    counts={'Passed': 1, 'Failed': 1})

    def problems(self, log=LOG, **kwargs):
        suite = junit.Suite(**({'specs': self.SPECS,
                                'counted': self.FOUND} | kwargs))
        return list(crosscheck.problems(suite, log))

    def test_what_agrees(self):
        for kwargs in (
                {'claims': {'tests': 3, 'failures': 1, 'errors': 0}},
                {'claims': {'tests': 2}},       # Ginkgo v1 counted what ran.
                {'log': model.Log(planned=2)},  # It has no end.
                # Kubernetes v1.33 has seven pairs of one name.
                {'specs': [*self.SPECS, by_hand.skipped('c')]}):
            self.assertEqual([], self.problems(**kwargs))

    def test_what_contradicts_itself(self):
        twice = {'specs': [*self.SPECS, by_hand.passed('c')],
                 'log': dataclasses.replace(
                     self.LOG, ran=3, counts={'Passed': 2, 'Failed': 1})}
        flaked = dataclasses.replace(
            self.LOG, counts=self.LOG.counts | {'Flaked': 2})
        for kwargs, problem in (
                ({'claims': {'failures': 0, 'errors': 0}},
                 'the JUnit file says that 0 cases failed, but has 1'),
                ({'claims': {'tests': 30}},
                 'the JUnit file says that it has 30 cases, but has 3'),
                ({'log': flaked},
                 '2 specs passed only when they were tried again'),
                ({'properties': {'DryRun': 'true'}},
                 'it was a dry run: no spec was executed'),
                (twice, 'specs are listed more than once and ended '
                        'differently: c'),
                ({'contradictions': ['x']},
                 'status and content of cases differ: x')):
            self.assertEqual([problem], self.problems(**kwargs))
        self.assertEqual(['there is no e2e log', 'there is no JUnit file'],
                         list(crosscheck.problems(None, None)))

    def test_a_log_of_another_run(self):
        log = dataclasses.replace(self.LOG, ran=3,
                                  counts={'Passed': 3, 'Failed': 0})

        self.assertEqual(3, len(self.problems(log)))

    def test_a_log_of_another_run_with_the_same_counts(self):
        log = dataclasses.replace(self.LOG, seed='17', seconds=5412.3)
        for seed, seconds, same in (
                ('17', 5412.345, True), ('18', 5412.345, False),
                ('', 5412.345, True), ('', 5399.9, False), ('', None, True)):
            properties = {'RandomSeed': seed} if seed else {}
            found = self.problems(log, properties=properties, seconds=seconds)
            self.assertEqual(not same, any('another run' in p for p in found))

    def test_a_suite_that_failed_without_a_failure(self):
        """Such as when its time was up, or a process of it was lost."""
        log = dataclasses.replace(self.LOG, counts={'Passed': 2, 'Failed': 0})
        passed = {'specs': [by_hand.passed('a'), by_hand.passed('b')],
                  'counted': {'passed': 2}}
        node = model.SuiteNode('[SynchronizedAfterSuite]', model.FAILED)
        for more, count in (
                ({'log': log}, 1), ({'log': log, 'nodes': [node]}, 0),
                ({'log': dataclasses.replace(log, end='SUCCESS!')}, 0)):
            found = self.problems(**passed, **more)

            self.assertEqual(count, len([
                p for p in found if 'says that the suite failed' in p]))
            self.assertEqual(count, len(found))
