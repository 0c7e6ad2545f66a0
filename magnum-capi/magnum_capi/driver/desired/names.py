# SPDX-License-Identifier: Apache-2.0

"""Names of a cluster's objects in Kubernetes, and marks of their owner.

Magnum's names are not valid in Kubernetes ("A_b" and "a-b" would be the same),
so names are made of uuids: stable, unique, never too long, and with one dash
between their parts, so that the driver and a chart cannot disagree. Readable
names are in labels and annotations.

The rule comes from the specification "clusterapi-driver" (uuid for the name in
Kubernetes); the parts after the dash are those of both charts.
"""

import dataclasses
import hashlib
import json
import re
import string
import typing
import uuid as uuid_lib

#: Entry point of this driver.
DRIVER = 'k8s_capi_v1'

#: Same keys as other Magnum drivers, so that operators' tools find both.
PREFIX = 'magnum.openstack.org/'
CLUSTER_UUID = f'{PREFIX}cluster-uuid'
CLUSTER_NAME = f'{PREFIX}cluster-name'
PROJECT_ID = f'{PREFIX}project-id'
USER_ID = f'{PREFIX}user-id'
NODE_GROUP_UUID = f'{PREFIX}nodegroup-uuid'
NODE_GROUP_NAME = f'{PREFIX}nodegroup'
NODE_GROUP_ROLE = f'{PREFIX}role'
#: Annotation of a Cluster: JSON object, node group's name here -> in Magnum.
NODE_GROUPS = f'{PREFIX}nodegroups'

#: Key of the control plane among names of node groups.
CONTROL_PLANE = 'control-plane'

#: Label of objects that belong to a Cluster (Cluster API,
#: api/core/v1beta1/common_types.go: ClusterNameLabel), also of its Secrets.
CAPI_CLUSTER_NAME = 'cluster.x-k8s.io/cluster-name'

_LONGEST_NAMESPACE = 63
_LONGEST_PREFIX = 30
_HASH_DIGITS = 30

_DIGITS = string.digits + string.ascii_lowercase
#: 36 ** 25 is more than 2 ** 128.
_NODE_GROUP_DIGITS = 25

_LABEL_VALUE = re.compile(
    r'[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?', re.ASCII).fullmatch
#: Helm's limits (pkg/chartutil/validate_name.go), but without dots, which are
#: invalid in the names that charts derive from it.
_LONGEST_RELEASE = 53
_DNS_LABEL = re.compile(
    r'[a-z0-9](?:[a-z0-9-]*[a-z0-9])?', re.ASCII).fullmatch
_NODE_GROUP = re.compile(
    f'g[0-9a-z]{{{_NODE_GROUP_DIGITS}}}', re.ASCII).fullmatch
_HASHED = re.compile(r'h-[0-9a-f]{30}', re.ASCII).fullmatch


def cluster(uuid: str | uuid_lib.UUID) -> str:
    """Name of the Helm release and of the Cluster, 33 characters.

    :param uuid: of Magnum's cluster, in any form that uuid.UUID accepts.
    :raises ValueError: it is not a uuid.
    """
    return f'c{uuid_lib.UUID(str(uuid)).hex}'


def node_group(uuid: str | uuid_lib.UUID) -> str:
    """Name of a node group in a chart's values, 26 characters.

    :raises ValueError: it is not a uuid.
    """
    number, digits = uuid_lib.UUID(str(uuid)).int, ''
    for _place in range(_NODE_GROUP_DIGITS):
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return f'g{digits}'


def is_release(name: str | None) -> bool:
    """Whether a text can be the name of a release."""
    return bool(name and len(name) <= _LONGEST_RELEASE and _DNS_LABEL(name))


@dataclasses.dataclass(frozen=True)
class Naming:
    """Names of one cluster's objects.

    :param release: of the Helm release and of the Cluster.
    :param groups: names of node groups in the chart's values, by uuid, that
        are not from :func:`node_group`: those of a cluster that another driver
        created.
    """

    release: str
    groups: typing.Mapping[str, str] = dataclasses.field(
        default_factory=dict)

    def node_group(self, uuid: str) -> str:
        """Name of a node group in the chart's values."""
        return self.groups.get(uuid) or node_group(uuid)

    def machine_deployment(self, uuid: str) -> str:
        """Name of a node group's MachineDeployment."""
        return machine_deployment(self.release, self.node_group(uuid))

    def has_server_group(self, name: str) -> bool:
        """Whether a name is one that the driver gives a server group of it.

        It may be of a node group that is no longer in Magnum. Names of another
        cluster may begin with that of this release.
        """
        start = server_group(self.release, '')
        key = name.removeprefix(start)
        return name.startswith(start) and (
            key == CONTROL_PLANE or key in self.groups.values()
            or bool(_NODE_GROUP(key)))


