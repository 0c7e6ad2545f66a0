# SPDX-License-Identifier: Apache-2.0

"""Drivers whose defect is of a creation: they do it, and work otherwise."""

from tests.unit.proofs.suite_defects import base
from tests.unit.proofs.suite_defects import stand_in


class CreationTest(base.Base):

    def test_without_a_defect(self):
        self.created(base.HEALTHY)
        self.resize(3)
        self.look(3)
        self.assertEqual(('UPDATE_COMPLETE', [3]),
                         (self.w.cluster.status, self.sizes()))
        self.delete()
        self.look(3)
        self.assertEqual(('DELETE_COMPLETE', {}), (
            self.w.cluster.status, self.w.cloud.credentials))

    def test_never_completes(self):
        self.driver('creation:NeverCompletes')
        self.create()
        self.look(5)
        self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)

    def waiting(self, reference):
        """Status of a cluster whose workers are not ready."""
        self.driver(reference)
        self.create()
        self.change_all('machinedeployments', readyReplicas=0,
                        availableReplicas=0, conditions=[])
        self.look(5)
        return self.w.cluster.status

    def test_workers_that_are_not_ready(self):
        self.assertEqual('CREATE_IN_PROGRESS', self.waiting(base.HEALTHY))
        self.w.later(minutes=61)
        self.look(5)
        self.assertEqual('CREATE_FAILED', self.w.cluster.status)

    def test_completes_early(self):
        self.assertEqual('CREATE_COMPLETE',
                         self.waiting('creation:CompletesEarly'))
        self.assertEqual('CREATE_COMPLETE', self.w.group().status)
        self.assertTrue(self.w.cluster.coe_version)

    def test_timeout_ignored(self):
        self.waiting('creation:TimeoutIgnored')
        self.w.later(minutes=61)
        self.look(5)
        self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)

    def test_no_address(self):
        self.created('creation:NoAddress')
        self.assertIsNone(self.w.cluster.api_address)
        self.assertTrue(self.w.cluster.coe_version)

    def test_no_version(self):
        self.created('creation:NoVersion')
        self.assertTrue(self.w.cluster.api_address)
        self.assertIsNone(self.w.cluster.coe_version)

    def failed(self, reference):
        self.driver(reference)
        self.create()
        self.change_all('kubeadmcontrolplanes', phase='Failed')
        self.look(5)
        return self.w.cluster.status, bool(self.w.cluster.status_reason)

    def test_failure(self):
        self.assertEqual(('CREATE_FAILED', True), self.failed(base.HEALTHY))

    def test_failure_hidden(self):
        self.assertEqual(('CREATE_COMPLETE', False),
                         self.failed('creation:FailureHidden'))

    def test_failure_unexplained(self):
        self.assertEqual(('CREATE_FAILED', False),
                         self.failed('creation:FailureUnexplained'))

    def test_resizes_early(self):
        self.created('creation:ResizesEarly')
        self.resize(2)
        self.change_all('machinedeployments', readyReplicas=1)
        self.look(3)
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)

    def test_authorities_of_its_own(self):
        made = stand_in.load('creation:_authority')
        certificate, key = made('one')
        self.assertIn('BEGIN CERTIFICATE', certificate)
        self.assertIn('PRIVATE KEY', key)
        self.assertEqual((certificate, key), made('one'))
        self.assertNotEqual((certificate, key), made('two'))
