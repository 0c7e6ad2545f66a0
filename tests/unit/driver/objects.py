# SPDX-License-Identifier: Apache-2.0

"""Objects of a management cluster for tests: recorded ones, made ones.

Recorded: ``data/<moment>-<version>.json``, what the sandbox's Cluster API
1.14 had at moments of a cluster's life, cut down to what anything reads. The
cluster has one master and the groups ``default-worker`` (two machines) and,
in ``machine-failed``, ``bad-group``.

Made: the smallest objects that are complete, in both shapes of the API.
"""

import copy
import dataclasses
import datetime
import json
import pathlib

from magnum_capi.driver.desired import goal
from magnum_capi.driver.desired import merging
from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import spec
from magnum_capi.driver.observed import snapshot

DATA = pathlib.Path(__file__).parent / 'data'

NOW = datetime.datetime(2026, 11, 21, 15, tzinfo=datetime.timezone.utc)

V1BETA1, V1BETA2 = 'v1beta1', 'v1beta2'

#: Name of the Cluster that is made.
NAME = 'c0'


def ago(**kwargs):
    return NOW - datetime.timedelta(**kwargs)


def as_read(value):
    """A copy that shares no text with the original, as from a database."""
    if isinstance(value, str):
        return value.encode().decode()
    if isinstance(value, dict):
        return {as_read(key): as_read(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(as_read, value))
    if dataclasses.is_dataclass(value):
        return dataclasses.replace(value, **{
            field.name: as_read(getattr(value, field.name))
            for field in dataclasses.fields(value)})
    return copy.deepcopy(value)


def _recorded(moment, version):
    """What a file has; "as" names the moment that all else is of."""
    parts = json.loads((DATA / f'{moment}-{version}.json').read_text())
    like = parts.pop('as', None)
    return merging.merged(_recorded(like, version), parts) if like else parts


def recorded(moment, version, **kwargs):
    """A Snapshot of a recorded moment."""
    parts = _recorded(moment, version)
    for part in ('machine_sets', 'machines', 'addons', 'events'):
        if part in parts:
            parts[part] = tuple(parts[part])
    return snapshot.Snapshot(**{
        'release': snapshot.Release('deployed'), **parts, **kwargs})


def group(**kwargs):
    """Default worker group as DesiredGroup."""
    return goal.DesiredGroup(**as_read({
        'key': 'default-worker', 'name': 'default-worker', 'role': 'worker',
        'status': 'CREATE_IN_PROGRESS', 'count': 2, **kwargs}))


def master(**kwargs):
    """Default master group as DesiredGroup."""
    return group(**{'key': 'default-master', 'name': 'default-master',
                    'role': 'master', 'count': 1, **kwargs})


def desired(*groups, **kwargs):
    """Wanted, of groups given or of the default ones, begun a minute ago."""
    status = kwargs.get('status', 'CREATE_IN_PROGRESS')
    return goal.DesiredCluster(**as_read({
        'name': NAME, 'status': status,
        'groups': groups or (master(status=status), group(status=status)),
        'since': ago(minutes=1), 'timeout': 60, **kwargs}))


def conditions(types, status='True'):
    return [{'type': kind, 'status': status, 'reason': 'Because',
             'message': ''} for kind in types]


def made(version, kind, name, spec, status, new, old, labels=None,
         generation=1):
    """An object in the shape of a version, with both vocabularies.

    :param new: types of its v1beta2 conditions that are True.
    :param old: of its v1beta1 conditions.
    """
    group = ('controlplane.' if kind == 'KubeadmControlPlane' else ''
             ) + 'cluster.x-k8s.io'
    status = {'observedGeneration': generation, **copy.deepcopy(status)}
    newer, older = conditions(new), conditions(old)
    if version == V1BETA1:
        counts = {key: status.pop(key) for key in (
            'upToDateReplicas', 'readyReplicas', 'availableReplicas')
            if key in status}
        status |= {'conditions': older,
                   'v1beta2': {'conditions': newer, **counts}}
    else:
        status |= {'conditions': newer,
                   'deprecated': {'v1beta1': {'conditions': older}}}
    return {
        'apiVersion': f'{group}/{version}', 'kind': kind,
        'metadata': {'name': name, 'generation': generation,
                     'labels': {'cluster.x-k8s.io/cluster-name': NAME,
                                **(labels or {})}},
        'spec': copy.deepcopy(spec), 'status': status}


def counts(number):
    return {key: number for key in (
        'replicas', 'upToDateReplicas', 'readyReplicas', 'availableReplicas')}


def cluster(version=V1BETA2, **spec):
    return made(
        version, 'Cluster', NAME,
        {'controlPlaneEndpoint': {'host': '192.0.2.7', 'port': 6443}, **spec},
        {'phase': 'Provisioned'},
        ('InfrastructureReady', 'ControlPlaneInitialized',
         'ControlPlaneAvailable', 'Available', 'RemoteConnectionProbe'),
        ('InfrastructureReady', 'ControlPlaneReady', 'Ready'))


def control_plane(version=V1BETA2, count=1, kube='v1.34.2'):
    return made(
        version, 'KubeadmControlPlane', f'{NAME}-control-plane',
        {'replicas': count, 'version': kube},
        {**counts(count), 'version': kube},
        ('Initialized', 'Available', 'MachinesReady', 'EtcdClusterHealthy'),
        ('Available', 'Ready', 'EtcdClusterHealthy'))


def template(kube='v1.34.2', machine='t1', bootstrap='b1', zone='az1'):
    return {'spec': {
        'version': kube, 'failureDomain': zone,
        'infrastructureRef': {'kind': 'OpenStackMachineTemplate',
                              'name': machine},
        'bootstrap': {'configRef': {'kind': 'KubeadmConfigTemplate',
                                    'name': bootstrap}}}}


def deployment(version=V1BETA2, key='default-worker', count=2, **kwargs):
    return made(
        version, 'MachineDeployment', f'{NAME}-{key}',
        {'replicas': count, 'template': template(**kwargs)},
        {**counts(count), 'phase': 'Running'},
        ('Available', 'MachinesReady', 'MachinesUpToDate'),
        ('Available', 'Ready'))


def machine_set(version=V1BETA2, key='default-worker', count=2, name='ms1',
                **kwargs):
    return made(
        version, 'MachineSet', f'{NAME}-{key}-{name}',
        {'replicas': count, 'template': template(**kwargs)}, counts(count),
        ('MachinesReady', 'MachinesUpToDate'), ('Ready',),
        {'cluster.x-k8s.io/deployment-name': f'{NAME}-{key}'})


def machine(name='x1', key='default-worker', version=V1BETA2, node=None,
            created=None, **status):
    found = made(
        version, 'Machine', f'{NAME}-{key}-{name}', {'version': 'v1.34.2'},
        {'phase': 'Running', **status}, ('Ready', 'NodeHealthy'),
        ('Ready', 'NodeHealthy'),
        {'cluster.x-k8s.io/deployment-name': f'{NAME}-{key}'})
    if node:
        found['status']['nodeRef'] = {'kind': 'Node', 'name': node}
    if created:
        found['metadata']['creationTimestamp'] = created.isoformat()
    return found


def master_machine(name='x1', **kwargs):
    found = machine(name, 'control-plane', **kwargs)
    found['metadata']['labels'] = {
        'cluster.x-k8s.io/cluster-name': NAME,
        'cluster.x-k8s.io/control-plane': ''}
    return found


def failed_machine(name='x1', key='default-worker',
                   message='No valid host was found.'):
    return machine(name, key, V1BETA1, failureReason='CreateError',
                   failureMessage=message)


def addon(name='cni-calico', phase='Deployed', **status):
    return {'apiVersion': 'addons.stackhpc.com/v1alpha1',
            'kind': 'HelmRelease', 'metadata': {'name': f'{NAME}-{name}'},
            'spec': {'clusterName': NAME},
            'status': {'phase': phase, **status}}


def complete(version=V1BETA2, **kwargs):
    """A Snapshot of a cluster that is all that ``desired()`` wants.

    Its machines are those that its control plane and groups ask for, unless
    they are given.
    """
    parts = {
        'cluster': cluster(version),
        'control_plane': control_plane(version),
        'machine_deployments': {'default-worker': deployment(version)},
        'machine_sets': (machine_set(version),),
        'addons': (addon(),), 'release': snapshot.Release('deployed'),
        **kwargs}
    parts.setdefault('machines', tuple(_machines(version, parts)))
    return snapshot.Snapshot(**as_read(parts))


def _machines(version, parts):
    plane, groups = parts['control_plane'], parts['machine_deployments']
    if plane:
        for number in range(plane['spec'].get('replicas') or 0):
            yield master_machine(f'm{number}', version=version,
                                 node=f'master-{number}')
    for key, found in groups.items():
        yield from workers(key, found['spec'].get('replicas') or 0, version)


def workers(key='default-worker', count=2, version=V1BETA2):
    """The machines of a node group, each of them a node."""
    return [machine(f'w{number}', key, version, node=f'{key}-{number}')
            for number in range(count)]


def condition(obj, kind, **changes):
    """Change a condition of an object, in both vocabularies; return it."""
    status = obj['status']
    for holder in (status, status.get('v1beta2') or {},
                   (status.get('deprecated') or {}).get('v1beta1') or {}):
        for found in holder.get('conditions', ()):
            if found['type'] == kind:
                found.update(changes)
    return obj


def cluster_spec(uuid, image):
    """A cluster of one node group, as little of it as there may be.

    :param image: spec.Image.
    """
    return spec.ClusterSpec(
        uuid=uuid, release=names.cluster(uuid), name='dev', project_id='p1',
        user_id='u1', image=image, master_flavor='m1.medium',
        node_groups=(spec.NodeGroupSpec(
            uuid='1f2c1f2c-0000-4000-8000-000000000002',
            name='default-worker', count=2, flavor='m1.small',
            is_default=True),))
