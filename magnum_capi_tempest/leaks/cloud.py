# SPDX-License-Identifier: Apache-2.0

"""Sends GET requests to a cloud in clouds.yaml, with openstacksdk."""

import pathlib

from magnum_capi import errors
from magnum_capi.kube import access
from magnum_capi_tempest import json_types
from magnum_capi_tempest.leaks import listing

#: Timeout of a request, in seconds.
TIMEOUT = 60

#: Service types, as in listing, and attributes of openstacksdk.
_PROXIES = {
    'compute': 'compute',
    'container-infra': 'container_infrastructure_management',
    'identity': 'identity',
    'image': 'image',
    'network': 'network',
    'volume': 'block_storage',
    'load-balancer': 'load_balancer',
}


class Cloud:
    """A cloud as seen by one of its users.

    :param name: in clouds.yaml; None: openstacksdk chooses.
    :param clouds: path of clouds.yaml; None: openstacksdk finds it.
    :param settings: those of a cloud in clouds.yaml, instead of a name.
    :ivar user: id of the user, ``project`` of the project.
    :raises EnvironmentProblem: openstacksdk is missing, there is no such
        cloud, or the login fails.
    """

    def __init__(self, name: str | None = None,
                 clouds: pathlib.Path | None = None,
                 settings: json_types.Object | None = None) -> None:
        try:
            from keystoneauth1 import exceptions as auth_exceptions
            from openstack import config
            from openstack import connection as sdk
            from openstack import exceptions
        except ImportError as e:
            raise errors.EnvironmentProblem(
                'The Python package openstacksdk is not installed',
                hint='pip install openstacksdk') from e
        self._failures = (exceptions.SDKException,
                          auth_exceptions.ClientException, OSError)
        try:
            region = config.OpenStackConfig(
                config_files=[str(clouds)] if clouds else None,
                load_yaml_config=settings is None,
                # OS_CLIENT_CONFIG_FILE would be used instead of the file.
                load_envvars=settings is None and not clouds,
                app_name='magnum-capi').get_one(
                    cloud=name, api_timeout=TIMEOUT, **(settings or {}))
            self._connection = sdk.Connection(config=region)
            if access.is_here(region.get_auth_args().get('auth_url') or ''):
                # A proxy in the environment is for other machines.
                self._connection.session.session.trust_env = False
            self.user = self._connection.current_user_id or ''
            self.project = self._connection.current_project_id or ''
        except self._failures as e:
            raise errors.EnvironmentProblem(
                'The cloud cannot be reached', where=name,
                last_seen=' '.join(str(e).split()),
                hint='Check clouds.yaml or tempest.conf') from e

    def get(self, service: str, path: str) -> json_types.Object:
        """Send a GET and return the answer, a dict.

        :raises CloudReadFailed: it was refused, or there was no answer.
        """
        where = f'{service}: {path}'
        try:
            proxy = getattr(self._connection, _PROXIES[service])
            response = proxy.get(f'/{path}')
            if response.status_code >= 400:
                raise listing.CloudReadFailed(
                    f'{response.status_code} {response.reason}',
                    where=where, status=response.status_code)
            answer: json_types.Object = response.json()
            return answer
        except (*self._failures, ValueError) as e:
            raise listing.CloudReadFailed(
                ' '.join(str(e).split()), where=where,
                status=getattr(e, 'http_status', None)
                or getattr(e, 'status_code', None)) from e
