# SPDX-License-Identifier: Apache-2.0

"""The cloud in the section ``cloud`` of a description.

It replaces ``openstack.Cloud``, so that a repository of Flux or Argo can
render without credentials and without requests to a real cloud.
"""

import collections.abc
import typing

from magnum_capi.driver.cloud import openstack
from magnum_capi.driver.cloud import services
from magnum_capi.driver.desired import spec

_FIELDS = ('images', 'networks', 'subnets', 'volume_types', 'auth_url')
_IMAGE = ('id', 'kube_version', 'os_distro', 'magnum_distro')


class DescribedCloud:
    """The part of a cloud that is needed.

    :param described: mapping with ``images`` (by their references in the
        description: mappings with kube_version, os_distro and perhaps id),
        ``networks`` and ``subnets`` (uuids by name), ``volume_types`` (names)
        and ``auth_url`` (of Keystone). Flavors are identified by name.
    :raises spec.InvalidSpec: it is invalid.
    """

    def __init__(self, described: typing.Any) -> None:
        problems = list(_problems(described))
        if problems:
            raise spec.InvalidSpec(problems)
        self._described: dict[str, typing.Any] = described
        self.services = self

    def image(self, reference: str) -> openstack.Image:
        found = self._found('images', reference)
        return openstack.Image(
            name=reference, status='active',
            **{'id': reference, **{
                key: str(value) for key, value in found.items()}})

    def usable_flavor(self, reference: str, *, ram: int,
                      vcpus: int) -> openstack.Flavor:
        return openstack.Flavor(reference, reference, ram, vcpus)

    def network(self, reference: str | None,
                external: bool | None = None) -> str | None:
        return reference and str(self._found('networks', reference, reference))

    def subnet(self, reference: str | None,
               network_id: str | None = None) -> str | None:
        return reference and str(self._found('subnets', reference, reference))

    def volume_types(self) -> tuple[str, ...]:
        return tuple(self._described.get('volume_types') or ())

    def has(self, service: str) -> bool:
        return (service != 'block-storage'
                or self._described.get('volume_types') is not None)

    def identity_url(self, interface: str = 'public') -> str | None:
        return self._described.get('auth_url')

    def _found(self, section: str, reference: str,
               default: str | None = None) -> typing.Any:
        found = (self._described.get(section) or {}).get(reference, default)
        if found is None:
            raise services.NotThere(
                f'The section cloud.{section} of the description has no '
                f'{reference}')
        return found


def _problems(described: typing.Any) -> collections.abc.Iterator[str]:
    if not isinstance(described, dict):
        yield 'cloud: it must be a mapping'
        return
    for name in described:
        if name not in _FIELDS:
            yield f'cloud.{name}: there is no such field'
    for name in ('images', 'networks', 'subnets'):
        if not isinstance(described.get(name), dict | None):
            yield f'cloud.{name}: it must be a mapping'
    types = described.get('volume_types')
    if types is not None and not (isinstance(types, list) and all(
            isinstance(name, str) for name in types)):
        yield 'cloud.volume_types: it must be a list of names'
    images = described.get('images') or {}
    for name, image in (images.items() if isinstance(images, dict) else ()):
        if not isinstance(image, dict):
            yield f'cloud.images.{name}: it must be a mapping'
            continue
        for field in image:
            if field not in _IMAGE:
                yield f'cloud.images.{name}.{field}: there is no such field'
