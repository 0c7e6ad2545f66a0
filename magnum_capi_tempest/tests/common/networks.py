# SPDX-License-Identifier: Apache-2.0

"""Networks of a cloud, and how Cluster API Provider OpenStack names them."""

from magnum_capi import errors


def external(client, name):
    """Return the external network of a name or an id, a dict.

    :param client: tempest's client of networks.
    :raises EnvironmentProblem: there is none, or are several.
    """
    found = [network for network in client.list_networks(
        **{'router:external': True})['networks']
        if name in (network['id'], network['name'])]
    if len(found) != 1:
        raise errors.EnvironmentProblem(
            f'There are {len(found)} external networks of this name or id',
            where=f'[magnum_capi] external_network = {name}')
    return found[0]


def means(parameter, thing):
    """Return whether a parameter of the provider names a network or subnet.

    It is an id or a filter (NetworkParam and SubnetParam,
    https://cluster-api-openstack.sigs.k8s.io); one of them came before the
    other in v1alpha7.

    :param parameter: dict or None.
    :param thing: dict of Neutron.
    """
    parameter = parameter or {}
    flat = {**parameter, **(parameter.get('filter') or {})}
    return bool(thing) and (flat.get('id') == thing['id']
                            or flat.get('name') == thing['name'])
