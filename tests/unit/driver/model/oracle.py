# SPDX-License-Identifier: Apache-2.0

"""What must hold in the world of the model; texts on what does not.

The desired state and most of its comparison are those of the soak
(:mod:`tests.proofs.soak.model`). Here is what needs a view from all sides:
names and labels of Cluster API, of both charts and of the driver's public
documentation, never its internals.
"""

import base64
import gzip
import json
import re
import typing
import uuid as uuid_lib

from tests.lib import openstack_api
from tests.proofs.soak import model as soak
from tests.unit.driver.model import world as world_module

_DEPLOYMENT = 'cluster.x-k8s.io/deployment-name'
_PLANE = 'cluster.x-k8s.io/control-plane'
_SIZES = 'cluster.x-k8s.io/cluster-api-autoscaler-node-group'

#: Metadata of a volume that its owner keeps, where it is "true".
KEEP = 'janitor.capi.azimuth-cloud.com/keep'

#: Policy of server groups that no cluster has made.
FOREIGN = 'affinity'

#: Roles that a cluster's credential may have (the option credential_roles).
ROLES = frozenset(('member', 'reader', 'load-balancer_member', 'creator'))

#: Secrets of authorities, and the field of Magnum's row.
AUTHORITIES = {'ca': 'ca_cert_ref', 'etcd': 'etcd_ca_cert_ref',
               'proxy': 'front_proxy_ca_cert_ref'}


def release(uuid: str) -> str:
    return f'c{uuid_lib.UUID(uuid).hex}'


def namespace() -> str:
    return f'magnum-{world_module.PROJECT}'


class Sight:
    """One cluster of Magnum, as everything outside of the driver shows it."""

    def __init__(self, world: world_module.World, uuid: str) -> None:
        self.world = world
        self.uuid = uuid
        self.release = release(uuid)
        self.row = world.magnum.clusters.get(uuid)
        self.groups = {row['name']: row for row in world.groups(uuid)}
        api = world.api
        self.machines = api.list('Machine', namespace(), cluster=self.release)
        self.deployments = {
            obj['metadata']['name']: obj for obj in api.list(
                'MachineDeployment', namespace(), release=self.release)}
        self.plane = api.get('KubeadmControlPlane', namespace(),
                             f'{self.release}-control-plane')

    @property
    def version(self) -> str:
        """Version of the image of the cluster's template."""
        template = self.world.magnum.templates[
            self.row['cluster_template_id']]
        return world_module.IMAGES[template['image_id']]

    def deployment(self, group: dict) -> dict | None:
        """MachineDeployment of a node group, by what helm was given."""
        return self.deployments.get(
            f'{self.release}-{node_group(group["uuid"])}')

    def machines_of(self, group: dict) -> list[dict]:
        if group['role'] == 'master':
            return [one for one in self.machines
                    if _PLANE in one['metadata']['labels']]
        name = f'{self.release}-{node_group(group["uuid"])}'
        return [one for one in self.machines
                if one['metadata']['labels'].get(_DEPLOYMENT) == name]

    def runs(self, machine: dict) -> bool:
        return ('nodeRef' in (machine.get('status') or {})
                and 'deletionTimestamp' not in machine['metadata'])

    def seen(self) -> soak.Seen:
        if self.row is None:
            return soak.Seen(strangers=tuple(left(self.world, self.uuid)))
        known = {one['metadata']['name'] for group in self.groups.values()
                 for one in self.machines_of(group)}
        return soak.Seen(
            status=self.row['status'],
            reason=self.row['status_reason'] or '',
            release=(self.row['cluster_template_id'], self.version),
            groups={name: soak.Group(
                group['status'], group['node_count'], tuple(
                    soak.Machine(one['metadata']['uid'],
                                 one['spec']['version'], self.runs(one))
                    for one in self.machines_of(group)))
                    for name, group in self.groups.items()},
            strangers=tuple(
                f'Machine {one["metadata"]["name"]} of no node group'
                for one in self.machines
                if one['metadata']['name'] not in known),
            credentials=len(credentials(self.world, self.uuid)))

    def addons(self) -> list[dict]:
        return [obj for kind in ('HelmRelease', 'Manifests')
                for obj in self.world.api.list(
                    kind, namespace(), release=self.release)]

    def values(self) -> dict:
        """What helm was given last."""
        found = self.world.estate.helm._revisions(self.release, namespace())
        data = base64.b64decode(base64.b64decode(
            found[-1]['secret']['data']['release']))
        return json.loads(gzip.decompress(data))['config']


