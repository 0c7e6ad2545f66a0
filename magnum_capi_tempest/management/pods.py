# SPDX-License-Identifier: Apache-2.0
"""A management cluster of pods in a sandbox's own engine, and its cloud.

The cluster is that of :mod:`.hosted`. Its pods cannot reach services on the
host's loopback, and released providers use the addresses of the catalog. So
the machine service (:func:`.programs.machine_service`) opens the cloud's
services, load balancers and floating IPs in the engine's network namespace, to
which containers send what is not for their own network. No pod is changed for
that.
"""

import pathlib

from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.management import addons
from magnum_capi_tempest.management import client
from magnum_capi_tempest.management import hosted
from magnum_capi_tempest.management import installation
from magnum_capi_tempest.management import local
from magnum_capi_tempest.management import manifests
from magnum_capi_tempest.management import programs
from magnum_capi_tempest.management import sources

#: Programs that the toolchain has to provide.
TOOLS = ('capi', programs.CLOUD_CONTROLLER, 'minikube', *installation.TOOLS,
         *sources.PROGRAMS.values())


def check(images, make=None):
    """Check that a folder has all archives.

    :param make: a :class:`magnum_capi.progress.Progress`: the folder is the
        default one, and missing archives are made.
    :raises EnvironmentProblem: some are missing; names the command that makes
        them.
    """
    if make:
        sources.provide(make)
    sources.open_source(_options(images))


class Pods:
    """A management cluster in minikube, with machines of an OpenStack cloud.

    :param layout: :class:`..layout.Layout`.
    :param tools: path of each of :data:`TOOLS`, by name.
    :param images: folder of image archives.
    :param docker: the running engine, see :func:`..hosted.up`.
    :param endpoint_network: see :func:`..programs.capi`.
    :param ports: of the cloud's services, on the layout's address.
    :param lock: see :class:`..local.Processes`; the machine service holds it.
    """

    def __init__(self, layout, tools, images, docker, endpoint_network, ports,
                 lock=None):
        self.layout = layout
        self._tools = tools
        self._images = images
        self._docker = docker
        self._endpoint_network = endpoint_network
        self._ports = ports
        self._lock = lock

    def up(self, supervisor, progress, timeout=120):
        """Bring the cluster up, or its missing parts.

        :param timeout: seconds for every single wait.
        """
        found = hosted.up(self.layout.directory, _options(self._images),
                          progress, self._tools, docker=self._docker)
        api = kube.Client(found.kubeconfig)
        with progress.step('Machine service'):
            # There is no archive of the addon provider.
            client.put_all(api, addons.CRDS)
            client.wait_established(
                api, manifests.names(addons.CRDS), timeout)
            supervisor.launch([self.machine_service()], timeout, progress)

    def machine_service(self):
        """Its :class:`..supervision.Program`."""
        return programs.machine_service(
            self.layout, self._tools['capi'], self._docker,
            self._endpoint_network, self._tools[programs.CLOUD_CONTROLLER],
            self._ports, local.hold(self._lock))


def _options(images):
    return hosted.Options(images=pathlib.Path(images))
