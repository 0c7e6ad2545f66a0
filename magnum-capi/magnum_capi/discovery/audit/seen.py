# SPDX-License-Identifier: Apache-2.0
"""What was read from a cloud: its images and cluster templates."""

import collections
import dataclasses
import functools
import types

from magnum_capi.discovery import model


@dataclasses.dataclass(frozen=True)
class Image:
    """What a Glance image says about drivers, as Glance has it.

    Nothing is stripped, because Magnum strips nothing; None: not set.
    """

    id: str
    name: str = ''
    magnum_distro: str | None = None
    os_distro: str | None = None
    magnum_driver: str | None = None

    @property
    def raw(self) -> dict[str, str | None]:
        return {'magnum_distro': self.magnum_distro,
                'os_distro': self.os_distro,
                'magnum_driver': self.magnum_driver}

    @functools.cached_property
    def says(self) -> model.ImageProperties:
        return model.ImageProperties.of(self.raw)

    def __str__(self) -> str:
        return model.subject('image', self.name, self.id)


@dataclasses.dataclass(frozen=True)
class Template:
    """A cluster template as Magnum stores it.

    :param image_id: identifier or name of its image.
    :param driver: None: NULL in Magnum's database.
    """

    uuid: str
    name: str = ''
    image_id: str = ''
    server_type: str = 'vm'
    coe: str = 'kubernetes'
    cluster_distro: str = ''
    driver: str | None = None

    @property
    def cluster_type(self) -> model.ClusterType:
        return model.ClusterType(self.server_type, self.cluster_distro,
                                 self.coe)

    def __str__(self) -> str:
        return model.subject('template', self.name, self.uuid)


@dataclasses.dataclass(frozen=True)
class Cluster:
    """A cluster as Magnum stores it."""

    uuid: str
    name: str = ''
    template_id: str = ''
    stack_id: str | None = None

    def __str__(self) -> str:
        return model.subject('cluster', self.name, self.uuid)


@dataclasses.dataclass(frozen=True)
class Cloud:
    """Images and templates, as far as one user sees them.

    :param images: including hidden ones that templates refer to.
    :param who: the user and what it may see, for texts.
    :param everything: the user sees what belongs to other projects.
    :param clusters: only if they were requested.
    """

    images: tuple[Image, ...] = ()
    templates: tuple[Template, ...] = ()
    who: str = ''
    everything: bool = True
    clusters: tuple[Cluster, ...] = ()

    @functools.cached_property
    def _by_reference(self) -> types.MappingProxyType[str, Image]:
        names = collections.Counter(image.name for image in self.images)
        found = {image.name: image for image in self.images
                 if names[image.name] == 1}
        found.update((image.id, image) for image in self.images)
        return types.MappingProxyType(found)

    def image(self, reference: str) -> Image | None:
        """The image with an identifier, or with a unique name."""
        return self._by_reference.get(reference)
