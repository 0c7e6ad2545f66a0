# SPDX-License-Identifier: Apache-2.0

"""What the tests of lost machines share can say no."""

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.tests.common.management import capi_objects
from magnum_capi_tempest.tests.common.management import remediation
from tests.unit import fake_clock
from tests.unit.package_tests.management import test_graph
from tests.unit.package_tests import test_base


def a_test():
    """Return a test, without a cloud. Its class is found by no loader."""

    class OneTest(remediation.BaseManagementTest):

        def runTest(self):
            pass

    return OneTest()


class Objects:
    """A management cluster whose only object changes at some times."""

    def __init__(self, clock, *times):
        self._clock, self._times = clock, times

    def objects(self, stack_id):
        version = sum(t <= self._clock.now for t in self._times)
        return [test_graph.obj('Cluster', version=str(version))]

    def secrets(self, stack_id):
        return []


class ClientsTest(testtools.TestCase):

    def test_the_reader_of_the_base_stays(self):
        """It explains what a wait for a cluster last saw."""
        cls = type(a_test())
        reader = object()

        def setup(of):
            of.management = reader

        conf = test_base.Options(magnum_capi=test_base.Options(
            management_kubeconfig='k'))
        self.useFixture(fixtures.MockPatchObject(
            remediation, 'CONF', conf))
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.tests.common.base.BaseMagnumCapiTest'
            '.setup_clients', classmethod(setup)))
        made = self.useFixture(fixtures.MockPatchObject(
            capi_objects, 'Management')).mock

        cls.setup_clients()

        self.assertIs(reader, cls.management)
        self.assertIs(made.return_value, cls.cluster_api)


class RestTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.test = a_test()
        self.clock = fake_clock.FakeClock()
        conf = test_base.Options(magnum_capi=test_base.Options(
            build_interval=2, build_timeout=100))
        for name, value in (('time', self.clock), ('CONF', conf)):
            self.useFixture(fixtures.MockPatchObject(
                remediation, name, value))
        wait_for = remediation.waiting.wait_for
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi.waiting.wait_for',
            lambda *args, **kwargs: wait_for(
                *args, clock=self.clock, **kwargs)))

    def assert_rests(self, *times):
        self.test.cluster_api = Objects(self.clock, *times)
        self.test.assert_rests('c1', 30)

    def test_what_goes_on_at_first_is_waited_for(self):
        self.assert_rests(1, 4, 7)

        self.assertGreaterEqual(
            self.clock.now, 7 + remediation.REST_SECONDS + 30)

    def test_what_the_third_look_of_a_driver_writes_is_waited_for(self):
        self.assert_rests(1, 30)

        self.assertGreaterEqual(
            self.clock.now, 30 + remediation.REST_SECONDS + 30)

    def test_one_write_later_is_found(self):
        error = self.assertRaises(
            errors.WaitAborted, self.assert_rests, 1,
            remediation.REST_SECONDS + 23)

        self.assertIn('Cluster c1 was written', str(error))

    def test_what_never_rests(self):
        error = self.assertRaises(
            errors.WaitTimeout, self.assert_rests, *range(0, 1000, 3))

        self.assertIn('c1 to come to rest', str(error))

    def test_machines_that_are_replaced(self):
        lost = capi_objects.Machine('a', '', False, 'Running', 'n1', 'v1')
        came = capi_objects.Machine('b', '', False, 'Running', 'n2', 'v1')
        shown = [[lost], [], [came]]
        self.test.machines = lambda cluster: shown[0] if len(
            shown) == 1 else shown.pop(0)

        self.assertEqual((lost, {'a'}), self.test.a_machine({}))
        self.assertEqual(
            came, self.test.wait_for_replacement({}, lost, {'a'}))

    def test_a_machine_that_does_not_run_yet_is_waited_for(self):
        coming, runs = (
            capi_objects.Machine('a', '', False, phase, 'n1', 'v1')
            for phase in ('Provisioning', 'Running'))
        master = capi_objects.Machine('m', '', True, 'Running', 'n0', 'v1')
        shown = [[master], [master, coming], [master, runs]]
        self.test.machines = lambda cluster: shown.pop(0)

        self.assertEqual((runs, {'a', 'm'}), self.test.a_machine({}))

    def test_one_that_came_at_once_is_seen(self):
        # Before anybody could look and see none.
        came = capi_objects.Machine('b', '', False, 'Running', 'n2', 'v1')
        self.test.machines = lambda cluster: [came]

        self.assertEqual(came, self.test.wait_for_replacement(
            {}, capi_objects.Machine('a', '', False, 'Running', 'n1', 'v1'),
            {'a'}))

    def test_machines_that_are_not(self):
        lost = capi_objects.Machine('a', '', False, 'Running', 'n1', 'v1')
        self.test.machines = lambda cluster: [lost]

        error = self.assertRaises(
            errors.WaitTimeout, self.test.wait_for_replacement, {}, lost,
            {'a'})

        self.assertIn('a Running', str(error))