def node_group(uuid: str) -> str:
    """Documented name of a node group in a chart's values."""
    digits = '0123456789abcdefghijklmnopqrstuvwxyz'
    number, text = uuid_lib.UUID(uuid).int, ''
    for _place in range(25):
        number, digit = divmod(number, 36)
        text = digits[digit] + text
    return f'g{text}'


def credentials(world: world_module.World, uuid: str
                ) -> list[openstack_api.Credential]:
    return [one for one in world.cloud.credentials.values()
            if uuid in one.name]


# Claims: judged whenever a row is written.


def claims(world: world_module.World, row: typing.Any, before: dict,
           now: dict | None) -> typing.Iterator[str]:
    """What a row newly says that is not so."""
    if now is None or 'cluster_template_id' not in now:
        return
    sight = Sight(world, now['uuid'])
    if now['coe_version'] != before['coe_version'] and now['coe_version']:
        lowest = min((_version(one['spec']['version'])
                      for one in sight.machines), default=None)
        if lowest is not None and _version(now['coe_version']) > lowest:
            yield (f'untrue: coe_version is {now["coe_version"]}, but there '
                   f'is a node of {lowest}')
    ended = (now['status'] != before['status']
             and now['status'].endswith('_COMPLETE')
             and now['status'] != 'DELETE_COMPLETE')
    refused = 'CA rotation' in (before.get('status_reason') or '')
    if ended and not (before['status'] == 'UPDATE_FAILED' and refused):
        yield from complete(sight)


def complete(sight: Sight) -> typing.Iterator[str]:
    """What contradicts that an operation is complete."""
    yield from soak.untrue(sight.seen())
    # What controllers have not seen yet they may still replace.
    for addon in sight.addons():
        phase = (addon.get('status') or {}).get('phase')
        if phase != 'Deployed':
            yield (f'untrue: {sight.row["status"]}, but the addon '
                   f'{addon["metadata"]["name"]} is {phase}')
    if not sight.addons():
        yield f'untrue: {sight.row["status"]}, but there are no addons'
    for group in sight.groups.values():
        if not group['status'].endswith('_COMPLETE'):
            continue
        if group['role'] == 'master':
            obj = sight.plane
        else:
            obj = sight.deployment(group)
        wanted = ((obj or {}).get('spec') or {}).get('replicas')
        if wanted != group['node_count']:
            yield (f'untrue: {sight.row["status"]}, but {group["name"]} is '
                   f'to have {wanted} machines, not {group["node_count"]}')


def _version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.removeprefix('v').split('.')))


# At any time.


def always(world: world_module.World) -> typing.Iterator[str]:
    """What must hold in each moment."""
    for one in world.cloud.credentials.values():
        if one.unrestricted:
            yield f'trust: the credential {one.name} is unrestricted'
        if one.project != world_module.PROJECT:
            yield (f'trust: the credential {one.name} is of the project '
                   f'{one.project}')
        wrong = set(one.roles) - ROLES
        if wrong:
            yield f'trust: the credential {one.name} has the roles {wrong}'
    for name, policy, project in world.cloud.server_groups.values():
        if project != world_module.PROJECT and policy != FOREIGN:
            yield f'trust: the server group {name} is of {project}'
    for uuid, row in world.magnum.clusters.items():
        yield from authorities(world, uuid, row)


def authorities(world: world_module.World, uuid: str,
                row: dict) -> typing.Iterator[str]:
    """The authorities of a cluster are its own, and distinct."""
    found = {}
    for kind in (*AUTHORITIES, 'sa'):
        secret = world.api.get('Secret', namespace(), f'{release(uuid)}-'
                               f'{kind}')
        if secret is not None:
            found[kind] = {key: base64.b64decode(text).decode()
                           for key, text in secret['data'].items()}
    for key in ('tls.crt', 'tls.key'):
        texts = [one[key] for one in found.values()]
        if len(set(texts)) < len(texts):
            yield f'trust: {key} of {row["name"]} is the same in two of ' + (
                ', '.join(found))
    for kind, field in AUTHORITIES.items():
        certificate = world.magnum.certificates.get(row[field])
        if kind in found and certificate is not None and (
                found[kind]['tls.crt'] != certificate.get_certificate()):
            yield (f'trust: the authority {kind} of {row["name"]} is not '
                   "Magnum's")


