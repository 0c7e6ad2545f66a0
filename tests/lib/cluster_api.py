# SPDX-License-Identifier: Apache-2.0

"""Controllers of Cluster API, its OpenStack provider and the addon operator.

They work in rounds: what they did in one, they see in the next. Objects have
the form of v1beta2.
"""

import base64
import dataclasses
import datetime
import hashlib
import json
import typing

import yaml

from tests.lib import kube_api
from tests.lib import openstack_api

_CLUSTER = 'cluster.x-k8s.io/cluster-name'
_DEPLOYMENT = 'cluster.x-k8s.io/deployment-name'
_PLANE = 'cluster.x-k8s.io/control-plane'
_SET = 'cluster.x-k8s.io/set-name'
_MARK = 'cluster.x-k8s.io/delete-machine'
_FINALIZER = 'cluster.x-k8s.io/finalizer'
_SIZES = 'cluster.x-k8s.io/cluster-api-autoscaler-node-group'
_HANDLED = 'addons.stackhpc.com/last-handled-configuration'


@dataclasses.dataclass
class Behaviour:
    """What goes wrong in the world, until it is changed.

    :ivar stuck: clusters (by name) whose new machines never become nodes.
    :ivar refused: clusters whose new machines Nova refuses.
    :ivar ill: machines whose nodes are not healthy.
    :ivar addons: state of addons by the Cluster's name: "waiting", "failed".
    :ivar held: clusters that controllers do not see: they stand still.
    """

    stuck: set = dataclasses.field(default_factory=set)
    refused: set = dataclasses.field(default_factory=set)
    ill: set = dataclasses.field(default_factory=set)
    addons: dict = dataclasses.field(default_factory=dict)
    held: set = dataclasses.field(default_factory=set)


class Controllers:
    """All controllers of a management cluster.

    :ivar replaced: (Cluster, name) of machines that were deleted for a
        rollout.
    """

    def __init__(self, api: kube_api.KubeApi,
                 cloud: openstack_api.OpenStack | None = None) -> None:
        self._api = api
        self._cloud = cloud
        self.behaviour = Behaviour()
        self._made = 0

    def round(self) -> bool:
        """Let each controller reconcile once; returns whether it changed."""
        before = self._api.version
        for cluster in self._api.list('Cluster'):
            if cluster['metadata']['name'] not in self.behaviour.held:
                _Cluster(self, self._api, self.behaviour, cluster).reconcile()
        return self._api.version != before

    def settle(self, rounds: int = 60) -> None:
        for _round in range(rounds):
            if not self.round():
                return

    def has_credential(self, namespace: str, name: str) -> bool:
        """Whether Keystone lets the owner of a cluster's Secret in."""
        if self._cloud is None:
            return True
        secret = self._api.get('Secret', namespace, name)
        if secret is None:
            return False
        found = yaml.safe_load(base64.b64decode(secret['data']['clouds.yaml']))
        auth = found['clouds']['openstack']['auth']
        known = self._cloud.credentials.get(
            auth['application_credential_id'])
        return (known is not None and self._cloud._valid(known) and
                known.secret == auth['application_credential_secret'])

    def number(self) -> str:
        self._made += 1
        return f'{self._made:05d}'


