# SPDX-License-Identifier: Apache-2.0

"""A user's actions on a cluster of real nodes in a sandbox.

With a user's tools: Magnum's REST API, the openstack client for the
kubeconfig, and kubectl. Every wait has a timeout and reports the last state.
"""

import json
import os

import requests

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi import waiting
from magnum_capi_sandbox import access
from magnum_capi_sandbox.cloud import environment
from magnum_capi_sandbox import machines
from magnum_capi_sandbox import nodes
from magnum_capi_tempest import dockers
from magnum_capi_tempest import toolchain
from tests.functional import cloud

#: Serves HTTP.
WORKLOAD = 'registry.k8s.io/e2e-test-images/agnhost:2.56'

#: Seconds for a cluster of two nodes on two busy cores.
PATIENCE = 900

#: Pods that serve HTTP, one on every node.
_SERVERS = {
    'apiVersion': 'apps/v1', 'kind': 'DaemonSet',
    'metadata': {'name': 'servers'},
    'spec': {
        'selector': {'matchLabels': {'app': 'servers'}},
        'template': {
            'metadata': {'labels': {'app': 'servers'}},
            'spec': {
                'tolerations': [{'operator': 'Exists'}],
                'terminationGracePeriodSeconds': 0,
                'containers': [{
                    'name': 'server',
                    'args': ['netexec', '--http-port=8080'],
                    'readinessProbe': {'httpGet': {
                        'path': '/hostname', 'port': 8080}}}]}}}}

_SERVICE = {
    'apiVersion': 'v1', 'kind': 'Service', 'metadata': {'name': 'servers'},
    'spec': {'selector': {'app': 'servers'}, 'ports': [{'port': 8080}]}}

_PUBLIC = {
    'apiVersion': 'v1', 'kind': 'Service', 'metadata': {'name': 'public'},
    'spec': {'type': 'LoadBalancer', 'selector': {'app': 'servers'},
             'ports': [{'port': 80, 'targetPort': 8080}]}}


def answer(url) -> str:
    """Name of the pod that answers at a URL of :meth:`Cluster.expose`."""
    with requests.Session() as session:
        session.trust_env = False   # no proxy
        found = session.get(f'{url}/hostname', timeout=20)
        found.raise_for_status()
        return found.text


def problem() -> str | None:
    """Why there cannot be servers that are containers, None if there can.

    They need Docker, and the images of ``tools/offline/images.sh load``.
    """
    try:
        nodes.wanted(nodes.DOCKER, servers=True)
    except errors.EnvironmentProblem as e:
        return str(e)
    return None


class Cloud:
    """A user of a sandbox whose nodes are real.

    :param box: :class:`magnum_capi_sandbox.Box`.
    """

    def __init__(self, box, progress):
        self.box = box
        self.made_of = box.spec().machines
        self._user = cloud.Cloud(box, timeout=600)
        self.request, self.magnum = self._user.magnum, self._user.ask
        self._venv = environment.ensure(progress)
        self.kubectl = toolchain.ensure(['kubectl'], progress)['kubectl']

    def template(self, driver, version, **change):
        """Make a template; returns its id."""
        return self._user.make_template(
            nodes.image_name(version), name=f'{driver}-{version}',
            driver=driver, **change)

    def create(self, template, name='demo', **change):
        """Make a cluster of two nodes."""
        uuid = self._user.create(name, cluster_template_id=template, **change)
        # Magnum answers before the cluster is in its database.
        waiting.wait_for(
            lambda: self.request('GET', f'clusters/{uuid}').status_code,
            done=lambda code: code == 200, timeout=600,
            what=f'cluster {uuid} to be known')
        return Cluster(self, uuid)

    def kubeconfig(self, uuid) -> str:
        """Path of the file that ``openstack coe cluster config`` writes."""
        folder = self.box.directory / 'tmp' / f'config-{uuid}'
        folder.mkdir(exist_ok=True)
        variables = access.variables(self.box.layout(), self._venv)
        processes.run(
            [variables['SANDBOX_OPENSTACK'], 'coe', 'cluster', 'config',
             uuid, '--dir', folder, '--force'], timeout=600,
            env={k: v for k, v in os.environ.items()
                 if 'proxy' not in k.lower()} | variables)
        return folder / 'config'

    def containers(self, name='') -> list[str]:
        """Names of the containers in the engine, or of their servers."""
        docker = dockers.Docker(self.made_of.docker)
        lines = docker.run(
            'ps', '--all', '--filter', f'label={dockers.OWNER}='
            f'{machines.owner(self.box.directory)}', '--format',
            '{{.Label "io.magnum-capi.server.name"}} {{.Names}}').splitlines()
        return sorted(n for n in (line.split()[0] for line in lines)
                      if name in n)