def control_plane(release: str) -> str:
    """Name of the KubeadmControlPlane, as both charts give it."""
    return f'{release}-control-plane'


def machine_deployment(release: str, group: str) -> str:
    """Name of a node group's MachineDeployment, as both charts give it.

    :param group: name of :func:`node_group`.
    """
    return f'{release}-{group}'


def credentials(release: str) -> str:
    """Name of the Secret with clouds.yaml."""
    return f'{release}-cloud-credentials'


def server_group(release: str, key: str) -> str:
    """Name of a server group of Nova.

    :param key: name of the node group in Kubernetes, CONTROL_PLANE.
    """
    return f'{release}-{key}'


def proxies(release: str, digest: str) -> str:
    """Name of a Secret with a file that contains passwords of proxies.

    :param digest: of its content.

    Another file has another name, so that nodes are replaced.
    """
    return f'{release}-proxies-{digest}'


def certificate(release: str, kind: str) -> str:
    """Name of a Secret with a certificate authority, or with the key pair.

    :param kind: ca, etcd, proxy or sa: Cluster API's own names.
    """
    return f'{release}-{kind}'


def namespace(project_id: str, prefix: str = 'magnum') -> str:
    """Namespace of a project's clusters.

    The project id is used as it is if Kubernetes accepts it (Keystone's are 32
    hexadecimal digits). Otherwise it becomes "h-" and 30 digits of its
    SHA-256; replacing characters could give two projects the same namespace.

    :raises ValueError: the prefix is not a DNS label or has more than 30
        characters, or there is no project id.
    """
    if not _DNS_LABEL(prefix) or len(prefix) > _LONGEST_PREFIX:
        raise ValueError(f'namespace prefix {prefix!r} must be a DNS label of '
                         f'at most {_LONGEST_PREFIX} characters')
    if not project_id:
        raise ValueError('a namespace needs a project id')
    fits = _LONGEST_NAMESPACE - len(prefix) - 1
    if (not _DNS_LABEL(project_id) or len(project_id) > fits
            or _HASHED(project_id)):
        digest = hashlib.sha256(project_id.encode('utf-8', 'surrogatepass'))
        project_id = f'h-{digest.hexdigest()[:_HASH_DIGITS]}'
    return f'{prefix}-{project_id}'


def is_label_value(text: str) -> bool:
    """Whether Kubernetes accepts a text as a label's value (not empty)."""
    return bool(_LABEL_VALUE(text))


@dataclasses.dataclass(frozen=True)
class Marks:
    """Labels and annotations by which objects are found and read.

    :param labels: values that Kubernetes accepts in labels.
    :param annotations: all other values.
    """

    labels: dict[str, str]
    annotations: dict[str, str]


def cluster_marks(*, uuid: str | uuid_lib.UUID, name: str | None,
                  project_id: str, user_id: str | None) -> Marks:
    """Marks of everything that the driver creates for a cluster.

    A user id from LDAP has 64 characters, one more than a label may have; a
    cluster's name may have spaces. Such values become annotations.
    """
    return _marks({
        CLUSTER_UUID: str(uuid), CLUSTER_NAME: name,
        PROJECT_ID: project_id, USER_ID: user_id})


def node_group_marks(*, uuid: str | uuid_lib.UUID, name: str,
                     role: str | None = None) -> Marks:
    """Marks of a node group; its nodes carry the labels, too."""
    return _marks({NODE_GROUP_UUID: str(uuid), NODE_GROUP_NAME: name,
                   NODE_GROUP_ROLE: role})


def cluster_annotations(*, uuid: str | uuid_lib.UUID, name: str,
                        project_id: str, user_id: str | None,
                        node_groups: typing.Iterable[tuple[str, str]] = ()
                        ) -> dict[str, str]:
    """Annotations of the Cluster object, readable names included.

    Charts let a driver set annotations there, but no labels; an annotation
    accepts any text.

    :param node_groups: pairs of a node group's name here and in Magnum.
    """
    marks = cluster_marks(uuid=uuid, name=name, project_id=project_id,
                          user_id=user_id)
    return {**marks.labels, **marks.annotations,
            NODE_GROUPS: json.dumps(dict(node_groups), sort_keys=True)}


def _marks(values: typing.Mapping[str, str | None]) -> Marks:
    given = {key: value for key, value in values.items() if value}
    labels = {k: v for k, v in given.items() if is_label_value(v)}
    return Marks(labels, {k: v for k, v in given.items() if k not in labels})
