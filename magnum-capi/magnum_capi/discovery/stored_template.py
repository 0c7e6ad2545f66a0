# SPDX-License-Identifier: Apache-2.0
"""Corrects or deletes a template that was just created.

Both are part of its creation, which the user is allowed. Magnum's API requires
other rights for them, and flavors in the template, so they use Magnum's own
code, in its process.
"""

import typing


def set_decided(uuid: str, driver: str, distro: str) -> None:
    """Store the decision where Magnum stored a value of the image instead.

    That concerns ``cluster_distro``, and before Magnum 23 the driver, too.

    :raises MagnumException: the template is gone, or a cluster uses it.
    """
    template = _found(uuid)
    template.driver = driver
    template.cluster_distro = distro
    template.save()


def delete(uuid: str) -> None:
    """Delete the template.

    :raises MagnumException: a cluster uses it.
    """
    _found(uuid).destroy()


def _found(uuid: str) -> typing.Any:
    # Imported here, because the command line may have no Magnum.
    from magnum.common import context
    from magnum import objects
    return objects.ClusterTemplate.get_by_uuid(
        context.make_admin_context(all_tenants=True), uuid)
