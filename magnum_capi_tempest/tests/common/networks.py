# SPDX-License-Identifier: Apache-2.0

"""Networks of a cloud, and their form in Cluster API Provider OpenStack."""

import collections.abc
import typing

from tempest import config
from tempest.lib.common.utils import test_utils

from magnum_capi import errors
from magnum_capi_tempest import json_types
from magnum_capi_tempest.leaks import model
from magnum_capi_tempest.leaks import watch
from magnum_capi_tempest.tests.common import factories
from magnum_capi_tempest.tests.common import tempest_types

CONF = config.CONF


def all_external(manager: tempest_types.Manager) -> list[json_types.Object]:
    """Return the external networks that a user sees.

    :param manager: clients of the user.
    """
    found: list[json_types.Object] = manager.networks_client.list_networks(
        **{'router:external': True})['networks']
    return found


def external(manager: tempest_types.Manager) -> json_types.Object:
    """Return the external network of tempest.conf, a dict.

    :param manager: clients of a user.
    :raises EnvironmentProblem: there is none, or more than one.
    """
    name = CONF.magnum_capi.external_network
    found = [network for network in all_external(manager)
             if name in (network['id'], network['name'])]
    if len(found) != 1:
        raise errors.EnvironmentProblem(
            f'There are {len(found)} external networks of this name or id',
            where=f'[magnum_capi] external_network = {name}')
    return found[0]


class Networks:
    """Creates networks of a user.

    :param manager: clients of their owner.
    :param cleanup: see :mod:`.factories`. That of a test that creates a
        cluster, to which all new ports are a leak, also those of DHCP agents;
        or of a class.
    :param test: id of the test or class, for the record of what it created.
        Subnets go with their networks.
    """

    def __init__(self, manager: tempest_types.Manager,
                 cleanup: tempest_types.Cleanup, test: str) -> None:
        self._manager = manager
        self._cleanup = cleanup
        self._test = test

    def _remove(self, function: collections.abc.Callable[..., object],
                *args: typing.Any, **kwargs: typing.Any) -> None:
        self._cleanup(test_utils.call_and_ignore_notfound_exc, function,
                      *args, **kwargs)

    def _record(self, kind: str, thing: json_types.Object) -> None:
        watch.record(CONF.magnum_capi.artifact_dir, model.Made(
            kind, thing['id'], thing['name'], self._test))

    def create(self, name: str | None = None) -> json_types.Object:
        client = self._manager.networks_client
        network: json_types.Object = client.create_network(
            name=name or factories.name(CONF, 'network'))['network']
        self._remove(client.delete_network, network['id'])
        self._record(model.NETWORK, network)
        return network

    def create_subnet(self, network: json_types.Object, cidr: str,
                      **changes: typing.Any) -> json_types.Object:
        """Create a subnet of IPv4.

        :param changes: fields to add.
        """
        client = self._manager.subnets_client
        nameserver = CONF.magnum_capi.dns_nameserver
        subnet: json_types.Object = client.create_subnet(
            name=factories.name(CONF, 'subnet'), network_id=network['id'],
            ip_version=4, cidr=cidr,
            **({'dns_nameservers': [nameserver]} if nameserver else {}),
            **changes)['subnet']
        self._remove(client.delete_subnet, subnet['id'])
        return subnet

    def connect(self, subnet: json_types.Object) -> None:
        """Connect a subnet to the external network with a router.

        Floating IPs of its servers and load balancers need one. Clouds without
        routers, like the sandbox, are left as they are.
        """
        extensions = (
            self._manager.network_extensions_client.list_extensions())
        if 'router' not in [one['alias'] for one in extensions['extensions']]:
            return
        client = self._manager.routers_client
        router = client.create_router(
            name=factories.name(CONF, 'router'), external_gateway_info={
                'network_id': external(self._manager)['id']})['router']
        self._remove(client.delete_router, router['id'])
        self._record(model.ROUTER, router)
        client.add_router_interface(router['id'], subnet_id=subnet['id'])
        self._remove(client.remove_router_interface, router['id'],
                     subnet_id=subnet['id'])


def refers_to(parameter: json_types.Object | None,
              thing: json_types.Object | None) -> bool:
    """Return whether a parameter of the provider refers to a network.

    It is an id or a filter (NetworkParam and SubnetParam,
    https://cluster-api-openstack.sigs.k8s.io); v1alpha7 has the fields of
    both on one level. An id counts more than a name, which others may have,
    too.

    :param thing: network or subnet of Neutron.
    """
    if not thing:
        return False
    parameter = parameter or {}
    flat = {**parameter, **(parameter.get('filter') or {})}
    by = 'id' if flat.get('id') else 'name'
    return bool(flat.get(by) == thing[by])
