# SPDX-License-Identifier: Apache-2.0
"""A sandbox in a folder of its own, and what is left of a cluster."""

import base64
import contextlib
import pathlib
import shutil
import sys
import tempfile
import time
import unittest

import psutil

from magnum_capi import errors
from magnum_capi import progress
from magnum_capi import waiting
import magnum_capi_sandbox as sandbox
from magnum_capi_tempest.evidence import capi
from magnum_capi_tempest.evidence import workload
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest import supervision
from tests.functional import cloud

#: A developer's own sandbox may run meanwhile.
PORT_BASE = 28000

#: Seconds from the request to delete until Magnum answers 404.
GONE = 60

#: Seconds until the garbage collector has taken what the cluster owned.
COLLECTED = 30

_LEASES = '/apis/coordination.k8s.io/v1/leases'


class SandboxTest(unittest.TestCase):
    """One sandbox for all tests of the class.

    Plain unittest, because testtools does not go on after a failed subTest.
    """

    #: Set by each class of tests.
    profile: str

    #: Distributions with drivers, and the driver under test; by default the
    #: one that Magnum chooses.
    install = ()
    driver = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.mkdtemp(prefix='robust-', dir='/tmp')
        cls.addClassCleanup(shutil.rmtree, folder)
        cls.box = sandbox.Box(pathlib.Path(folder) / 'box')
        cls.addClassCleanup(cls.box.down, progress.Silent())
        cls.up()
        cls.cloud = cloud.Cloud(cls.box, cls.driver)
        layout = cls.box.layout()
        cls.kubeconfig = layout.kubeconfig
        cls.api = kube.Client(cls.kubeconfig)

    @classmethod
    def up(cls):
        """Repair the sandbox; seconds that it took."""
        start = time.monotonic()
        try:
            cls.box.up(sandbox.Spec(profile=cls.profile,
                                    port_base=PORT_BASE,
                                    install=cls.install),
                       progress.Silent())
        except errors.MagnumCapiError:
            for status in (cls.box.supervisor.status()
                           if cls.box.supervisor.running() else ()):
                if status.state != 'RUNNING':
                    print(supervision.tail(
                        cls.box.supervisor.log(status.name)),
                        file=sys.stderr)
            raise
        return time.monotonic() - start

    def processes(self, name):
        """The processes of a program, its first one first."""
        pid = {s.name: s.pid for s in self.box.status()}[name]
        first = psutil.Process(pid)
        return [first, *first.children(recursive=True)]

    def kill(self, name):
        """SIGKILL a program's group and wait until it is gone."""
        victims = self.processes(name)
        self.box.supervisor.signal(name, 'KILL')
        self.wait_dead(name, victims)

    def wait_dead(self, name, victims):
        """Wait until processes are gone and supervisord has noticed."""
        waiting.wait_for(
            lambda: [p for p in victims if _alive(p)],
            done=lambda left: not left, timeout=10,
            what=f'the killed processes of {name} to be gone',
            pace=waiting.Pace(0.02, 1.5, 0.5))
        waiting.wait_for(
            lambda: {s.name: s.state for s in self.box.status()},
            done=lambda states: states[name] != 'RUNNING', timeout=10,
            what=f'supervisord to notice the end of {name}',
            pace=waiting.Pace(0.05, 1.5, 0.5))

    @contextlib.contextmanager
    def cluster(self, name, node_count=1):
        """A complete cluster; deleted when the test that uses it fails."""
        with self.clusters({'name': name, 'node_count': node_count}) as (one,):
            yield one

    @contextlib.contextmanager
    def clusters(self, *wanted):
        """Complete clusters, made at once; see :meth:`cluster`.

        :param wanted: what :meth:`.cloud.Cloud.create` takes, for each.
        :returns: pairs of uuid and stack_id, in a context manager.
        """
        uuids = []
        try:
            for arguments in wanted:
                uuids.append(self.cloud.create(**arguments))
            yield [(uuid, self.cloud.wait_created(uuid).stack_id)
                   for uuid in uuids]
        except BaseException:
            # The next test needs a sandbox that is whole and empty.
            self.up()
            for uuid in uuids:
                self.delete(uuid, cloud.PATIENCE)
            raise

    def delete(self, uuid, timeout=GONE):
        """Have a cluster deleted; seconds until Magnum answers 404."""
        start = time.monotonic()
        self.cloud.magnum('DELETE', f'clusters/{uuid}')
        self.cloud.wait_gone(uuid, timeout)
        return time.monotonic() - start

    def left(self, names, uuid, credentials):
        """What still exists of a cluster, as texts.

        :param names: the cluster's name and, when known, its stack_id.
        :param credentials: ids of those that were there before.
        """
        evidence = capi.ManagementCluster(self.kubeconfig)
        found = {str(o) for name in names
                 for o in evidence.objects_of(name, uuid)}
        found |= {
            f'Secret {s["metadata"]["namespace"]}/{s["metadata"]["name"]}'
            for s in kube.Client(self.kubeconfig).core('secrets')
            if any(s['metadata']['name'].startswith(
                f'sh.helm.release.v1.{name}') for name in names)}
        found |= {
            f'Lease {lease["metadata"]["namespace"]}/{name}'
            for lease in self.api.get(_LEASES)['items'] for name in names
            if lease['metadata']['name'] == name}
        found |= {f'application credential {i}'
                  for i in self.cloud.credentials() - credentials}
        return sorted(found)

    def wait_nothing_left(self, names, uuid, credentials):
        """Wait until everything of a cluster is gone.

        :returns: what is left nevertheless, as texts.
        """
        try:
            return waiting.wait_for(
                lambda: self.left(names, uuid, credentials),
                done=lambda left: not left, timeout=COLLECTED,
                what='everything of the cluster to be gone')
        except errors.WaitTimeout as e:
            return e.state

    def nodes(self, stack_id):
        """Nodes through the workload API; a text when it does not answer."""
        name = f'{stack_id}-kubeconfig'
        secret, = [s for s in kube.Client(self.kubeconfig).core('secrets')
                   if s['metadata']['name'] == name]
        with tempfile.NamedTemporaryFile(suffix='.kubeconfig') as file:
            file.write(base64.b64decode(secret['data']['value']))
            file.flush()
            try:
                return workload.nodes(file.name)
            except kube.KubeError as e:
                return str(e)

    def assert_nodes(self, stack_id, count):
        """Wait until that many nodes, and no others, are Ready."""
        found = waiting.wait_for(
            lambda: self.nodes(stack_id), timeout=60,
            done=lambda nodes: not isinstance(nodes, str)
            and len(nodes) == count and all(n.ready for n in nodes),
            what=f'{count} ready nodes of {stack_id}')
        self.assertEqual(1, sum(n.control_plane for n in found))


def _alive(process):
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
