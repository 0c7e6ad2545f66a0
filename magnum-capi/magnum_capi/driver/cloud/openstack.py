# SPDX-License-Identifier: Apache-2.0

"""Looks up images, flavors, networks and volume types of a cluster.

Names are looked up once, here; all other code sees ids. Images and flavors are
small frozen dataclasses; each refusal says which image, flavor or network it
concerns, so that it can be shown to the user. Cinder is optional.
"""

import collections.abc
import dataclasses
import typing

from openstack import exceptions as sdk_exceptions

from magnum_capi.driver.cloud import services

#: Cinder's answers when it has no default volume type or does not tell it; 500
#: when the type that its option names does not exist (cinder 29.0.0,
#: volume/volume_types.py, get_default_volume_type). 406 is one that
#: magnum-cluster-api has met (its pull request 1040).
_NO_DEFAULT = (403, 404, 406, 500)


@dataclasses.dataclass(frozen=True)
class Image:
    """An image; sizes in GiB and MiB; properties are None when not set."""

    id: str
    name: str | None
    status: str
    kube_version: str | None = None
    os_distro: str | None = None
    magnum_distro: str | None = None


@dataclasses.dataclass(frozen=True)
class Flavor:
    """A flavor; memory in MiB, disk in GiB."""

    id: str
    name: str
    ram: int
    vcpus: int
    disk: int = 0


