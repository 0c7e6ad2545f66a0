# SPDX-License-Identifier: Apache-2.0

"""How tests of clusters end that cannot become what they should be."""

import types

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common.management import remediation
from magnum_capi_tempest.tests.common import observations
from magnum_capi_tempest.tests.scenario import test_cluster_objects
from tests.unit.package_tests import test_base


class FailedClusterTest(testtools.TestCase):
    """A driver without create_cluster leaves nothing but a reason."""

    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.MonkeyPatch(
            f'{remediation.__name__}.CONF', types.SimpleNamespace(
                magnum_capi=test_base.Options(
                    build_timeout=1, build_interval=0.1))))
        self.useFixture(fixtures.MonkeyPatch(
            f'{test_cluster_objects.__name__}.CONF', remediation.CONF))

    @staticmethod
    def waiter(**cluster):
        return types.SimpleNamespace(
            look=lambda uuid: observations.Look(cluster))

    def assert_aborted(self, function, *args):
        error = self.assertRaises(errors.WaitFailed, function, *args)
        self.assertIsInstance(error, errors.WaitAborted)
        self.assertIn('no create_cluster yet', str(error))

    def test_a_wait_for_its_stack_ends(self):
        test = test_cluster_objects.WaitingTest(
            'test_nothing_is_written_while_nodes_do_not_come')
        test.waiter = self.waiter(
            status='CREATE_FAILED', status_reason='no create_cluster yet')

        self.assert_aborted(test.wait_for_stack_id, 'c')

    def test_a_wait_for_complete_ends(self):
        class Late(remediation.BaseManagementTest):
            new_waiter = staticmethod(lambda: self.waiter(
                status='CREATE_FAILED',
                status_reason='no create_cluster yet'))

        self.assert_aborted(Late.until_complete, 'c')

    def test_but_one_that_the_driver_goes_on_with_may_be_complete_yet(self):
        class Late(remediation.BaseManagementTest):
            new_waiter = staticmethod(lambda: self.waiter(
                status='CREATE_FAILED', stack_id='c-1'))

        self.assertIsInstance(
            self.assertRaises(errors.WaitFailed, Late.until_complete, 'c'),
            errors.WaitTimeout)


class ClassCleanupTest(testtools.TestCase):

    def cleanup(self, *failing):
        class ATest(base.BaseMagnumCapiTest):
            pass

        def fail(error):
            raise error

        for error in failing:
            ATest.addClassResourceCleanup(fail, error)
        ATest.resource_cleanup()

    def test_one_failure_is_raised_itself(self):
        self.assertRaises(KeyError, self.cleanup, KeyError('c1'))

    def test_several_failures_are_all_named(self):
        error = self.assertRaises(
            errors.MagnumCapiError, self.cleanup, ValueError('template t'),
            KeyError('c1'))

        self.assertIn('ValueError: template t', str(error))
        self.assertIn("KeyError: 'c1'", str(error))
        self.assertNotIn('traceback object', str(error))
