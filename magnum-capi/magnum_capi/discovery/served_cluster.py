# SPDX-License-Identifier: Apache-2.0
"""A cluster that is to be upgraded, and its template, whoever may see that.

An operator retires a template by hiding it or making it private; its clusters
go on. Magnum 23 does not show such a cluster to its owner any more, but
upgrades it. So both are read here with Magnum's own code, in its process: the
cluster as its user, under the policy of the upgrade, the template as Magnum's
conductor reads it.
"""

import types

import webob

from magnum_capi.discovery import answers


def read(ident: str, environ) -> tuple[str, dict]:
    """Its uuid, and what its template says about the driver.

    :param ident: uuid or name of the cluster, as WSGI has it.
    :param environ: WSGI environment behind authtoken.
    :raises Refused: there is no such cluster, or the user may not upgrade it.
    """
    # Only there where Magnum is: the command line has none.
    from magnum.common import context
    from magnum.common import exception
    from magnum import objects
    try:
        cluster = _cluster(ident.encode('latin-1').decode('utf-8'), environ)
        template = objects.ClusterTemplate.get_by_uuid(
            context.make_admin_context(all_tenants=True),
            cluster.cluster_template_id)
    except UnicodeError as e:
        raise answers.Refused(404, 'The cluster could not be found.') from e
    except exception.MagnumException as e:
        raise answers.Refused(e.code, str(e)) from e
    return cluster.uuid, {name: getattr(template, name) for name in (
        'uuid', 'driver', 'server_type', 'cluster_distro', 'coe')}


def _cluster(ident, environ):
    """As in magnum/api/controllers/v1/cluster_actions.py, _upgrade."""
    from magnum.api import hooks
    from magnum.common import policy
    from magnum import objects
    from oslo_utils import uuidutils
    request = types.SimpleNamespace(
        environ=environ, headers=webob.Request(environ).headers)
    hooks.ContextHook().before(types.SimpleNamespace(request=request))
    user = request.context
    if user.is_admin:
        name = 'cluster:upgrade_all_projects'
        policy.enforce(user, name, action=name)
        user.all_tenants = True
    find = (objects.Cluster.get_by_uuid if uuidutils.is_uuid_like(ident)
            else objects.Cluster.get_by_name)
    cluster = find(user, ident)
    policy.enforce(user, 'cluster:upgrade', cluster, action='cluster:upgrade')
    return cluster
