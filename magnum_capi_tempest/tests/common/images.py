# SPDX-License-Identifier: Apache-2.0

"""Images that tests create: properties without data, so nothing boots.

They have the properties of the configured image besides its operating system
(``kube_version`` for magnum-capi-helm), because drivers may require them.
"""

import collections.abc
import io
import re

from tempest.lib.common.utils import test_utils
from tempest.lib import exceptions as lib_exc

from magnum_capi_tempest import json_types
from magnum_capi_tempest.leaks import model
from magnum_capi_tempest.leaks import watch
from magnum_capi_tempest.tests.common import factories
from magnum_capi_tempest.tests.common import tempest_types

#: Properties that Glance itself sets (glance/api/v2/images.py,
#: get_base_properties, and what stores and imports add); they cannot be given
#: for a new image, or describe the data.
_GLANCE = re.compile(
    '^(checksum|container_format|created_at|direct_url|disk_format|file|id|'
    'locations|min_disk|min_ram|name|os_glance_.*|os_hash_.*|os_hidden|owner|'
    r'owner_specified\..*|protected|schema|self|size|status|stores|tags|'
    'updated_at|validation_data|virtual_size|visibility)$')


def matching(client: tempest_types.Client, wanted: str
             ) -> list[json_types.Object]:
    """Return the images with a name or id, found the way Magnum does.

    :param client: tempest's ImagesClient of Glance's API version 2.
    """
    try:
        return [client.show_image(wanted)]
    except lib_exc.NotFound:
        found: list[json_types.Object] = client.list_images(
            params={'name': wanted})['images']
        return found


def find(client: tempest_types.Client, wanted: str) -> json_types.Object:
    """Return the image with a name or id, see :func:`matching`.

    :raises NotFound: no image or several have this name.
    """
    found = matching(client, wanted)
    if len(found) != 1:
        raise lib_exc.NotFound(f'{len(found)} images are called {wanted!r}')
    return found[0]


def properties(image: json_types.Object) -> dict[str, str]:
    """Return the properties that users set on an image, a dict of strings."""
    return {key: value for key, value in image.items()
            if isinstance(value, str) and not _GLANCE.match(key)}


def create(client: tempest_types.Client, cleanup: tempest_types.Cleanup,
           conf: tempest_types.Conf,
           wanted: collections.abc.Mapping[str, str | None],
           data: bytes | None = None, *, test: str) -> json_types.Object:
    """Create a private image and return it.

    :param wanted: its properties; None omits one.
    :param data: of the image; without them it is not active.
    :param test: id of the test, for the record of what it created.
    """
    image: json_types.Object = client.create_image(
        name=factories.name(conf, 'image'), container_format='bare',
        disk_format='raw', visibility='private',
        **{key: value for key, value in wanted.items() if value is not None})
    cleanup(test_utils.call_and_ignore_notfound_exc, client.delete_image,
            image['id'])
    watch.record(conf.magnum_capi.artifact_dir, model.Made(
        model.IMAGE, image['id'], image['name'], test))
    if data is not None:
        client.store_image_file(image['id'], io.BytesIO(data))
    return image
