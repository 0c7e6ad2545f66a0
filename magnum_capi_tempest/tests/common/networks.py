# SPDX-License-Identifier: Apache-2.0

"""Networks of a cloud, and their form in Cluster API Provider OpenStack."""

from tempest.lib.common.utils import test_utils

from magnum_capi import errors


def external(client, name):
    """Return the external network with a name or id, a dict.

    :param client: tempest's client of networks.
    :raises EnvironmentProblem: there is none, or more than one.
    """
    found = [network for network in client.list_networks(
        **{'router:external': True})['networks']
        if name in (network['id'], network['name'])]
    if len(found) != 1:
        raise errors.EnvironmentProblem(
            f'There are {len(found)} external networks of this name or id',
            where=f'[magnum_capi] external_network = {name}')
    return found[0]


def connect(manager, cleanup, subnet: str, external: str, name: str) -> None:
    """Connect a subnet to an external network with a router.

    Floating IPs of its servers and load balancers need one. Clouds without
    routers, like the sandbox, are left as they are.

    :param manager: tempest client manager of the owner of the subnet.
    :param cleanup: see :mod:`.factories`.
    :param subnet: id.
    :param external: id of the network.
    """
    extensions = manager.network_extensions_client.list_extensions()
    if 'router' not in [one['alias'] for one in extensions['extensions']]:
        return
    client = manager.routers_client
    router = client.create_router(
        name=name, external_gateway_info={'network_id': external})['router']
    cleanup(test_utils.call_and_ignore_notfound_exc,
            client.delete_router, router['id'])
    client.add_router_interface(router['id'], subnet_id=subnet)
    cleanup(test_utils.call_and_ignore_notfound_exc,
            client.remove_router_interface, router['id'], subnet_id=subnet)


def refers_to(parameter, thing):
    """Return whether a parameter of the provider refers to a network.

    It is an id or a filter (NetworkParam and SubnetParam,
    https://cluster-api-openstack.sigs.k8s.io); v1alpha7 has the fields of
    both on one level. An id counts more than a name, which others may have,
    too.

    :param parameter: dict or None.
    :param thing: network or subnet, a dict of Neutron.
    """
    parameter = parameter or {}
    flat = {**parameter, **(parameter.get('filter') or {})}
    by = 'id' if flat.get('id') else 'name'
    return bool(thing) and flat.get(by) == thing[by]
