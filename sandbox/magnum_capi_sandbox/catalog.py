# SPDX-License-Identifier: Apache-2.0
"""The services of the cloud, in a single table."""

import dataclasses

from magnum_capi_sandbox import infrastructure


@dataclasses.dataclass(frozen=True)
class Service:
    """A service with an endpoint.

    :param name: of its program, its user and its port.
    :param type_: in Keystone's catalog.
    :param path: of its endpoint.
    :param first: path, below the endpoint, of a list that is safe to request.
    :param file: its configuration.
    :param databases: names of its databases.
    """

    name: str
    type_: str
    path: str
    first: str
    file: str
    databases: tuple[str, ...]


_ALWAYS = (
    Service('keystone', 'identity', '/v3', 'projects', 'keystone.conf',
            ('keystone',)),
    Service('glance', 'image', '', 'v2/images', 'glance-api.conf',
            ('glance',)),
    Service('nova', 'compute', '/v2.1', 'flavors', 'nova.conf',
            ('nova_api', 'nova_cell0')),
    Service('neutron', 'network', '', 'v2.0/networks', 'neutron.conf',
            ('neutron',)),
    Service('cinder', 'block-storage', '/v3', 'types', 'cinder.conf',
            ('cinder',)),
    Service('magnum', 'container-infra', '/v1', 'clustertemplates',
            'magnum.conf', ('magnum',)),
)

#: With a real OpenStack under the clusters.
_MORE = (
    Service('placement', 'placement', '', 'resource_providers',
            'placement.conf', ('placement',)),
    Service('octavia', 'load-balancer', '', 'v2/lbaas/loadbalancers',
            'octavia.conf', ('octavia',)),
)


def services(kind: str = infrastructure.MEMORY) -> tuple[Service, ...]:
    """The services of a sandbox.

    :param kind: one of :data:`.infrastructure.KINDS`.
    """
    if kind != infrastructure.OPENSTACK:
        return _ALWAYS
    nova = next(s for s in _ALWAYS if s.name == 'nova')
    return tuple(
        dataclasses.replace(s, databases=(*s.databases, 'nova_cell1'))
        if s is nova else s for s in _ALWAYS + _MORE)


#: Every service that a sandbox may have, by its type.
BY_TYPE = {s.type_: s for s in services(infrastructure.OPENSTACK)}
