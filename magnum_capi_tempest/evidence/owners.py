# SPDX-License-Identifier: Apache-2.0

"""Which cluster does an object of the management cluster belong to? Pure.

Drivers use Magnum's ``stack_id`` as the name of the Cluster; objects that are
created for it have a name that begins with it, or have it in a label or an
annotation.
"""

#: Labels and annotations whose value is the name of the Cluster.
_OWNER_KEYS = (
    'cluster.x-k8s.io/cluster-name',
    'capi.stackhpc.com/cluster',
    'addons.stackhpc.com/cluster',
    'meta.helm.sh/release-name',
    'app.kubernetes.io/instance',
)


def belongs(metadata, stack_id, cluster_uuid=None):
    """Return whether an object belongs to a cluster.

    :param metadata: of the object.
    :param stack_id: name of its Cluster.
    :param cluster_uuid: of Magnum, which magnum-capi-helm puts on Secrets.
    """
    name = metadata.get('name', '')
    if name == stack_id or name.startswith(f'{stack_id}-'):
        return True
    # Helm keeps releases in Secrets: sh.helm.release.v1.<release>.v<number>
    if name.startswith(f'sh.helm.release.v1.{stack_id}.v'):
        return True
    labels = metadata.get('labels') or {}
    notes = metadata.get('annotations') or {}
    if cluster_uuid and cluster_uuid in (
            labels.get('magnum.openstack.org/cluster-uuid'),):
        return True
    return any(stack_id in (labels.get(key), notes.get(key))
               for key in _OWNER_KEYS)