class Cloud:
    """The resources for clusters, as one user sees them.

    :param options: of services.Services.
    :param project_id: the project that will use the resources, if the session
        sees more than that project does; None: the session's.
    :raises services.CloudError: (every method) and its kinds.
    """

    def __init__(self, session_factory: services.SessionFactory,
                 project_id: str | None = None,
                 **options: typing.Any) -> None:
        self._services = services.Services(session_factory, **options)
        self._project_id = project_id

    @property
    def services(self) -> services.Services:
        """The services, for :mod:`app_credentials` and others."""
        return self._services

    def image(self, reference: str) -> Image:
        """Return the Image of an id or name.

        :raises services.NotUsable: several have this name, or it is not
            active.
        """
        found = self._find('image', 'image', reference)
        properties = found.properties or {}
        if found.status != 'active':
            raise services.NotUsable(
                f'The image {reference} cannot be used',
                last_seen=f'status {found.status}')
        return Image(
            id=found.id, name=found.name, status=found.status,
            kube_version=properties.get('kube_version'),
            os_distro=found.os_distro or properties.get('os_distro'),
            magnum_distro=properties.get('magnum_distro'))

    def flavor(self, reference: str) -> Flavor:
        """Return the Flavor of an id or name."""
        found = self._find('compute', 'flavor', reference)
        return Flavor(id=found.id, name=found.name, ram=found.ram,
                      vcpus=found.vcpus, disk=found.disk or 0)

    def usable_flavor(self, reference: str, *, ram: int,
                      vcpus: int) -> Flavor:
        """Like :meth:`flavor`, but check that it is large enough.

        :param ram: minimum memory in MiB.
        :param vcpus: minimum number of virtual CPUs.
        :raises services.NotUsable: it is too small; says how.
        """
        found = self.flavor(reference)
        short = [f'{has} {what}, at least {least} needed'
                 for has, least, what in ((found.ram, ram, 'MiB of memory'),
                                          (found.vcpus, vcpus, 'vCPUs'))
                 if has < least]
        if short:
            raise services.NotUsable(
                f'The flavor {reference} is too small: it has '
                + ' and '.join(short))
        return found

    def network(self, reference: str | None,
                external: bool | None = None) -> str | None:
        """Return the id of a network, by its id or name, None for None.

        :param external: whether it must be external; None: either.
        :raises services.NotUsable: it is not, or several have this name.
        """
        if not reference:
            return None
        found = self._find('network', 'network', reference)
        is_external = bool(found.is_router_external)
        if external is not None and is_external != external:
            raise services.NotUsable(
                f'The network {reference} is '
                f'{"no" if external else "an"} external network')
        return str(found.id)

    def nodes_network(self, reference: str) -> str:
        """Return the id of a network for nodes, by its id or name.

        Charts make pods and Services of IPv4, which need nodes with IPv4.

        :raises services.NotUsable: it has no subnet of IPv4.
        """
        found = self._find('network', 'network', reference)
        with services.asking(f'the subnets of the network {reference}'):
            subnets = list(self._services.proxy('network').subnets(
                network_id=found.id))
        if not any(subnet.ip_version == 4 for subnet in subnets):
            raise services.NotUsable(
                f'The network {reference} has no subnet of IPv4; clusters '
                'need one')
        return str(found.id)

    def subnet(self, reference: str | None,
               network_id: str | None = None) -> str | None:
        """Return the id of a subnet, by its id or name, None for None.

        :param network_id: that it must belong to; None: any.
        :raises services.NotUsable: it does not, or is not one of IPv4.
        """
        if not reference:
            return None
        found = self._find(
            'network', 'subnet', reference,
            lambda item: network_id in (None, item.network_id))
        if network_id and found.network_id != network_id:
            raise services.NotUsable(
                f'The subnet {reference} is not in the network {network_id}')
        if found.ip_version == 6:
            raise services.NotUsable(
                f'The subnet {reference} is one of IPv6; clusters need IPv4')
        return str(found.id)

    def volume_types(self) -> tuple[str, ...]:
        """Return the names of volume types, an empty tuple without Cinder.

        They are the public ones, and private ones that the project may use:
        first the default of the cloud, then from the newest to the oldest.
        """
        # An administrator is told of all only when asked for, and otherwise
        # of those of its own project (cinder, api/v3/types.py).
        query = {} if self._project_id is None else {'is_public': 'None'}
        try:
            with services.asking('the volume types'):
                cinder = self._services.proxy('block-storage')
                names = [found.name for found in cinder.types(**query)
                         if self._may_use(cinder, found)]
                default = _default_type(cinder) if names else None
        except services.ServiceMissing:
            return ()
        return tuple(sorted(names, key=lambda name: name != default))

    def _may_use(self, cinder: typing.Any, volume_type: typing.Any) -> bool:
        return (self._project_id is None or volume_type.is_public is not False
                or any(self._project_id == allowed['project_id'] for allowed in
                       cinder.get_type_access(volume_type)))

    def _find(self, service: str, kind: str, reference: str,
              fits: collections.abc.Callable[[typing.Any], bool] | None = None
              ) -> typing.Any:
        """An object by its id, or by its name among those of the project.

        :param fits: selects among several.
        """
        with services.asking(f'the {kind} {reference}'):
            proxy = self._services.proxy(service)
            try:
                found = getattr(proxy, f'find_{kind}')(reference)
                several = found and [found]
            except sdk_exceptions.DuplicateResource:
                several = [
                    item for item in getattr(proxy, f'{kind}s')(
                        name=reference) if fits is None or fits(item)]
            except sdk_exceptions.NotFoundException:
                several = None
        several = self._of_project(several or (), reference)
        if len(several) > 1:
            raise services.NotUsable(
                f'Several {kind}s are called {reference}', hint='Use the id')
        if not several:
            raise services.NotThere(f'There is no {kind} {reference}')
        return several[0]

    def _of_project(self, found: collections.abc.Sequence[typing.Any],
                    reference: str) -> collections.abc.Sequence[typing.Any]:
        """Objects that the project may use: its own, else shared ones.

        An id is unambiguous; flavors and subnets do not say who may use them.
        """
        if self._project_id is None or any(
                reference == item.id for item in found):
            return found
        own = [item for item in found if self._project_id in (
            getattr(item, 'owner_id', None), getattr(
                item, 'project_id', None))]
        return own or [item for item in found if self._is_shared(item)]

    def _is_shared(self, item: typing.Any) -> bool:
        """Whether the project may use an image or network of another one."""
        if hasattr(item, 'visibility'):
            # "shared" is what every new image is, with nobody (glance,
            # domain/__init__.py).
            return item.visibility in ('public', 'community') or (
                item.visibility == 'shared' and any(
                    member.member_id == self._project_id
                    and member.status == 'accepted' for member in
                    self._services.proxy('image').members(item)))
        if hasattr(item, 'is_router_external'):
            # "shared" is for the project of the session.
            return bool(item.is_shared or item.is_router_external) or any(
                policy.object_id == item.id
                and policy.target_project_id == self._project_id
                for policy in self._services.proxy('network').rbac_policies(
                    object_type='network', action='access_as_shared'))
        return True


def _default_type(cinder: typing.Any) -> str | None:
    """Name of the volume type that a volume without one gets."""
    try:
        name: str = cinder.get_type('default').name
    except sdk_exceptions.HttpException as e:
        if e.status_code not in _NO_DEFAULT:
            raise
        return None
    return name