class Cluster:
    """A cluster of a :class:`Cloud`."""

    def __init__(self, cloud, uuid):
        self.cloud = cloud
        self.uuid = uuid
        self._config = None

    def get(self):
        return self.cloud.magnum('GET', f'clusters/{self.uuid}')

    def wait(self, status, timeout=PATIENCE):
        """Wait for a status; stops at a failed one."""
        return waiting.wait_for(
            self.get, done=lambda c: c['status'] == status,
            failed=lambda c: c['status'].endswith('FAILED')
            and f'{c["status"]}: {c["status_reason"]}', timeout=timeout,
            what=f'cluster {self.uuid} to be {status}',
            describe=lambda c: f'{c["status"]}: {c["status_reason"]}',
            pace=waiting.Pace(1, 1.2, 3))

    def stack(self) -> str:
        """Prefix of the names of its containers."""
        return next(name.partition('-control-plane-')[0]
                    for name in self.nodes() if '-control-plane-' in name)

    def run(self, *args, stdin=None, timeout=600):
        """Output of kubectl with the user's own kubeconfig."""
        if self._config is None:
            self._config = self.cloud.kubeconfig(self.uuid)
        return processes.run(
            [self.cloud.kubectl, '--kubeconfig', self._config, *args],
            timeout=timeout, stdin=stdin,
            env={k: v for k, v in os.environ.items()
                 if 'proxy' not in k.lower()})

    def nodes(self) -> dict[str, tuple[str, bool]]:
        """Version of the kubelet, and whether the node is Ready, by node."""
        found = json.loads(self.run('get', 'nodes', '-o', 'json'))['items']
        return {n['metadata']['name']: (
            n['status']['nodeInfo']['kubeletVersion'],
            any(c['type'] == 'Ready' and c['status'] == 'True'
                for c in n['status']['conditions'])) for n in found}

    def wait_nodes(self, count, version=None, timeout=PATIENCE):
        """Wait for this number of nodes, all Ready, all of a version."""
        return waiting.wait_for(
            self.nodes, timeout=timeout, what=f'{count} nodes to be Ready',
            done=lambda found: len(found) == count and all(
                ready and version in (None, kubelet)
                for kubelet, ready in found.values()),
            pace=waiting.Pace(1, 1.2, 3))

    def resize(self, count):
        self.cloud.magnum('POST', f'clusters/{self.uuid}/actions/resize',
                          {'node_count': count})

    def upgrade(self, template):
        self.cloud.magnum('POST', f'clusters/{self.uuid}/actions/upgrade',
                          {'cluster_template': template, 'max_batch_size': 1})

    def serve(self):
        """Run a serving pod on every node; wait for all and for DNS."""
        _SERVERS['spec']['template']['spec']['containers'][0]['image'] = \
            WORKLOAD
        for wanted in (_SERVERS, _SERVICE):
            self.run('apply', '-f', '-', stdin=json.dumps(wanted))
        for namespace, what in (('default', 'daemonset/servers'),
                                ('kube-system', 'deployment/coredns')):
            self.run('rollout', 'status', what, '--namespace', namespace,
                     '--timeout', '180s', timeout=200)

    def conversations(self) -> dict[tuple[str, str], str]:
        """Answers to each pod from all others, and from the service by name.

        :returns: answer by (node, node or "service").
        """
        pods = json.loads(self.run(
            'get', 'pods', '-l', 'app=servers', '-o', 'json'))['items']
        where = {p['metadata']['name']: (
            p['spec']['nodeName'], p['status']['podIP']) for p in pods}
        told = {}
        for name, (node, _) in where.items():
            for other, address in (*where.values(), ('service', 'servers')):
                told[node, other] = self.run(
                    'exec', name, '--', 'curl', '-sS', '-m', '20',
                    f'http://{address}:8080/hostname').strip()
        return told

    def expose(self, timeout=300) -> str:
        """Make a load balancer for the serving pods; returns its URL."""
        self.run('apply', '-f', '-', stdin=json.dumps(_PUBLIC))
        address = waiting.wait_for(
            lambda: self.run('get', 'service', 'public', '-o', 'jsonpath='
                             '{.status.loadBalancer.ingress[0].ip}'),
            done=bool, timeout=timeout, what='the service to have an address')
        return f'http://{address}'

    def hide(self, timeout=300):
        """Delete what :meth:`expose` made; returns when it has gone."""
        self.run('delete', 'service', 'public', f'--timeout={timeout}s',
                 timeout=timeout + 20)

    def delete(self, timeout=PATIENCE):
        """Delete the cluster and wait until Magnum does not know it."""
        self.cloud.magnum('DELETE', f'clusters/{self.uuid}')

        def look():
            answer = self.cloud.request('GET', f'clusters/{self.uuid}')
            return None if answer.status_code == 404 else answer.text[:300]

        waiting.wait_for(look, done=lambda left: left is None,
                         timeout=timeout, pace=waiting.Pace(1, 1.2, 3),
                         what=f'cluster {self.uuid} to be gone')
