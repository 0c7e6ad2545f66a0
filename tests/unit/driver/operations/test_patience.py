# SPDX-License-Identifier: Apache-2.0

"""How long is a failed machine left to those who replace it?"""

from magnum_capi.driver.desired import state as state_module
from magnum_capi.driver import poll_cache
from tests.unit.driver import objects
from tests.unit.driver.operations import test_progress
from tests.unit.driver import small_world


class PatienceTest(test_progress.Base):

    def setUp(self):
        super().setUp()
        self.configure(failure_patience=300)

    def failing(self, name):
        """Have a machine fail; returns its path."""
        machine = objects.failed_machine(name, test_progress.GROUP)
        text = f'{objects.NAME}-{test_progress.GROUP}'
        machine['metadata']['labels'] = {
            key: value.replace(objects.NAME, small_world.RELEASE)
            for key, value in machine['metadata']['labels'].items()}
        machine['metadata']['name'] = machine['metadata']['name'].replace(
            text, f'{small_world.RELEASE}-{test_progress.GROUP}')
        return self.w.helm.put('machines', machine)

    def test_late_failure_has_its_time_too(self):
        self.upgrade()
        self.minutes(20)
        self.failing('x1')
        self.minutes(5)
        self.assert_status('UPDATE_IN_PROGRESS', 'No valid host')
        self.minutes(2)
        self.assert_status('UPDATE_FAILED', 'No valid host')

    def test_failure_that_another_conductor_saw_first_counts(self):
        self.upgrade()
        self.minutes(20)
        self.failing('x1')
        self.minutes(4)
        poll_cache.forget(small_world.CLUSTER)
        self.assert_status('UPDATE_IN_PROGRESS')
        self.minutes(3)
        self.assert_status('UPDATE_FAILED')

    def replace_in_vain(self, times):
        """Have health checks replace machines that fail again at once."""
        for number in range(times):
            path = self.failing(f'x{number}')
            self.minutes(1)
            del self.api.objects[path]

    def test_machines_that_fail_again_and_again_end_it(self):
        # None of them is there for long enough.
        self.upgrade()
        self.replaced(1)
        self.replace_in_vain(5)
        self.assert_status('UPDATE_IN_PROGRESS')
        self.failing('x9')
        self.minutes(2)
        self.assert_status('UPDATE_FAILED', 'No valid host')

    def test_next_operation_has_time_of_its_own(self):
        self.upgrade()
        self.failing('x1')
        self.minutes(10)
        self.assert_status('UPDATE_FAILED')
        self.resize(test_progress.WORKERS)
        self.replaced(0)
        self.minutes(3)
        self.assert_status('UPDATE_IN_PROGRESS')

    def test_machine_fails_an_update_of_which_nobody_knows_the_beginning(
            self):
        self.upgrade()
        secrets = self.reconciler().secrets
        secrets.write_state(state_module.ended(secrets.state()))
        self.failing('x1')
        self.minutes(4)
        self.assert_status('UPDATE_IN_PROGRESS')
        self.minutes(3)
        self.assert_status('UPDATE_FAILED')
