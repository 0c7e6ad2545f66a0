# SPDX-License-Identifier: Apache-2.0


"""A sandbox with real nodes, and a Magnum user's clusters in it."""

import contextlib
import json
import pathlib
import secrets

import docker
from keystoneauth1 import exceptions as keystone_errors

from magnum_capi import errors
from magnum_capi import waiting
from magnum_capi_sandbox import machines
from magnum_capi_tempest.conformance.run import kubeconfigs
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest import resources
from tests import proofs
from tests.proofs import boxes
from tests.proofs.broken_clusters import breaks

#: Seconds for the creation and for the deletion of a cluster.
MADE, GONE = 900, 600


class Box(boxes.Box):
    """A sandbox, with the image archives of the folder ``IMAGES``."""

    def __init__(self, port_base):
        images = proofs.setting('IMAGES')
        super().__init__(
            port_base, nodes='docker',
            images=pathlib.Path(images) if images else None,
            install=(str(resources.find('drivers/k8s_capi_v1')),))
        self._driver = proofs.setting('DRIVER', 'k8s_capi_v1')

    def prepare(self):
        """Look up the ids of images and networks."""
        self._seeded = json.loads(
            (self.sandbox.directory / 'seeded.json').read_text())

    def user(self, _cloud=None):
        """A connection of the user, for the conformance run."""
        return self.connect('demo')

    @contextlib.contextmanager
    def cluster(self, name):
        """Yield the runs.Target of a new cluster; it is deleted at the end.

        :raises MagnumCapiError: it cannot be made.
        """
        magnum = _Magnum(self.user())
        name = f'{name}-{secrets.token_hex(3)}'
        template = magnum.ask('POST', '/clustertemplates', {
            'name': name, 'coe': 'kubernetes', 'image_id': self._image(),
            'flavor_id': 'm1.small', 'master_flavor_id': 'm1.small',
            'network_driver': 'calico', 'driver': self._driver,
            'external_network_id': self._seeded['networks']['public']})
        try:
            uuid = magnum.ask('POST', '/clusters', {
                'name': name, 'cluster_template_id': template['uuid'],
                'keypair': 'demo', 'master_count': 1,
                'node_count': 1})['uuid']
            try:
                with self.progress.step(f'cluster {name}'):
                    magnum.wait(uuid, 'CREATE_COMPLETE', MADE)
                yield runs.Target(cluster=name)
            finally:
                with self.progress.step(f'deletion of cluster {name}'):
                    magnum.ask('DELETE', f'/clusters/{uuid}')
                    magnum.wait(uuid, None, GONE)
        finally:
            magnum.ask('DELETE', f'/clustertemplates/{template["uuid"]}')

    def _image(self):
        """Id of the image with the newest Kubernetes."""
        # "kubernetes-1.34": minors have two digits.
        return max((name, id_) for name, id_ in
                   self._seeded['images'].items()
                   if name.startswith('kubernetes-'))[1]

    @contextlib.contextmanager
    def machines(self, target):
        """Yield :class:`.breaks.Machines` of a cluster."""
        client = docker.DockerClient(
            base_url=machines.docker_host(self.sandbox.directory))
        try:
            with kubeconfigs.access(target, self.user) as access:
                yield breaks.Machines(
                    client, kube.Client(access.kubeconfig))
        finally:
            client.close()


class _Magnum:
    """Magnum's REST API, of a user."""

    def __init__(self, connection):
        self._api = connection.container_infrastructure_management

    def ask(self, method, path, body=None):
        """Send a request; returns the body of the response, {} if empty.

        :raises MagnumCapiError: it was refused.
        """
        answer = self._api.request(path, method, json=body, headers={
            'OpenStack-API-Version': 'container-infra 1.9'})
        if answer.status_code >= 400:
            raise errors.MagnumCapiError(
                f'Magnum answered {answer.status_code} to {method} {path}',
                last_seen=answer.text[:300])
        return answer.json() if answer.content else {}

    def wait(self, uuid, status, timeout):
        """Wait for a status; None: until the cluster is gone."""
        waiting.wait_for(
            lambda: self._status(uuid), timeout=timeout,
            done=lambda found: found[0] == status,
            failed=lambda found: found[1] if (found[0] or '').endswith(
                '_FAILED') else None,
            what=f'cluster {uuid} to be {status or "gone"}',
            describe=lambda found: ': '.join(filter(None, found)) or 'gone',
            pace=waiting.Pace(1, 1.5, 5))

    def _status(self, uuid):
        try:
            known = self.ask('GET', '/clusters/detail')['clusters']
        except keystone_errors.ClientException as e:
            # A machine that is busy with nodes may drop connections.
            return 'no answer', type(e).__name__
        found = [c for c in known if c['uuid'] == uuid]
        if not found:
            return None, ''
        return (found[0]['status'],
                found[0].get('status_reason') or 'no reason given')
