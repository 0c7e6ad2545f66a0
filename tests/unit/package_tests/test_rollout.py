# SPDX-License-Identifier: Apache-2.0

"""What is seen of an upgrade, also of one that does too little."""

import contextlib
import types

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi import waiting
from magnum_capi_tempest.tests.common.management import capi_objects
from magnum_capi_tempest.tests.common import observations
from magnum_capi_tempest.tests.common import versions
from magnum_capi_tempest.tests.driver import test_rollout
from tests.unit import fake_clock
from tests.unit.package_tests import test_base

UUID = '0f8fad5b-d9cb-469f-a165-70867728950e'
MODULE = test_rollout.__name__


def machine(name, control_plane=False, phase='Running', going=False):
    return capi_objects.Machine(
        name, f'/machines/{name}', control_plane, phase, f'node-{name}',
        'v1.34.2', going)


OLD = [machine('m0', True), machine('w0')]
NEW = [machine('m1', True), machine('w1')]


class RollOutTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.clock = fake_clock.FakeClock()
        wait_for = waiting.wait_for
        self.patch('magnum_capi.waiting.wait_for', lambda *args, **kwargs:
                   wait_for(*args, clock=self.clock, **kwargs))
        self.patch(f'{MODULE}.time', self.clock)
        self.features = test_base.Options(workload_api=True)
        conf = types.SimpleNamespace(
            magnum_capi=test_base.Options(
                build_timeout=9, build_interval=1, master_count=1),
            magnum_capi_feature_enabled=self.features)
        for module in (MODULE,
                       'magnum_capi_tempest.tests.common.waiters'):
            self.patch(f'{module}.CONF', conf)
        self.patch(f'{MODULE}.factories.upgrade_changes', lambda conf: {})
        self.patch(f'{MODULE}.remediation.Machines', lambda cluster:
                   types.SimpleNamespace(
                       all=lambda: OLD, api=None, stack_id='s'))
        self.patch(f'{MODULE}.access.kubeconfig_of', self._kubeconfig_of)
        #: What Magnum shows too early.
        self.early = ''
        #: Whether the API of the cluster answers, the last for ever.
        self.answers = [True]
        self.patch(f'{MODULE}.kube.Client', lambda path, seconds:
                   types.SimpleNamespace(answers=self._answers))

    @contextlib.contextmanager
    def _kubeconfig_of(self, certificates, cluster):
        self.assertEqual('https://c', cluster['api_address'])
        yield 'kubeconfig'

    def _answers(self, path):
        return (self.answers.pop(0) if len(self.answers) > 1
                else self.answers[0])

    def patch(self, name, value):
        self.useFixture(fixtures.MonkeyPatch(name, value))

    def roll_out(self, *moments, status='UPDATE_COMPLETE'):
        """Upgrade a cluster that has these machines, the last for ever."""
        moments = list(moments)

        class Watch:
            def __init__(self, *args):
                self.moments = [OLD]

            def read(self):
                if moments:
                    self.moments.append(moments.pop(0))

        self.patch(f'{MODULE}.machine_watch.MachineWatch', Watch)
        return test_rollout.roll_out(self.case(status), 1)

    def case(self, status):
        """A class of tests, with a cluster of one node and one worker."""
        def shown(status):
            return observations.Observation(
                {'uuid': UUID, 'node_count': 1, 'status': status},
                {'uuid': 'g', 'node_count': 1, 'status': status})

        ignored = []

        def observe(*args):
            if self.early and not ignored:
                raise versions.ShownTooEarly(self.early)
            return shown(status)

        waiter = types.SimpleNamespace(
            before=lambda *args: shown('CREATE_COMPLETE'), observe=observe,
            versions=types.SimpleNamespace(ignore=ignored.append),
            update=observations.Update,
            outcome=lambda update: update.state.body)
        return types.SimpleNamespace(
            create_class_template=lambda **changes: {'uuid': 't'},
            create_class_cluster=lambda template, node_count:
                shown('CREATE_COMPLETE').body,
            explained=lambda clusters: contextlib.nullcontext(),
            new_waiter=lambda: waiter,
            magnum=types.SimpleNamespace(
                certificates=None, clusters=types.SimpleNamespace(
                    show_cluster=lambda uuid: {
                        'uuid': uuid, 'api_address': 'https://c'},
                    upgrade_cluster=lambda *args, **kwargs: None)))

    def test_all_is_replaced(self):
        going = [OLD[0], machine('w0', going=True)]

        found = self.roll_out(going, NEW)

        self.assertEqual([OLD, going, NEW], found.seen)
        self.assertEqual('UPDATE_COMPLETE', found.upgraded['status'])

    def test_nothing_is_replaced_which_is_left_to_the_tests(self):
        found = self.roll_out()

        self.assertEqual([OLD], found.seen)
        self.assertEqual('UPDATE_COMPLETE', found.upgraded['status'])
        self.assertGreaterEqual(self.clock.monotonic(), 9)

    def test_a_version_that_is_shown_too_early_is_left_to_a_test(self):
        self.early = 'v1.35.0'

        found = self.roll_out(NEW)

        self.assertEqual([OLD, NEW], found.seen)
        self.assertEqual(['v1.35.0'], found.early)

    def test_the_api_is_asked_meanwhile(self):
        self.answers = [True, False, True]

        found = self.roll_out(OLD, OLD, NEW)

        self.assertEqual([True, False, True],
                         [answered for _, answered in found.answers])
        times = [now for now, _ in found.answers]
        self.assertEqual(sorted(set(times)), times)

    def test_the_api_cannot_be_reached_from_here(self):
        self.features['workload_api'] = False

        self.assertEqual([], self.roll_out(NEW).answers)

    def test_an_upgrade_that_does_not_end(self):
        error = self.assertRaises(
            errors.WaitTimeout, self.roll_out, NEW,
            status='UPDATE_IN_PROGRESS')

        self.assertIn('UPDATE_IN_PROGRESS', str(error))

    def test_an_upgrade_that_fails(self):
        self.assertRaises(errors.WaitAborted, self.roll_out,
                          status='UPDATE_FAILED')