class _Cluster:
    """One Cluster and all that it owns, in one round."""

    def __init__(self, all_: Controllers, api: kube_api.KubeApi,
                 behaviour: Behaviour, cluster: dict) -> None:
        self._all = all_
        self._api = api
        self._behaviour = behaviour
        self._name = cluster['metadata']['name']
        self._namespace = cluster['metadata']['namespace']
        self._there = cluster

    def reconcile(self) -> None:
        cluster = kube_api.copied(self._there)
        if (cluster.get('spec') or {}).get('paused'):
            return
        if 'deletionTimestamp' in cluster['metadata']:
            return self._delete(cluster)
        _finalize(cluster)
        cluster['metadata'].setdefault('labels', {})
        cluster = self._write({**cluster, 'kind': 'Cluster'})
        self._adopt(cluster)
        infra = self._infrastructure()
        ready = bool(infra and (infra.get('status') or {}).get('ready'))
        self._boot()
        plane = self._control_plane(ready)
        for deployment in self._list('MachineDeployment'):
            self._deployment(deployment, plane)
        self._addons(plane)
        self._status(ready, plane)

    # Reading and writing.

    def _list(self, kind: str) -> list[dict]:
        return [kube_api.copied(obj) for obj in self._api.list(
            kind, self._namespace, cluster=self._name)]

    def _of_chart(self, kind: str) -> list[dict]:
        return [kube_api.copied(obj) for obj in self._api.list(
            kind, self._namespace, release=self._name)]

    def _get(self, kind: str, name: str) -> dict | None:
        return kube_api.copied(self._api.get(kind, self._namespace, name))

    def _write(self, obj: dict) -> dict:
        return kube_api.copied(self._api.write(obj))

    def _new(self, kind: str, name: str, owner: dict, spec: dict,
             **labels: str) -> dict:
        return {'apiVersion': kube_api.KINDS[kind][0], 'kind': kind,
                'metadata': {
                    'name': name, 'namespace': self._namespace,
                    'labels': {_CLUSTER: self._name, **labels},
                    'finalizers': [_FINALIZER],
                    'ownerReferences': [_owner(owner)]}, 'spec': spec}

    def _nodes(self, machines: typing.Iterable[dict]) -> int:
        return sum(self._is_ready(one) for one in machines)

    def _is_ready(self, machine: dict) -> bool:
        return ('nodeRef' in (machine.get('status') or {})
                and 'deletionTimestamp' not in machine['metadata']
                and machine['metadata']['name'] not in self._behaviour.ill)

    # The parts.

    def _adopt(self, cluster: dict) -> None:
        for kind in ('KubeadmControlPlane', 'OpenStackCluster',
                     'MachineDeployment', 'OpenStackMachineTemplate',
                     'KubeadmConfigTemplate', 'MachineHealthCheck'):
            for obj in self._of_chart(kind):
                metadata = obj['metadata']
                metadata['labels'][_CLUSTER] = self._name
                metadata['ownerReferences'] = [_owner(cluster)]
                if kind in ('KubeadmControlPlane', 'OpenStackCluster',
                            'MachineDeployment'):
                    _finalize(obj)
                if kind == 'MachineDeployment':
                    _defaulted(obj)
                self._write({**obj, 'kind': kind})

    def _infrastructure(self) -> dict | None:
        infra = self._get('OpenStackCluster', self._name)
        if infra is None:
            return None
        status = infra.setdefault('status', {})
        if not status.get('ready') and self._credential():
            status |= {'ready': True, 'initialization': {'provisioned': True}}
            infra['spec']['controlPlaneEndpoint'] = {
                'host': '192.0.2.7', 'port': 6443}
            self._write({**infra, 'kind': 'OpenStackCluster'})
            # It is seen in the next round.
            return None
        return infra

    def _credential(self) -> bool:
        infra = self._get('OpenStackCluster', self._name) or {}
        identity = (infra.get('spec') or {}).get('identityRef') or {}
        return self._all.has_credential(
            self._namespace, identity.get('name', ''))

    def _boot(self) -> None:
        """Machines become nodes, or are gone."""
        machines = self._list('Machine')
        initialized = self._initialized()
        able = self._credential()
        for machine in machines:
            metadata = machine['metadata']
            if 'deletionTimestamp' in metadata:
                if able:
                    self._forget(machine)
                continue
            before = json.dumps(machine.get('status'))
            self._boot_one(machine, initialized, able)
            if json.dumps(machine.get('status')) != before:
                self._write({**machine, 'kind': 'Machine'})

    def _forget(self, machine: dict) -> None:
        machine['metadata']['finalizers'] = []
        self._write({**machine, 'kind': 'Machine'})
        server = self._get('OpenStackServer', machine['metadata']['name'])
        if server is not None:
            self._api.delete({**server, 'kind': 'OpenStackServer'})

    def _initialized(self) -> bool:
        plane = self._get('KubeadmControlPlane', self._name + '-control-plane')
        return bool(((plane or {}).get('status') or {}).get(
            'initialization', {}).get('controlPlaneInitialized'))

    def _boot_one(self, machine: dict, initialized: bool,
                  able: bool) -> None:
        name = machine['metadata']['name']
        status = machine.setdefault('status', {})
        is_plane = _PLANE in machine['metadata']['labels']
        node = 'nodeRef' in status
        ready = able and (is_plane or initialized) and (
            self._name not in self._behaviour.stuck | self._behaviour.refused)
        if not node and not status.get('seen'):
            status['seen'] = True
        elif not node and ready:
            node = True
            status['nodeRef'] = {'kind': 'Node', 'name': name}
        if not node and able and self._name in self._behaviour.refused:
            self._refuse(machine)
        ill = name in self._behaviour.ill
        status |= {'phase': 'Running' if node else 'Provisioning',
                   'observedGeneration': machine['metadata']['generation'],
                   'conditions': self._conditions(
                       status, Ready=node and not ill,
                       Available=node and not ill,
                       InfrastructureReady=node,
                       NodeHealthy=node and not ill,
                       NodeReady=node and not ill,
                       Deleting=False, Updating=False, Paused=False)}

    def _refuse(self, machine: dict) -> None:
        name = machine['metadata']['name']
        if self._get('OpenStackServer', name) is None:
            server = self._new('OpenStackServer', name, machine, {})
            del server['metadata']['finalizers']
            server['status'] = {
                'instanceState': 'ERROR', 'conditions': [{
                    'type': 'InstanceReady', 'status': 'False',
                    'reason': 'InstanceCreateFailed',
                    'message': 'No valid host was found.'}]}
            self._write(server)

    def _control_plane(self, ready: bool) -> dict | None:
        plane = self._get(
            'KubeadmControlPlane', self._name + '-control-plane')
        if plane is None or 'deletionTimestamp' in plane['metadata']:
            return plane
        spec = plane['spec']
        template = spec['machineTemplate']['infrastructureRef']['name']
        own = [one for one in self._list('Machine')
               if _PLANE in one['metadata']['labels']]
        new = [one for one in own if _is_of(one, spec['version'], template)]
        old = [one for one in own if one not in new]
        there = [one for one in own
                 if 'deletionTimestamp' not in one['metadata']]
        wanted = spec['replicas']
        old_there = [one for one in old if one in there]
        settled = len(there) == len(own) and self._nodes(own) == len(own)
        if ready and len(there) < wanted and (not there or settled):
            self._machine(plane, spec['version'], template, {_PLANE: ''})
        elif ready and old_there and len(there) <= wanted and settled:
            self._machine(plane, spec['version'], template, {_PLANE: ''})
        elif settled and len(there) > wanted:
            self._api.delete({**(old_there or there)[0], 'kind': 'Machine'})
        own = [one for one in self._list('Machine')
               if _PLANE in one['metadata']['labels']]
        new = [one for one in own if _is_of(one, spec['version'], template)]
        nodes = self._nodes(own)
        status = plane.setdefault('status', {})
        initialized = bool(nodes) or status.get('initialization', {}).get(
            'controlPlaneInitialized', False)
        rolling = len(new) < len(own)
        versions = sorted({one['spec']['version'] for one in own})
        status |= {
            'replicas': len(own), 'upToDateReplicas': len(new),
            'readyReplicas': nodes, 'availableReplicas': nodes,
            'initialization': {'controlPlaneInitialized': initialized},
            'observedGeneration': plane['metadata']['generation'],
            'conditions': self._conditions(
                status, Available=initialized and nodes > 0,
                Initialized=initialized,
                CertificatesAvailable=True,
                EtcdClusterHealthy=nodes > 0 and nodes == len(own),
                ControlPlaneComponentsHealthy=(
                    nodes > 0 and nodes == len(own)),
                RollingOut=rolling, Remediating=False,
                ScalingDown=len(own) > wanted, ScalingUp=len(own) < wanted,
                MachinesReady=nodes == len(own),
                MachinesUpToDate=not rolling, Paused=False, Deleting=False)}
        if versions:
            status['version'] = versions[0]
        return self._write({**plane, 'kind': 'KubeadmControlPlane'})

    def _machine(self, owner: dict, version: str, template: str,
                 labels: dict, zone: str | None = None,
                 bootstrap: str | None = None) -> None:
        name = f'{owner["metadata"]["name"]}-{self._all.number()}'
        spec: dict = {
            'clusterName': self._name, 'version': version,
            'infrastructureRef': {'kind': 'OpenStackMachine', 'name': name,
                                  'template': template}}
        if zone:
            spec['failureDomain'] = zone
        if bootstrap:
            spec['bootstrap'] = bootstrap
        self._write(self._new('Machine', name, owner, spec, **labels))

    def _deployment(self, deployment: dict, plane: dict | None) -> None:
        name = deployment['metadata']['name']
        sets = [one for one in self._list('MachineSet')
                if one['metadata']['labels'][_DEPLOYMENT] == name]
        if 'deletionTimestamp' in deployment['metadata']:
            return self._delete_deployment(deployment, sets)
        # A MachineSet starts no machines before there is a control plane of
        # a version that they can join.
        joins = plane is not None and plane['status'].get(
            'initialization', {}).get('controlPlaneInitialized')
        spec = deployment['spec']
        template = spec['template']['spec']
        present = next((one for one in sets if _essence(
            one['spec']['template']['spec']) == _essence(template)), None)
        wanted = spec.get('replicas', 1)
        if present is None:
            present = self._write(self._new(
                'MachineSet', f'{name}-{self._all.number()}', deployment,
                {'replicas': 0, 'template': kube_api.copied(spec['template'])},
                **{_DEPLOYMENT: name}))
            sets.append(present)
        machines = self._machines(name)
        self._roll(deployment, present, sets, machines, wanted, joins)
        self._deployment_status(deployment, wanted)

    def _machines(self, deployment: str) -> list[dict]:
        return [one for one in self._list('Machine')
                if one['metadata']['labels'].get(_DEPLOYMENT) == deployment]

    def _roll(self, deployment: dict, present: dict, sets: list[dict],
              machines: list[dict], wanted: int, joins: bool) -> None:
        """Add and remove machines as the strategy has it."""
        strategy = deployment['spec'].get('strategy') or {}
        rolling = strategy.get('rollingUpdate') or {}
        surge = _number(rolling.get('maxSurge', 1), wanted)
        gap = _number(rolling.get('maxUnavailable', 0), wanted)
        there = [one for one in machines
                 if 'deletionTimestamp' not in one['metadata']]
        own = present['metadata']['name']
        new = [one for one in there if one['metadata']['labels'][_SET] == own]
        old = [one for one in there if one not in new]
        if strategy.get('type') == 'OnDelete':
            surge = gap = 0
        ready = self._nodes(there)
        if len(there) > wanted + surge or (not old and len(there) > wanted):
            self._drop(old + new, len(there) - wanted)
        elif old and strategy.get('type') != 'OnDelete':
            broken = [one for one in old if not self._is_ready(one)]
            spare = ready - (wanted - gap)
            if broken:
                self._drop(broken, 1)
            elif len(machines) > wanted and spare > 0 or (
                    gap and spare > 0 and len(machines) <= wanted):
                self._drop(old, max(min(spare, len(old)), 1))
            if joins and len(machines) < wanted + surge:
                self._add(deployment, present)
        elif joins and len(machines) < wanted:
            for _one in range(wanted - len(machines)):
                self._add(deployment, present)
        self._sets(deployment, sets)

    def _add(self, deployment: dict, machine_set: dict) -> None:
        template = machine_set['spec']['template']['spec']
        self._machine(
            machine_set, template['version'],
            template['infrastructureRef']['name'],
            {_DEPLOYMENT: deployment['metadata']['name'],
             _SET: machine_set['metadata']['name']},
            template.get('failureDomain'),
            template['bootstrap']['configRef']['name'])

    def _drop(self, machines: list[dict], number: int) -> None:
        """Delete machines: marked ones, those without nodes, new ones."""
        def rank(machine):
            annotations = machine['metadata'].get('annotations') or {}
            return (_MARK not in annotations, self._is_ready(machine),
                    -int(machine['metadata']['name'].rpartition('-')[2]))
        for machine in sorted(machines, key=rank)[:number]:
            self._api.delete({**machine, 'kind': 'Machine'})

    def _sets(self, deployment: dict, sets: list[dict]) -> None:
        template = deployment['spec']['template']['spec']
        machines = self._machines(deployment['metadata']['name'])
        for one in sets:
            own = [machine for machine in machines if machine['metadata'][
                'labels'][_SET] == one['metadata']['name']]
            nodes = self._nodes(own)
            present = _essence(one['spec']['template']['spec']) == _essence(
                template)
            alive = [machine for machine in own
                     if 'deletionTimestamp' not in machine['metadata']]
            one['spec']['replicas'] = (
                deployment['spec'].get('replicas', 1)
                - sum(machine not in own and 'deletionTimestamp'
                      not in machine['metadata'] for machine in machines)
                if present else len(alive))
            one['spec']['replicas'] = max(one['spec']['replicas'], 0)
            one = self._write({**one, 'kind': 'MachineSet'})
            one['status'] = {
                'replicas': len(own), 'readyReplicas': nodes,
                'availableReplicas': nodes,
                'upToDateReplicas': len(own) if present else 0,
                'observedGeneration': one['metadata']['generation'],
                'conditions': self._conditions(
                    one.get('status') or {}, MachinesReady=nodes == len(own),
                    MachinesUpToDate=present, Remediating=False,
                    ScalingUp=len(own) < one['spec']['replicas'],
                    ScalingDown=len(own) > one['spec']['replicas'],
                    Paused=False, Deleting=False)}
            self._write({**one, 'kind': 'MachineSet'})

    def _deployment_status(self, deployment: dict, wanted: int) -> None:
        deployment = self._get(
            'MachineDeployment', deployment['metadata']['name'])
        template = deployment['spec']['template']['spec']
        own = self._machines(deployment['metadata']['name'])
        new = [one for one in own if _is_of(
            one, template['version'], template['infrastructureRef']['name'],
            template['bootstrap']['configRef']['name'],
            template.get('failureDomain'))]
        nodes = self._nodes(own)
        status = deployment.setdefault('status', {})
        status |= {
            'replicas': len(own), 'upToDateReplicas': len(new),
            'readyReplicas': nodes, 'availableReplicas': nodes,
            'phase': 'Running' if len(own) == wanted else 'ScalingUp',
            'observedGeneration': deployment['metadata']['generation'],
            'conditions': self._conditions(
                status, Available=nodes >= wanted - 1 and (
                    nodes > 0 or not wanted),
                MachinesReady=nodes == len(own),
                MachinesUpToDate=len(new) == len(own),
                RollingOut=len(new) < len(own), Remediating=False,
                ScalingUp=len(own) < wanted, ScalingDown=len(own) > wanted,
                Paused=False, Deleting=False)}
        self._write({**deployment, 'kind': 'MachineDeployment'})

    def _delete_deployment(self, deployment: dict,
                           sets: list[dict]) -> None:
        machines = self._machines(deployment['metadata']['name'])
        for machine in machines:
            self._api.delete({**machine, 'kind': 'Machine'})
        if not machines:
            for one in sets:
                one['metadata']['finalizers'] = []
                self._write({**one, 'kind': 'MachineSet'})
                self._api.delete({**one, 'kind': 'MachineSet'})
            deployment['metadata']['finalizers'] = []
            self._write({**deployment, 'kind': 'MachineDeployment'})

    def _addons(self, plane: dict | None) -> None:
        state = self._behaviour.addons.get(self._name)
        for kind in ('HelmRelease', 'Manifests'):
            for addon in self._of_chart(kind):
                self._addon({**addon, 'kind': kind}, state)

    def _addon(self, addon: dict, state: str | None) -> None:
        metadata = addon['metadata']
        status = addon.setdefault('status', {})
        metadata['labels'].setdefault(
            'addons.stackhpc.com/cluster', self._name)
        name = metadata['name'].removeprefix(f'{self._name}-')
        annotations = metadata.setdefault('annotations', {})
        if name in ('cloud-config', 'ccm-openstack', 'csi-cinder'):
            secret = f'{self._name}-cloud-credentials'
            metadata['labels'].setdefault(
                f'{secret}.secret.addons.stackhpc.com/uses', '')
            found = self._get('Secret', secret)
            if found:
                annotations[f'secret.addons.stackhpc.com/{secret}'] = (
                    _checksum(found['data']))
        essence = {
            'spec': addon['spec'], 'metadata': {
                'labels': metadata['labels'], 'annotations': {
                    key: text for key, text in annotations.items()
                    if key.startswith('secret.')}}}
        handled = json.dumps(essence, sort_keys=True)
        if not self._initialized():
            status['phase'] = 'Pending'
        elif state == 'failed':
            status |= {'phase': 'Failed', 'failureMessage': 'it timed out'}
        elif state == 'waiting':
            status['phase'] = 'Installing' if (
                status.get('phase') != 'Deployed') else 'Upgrading'
        elif status.get('phase') in (None, 'Pending'):
            status['phase'] = 'Installing'
        else:
            status['phase'] = 'Deployed'
            status.pop('failureMessage', None)
            annotations[_HANDLED] = handled
        self._write(addon)

    def _status(self, ready: bool, plane: dict | None) -> None:
        cluster = self._get('Cluster', self._name)
        machines = self._list('Machine')
        parts = {'controlPlane': [one for one in machines
                                  if _PLANE in one['metadata']['labels']]}
        parts['workers'] = [one for one in machines
                            if one not in parts['controlPlane']]
        deployments = self._list('MachineDeployment')
        wanted = {
            'controlPlane': plane['spec']['replicas'] if plane else 0,
            'workers': sum(one['spec'].get('replicas', 1)
                           for one in deployments)}
        fresh = {
            'controlPlane': plane['status'].get('upToDateReplicas', 0)
            if plane else 0,
            'workers': sum((one.get('status') or {}).get(
                'upToDateReplicas', 0) for one in deployments)}
        status = cluster.setdefault('status', {})
        for part, own in parts.items():
            nodes = self._nodes(own)
            status[part] = {
                'desiredReplicas': wanted[part], 'replicas': len(own),
                'readyReplicas': nodes, 'availableReplicas': nodes,
                'upToDateReplicas': fresh[part]}
        initialized = bool(plane and plane['status']['initialization'][
            'controlPlaneInitialized'])
        up = initialized and self._nodes(parts['controlPlane']) > 0
        cluster['spec'].setdefault('controlPlaneEndpoint', {})
        if ready:
            cluster['spec']['controlPlaneEndpoint'] = {
                'host': '192.0.2.7', 'port': 6443}
        cluster = self._write({**cluster, 'kind': 'Cluster'})
        status = {**status, 'phase': 'Provisioned' if ready
                  else 'Provisioning',
                  'observedGeneration': cluster['metadata']['generation']}
        rolling = any(count['upToDateReplicas'] < count['replicas']
                      for count in (status['controlPlane'],
                                    status['workers']))
        workers = status['workers']
        status['conditions'] = self._conditions(
            status, Available=ready and up, RemoteConnectionProbe=up,
            InfrastructureReady=ready, ControlPlaneInitialized=initialized,
            ControlPlaneAvailable=up,
            WorkersAvailable=workers['readyReplicas'] >= workers['replicas'],
            ControlPlaneMachinesReady=up, WorkerMachinesReady=(
                workers['readyReplicas'] == workers['replicas']),
            RollingOut=rolling, Remediating=False, ScalingUp=False,
            ScalingDown=False, Paused=False, Deleting=False)
        cluster['status'] = status
        self._write({**cluster, 'kind': 'Cluster'})

    def _conditions(self, status: dict, **found: bool) -> list[dict]:
        known = {one['type']: one for one in status.get('conditions', ())}
        result = []
        for kind, value in found.items():
            text = str(bool(value))
            before = known.get(kind)
            result.append(before if before and before['status'] == text
                          else {
                              'type': kind, 'status': text,
                              'reason': kind if value else f'Not{kind}',
                              'message': '', 'lastTransitionTime':
                              self._api.timestamp()})
        return result

    def _delete(self, cluster: dict) -> None:
        """Workers first, then the control plane, then the network."""
        workers = self._list('MachineDeployment')
        for one in workers:
            self._api.delete({**one, 'kind': 'MachineDeployment'})
        self._boot()
        for one in self._list('MachineDeployment'):
            self._deployment(one, None)
        plane = self._get(
            'KubeadmControlPlane', self._name + '-control-plane')
        infra = self._get('OpenStackCluster', self._name)
        if self._list('MachineDeployment') or self._list('MachineSet'):
            pass
        elif plane is not None and self._owned(plane):
            machines = self._list('Machine')
            for machine in machines:
                self._api.delete({**machine, 'kind': 'Machine'})
            self._api.delete({**plane, 'kind': 'KubeadmControlPlane'})
            if not machines:
                plane = self._get('KubeadmControlPlane',
                                  self._name + '-control-plane')
                if plane is not None:
                    plane['metadata']['finalizers'] = []
                    self._write({**plane, 'kind': 'KubeadmControlPlane'})
        elif infra is not None and self._owned(infra):
            self._api.delete({**infra, 'kind': 'OpenStackCluster'})
            if self._credential():
                infra = self._get('OpenStackCluster', self._name)
                if infra is not None:
                    infra['metadata']['finalizers'] = []
                    self._write({**infra, 'kind': 'OpenStackCluster'})
        else:
            cluster['metadata']['finalizers'] = []
            self._write({**cluster, 'kind': 'Cluster'})

    def _owned(self, obj: dict) -> bool:
        return any(one['name'] == self._name for one in obj['metadata'].get(
            'ownerReferences') or ())


