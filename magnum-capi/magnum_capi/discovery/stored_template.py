# SPDX-License-Identifier: Apache-2.0
"""A template that was made a moment ago: brought to its decision, or undone.

Both are part of its creation, which the user is allowed. Magnum's API wants
other rights for them, and flavors in the template; so they are done with
Magnum's own code, in its process.
"""

import typing


def set_decided(uuid: str, driver: str, distro: str) -> None:
    """Store what was decided where Magnum took something else of the image.

    That is ``cluster_distro``, and before Magnum 23 the driver, too.

    :raises MagnumException: the template is gone, or a cluster uses it.
    """
    template = _found(uuid)
    template.driver = driver
    template.cluster_distro = distro
    template.save()


def delete(uuid: str) -> None:
    """Take it back.

    :raises MagnumException: a cluster uses it.
    """
    _found(uuid).destroy()


def _found(uuid: str) -> typing.Any:
    # Only there where Magnum is: the command line has none.
    from magnum.common import context
    from magnum import objects
    return objects.ClusterTemplate.get_by_uuid(
        context.make_admin_context(all_tenants=True), uuid)