class OutageTest(testtools.TestCase):

    def test_it_lasts_until_the_next_answer(self):
        for seconds, answers in (
                (0, []),
                (0, [(0, True), (9, True)]),
                (4, [(0, True), (3, False), (5, False), (7, True), (9, True)]),
                # The longest of several.
                (6, [(0, False), (2, True), (3, False), (9, True),
                     (10, False), (11, True)]),
                # Until the end.
                (5, [(0, True), (1, False), (6, False)])):
            self.assertEqual(seconds, test_rollout.outage(answers), answers)


class MostReplacedTest(testtools.TestCase):

    def replaced(self, *moments):
        """What was seen; each moment is phases of workers, by their names."""
        return test_rollout.most_replaced(
            [[machine('m', True, 'Provisioning'), *(
                machine(name, phase=phase, going=phase == 'Deleting')
                for name, phase in moment.items())]
             for moment in moments], 4)

    def test_they_go_first(self):
        there = dict.fromkeys('abcd', 'Running')

        self.assertEqual(2, self.replaced(
            there, {**there, 'a': 'Deleting'},
            {**there, 'a': 'Deleting', 'b': 'Deleting'},
            {'c': 'Running', 'd': 'Running', 'e': 'Pending', 'f': 'Pending'}))
        self.assertEqual(1, self.replaced(
            there, {**there, 'a': 'Deleting'},
            {**there, 'a': 'Provisioning'}, there))

    def test_their_replacements_come_first(self):
        there = dict.fromkeys('abcd', 'Running')

        self.assertEqual(2, self.replaced(
            there, {**there, 'e': 'Pending', 'f': 'Provisioning'},
            {**there, 'e': 'Running', 'f': 'Running'},
            {**there, 'e': 'Running', 'f': 'Running', 'a': 'Deleting',
             'b': 'Deleting'}))
        self.assertEqual(1, self.replaced(
            there, {**there, 'e': 'Pending'},
            {**there, 'e': 'Running', 'a': 'Deleting'}))
