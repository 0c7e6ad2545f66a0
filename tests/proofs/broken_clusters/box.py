# SPDX-License-Identifier: Apache-2.0

"""A sandbox with real nodes, and a Magnum user's clusters in it."""

import contextlib
import secrets

from magnum_capi_tempest.conformance.run import kubeconfigs
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest import dockers
from magnum_capi_tempest.kubeclient import kube
from tests.functional import cloud
from tests.proofs import boxes
from tests.proofs.broken_clusters import breaks

#: Seconds for the creation and for the deletion of a cluster.
MADE, GONE = 900, 600


class Box(boxes.Box):
    """A sandbox with real nodes."""

    port_base = 33000

    def __init__(self):
        super().__init__(nodes='docker', install=(boxes.DRIVER,))

    def user(self, _cloud=None):
        """A connection of the user, for the conformance run."""
        return self.connect('demo')

    @contextlib.contextmanager
    def cluster(self, name):
        """Yield the runs.Target of a new cluster; it is deleted at the end.

        :raises MagnumCapiError: it cannot be made.
        """
        user = cloud.Cloud(self.sandbox, 'k8s_capi_v1')
        name = f'{name}-{secrets.token_hex(3)}'
        # "kubernetes-1.34": minors have two digits.
        newest = max(image for image in user.seeded['images']
                     if image.startswith('kubernetes-'))
        uuid = user.create(name, cluster_template_id=user.make_template(
            newest, name=name))
        try:
            with self.progress.step(f'cluster {name}'):
                user.wait_created(uuid, MADE)
            yield runs.Target(cluster=name)
        finally:
            with self.progress.step(f'deletion of cluster {name}'):
                user.delete(uuid, GONE)

    @contextlib.contextmanager
    def machines(self, target):
        """Yield :class:`.breaks.Machines` of a cluster."""
        docker = dockers.Docker(self.sandbox.spec().machines.docker)
        with kubeconfigs.access(target, self.user) as access:
            yield breaks.Machines(docker, kube.Client(access.kubeconfig))
