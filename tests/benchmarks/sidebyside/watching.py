# SPDX-License-Identifier: Apache-2.0
"""The management cluster as the benchmark sees it, beside both drivers.

Watches tell of a change in milliseconds and cost the API server little, where
lists of a hundred clusters would compete with what is measured.
"""

import concurrent.futures
import threading
import time

from kubernetes import client
from kubernetes import config
from kubernetes import watch

from tests.benchmarks.sidebyside import figures
from tests.benchmarks.sidebyside import truth

_CORE = 'cluster.x-k8s.io', 'v1beta2'
_ADDONS = 'addons.stackhpc.com', 'v1alpha1'
_MACHINES = ('infrastructure.cluster.x-k8s.io', 'v1beta1')

_WATCHED = (
    (truth.CLUSTER, *_CORE, 'clusters'),
    (truth.MACHINE, *_CORE, 'machines'),
    (truth.ADDON, *_ADDONS, 'helmreleases'),
    (truth.ADDON, *_ADDONS, 'manifests'),
)

#: The knob of the sandbox (doc/source/sandbox.rst).
_KNOB = 'sandbox.magnum-capi/node'


class Management:
    """A management cluster.

    :param kubeconfig: path.
    :param history: truth.History that is told of all changes, with times of
        time.monotonic.
    """

    def __init__(self, kubeconfig, history):
        self._api = config.new_client_from_config(str(kubeconfig))
        self._custom = client.CustomObjectsApi(self._api)
        self._history = history
        self._lock = threading.Lock()
        self.broken = None

    def start(self):
        """Watch from now on, until this process ends."""
        for kind, *where in _WATCHED:
            threading.Thread(target=self._watch, args=(kind, where),
                             daemon=True).start()

    def _watch(self, kind, where):
        try:
            for event in watch.Watch().stream(
                    self._custom.list_cluster_custom_object, *where):
                with self._lock:
                    self._history.see(
                        kind, event['type'] == 'DELETED', event['object'],
                        time.monotonic())
        except Exception as e:
            # Raised where it matters: at the end it is the sandbox's end.
            self.broken = e

    def ask(self, method, *args):
        """Call a method of the history; watches wait meanwhile."""
        if self.broken:
            raise self.broken
        with self._lock:
            return getattr(self._history, method)(*args)

    def lacks_now(self, name):
        """As truth.lacks, of objects that are read now."""
        clusters = self._list(_CORE, 'clusters',
                              field_selector=f'metadata.name={name}')
        machines = self._list(_CORE, 'machines',
                              label_selector=f'{truth.OF_CLUSTER}={name}')
        return truth.lacks(clusters[0] if clusters else None, machines,
                           self.ask('wanted', name))

    def hold(self, names, held):
        """Have nodes of control planes stop, or start again, being Ready.

        :param names: of Clusters.
        :param held: bool.
        """
        machines = [
            machine for machine in self._list(
                _MACHINES, 'openstackmachines', label_selector=truth.MASTERS)
            if machine['metadata']['labels'][truth.OF_CLUSTER] in names]
        note = {'metadata': {'annotations': {
            _KNOB: 'not-ready' if held else None}}}

        def change(machine):
            metadata = machine['metadata']
            self._custom.patch_namespaced_custom_object(
                *_MACHINES, metadata['namespace'], 'openstackmachines',
                metadata['name'], note)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(change, machines))

    def counted(self):
        """See figures.counted."""
        text = self._api.call_api(
            *self._api.param_serialize('GET', '/metrics', auth_settings=[
                'BearerToken'])).read().decode()
        return figures.counted(text)

    def _list(self, where, plural, **kwargs):
        return self._custom.list_cluster_custom_object(
            *where, plural, **kwargs)['items']
