# SPDX-License-Identifier: Apache-2.0

"""Which cluster does an object of the management cluster belong to? Pure.

Drivers use Magnum's ``stack_id`` as the name of the Cluster; objects that are
created for it have a name that begins with it, or have it in a label or an
annotation.
"""

import collections.abc
import json

from magnum_capi_tempest import json_types

#: Labels and annotations whose value is the name of the Cluster.
_OWNER_KEYS = (
    'cluster.x-k8s.io/cluster-name',
    'capi.stackhpc.com/cluster',
    'addons.stackhpc.com/cluster',
    'meta.helm.sh/release-name',
    'app.kubernetes.io/instance',
)


#: Label of magnum-capi-helm for Secrets, with Magnum's uuid of the cluster.
_UUID = 'magnum.openstack.org/cluster-uuid'


def belongs(metadata: json_types.Object, stack_id: str | None,
            cluster_uuid: str | None = None,
            words: collections.abc.Sequence[str] = ()) -> bool:
    """Return whether an object belongs to a cluster.

    :param metadata: of the object.
    :param stack_id: name of its Cluster; None: Magnum never showed it.
    :param cluster_uuid: of Magnum.
    :param words: texts that occur nowhere else; one of them anywhere in the
        metadata is enough.
    """
    if words:
        text = json.dumps(metadata)
        if any(word in text for word in words):
            return True
    labels = metadata.get('labels') or {}
    if cluster_uuid and labels.get(_UUID) == cluster_uuid:
        return True
    if not stack_id:
        return False
    name, notes = metadata.get('name', ''), metadata.get('annotations') or {}
    # Helm keeps releases in Secrets: sh.helm.release.v1.<release>.v<number>
    return (name == stack_id or name.startswith(
        (f'{stack_id}-', f'sh.helm.release.v1.{stack_id}.v'))
        or any(stack_id in (labels.get(key), notes.get(key))
               for key in _OWNER_KEYS))
