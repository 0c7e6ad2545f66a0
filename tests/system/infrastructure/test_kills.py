# SPDX-License-Identifier: Apache-2.0

"""A program is killed while a cluster is created, and while it is deleted.

``sandbox up`` restarts it, like systemd in a cloud. Takes minutes.
"""

from tests.functional import boxes
from tests.system.infrastructure import clouds


@boxes.LONG
class KillsTest(clouds.TestCase):

    arguments = ('--install', 'drivers/k8s_capi_v1')

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.magnum = cls.cloud.container_infrastructure_management
        cls.used = cls.template('killed', master_lb_enabled=True)

    def servers(self):
        return [s.status for s in self.admin.compute.servers(
            all_projects=True)]

    def come_back(self, program):
        self.box.kill(program)
        self.assert_done(self.box.up())

    def cluster(self, name):
        return self.magnum.find_cluster(name, ignore_missing=True)

    def settled(self, name):
        """The cluster if its creation has ended, else None."""
        found = self.cluster(name)
        return None if found.status.endswith('IN_PROGRESS') else found

    def remove(self, name):
        if self.cluster(name):
            self.magnum.delete_cluster(self.cluster(name))
            clouds.wait(f'the end of {name}', lambda: not self.cluster(name))

    def life(self, program, builds=True):
        """Create and delete a cluster, killing the program in each phase.

        :param builds: whether servers are built without the program.
        """
        name = f'killed-{program}'
        before = self.resources()
        self.magnum.create_cluster(
            name=name, cluster_template_id=self.used, master_count=1,
            node_count=2, keypair='demo')
        self.addCleanup(self.remove, name)
        clouds.wait('the first server', self.servers)
        self.come_back(program)
        found = clouds.wait(f'a creation while {program} was killed',
                            lambda: self.settled(name))
        if builds or found.status == 'CREATE_COMPLETE':
            self.assertEqual('CREATE_COMPLETE', found.status,
                             found.status_reason)
            self.assertEqual(['ACTIVE'] * 3, self.servers())
        else:
            self.assertIn('InstanceStateError', found.status_reason)
        before_end = len(self.servers())
        self.magnum.delete_cluster(self.cluster(name))
        clouds.wait('a server to be gone',
                    lambda: len(self.servers()) < before_end)
        self.come_back(program)
        clouds.wait(f'a deletion while {program} was killed',
                    lambda: not self.cluster(name))
        self.assertEqual(set(), self.resources() - before)
        self.assertEqual(0, self.usages())

    def test_nova(self):
        self.life('nova')

    def test_neutron(self):
        self.life('neutron')

    def test_octavia(self):
        self.life('octavia')

    def test_placement(self):
        """Nova gives up a server that it cannot place, as in any cloud."""
        self.life('placement', builds=False)

    def test_keystone(self):
        self.life('keystone')

    def test_capo(self):
        """Kill Cluster API Provider OpenStack."""
        self.life('capo')

    def test_capi(self):
        """Kill the controllers, and with them the host of all servers.

        A server that is being built ends in ERROR, which the cluster reports.
        """
        self.life('capi', builds=False)

    def test_magnum(self):
        self.life('magnum')
