# SPDX-License-Identifier: Apache-2.0

"""Which clusters "conformance run" starts tests in, from the command line."""

import pathlib

import fixtures
import testtools

from tests.functional.conformance import scripted_cluster as scripted
from tests.unit.cli import terminal
from tests.unit.conformance import magnum_cloud
from tests.unit import own_folders

#: Says its version, records all other calls and refuses to run anything.
SONOBUOY = '''\
#!/bin/sh
[ "$1" = version ] && echo v0.57.5 && exit
echo "$1" >> "$0.calls"
[ "$1" != run ]
'''
GPU = {'key': 'gpu', 'effect': 'NoSchedule'}


class StartTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = self.useFixture(own_folders.OwnFolders()).base
        self.started = 0
        self.cluster = self.useFixture(
            scripted.ScriptedCluster(running=False))
        programs = self.base / 'bin'
        programs.mkdir()
        self.program = programs / 'sonobuoy'
        self.program.write_text(SONOBUOY)
        self.program.chmod(0o755)
        self.useFixture(fixtures.EnvironmentVariable('PATH', str(programs)))

    def call(self, *argv):
        """Exit code and what was printed."""
        code, out, err = terminal.call('conformance', *argv)
        return code, out + err

    def run_tests(self, *argv):
        return self.call(
            'run', '--mode', 'quick', '--kubeconfig',
            str(self.cluster.kubeconfig), '--output',
            str(self.base / f'r{self.started}'), *argv)

    def assert_started(self, wanted, *argv):
        """Check whether the preflight lets tests start; returns the text."""
        calls = pathlib.Path(f'{self.program}.calls')
        self.started += 1
        calls.unlink(missing_ok=True)
        code, said = self.run_tests(*argv)
        # The program fails, or nothing is started: neither is a verdict.
        self.assertEqual(3, code, said)
        self.assertEqual((wanted, wanted), (
            calls.exists(), bool(self.cluster.objects)), said)
        # As the program would.
        self.cluster.objects.clear()
        return said

    def add_nodes(self, *taints, ready='True'):
        node = scripted.node(f'n{len(self.cluster.nodes) + 1}', ready)
        node['spec']['taints'] = list(taints)
        self.cluster.nodes.append(node)


class DryRunTest(StartTest):
    """It prints the commands of a run that could begin."""

    def assert_printed(self, *argv):
        code, said = self.call('run', *argv, '--dry-run')
        self.assertEqual(0, code, said)
        self.assertIn('sonobuoy run', said)

    def assert_wrong(self, *argv):
        code, said = self.call('run', *argv, '--dry-run')
        self.assertEqual(2, code, said)
        self.assertNotIn('sonobuoy run', said)

    def test_kubeconfigs(self):
        kubeconfig = str(self.cluster.kubeconfig)
        broken = self.base / 'broken'
        broken.write_text('}')

        self.assert_printed('--kubeconfig', kubeconfig)
        self.assertEqual([], self.cluster.asked)
        self.assert_wrong('--kubeconfig', str(self.base / 'nowhere'))
        self.assert_wrong('--kubeconfig', str(broken))
        self.assert_wrong('--kubeconfig', kubeconfig, '--context', 'none')

    def test_clusters_of_magnum(self):
        cloud = self.useFixture(magnum_cloud.Cloud('mine'))

        self.assert_printed('--cluster', 'mine')
        self.assert_wrong('--cluster', 'nobodys')
        self.assertEqual({'GET'}, {a.split()[0] for a in cloud.asked})

    def test_nothing_is_left(self):
        self.assert_printed('--kubeconfig', str(self.cluster.kubeconfig))

        self.assertFalse((self.base / 'state').exists())


class NodesTest(StartTest):

    def assert_allowed(self, *numbers):
        """Check the numbers of nodes with which the tests start."""
        for number in -2, -1, 0, 1, 2, 3:
            self.assert_started(
                number in numbers, '--env', 'E2E_EXTRA_ARGS='
                f'--v=4 --allowed-not-ready-nodes={number}')

    def test_as_many_nodes_as_the_tests_allow_for(self):
        """Of e2e.test's argument: -1 is all of them."""
        self.add_nodes(ready='False')
        self.add_nodes(GPU)

        self.assert_started(False)
        self.assert_allowed(-1, 2, 3)

    def test_preflight_can_be_skipped(self):
        self.add_nodes(ready='False')

        self.assert_started(True, '--skip-preflight')


class PodsTest(StartTest):
    """Nodes that run no pods, as those of simulators, say they are ready."""

    def show_pods(self, *ids):
        """Let the cluster have running pods, with these ids of containers."""
        self.cluster.plugin_pods = [{
            'metadata': {'name': f'p{number}', 'namespace': 'kube-system'},
            'spec': {'nodeName': 'n1', 'containers': [{'name': 'c'}]},
            'status': {'phase': 'Running', 'containerStatuses': [
                {'name': 'c', 'ready': True, 'state': {'running': {}},
                 **({'containerID': one} if one else {})}]}}
            for number, one in enumerate(ids)]

    def test_no_container_of_any_pod_was_ever_started(self):
        self.show_pods('', '')

        said = self.assert_started(False)
        self.assertIn('run no pods', said)
        self.assertEqual([], self.runs())
        # Nothing is made in a simulation.
        self.assertEqual([], [a for a in self.cluster.asked
                              if not a.startswith('GET')])

    def test_some_have_been(self):
        self.show_pods('', 'containerd://4711')
        self.assert_started(True)

    def test_without_pods_nothing_is_known(self):
        self.show_pods()
        self.assert_started(True)

    def runs(self):
        """What is left of runs on this machine."""
        return [*self.base.glob('r[0-9]*')]
