# SPDX-License-Identifier: Apache-2.0
"""Calls of the filter into Magnum's own code, in Magnum's process.

They read and write what the user may not, or not through Magnum's API.
"""

import collections.abc
import typing

from magnum_capi.discovery import authorization
from magnum_capi.discovery import guarded

#: A template or cluster as Magnum shows it.
Stored = collections.abc.Mapping[str, typing.Any]


class Inside:
    """All such calls; tests replace this class."""

    def authorize(self, route: guarded.Route,
                  environ: guarded.Environ) -> None:
        """See :func:`.authorization.check`."""
        authorization.check(route, environ)

    def served_cluster(self, ident: str,
                       environ: guarded.Environ) -> tuple[str, Stored]:
        """A cluster's uuid, and what its template says about the driver.

        An operator retires a template by hiding it or making it private; its
        clusters stay. Magnum 23 no longer shows such a cluster to its owner,
        but upgrades it. So the cluster is read as its user, under the policy
        of the upgrade, and the template as Magnum's conductor reads it.

        :param ident: uuid or name of the cluster, as WSGI has it.
        :raises Refused: there is no such cluster, or the user may not upgrade
            it.
        """
        with authorization.refusals():
            cluster = authorization.permitted(
                'Cluster', ident, 'cluster:upgrade', environ)
            template = _template(cluster.cluster_template_id)
        return cluster.uuid, {name: getattr(template, name) for name in (
            'uuid', 'driver', 'server_type', 'cluster_distro', 'coe')}

    # The next two are part of the creation of a template, which the user is
    # allowed. Magnum's API requires other rights for them, and flavors in the
    # template.

    def set_decided(self, uuid: str, driver: str, distro: str) -> None:
        """Store the decision where Magnum stored a value of the image instead.

        That concerns ``cluster_distro``, and before Magnum 23 the driver, too.

        :raises MagnumException: the template is gone, or a cluster uses it.
        """
        template = _template(uuid)
        template.driver = driver
        template.cluster_distro = distro
        template.save()

    def delete_template(self, uuid: str) -> None:
        """Delete a template that was just created.

        :raises MagnumException: a cluster uses it.
        """
        _template(uuid).destroy()


def _template(uuid: str) -> typing.Any:
    # Imported here, because the command line may have no Magnum.
    from magnum.common import context
    from magnum import objects
    return objects.ClusterTemplate.get_by_uuid(
        context.make_admin_context(all_tenants=True), uuid)
