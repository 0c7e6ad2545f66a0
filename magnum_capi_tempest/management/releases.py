# SPDX-License-Identifier: Apache-2.0
"""The releases on GitHub that a management cluster is installed from.

clusterctl reads those of the providers itself (its list of providers is built
in: cmd/clusterctl/client/config/providers_client.go of
kubernetes-sigs/cluster-api); those of cert-manager and of the OpenStack
resource controller are one file each. Where GitHub cannot be reached, a
:class:`.repository.Repository` has the same attributes.
"""

from magnum_capi_tempest.management import providers
from magnum_capi_tempest.toolchain import download


class Releases:
    """Manifests as their projects published them, at the pinned versions."""

    #: clusterctl uses its own list of providers.
    configuration = None
    #: Registries serve the images of releases.
    images = ()

    @property
    def cert_manager(self) -> str:
        """URL of its manifests."""
        module, version = providers.CERT_MANAGER
        return (f'https://{module}/releases/download/{version}/'
                'cert-manager.yaml')

    @property
    def resource_controller(self) -> str:
        """URL of its manifests. The module's path ends with "/v2"."""
        module, version = providers.RESOURCE_CONTROLLER
        project = module.rpartition('/')[0]
        return f'https://{project}/releases/download/{version}/install.yaml'


def problem(releases) -> str | None:
    """Why the files of releases cannot be had from here, None if they can.

    A mirror of publishers does not help: clusterctl asks GitHub itself.

    :param releases: :class:`Releases`.
    """
    for url in (releases.cert_manager, releases.resource_controller):
        why = download.problem(url)
        if why:
            return f'{url}: {why}'
    return None
