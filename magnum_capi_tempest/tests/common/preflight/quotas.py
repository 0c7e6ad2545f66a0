# SPDX-License-Identifier: Apache-2.0

"""Whether a project has room for the clusters of a class of tests, in words.

A check of :mod:`.preflight.checks`. Tempest creates a project for each class
of tests, with the cloud's default quotas. Pre-provisioned accounts need quotas
for all classes that run at the same time.
"""

from tempest.lib import exceptions as lib_exc

#: The most clusters that a class has at one time, and the most nodes that a
#: test adds to one (HardNamesTest).
CLUSTERS = 2
GROWTH = 5

#: Microversion of Magnum's quotas.
_QUOTAS = '1.6'


def quotas(cloud) -> str | None:
    """Report for what the quotas of the project have no room."""
    wanted = needs(cloud.options, _flavors(cloud))
    limits = _clusters(cloud)
    if cloud.conf.magnum_capi_feature_enabled.real_nodes:
        limits |= _compute(cloud) | _network(cloud)
    found = lacking(wanted, limits)
    if found:
        return ('The quotas of the project have no room for what a class of '
                f'tests makes: {"; ".join(found)}')


def needs(options, flavors: dict[str, dict]) -> dict[str, int]:
    """Return what the largest class creates, by the names of :func:`lacking`.

    :param options: [magnum_capi].
    :param flavors: bodies, by name and by id.
    """
    clusters = max(CLUSTERS, options.many_clusters)
    masters = clusters * options.master_count
    workers = clusters * options.node_count + GROWTH
    found = {'clusters': clusters, 'instances': masters + workers,
             'floatingip': clusters, 'network': clusters, 'router': clusters}
    master = flavors.get(options.master_flavor_id or options.flavor_id, {})
    worker = flavors.get(options.flavor_id, {})
    for name, field in (('cores', 'vcpus'), ('ram', 'ram')):
        found[name] = (masters * master.get(field, 0)
                       + workers * worker.get(field, 0))
    return found


def lacking(wanted: dict[str, int],
            limits: dict[str, tuple[int, int]]) -> list[str]:
    """Return what exceeds the quotas, in words.

    :param limits: pairs of a quota and what is in use; a negative quota is
        unlimited.
    """
    return [f'{wanted[name]} {name}, of {limit} there are {used} in use'
            for name, (limit, used) in limits.items()
            if 0 <= limit < used + wanted[name]]


def _flavors(cloud):
    listed = cloud.manager.flavors_client.list_flavors(detail=True)['flavors']
    return {key: flavor for flavor in listed
            for key in (flavor['id'], flavor['name'])}


def _clusters(cloud):
    project = cloud.manager.credentials.project_id
    try:
        quota = cloud.magnum.quotas.show_quota(
            project, microversion=_QUOTAS)
    except (lib_exc.NotFound, lib_exc.NotAcceptable):
        # Older than quotas, or no quota is set.
        return {}
    there = cloud.magnum.clusters.list_clusters()['clusters']
    return {'clusters': (quota['hard_limit'], len(there))}


def _compute(cloud):
    found = cloud.manager.limits_client.show_limits()['limits']['absolute']
    return {name: (found[f'maxTotal{limit}'], found[f'total{used}Used'])
            for name, limit, used in (
                ('instances', 'Instances', 'Instances'),
                ('cores', 'Cores', 'Cores'), ('ram', 'RAMSize', 'RAM'))}


def _network(cloud):
    found = cloud.manager.network_quotas_client.show_quota_details(
        cloud.manager.credentials.project_id)['quota']
    return {name: (found[name]['limit'], found[name]['used'])
            for name in ('floatingip', 'network', 'router') if name in found}