def _owner(obj: dict) -> dict:
    return {'apiVersion': obj['apiVersion'], 'kind': obj['kind'],
            'name': obj['metadata']['name'], 'uid': obj['metadata']['uid']}


def _finalize(obj: dict) -> None:
    obj['metadata'].setdefault('finalizers', [_FINALIZER])


def _defaulted(deployment: dict) -> None:
    """What Cluster API's webhook writes: an autoscaled one without a size.

    (core/webhooks/admission, calculateMachineDeploymentReplicas)
    """
    if 'replicas' in deployment['spec']:
        return
    annotations = deployment['metadata'].get('annotations') or {}
    low = int(annotations.get(f'{_SIZES}-min-size', 1))
    deployment['spec']['replicas'] = low


def _is_of(machine: dict, version: str, template: str,
           bootstrap: str | None = None, zone: str | None = None) -> bool:
    spec = machine['spec']
    return (spec['version'], spec['infrastructureRef']['template'],
            spec.get('bootstrap'), spec.get('failureDomain')) == (
        version, template, bootstrap, zone)


def _essence(template: dict) -> tuple:
    """What makes machines differ (Cluster API 1.14, mdutil)."""
    return (template['version'], template['infrastructureRef']['name'],
            template['bootstrap']['configRef']['name'],
            template.get('failureDomain'))


def _number(value: typing.Any, of: int) -> int:
    if isinstance(value, str) and value.endswith('%'):
        return of * int(value[:-1]) // 100
    return int(value)


def _checksum(data: dict) -> str:
    text = ';'.join(sorted(f'{key}={value}' for key, value in data.items()))
    return hashlib.sha256(text.encode()).hexdigest()


def moment(text: str) -> datetime.datetime:
    """A timestamp of Kubernetes, aware."""
    return datetime.datetime.fromisoformat(text.replace('Z', '+00:00'))
