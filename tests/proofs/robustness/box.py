# SPDX-License-Identifier: Apache-2.0

"""A sandbox whose programs are killed, and brought back by ``up``."""

import base64
import tempfile

from magnum_capi import waiting
from magnum_capi_tempest.evidence import workload
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.tests.common.management import capi_objects
from tests.functional import cloud
from tests.proofs import boxes

DRIVER = 'k8s_capi_v1'


class Box(boxes.Box):
    """A sandbox with the driver, of the profile "full".

    :ivar api: of the management cluster.
    :ivar user: who has clusters.
    """

    port_base = 35000

    def __init__(self):
        super().__init__(profile='full', install=(boxes.DRIVER,))

    def prepare(self):
        self.layout = self.sandbox.layout()
        self.api = capi_objects.Management(str(self.layout.kubeconfig))
        self.user = cloud.Cloud(self.sandbox, DRIVER)

    def wait_nodes(self, release, count):
        """Wait until that many nodes, and no others, are Ready.

        One of them is the control plane's.

        :raises WaitTimeout: they are not.
        """
        waiting.wait_for(
            lambda: self._nodes(release), timeout=60,
            done=lambda nodes: not isinstance(nodes, str)
            and len(nodes) == count and all(n.ready for n in nodes)
            and sum(n.control_plane for n in nodes) == 1,
            what=f'{count} ready nodes of {release}')

    def _nodes(self, release):
        """Nodes through the workload API; a text when it does not answer."""
        secret, = [s for s in self.api.core('secrets')
                   if s['metadata']['name'] == f'{release}-kubeconfig']
        with tempfile.NamedTemporaryFile(suffix='.kubeconfig') as file:
            file.write(base64.b64decode(secret['data']['value']))
            file.flush()
            try:
                return workload.nodes(file.name)
            except kube.KubeError as e:
                return str(e)
