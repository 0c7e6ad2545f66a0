# SPDX-License-Identifier: Apache-2.0

"""A management cluster's Kubernetes API, behind a door, by the clock.

To the server of :mod:`tests.lib.kube_server` it adds what controllers and
charts use. Lists and watches of all namespaces are refused: its user may only
work in namespaces.
"""

import re

from tests.lib import doors
from tests.lib import kube_server
from tests.lib import virtual_time

HOST = 'management.example'
URL = f'http://{HOST}'

copied = kube_server.copied

CORE = 'cluster.x-k8s.io/v1beta2'
PLANE = 'controlplane.cluster.x-k8s.io/v1beta2'
BOOTSTRAP = 'bootstrap.cluster.x-k8s.io/v1beta2'
INFRASTRUCTURE = 'infrastructure.cluster.x-k8s.io/v1beta1'
SERVERS = 'infrastructure.cluster.x-k8s.io/v1alpha1'
ADDONS = 'addons.stackhpc.com/v1alpha1'

#: Group version and plural of the kinds that controllers and charts write.
KINDS = {
    'Cluster': (CORE, 'clusters'),
    'Machine': (CORE, 'machines'),
    'MachineDeployment': (CORE, 'machinedeployments'),
    'MachineSet': (CORE, 'machinesets'),
    'MachineHealthCheck': (CORE, 'machinehealthchecks'),
    'KubeadmControlPlane': (PLANE, 'kubeadmcontrolplanes'),
    'KubeadmConfigTemplate': (BOOTSTRAP, 'kubeadmconfigtemplates'),
    'OpenStackCluster': (INFRASTRUCTURE, 'openstackclusters'),
    'OpenStackMachine': (INFRASTRUCTURE, 'openstackmachines'),
    'OpenStackMachineTemplate': (INFRASTRUCTURE, 'openstackmachinetemplates'),
    'OpenStackServer': (SERVERS, 'openstackservers'),
    'HelmRelease': (ADDONS, 'helmreleases'),
    'Manifests': (ADDONS, 'manifests'),
    'Secret': ('v1', 'secrets'),
    'Namespace': ('v1', 'namespaces'),
}


def path(kind: str, namespace: str, name: str = '') -> str:
    """Path of an object, or of the collection."""
    version, plural = KINDS[kind]
    root = 'apis' if '/' in version else 'api'
    found = f'/{root}/{version}/namespaces/{namespace}/{plural}'
    return f'{found}/{name}' if name else found


class KubeApi(kube_server.ApiServer):
    """The server; :meth:`serve` answers requests.

    :ivar refuse: regular expressions of (method, path) that are forbidden.
    """

    url = URL

    def __init__(self, clock: virtual_time.Clock) -> None:
        super().__init__()
        self.clock = clock
        self.namespaces = set()

    @property
    def date(self) -> float:
        return int(self.clock.now)

    @date.setter
    def date(self, value) -> None:
        """The clock counts."""

    def serve(self, request: doors.Request) -> doors.Answer:
        headers = {key.title(): value for key, value
                   in request.headers.items()}
        asked = _Request(self, request.method, request.target, headers)
        asked.handle(request.body)
        return asked.answered

    def _tell(self, kind: str, path: str, obj: dict) -> None:
        """Nobody may watch."""

    # For controllers, charts and oracles.

    def get(self, kind: str, namespace: str, name: str) -> dict | None:
        return self.objects.get(path(kind, namespace, name))

    def list(self, kind: str, namespace: str | None = None,
             **labels: str) -> list[dict]:
        """Objects of a kind, by name.

        :param labels: cluster, deployment: see LABELS.
        """
        version, plural = KINDS[kind]
        pattern = re.compile(
            f'/apis?/{re.escape(version)}/namespaces/'
            f'{re.escape(namespace) if namespace else "[^/]+"}/{plural}/.*')
        wanted = {LABELS[key]: value for key, value in labels.items()}
        return [obj for where, obj in sorted(self.objects.items())
                if pattern.fullmatch(where) and wanted.items() <= (
                    obj['metadata'].get('labels') or {}).items()]

    def write(self, obj: dict) -> dict:
        """Create or replace an object as a controller does."""
        metadata = obj['metadata']
        return self.put(
            path(obj['kind'], metadata['namespace'], metadata['name']), obj)

    def delete(self, obj: dict) -> None:
        metadata = obj['metadata']
        where = path(obj['kind'], metadata['namespace'], metadata['name'])
        if where in self.objects:
            self.remove(where)


LABELS = {'cluster': 'cluster.x-k8s.io/cluster-name',
          'deployment': 'cluster.x-k8s.io/deployment-name',
          'release': 'capi.stackhpc.com/cluster'}


class _Request(kube_server._Request):

    answered: doors.Answer

    def send(self, status, headers, data):
        self.answered = status, headers, data

    def hang_up(self):
        raise AssertionError('faults are at the door')

    def act(self, path, query, body):
        if query.get('watch') or '/namespaces/' not in path and (
                path.startswith('/apis/') or path.endswith('/secrets')):
            return self.refuse(403, 'Forbidden')
        super().act(path, query, body)
