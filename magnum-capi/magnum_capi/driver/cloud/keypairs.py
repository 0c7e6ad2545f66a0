# SPDX-License-Identifier: Apache-2.0

"""Nova's key pairs, which belong to a user and not to a project.

Nova looks up the key of a new server among those of the user who asks (nova,
compute/api.py, _validate_and_build_base_options). For the nodes of a cluster
that is the user whose application credential the cluster has.
"""

import collections.abc
import contextlib

from openstack import exceptions as sdk_exceptions

from magnum_capi.driver.cloud import services


def copy(name: str, owner: str, cloud: services.Services,
         admin: collections.abc.Callable[[], services.Services]) -> None:
    """Give a user the key pair of another one, unless it has such a name.

    :param owner: id of the other user, who may be gone from Keystone.
    :param cloud: of the user.
    :param admin: returns that of Magnum; only an administrator may read the
        key pairs of others.
    :raises services.CloudError: nobody has it, or Nova refuses.
    """
    if not cloud.has('compute'):
        return
    with services.asking(f'the keypair {name}'):
        nova = cloud.proxy('compute')
        with contextlib.suppress(sdk_exceptions.NotFoundException):
            nova.get_keypair(name)
            return
        known = admin().proxy('compute').get_keypair(name, user_id=owner)
        nova.create_keypair(name=name, public_key=known.public_key,
                            type=known.type)
