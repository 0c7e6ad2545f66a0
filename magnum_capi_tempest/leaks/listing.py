# SPDX-License-Identifier: Apache-2.0

"""Lists what tests may leave in a cloud. Read-only.

One table says where everything is listed. The caller provides a function that
sends a GET: with Tempest's clients and the rights of a test
(:mod:`magnum_capi_tempest.tests.common.cloud`), or with openstacksdk and the
rights of a cloud's user (:mod:`.cloud`).
"""

import collections.abc
import dataclasses
import typing

from magnum_capi import errors
from magnum_capi_tempest.evidence import capi
from magnum_capi_tempest import json_types
from magnum_capi_tempest.leaks import model

#: Sends a GET to a service, by its type and a path, and returns the answer.
#: It raises CloudReadFailed.
Get: typing.TypeAlias = collections.abc.Callable[[str, str], json_types.Object]

#: Things per answer, if a service supports paging.
PAGE = 500

#: How to ask for more: with limit and marker; with a marker only, as Keystone
#: cuts users of LDAP to the limit and finds no marker among them; with limit
#: and offset.
LIMIT, MARKER, OFFSET = 'limit', 'marker', 'offset'

#: Status codes for a marker that was deleted since it was listed, and how many
#: of these to expect in a list.
_NO_MARKER, _REFUSALS = (400, 404), 5


class CloudReadFailed(errors.MagnumCapiError):
    """A service did not list its things.

    :param status: HTTP status code, None if there was no answer.
    """

    def __init__(self, what: str, *, status: int | None = None,
                 **kwargs: typing.Any) -> None:
        super().__init__(what, **kwargs)
        self.status = status


@dataclasses.dataclass(frozen=True)
class _Listing:
    """Where a kind is listed.

    :param path: with ``{user}`` as a placeholder.
    :param key: of the list in the answer.
    :param name: the identifying field of things without "name".
    :param paged: LIMIT, MARKER or OFFSET; empty: the service lists
        everything at once.
    :param everywhere: parameter with which an administrator sees all
        projects; empty: none.
    """

    kind: str
    service: str
    path: str
    key: str
    ident: str = 'id'
    name: str = 'name'
    user: str = 'user_id'
    paged: str = LIMIT
    everywhere: str = ''


_MAGNUM = (
    _Listing(model.CLUSTER, 'container-infra', 'clusters/detail', 'clusters',
             'uuid'),
    _Listing(model.TEMPLATE, 'container-infra', 'clustertemplates',
             'clustertemplates', 'uuid'),
)
_OF_USER = (
    _Listing(model.CREDENTIAL, 'identity',
             'users/{user}/application_credentials',
             'application_credentials', paged=''),
    _Listing(model.TRUST, 'identity',
             'OS-TRUST/trusts?trustor_user_id={user}', 'trusts',
             user='trustor_user_id', paged=''),
)
_OF_CLOUD = (
    _Listing(model.TRUST, 'identity', 'OS-TRUST/trusts', 'trusts',
             user='trustor_user_id', paged=''),
    # Keystone 27 and later leave out what exceeds [DEFAULT] max_db_limit,
    # 1000, and do not say so (keystone/common/driver_hints.py).
    _Listing(model.USER, 'identity', 'users', 'users', user='id',
             paged=MARKER),
    _Listing(model.PROJECT, 'identity', 'projects', 'projects',
             paged=MARKER),
)
_USERS_NAMED = _Listing(model.USER, 'identity', 'users?name__contains={user}',
                        'users', user='id', paged='')
_IMAGES = _Listing(model.IMAGE, 'image', 'images', 'images')
_REAL = (
    _Listing('server', 'compute', 'servers/detail', 'servers',
             everywhere='all_tenants=1'),
    # Nova leaves out what exceeds its max_limit, 1000
    # (nova/api/openstack/common.py, limited).
    _Listing('server group', 'compute', 'os-server-groups', 'server_groups',
             paged=OFFSET, everywhere='all_projects=1'),
    _Listing(model.PORT, 'network', 'ports', 'ports'),
    _Listing('floating IP', 'network', 'floatingips', 'floatingips',
             name='floating_ip_address'),
    _Listing(model.ROUTER, 'network', 'routers', 'routers'),
    _Listing(model.NETWORK, 'network', 'networks', 'networks'),
    _Listing(model.SECURITY_GROUP, 'network', 'security-groups',
             'security_groups'),
    _Listing(model.VOLUME, 'volume', 'volumes/detail', 'volumes',
             everywhere='all_tenants=1'),
    _Listing(model.BALANCER, 'load-balancer', 'lbaas/loadbalancers',
             'loadbalancers'),
)


def of_user(get: Get, user: str, project: str,
            kinds: collections.abc.Container[str]) -> model.Snapshot:
    """Return what belongs to a user, as the user sees it.

    Things of others that Magnum shows, public templates, are omitted.

    :param get: function of a service type and a path that returns the
        answer, a dict, and raises CloudReadFailed.
    :param user: id.
    :param project: id.
    :param kinds: those to list, of model.OWN and model.REAL; the latter are
        listed by the project.
    :returns: model.Snapshot.
    """
    found = _read(get, [one for one in (*_MAGNUM, *_OF_USER, *_REAL)
                        if one.kind in kinds], user)
    # Services, and even their versions, disagree on who owns what.
    return dataclasses.replace(found, things=frozenset(
        thing for thing in found.things
        if (thing.project in ('', project) if thing.kind in model.REAL
            else thing.user in ('', user))))


