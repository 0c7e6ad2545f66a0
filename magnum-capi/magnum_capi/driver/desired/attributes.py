# SPDX-License-Identifier: Apache-2.0

"""Attributes of Magnum's API that Cluster API does not support.

``master_lb_enabled`` is False by default (magnum 23.0.0,
api/controllers/v1/cluster_template.py), although every cluster has a load
balancer, so it is refused only if a cluster differs from its template.
"""

import typing

NAMES = ('apiserver_port', 'docker_volume_size', 'insecure_registry',
         'master_lb_enabled', 'registry_enabled', 'tls_disabled',
         'volume_driver')

#: Values that are always fulfilled, or request nothing.
_TAKEN: dict[str, tuple[typing.Any, ...]] = {
    'apiserver_port': (6443,), 'volume_driver': ('cinder',)}

_INSTEAD = {
    'apiserver_port': 'the API server listens on 6443',
    'docker_volume_size': 'nodes have no separate volume for containers; the '
                          'label boot_volume_size sets the size of their '
                          'root volume',
    'insecure_registry': 'ask the operator for a value overlay that '
                         'configures containerd',
    'master_lb_enabled': 'the API server is always behind a load balancer',
    'registry_enabled': 'there is no registry in the cluster',
    'tls_disabled': 'the API server always uses TLS',
    'volume_driver': 'volumes are made by the CSI driver of Cinder',
}


def requested(template: object, cluster: object) -> dict[str, typing.Any]:
    """Attributes of a template and its cluster, by name; the cluster wins.

    Magnum's defaults are left out.
    """
    found: dict[str, typing.Any] = {}
    for name in NAMES:
        of_template = getattr(template, name, None)
        value = getattr(cluster, name, None)
        if name == 'master_lb_enabled':
            if of_template and value is False:
                found[name] = value
        elif value or of_template:
            found[name] = value or of_template
    return found


def refusals(attributes: typing.Mapping[str, typing.Any]) -> list[str]:
    """Reasons why a new cluster cannot have some attributes.

    :param attributes: see :func:`requested`.
    """
    return [f'{name} is {value}, which this driver does not support: '
            f'{_INSTEAD[name]}' for name, value in attributes.items()
            if value not in _TAKEN.get(name, ())]
