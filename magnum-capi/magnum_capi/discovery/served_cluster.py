# SPDX-License-Identifier: Apache-2.0
"""Reads a cluster to be upgraded and its template, even if that is hidden.

An operator retires a template by hiding it or making it private; its clusters
stay. Magnum 23 no longer shows such a cluster to its owner, but upgrades it.
So both are read here with Magnum's own code, in its process: the cluster as
its user, under the policy of the upgrade, the template as Magnum's conductor
reads it.
"""

import typing

from magnum_capi.discovery import authorization
from magnum_capi.discovery import guarded


def read(ident: str, environ: guarded.Environ,
         ) -> tuple[str, dict[str, typing.Any]]:
    """The cluster's uuid, and what its template says about the driver.

    :param ident: uuid or name of the cluster, as WSGI has it.
    :raises Refused: there is no such cluster, or the user may not upgrade it.
    """
    # Imported here, because the command line may have no Magnum.
    from magnum.common import context
    from magnum import objects
    with authorization.refusals():
        cluster = authorization.permitted(
            'Cluster', ident, 'cluster:upgrade', environ)
        template = objects.ClusterTemplate.get_by_uuid(
            context.make_admin_context(all_tenants=True),
            cluster.cluster_template_id)
    return cluster.uuid, {name: getattr(template, name) for name in (
        'uuid', 'driver', 'server_type', 'cluster_distro', 'coe')}
