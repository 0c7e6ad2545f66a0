# SPDX-License-Identifier: Apache-2.0


from unittest import mock

import testtools

from magnum_capi import errors
from tests.proofs.broken_clusters import breaks

PLANE = 'node-role.kubernetes.io/control-plane'


class MachinesTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.writer, self.client = mock.Mock(), mock.Mock()
        self.writer.nodes.return_value = [
            {'metadata': {'name': 'p1', 'labels': {PLANE: ''}}},
            {'metadata': {'name': 'w1', 'labels': {}}}]
        self.machines = breaks.Machines(self.client, self.writer)

    def test_nodes_by_their_role(self):
        self.assertEqual(
            (['p1', 'w1'], ['w1'], ['p1']),
            (self.machines.names(), self.machines.names(worker=True),
             self.machines.names(worker=False)))

    def test_a_script_that_fails(self):
        self.client.containers.get.return_value.exec_run.return_value = (
            1, b'no such file')

        error = self.assertRaises(errors.MagnumCapiError, self.machines.run,
                                  'w1', 'false')
        self.assertIn('no such file', str(error))

    def test_a_power_cut_is_of_a_worker(self):
        breaks.power_cut(self.machines)

        self.client.containers.get.assert_called_once_with('w1')
        self.client.containers.get.return_value.kill.assert_called_once_with()

    def test_waits_for_a_condition(self):
        self.writer.ask.return_value = {'status': {'conditions': [
            {'type': 'Ready', 'status': 'Unknown'}]}}

        breaks.still_off(self.machines)

        self.assertEqual('/api/v1/nodes/w1', self.writer.ask.call_args.args[1])

    def test_the_network_is_removed_with_what_keeps_it(self):
        self.writer.ask.return_value = {
            'items': [{'metadata': {'name': 'flannel'}}]}
        self.writer.core.return_value = []
        run = self.client.containers.get.return_value.exec_run
        run.return_value = 0, b''

        breaks.no_network(self.machines)

        self.assertIn('daemonsets/flannel', self.writer.delete.call_args[0][0])
        self.assertEqual(2, run.call_count)
