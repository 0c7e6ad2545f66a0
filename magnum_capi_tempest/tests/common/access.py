# SPDX-License-Identifier: Apache-2.0

"""Access to a workload cluster's own API, the way a user of Magnum gets it."""

import collections.abc
import contextlib
import dataclasses

from magnum_capi import scratch
from magnum_capi_tempest.evidence import workload
from magnum_capi_tempest import json_types
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest import kubeconfig
from magnum_capi_tempest import services
from magnum_capi_tempest.tests.common import waiters


def private_folder() -> contextlib.AbstractContextManager[scratch.Folder]:
    """Return a context manager with a folder for kubeconfigs: scratch.Folder.

    A killed worker cannot remove the folder; the next test does.
    """
    return scratch.folder('magnum-capi-key-')


@contextlib.contextmanager
def kubeconfig_of(certificates: services.CertificatesClient,
                  cluster: json_types.Object) -> collections.abc.Iterator[str]:
    """Have a certificate signed by Magnum; yield the path of a kubeconfig.

    :param cluster: body of the cluster; its api_address must be set.
    """
    with private_folder() as folder:
        path = folder.path / 'kubeconfig'
        kubeconfig.write(path, kubeconfig.signed(
            cluster, lambda body: certificates.create_certificate(**body),
            certificates.show_ca_certificate))
        yield str(path)


#: Taints of a node that its cluster still prepares; its condition changes
#: first. The last one goes when Cluster API has seen the node
#: (docs/book/src/developer/providers/contracts/bootstrap-config.md of
#: kubernetes-sigs/cluster-api); it tries to connect every 30 s.
PREPARED = frozenset({
    'node.kubernetes.io/not-ready',
    'node.cloudprovider.kubernetes.io/uninitialized',
    'node.cluster.x-k8s.io/uninitialized'})


@dataclasses.dataclass(frozen=True)
class Nodes:
    """The nodes at one moment, or why they could not be listed."""

    nodes: tuple[workload.Node, ...] = ()
    error: kube.KubeError | None = None

    def refusal(self) -> str | None:
        """Return why listing will not work later either, or None."""
        if self.error and self.error.is_final:
            return str(self.error)
        return None

    def shows(self, masters: int, workers: int, version: str) -> bool:
        """Return whether exactly these nodes exist, ready to take pods."""
        planes = [n for n in self.nodes if n.control_plane]
        return (len(planes) == masters
                and len(self.nodes) - len(planes) == workers
                and all(n.ready and n.version == version
                        and not _prepared(n) for n in self.nodes))

    def __str__(self) -> str:
        if self.error:
            return str(self.error)
        return ', '.join(
            f'{n.name} {"ready" if n.ready else "NOT ready"} {n.version} '
            f'[{",".join((*n.roles, *_prepared(n)))}]'
            for n in self.nodes) or 'no nodes'


def _prepared(node: workload.Node) -> list[str]:
    """Names of the taints by which a node is still being prepared."""
    return sorted(PREPARED & {key for key, _, _ in node.taints})


def observe(path: str) -> Nodes:
    """List the nodes of a kubeconfig's cluster once: Nodes."""
    try:
        return Nodes(tuple(workload.nodes(path)))
    except kube.KubeError as e:
        return Nodes(error=e)


def wait_for_nodes(path: str, masters: int, workers: int, version: str
                   ) -> None:
    """Wait until the workload API shows these nodes and no others.

    A failed connection is retried: load balancers take a moment. A refusal is
    not.

    :param path: of a kubeconfig.
    :param version: of all kubelets, Magnum's ``coe_version``.
    :raises WaitAborted: the API refused the certificate, or its own is not
        signed by Magnum's CA.
    :raises WaitTimeout: there are other nodes; the error lists them.
    """
    waiters.until(
        lambda: observe(path),
        lambda found: found.shows(masters, workers, version),
        f'{masters} control plane nodes and {workers} workers, all ready with '
        f'{version}', failed=Nodes.refusal)