# Bystanders.


def specs(world: world_module.World) -> dict[tuple[str, str], typing.Any]:
    """What each part of each cluster is made of, by uuid and part.

    A part is the name of a node group, or "network".
    """
    found = {}
    for uuid in world.magnum.clusters:
        sight = Sight(world, uuid)
        by_name = {f'{sight.release}-{node_group(group["uuid"])}': name
                   for name, group in sight.groups.items()}
        for name, obj in sight.deployments.items():
            if 'deletionTimestamp' in obj['metadata']:
                continue
            template = obj['spec']['template']['spec']
            found[uuid, by_name.get(name, name)] = {
                'version': template['version'],
                'machines': template['infrastructureRef']['name'],
                'boot': template['bootstrap']['configRef']['name'],
                'zone': template.get('failureDomain'),
                'replicas': obj['spec'].get('replicas'),
                'bounds': {
                    key: text for key, text in (obj['metadata'].get(
                        'annotations') or {}).items()
                    if key.startswith(_SIZES)}}
        if sight.plane is not None and (
                'deletionTimestamp' not in sight.plane['metadata']):
            spec = sight.plane['spec']
            found[uuid, soak.MASTERS] = {
                'version': spec['version'], 'replicas': spec['replicas'],
                'machines': spec['machineTemplate']['infrastructureRef'][
                    'name']}
    return found


def health_checks(sight: Sight) -> set[str]:
    return {obj['metadata']['name'] for obj in sight.world.api.list(
        'MachineHealthCheck', namespace(), release=sight.release)}


# Left behind.


def left(world: world_module.World, uuid: str) -> typing.Iterator[str]:
    """What is left of a cluster that Magnum does not have."""
    name = release(uuid)
    for path, obj in sorted(world.api.objects.items()):
        labels = obj['metadata'].get('labels') or {}
        if path.count('/') > 4 and (
                name in path.rpartition('/')[2] or uuid in labels.values()):
            yield path
    for one in credentials(world, uuid):
        yield f'application credential {one.name}'
    for group, _policy, project in world.cloud.server_groups.values():
        if group.startswith(name) and project == world_module.PROJECT:
            yield f'server group {group}'


def services_left(world: world_module.World, uuid: str, reclaim: bool
                  ) -> typing.Iterator[str]:
    """Volumes and load balancers of a cluster that is gone."""
    name = release(uuid)
    volumes = [one['id'] for one in world.cloud.volumes.values()
               if one['metadata'].get(
                   'cinder.csi.openstack.org/cluster') == name
               and one['metadata'][KEEP] != 'true']
    if volumes and reclaim:
        yield f'left: volumes {volumes}'
    for one in world.cloud.balancers.values():
        if f'_{name}_' in one['name']:
            yield f'left: load balancer {one["name"]}'


def group_servers(world: world_module.World, uuid: str) -> set[str]:
    """Names of a cluster's server groups, without its own."""
    start = f'{release(uuid)}-'
    return {name.removeprefix(start) for name, _policy, project
            in world.cloud.server_groups.values()
            if name.startswith(start) and project == world_module.PROJECT}


# Secrets.


def misplaced(world: world_module.World) -> typing.Iterator[str]:
    """Secrets of clusters outside of Secrets."""
    secrets = {one.secret for one in world.cloud.credentials.values()}
    for path, obj in world.api.objects.items():
        if '/secrets/' not in path and secrets:
            text = json.dumps(obj)
            if any(secret in text for secret in secrets):
                yield f'secret: of an application credential in {path}'
    pattern = re.compile('|'.join(map(re.escape, secrets)) or '$^')
    for table in (world.magnum.clusters, world.magnum.groups):
        for uuid, row in table.items():
            if pattern.search(json.dumps(row, default=str)):
                yield f'secret: of an application credential in row {uuid}'


def deployed(sight: Sight) -> typing.Iterator[str]:
    """Whether helm's last word is a deployed release, and no lock is left."""
    found = sight.world.estate.helm._revisions(sight.release, namespace())
    status = found[-1]['status'] if found else 'none'
    if status != 'deployed':
        yield f'helm: the release of {sight.row["name"]} is {status}'


def lease(world: world_module.World, uuid: str) -> dict | None:
    return world.api.objects.get(
        f'/apis/coordination.k8s.io/v1/namespaces/{namespace()}/leases/'
        f'{release(uuid)}')
