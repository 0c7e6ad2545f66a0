# SPDX-License-Identifier: Apache-2.0

"""Lists the resources of a cloud with Tempest's clients."""

import json

from tempest import config
from tempest.lib.common import rest_client
from tempest.lib import exceptions as lib_exc
import urllib3.exceptions

from magnum_capi_tempest import json_types
from magnum_capi_tempest.leaks import listing
from magnum_capi_tempest.tests.common import factories
from magnum_capi_tempest.tests.common import tempest_types


def octavia(manager: tempest_types.Manager, region: str
            ) -> rest_client.RestClient:
    """Return a client for Octavia, for which Tempest has none.

    It is reached like Neutron: [network] endpoint_type.

    :param manager: clients of a user.
    """
    return rest_client.RestClient(
        manager.auth_provider, 'load-balancer', region,
        endpoint_type=manager.ports_client.endpoint_type,
        **config.service_client_config())


def getter(manager: tempest_types.Manager, magnum: factories.Magnum
           ) -> listing.Get:
    """Return a GET function for leaks.listing that uses Tempest's clients.

    :param manager: clients of a user.
    :param magnum: clients of the same user.
    """
    def client(service: str) -> tuple[rest_client.RestClient, str]:
        if service == 'container-infra':
            return magnum.clusters, ''
        if service == 'identity':
            return manager.users_v3_client, ''
        if service == 'compute':
            return manager.servers_client, ''
        if service == 'network':
            return manager.ports_client, 'v2.0/'
        if service == 'volume':
            return manager.volumes_client_latest, ''
        return octavia(manager, magnum.clusters.region), 'v2.0/'

    def get(service: str, path: str) -> json_types.Object:
        asked, prefix = client(service)
        try:
            response, text = asked.get(prefix + path)
            answer: json_types.Object = json.loads(text)
            return answer
        except lib_exc.RestClientException as e:
            raise listing.CloudReadFailed(
                ' '.join(str(e).split()), where=f'{service}: {path}',
                status=getattr(getattr(e, 'resp', None), 'status', None)
            ) from e
        except (lib_exc.TempestException, urllib3.exceptions.HTTPError,
                OSError, ValueError, AttributeError) as e:
            raise listing.CloudReadFailed(
                f'{type(e).__name__}: {e}',
                where=f'{service}: {path}') from e

    return get
