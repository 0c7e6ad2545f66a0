# SPDX-License-Identifier: Apache-2.0
"""Delays and faults, requested through Magnum by the choice of a flavor.

All clusters are created at once, so that the tests wait for one of them while
the others become ready.
"""

import datetime

from magnum_capi import waiting
from magnum_capi_tempest.evidence import capi
from magnum_capi_tempest.kubeclient import kube
from tests.functional import boxes
from tests.functional import cloud

PATIENCE = 600

#: Name of the cluster -> unusual fields of its template or itself.
CLUSTERS = {
    'failed-workers': {'flavor_id': 'fault.failed'},
    'failed-addons': {'master_flavor_id': 'fault.addons'},
    'slow-machines': {'flavor_id': 'slow.create'},
    'without-network': {'network_driver': 'flannel'},
}

CLUSTER_LABEL = 'cluster.x-k8s.io/cluster-name'


def seconds(created, condition):
    """From a creation to a condition's last change."""
    return (datetime.datetime.fromisoformat(condition['lastTransitionTime'])
            - datetime.datetime.fromisoformat(created)).total_seconds()


class KnobsTest(boxes.TestCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.box_ = boxes.shared(cls)
        cls.sandbox = cls.box_.sandbox
        cls.user = cloud.Cloud(cls.sandbox)
        cls.management = capi.ManagementCluster(
            str(cls.sandbox.layout().kubeconfig))
        cls.ids = {
            name: cls.user.create(
                name, cluster_template_id=cls.user.make_template(
                    name=name, **change))
            for name, change in CLUSTERS.items()}

    def cluster(self, name):
        answer = self.user.magnum('GET', f'clusters/{self.ids[name]}')
        return answer.json() if answer.ok else {}

    def wait(self, name, done, what):
        return waiting.wait_for(
            lambda: self.cluster(name), done=done, timeout=PATIENCE,
            what=f'{name} to be {what}',
            describe=lambda c: f'{c.get("status")} {c.get("status_reason")}')

    def conditions(self, name):
        """Cluster API's complaints, as one text."""
        # Microversion 1.13 renamed the field.
        stack = self.cluster(name).get('cluster_id')
        return '\n'.join(map(str, self.management.conditions(stack))) \
            if stack else ''

    def wait_condition(self, name, text):
        waiting.wait_for(
            lambda: self.conditions(name), done=lambda c: text in c,
            timeout=PATIENCE, what=f'{text!r} in the conditions of {name}',
            describe=str)

    def test_failed_machine_says_why(self):
        self.wait_condition('failed-workers', 'No valid host was found')

    def test_failed_addons_fail_the_cluster(self):
        self.wait('failed-addons', lambda c: c.get('status') ==
                  'CREATE_FAILED', 'CREATE_FAILED')

    def test_slow_machine_takes_its_time(self):
        self.wait('slow-machines', lambda c: c.get('status') ==
                  'CREATE_COMPLETE', 'CREATE_COMPLETE')
        waiting.wait_for(
            self.building_times, done=lambda times: any(
                seconds >= 20 for seconds in times), timeout=PATIENCE,
            what='a machine that was built for 20 s')

    def building_times(self):
        """Seconds that building the machines of "slow-machines" took."""
        stack = self.cluster('slow-machines')['cluster_id']
        reader = kube.Client(str(self.sandbox.layout().kubeconfig))
        machines = reader.custom(
            'infrastructure.cluster.x-k8s.io', 'v1beta1',
            'openstackmachines')
        return [seconds(m['metadata']['creationTimestamp'], c)
                for m in machines
                if m['metadata']['labels'][CLUSTER_LABEL] == stack
                for c in m.get('status', {}).get('conditions', ())
                if c['type'] == 'InstanceReady' and c['status'] == 'True']

    def test_without_a_network_no_node_is_ready(self):
        self.wait_condition('without-network',
                            'container runtime network not ready')
        self.assertEqual('CREATE_IN_PROGRESS',
                         self.cluster('without-network')['status'])