def of_cloud(get: Get, users: collections.abc.Iterable[str] = (), *,
             real_nodes: bool = False) -> model.Snapshot:
    """Return what an administrator sees of all projects.

    Application credentials can only be listed per user.

    :param users: ids of those whose application credentials to list.
    :returns: model.Snapshot.
    """
    found = _read(get, (*_MAGNUM, *_OF_CLOUD,
                        *(_REAL if real_nodes else ())), '', everywhere=True)
    for user in users:
        found = found.union(_read(get, _OF_USER[:1], user))
    return found


def users_named(get: Get, text: str) -> model.Snapshot:
    """Return the users whose name contains a text, a model.Snapshot.

    Magnum names the user of a trust after its cluster
    (magnum/conductor/handlers/common/trust_manager.py).
    """
    return _read(get, [_USERS_NAMED], text)


def images(get: Get) -> model.Snapshot:
    """Return the images that a user sees, also those of others."""
    return _read(get, [_IMAGES], '')


def keypairs(get: Get) -> model.Snapshot:
    """Return the keypairs of the user who asks, a model.Snapshot.

    Those of others can only be listed for one user at a time.
    """
    try:
        found = get('compute', 'os-keypairs')['keypairs']
    except CloudReadFailed as e:
        return model.Snapshot(unread={model.KEYPAIR: str(e)})
    return model.Snapshot(frozenset(
        model.Thing(model.KEYPAIR, item['keypair']['name'])
        for item in found))


def of_management(management: capi.ManagementCluster) -> model.Snapshot:
    """Return every object of a management cluster, a model.Snapshot.

    :param management: capi.ManagementCluster.
    """
    try:
        objects = [capi.Object.of(*one) for one in management.bodies()]
    except errors.MagnumCapiError as e:
        return model.Snapshot(unread={model.OBJECT: str(e)})
    # Kubernetes creates a ServiceAccount "default" in each namespace.
    return model.Snapshot(frozenset(
        model.Thing(model.OBJECT, str(one)) for one in objects
        if (one.kind, one.name) != ('ServiceAccount', 'default')))


def _read(get: Get, listings: collections.abc.Iterable[_Listing], user: str,
          everywhere: bool = False) -> model.Snapshot:
    things: set[model.Thing] = set()
    unread: dict[str, str] = {}
    for listing in listings:
        path = listing.path.format(user=user)
        if everywhere and listing.everywhere:
            path += f'?{listing.everywhere}'
        try:
            things.update(
                model.Thing(
                    listing.kind, item[listing.ident],
                    item.get(listing.name) or '',
                    item.get('project_id') or item.get('tenant_id') or '',
                    item.get(listing.user) or '', _about(item))
                for item in _items(get, listing, path)
                if not _is_neutrons(listing.kind, item)
                and not _is_going(item))
        except CloudReadFailed as e:
            # If the user is gone, so is everything that belonged to the user.
            if e.status != 404 or listing not in _OF_USER:
                unread[listing.kind] = str(e)
    return model.Snapshot(frozenset(things), unread)


def _is_neutrons(kind: str, item: json_types.Object) -> bool:
    """Whether it is the group that Neutron creates for every project.

    It is created when the project's groups are first listed, and cannot be
    deleted.
    """
    return kind == model.SECURITY_GROUP and item.get('name') == 'default'


def _is_going(item: json_types.Object) -> bool:
    """Whether Cinder or Octavia is deleting it, as it was asked to.

    A backend of Cinder may overwrite a volume for minutes, long after its
    server and cluster are gone. What cannot be deleted gets another status.
    """
    return (item.get('status') == 'deleting'
            or item.get('provisioning_status') == 'PENDING_DELETE')


def _about(item: json_types.Object) -> str:
    """The other texts of a thing.

    A volume of Cinder's CSI driver, for example, has the name of its cluster
    only in its metadata (cinder.csi.openstack.org/cluster), and a port of a
    router only has the router's id.
    """
    return ' '.join(filter(None, (
        item.get('description'), item.get('device_id'),
        *(item.get('tags') or ()),
        *map(str, (item.get('metadata') or {}).values()))))


def _items(get: Get, listing: _Listing, path: str
           ) -> collections.abc.Iterator[json_types.Object]:
    """Yield all things of a kind.

    An operator may allow fewer than PAGE per answer (max_limit of Magnum and
    Nova, osapi_max_limit of Cinder, pagination_max_limit of Neutron), so that
    only an empty page is the end.
    """
    if not listing.paged:
        yield from get(listing.service, path)[listing.key]
        return
    listed: list[str] = []
    refusals = 0
    while True:
        try:
            page = get(listing.service, _after(listing, path, listed))[
                listing.key]
        except CloudReadFailed as e:
            refusals += 1
            if (not listed or e.status not in _NO_MARKER
                    or refusals > _REFUSALS):
                raise
            listed.pop()
            continue
        idents = [item[listing.ident] for item in page]
        # A service without paging answers with the same page again.
        if not idents or idents[-1:] == listed[-1:]:
            return
        yield from page
        listed += idents


def _after(listing: _Listing, path: str, listed: collections.abc.Sequence[str]
           ) -> str:
    """The path of the things that follow those that are listed."""
    query = []
    if listing.paged != MARKER:
        query.append(f'limit={PAGE}')
    if listed:
        query.append(f'offset={len(listed)}' if listing.paged == OFFSET
                     else f'marker={listed[-1]}')
    return path + ('&' if '?' in path else '?') * bool(query) + '&'.join(query)
