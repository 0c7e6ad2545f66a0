# SPDX-License-Identifier: Apache-2.0
"""A management cluster of pods in a sandbox's Docker, and its cloud.

The cluster is that of :mod:`.hosted`. Its pods cannot reach services on the
host's loopback, and released providers use the addresses of the catalog. So
the machine service (:func:`.programs.machine_service`) opens the cloud's
services, load balancers and floating IPs in a network that this host has a
route to, and so have the pods; if Docker is in a network namespace of its
own, it opens them there, too. No pod is changed for that.
"""

import collections.abc
import pathlib

from magnum_capi import progress
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.management import addons
from magnum_capi_tempest.management import client
from magnum_capi_tempest.management import hosted
from magnum_capi_tempest.management import layout
from magnum_capi_tempest.management import manifests
from magnum_capi_tempest.management import programs
from magnum_capi_tempest import supervision
from magnum_capi_tempest.supervision import model

#: Programs that the toolchain has to provide.
TOOLS = ('capi', programs.CLOUD_CONTROLLER, *hosted.TOOLS)


class Pods:
    """A management cluster in minikube, with machines of an OpenStack cloud.

    :param layout: :class:`..layout.Layout`.
    :param tools: path of each of :data:`TOOLS`, by name.
    :param docker: the Docker of the servers, as in DOCKER_HOST.
    :param endpoint_network: see :func:`..programs.capi`.
    :param ports: of the cloud's services, on the layout's address.
    """

    def __init__(self, layout: layout.Layout,
                 tools: collections.abc.Mapping[str, pathlib.Path],
                 docker: str, endpoint_network: str,
                 ports: collections.abc.Sequence[int]) -> None:
        self.layout = layout
        self._tools = tools
        self._docker = docker
        self._endpoint_network = endpoint_network
        self._ports = ports

    def up(self, supervisor: supervision.Supervisor,
           progress: progress.Progress, timeout: float = 120) -> None:
        """Bring the cluster up, or its missing parts.

        :param timeout: seconds for every single wait.
        """
        found = hosted.up(self.layout.directory, progress,
                          tools=self._tools, docker=self._docker)
        api = kube.Client(found.kubeconfig)
        with progress.step('Machine service'):
            # "capi" stands in for the addon provider.
            client.put_all(api, addons.CRDS)
            client.wait_established(
                api, manifests.names(addons.CRDS), timeout)
            supervisor.launch([self.machine_service()], timeout, progress)

    def machine_service(self) -> model.Program:
        """Its :class:`..supervision.Program`."""
        return programs.machine_service(
            self.layout, self._tools['capi'], self._docker,
            self._endpoint_network, self._tools[programs.CLOUD_CONTROLLER],
            self._ports)
