# SPDX-License-Identifier: Apache-2.0
"""What these proofs ask of Magnum and Keystone, as one of its users."""

import collections
import json
import time

import requests

from magnum_capi import waiting
from magnum_capi_sandbox import rest
from magnum_capi_tempest.tests.common import observations

#: Seconds for a cluster of in-memory machines, on a loaded machine.
PATIENCE = 300

_PACE = waiting.Pace(0.2, 1.2, 0.5)


class Cloud:
    """A user of a running sandbox.

    ``answers`` counts the status codes, with 0 for no answer.

    :param box: the running Sandbox.
    :param driver: of templates; by default the one that Magnum chooses.
    :param user: "demo", or "admin".
    """

    def __init__(self, box, driver=None, user='demo'):
        self.answers = collections.Counter()
        self._driver = driver
        self.user = rest.User(box.layout(), box.passwords()[user], user)
        self._seeded = json.loads(
            (box.directory / 'seeded.json').read_text())
        self.template = self.make_template('ubuntu-capi')

    def make_template(self, image, **change):
        """A cluster template; its UUID.

        :param image: name of one of the sandbox's images.
        :param change: fields that are not as usual.
        """
        if self._driver:
            change['driver'] = self._driver
        answer = self.magnum('POST', 'clustertemplates', {
            'name': 'robustness', 'coe': 'kubernetes',
            'network_driver': 'calico', 'flavor_id': 'm1.small',
            'master_flavor_id': 'm1.small',
            'image_id': self._seeded['images'][image],
            'external_network_id': self._seeded['networks']['public'],
            **change})
        answer.raise_for_status()
        return answer.json()['uuid']

    def magnum(self, method, path, body=None, timeout=60):
        """Send one request.

        :returns: the answer.
        :raises requests.RequestException: there was none.
        """
        try:
            answer = self.user.request(
                'container-infra', method, path, body, timeout)
        except requests.RequestException:
            self.answers[0] += 1
            raise
        self.answers[answer.status_code] += 1
        return answer

    def credentials(self):
        """Ids of the user's application credentials, a set."""
        return {c['id'] for c in self.application_credentials()}

    def application_credentials(self):
        """The user's application credentials, as Keystone tells."""
        answer = self.user.request(
            'identity', 'GET',
            f'users/{self.user.id}/application_credentials')
        answer.raise_for_status()
        return answer.json()['application_credentials']

    def look(self, uuid, timeout=60):
        """Look once at a cluster and its workers, a looks.Look."""
        try:
            answer = self.magnum('GET', f'clusters/{uuid}', timeout=timeout)
            if answer.status_code == 404:
                return observations.Look()
            group = self.magnum(
                'GET', f'clusters/{uuid}/nodegroups/default-worker',
                timeout=timeout)
        except requests.RequestException as e:
            return observations.Look(trouble=f'no answer ({type(e).__name__})')
        # Magnum answers 400 while a cluster has no node groups yet.
        for part in (answer, group):
            if part.status_code != 200:
                return observations.Look(
                    trouble=f'{part.status_code}: {part.text[:200]}')
        return observations.Look(answer.json(), group.json())

    def create(self, name, node_count=1, **change):
        """Ask for a cluster with one control plane machine; its UUID.

        :param change: fields that are not as usual.
        """
        answer = self.magnum('POST', 'clusters', {
            'name': name, 'cluster_template_id': self.template,
            'keypair': 'demo', 'master_count': 1, 'node_count': node_count,
            **change})
        answer.raise_for_status()
        return answer.json()['uuid']

    def wait_created(self, uuid):
        """Wait for CREATE_COMPLETE; returns the Look."""
        seen = []

        def poll():
            look = self.look(uuid)
            seen.append(look.cluster is not None)
            return look

        return waiting.wait_for(
            poll, done=lambda look: look.status == 'CREATE_COMPLETE',
            failed=lambda look: observations.creation_failure(look, any(seen)),
            timeout=PATIENCE, what=f'cluster {uuid} to be created',
            describe=str, pace=_PACE)

    def resize(self, uuid, node_count):
        """Ask for another number of workers; what waits for it.

        :returns: function that waits until the update is complete.
        """
        update = observations.Update(self.look(uuid), node_count)
        answer = self.magnum('POST', f'clusters/{uuid}/actions/resize',
                             {'node_count': node_count})
        answer.raise_for_status()

        def wait():
            steps = [update]

            def poll():
                steps.append(
                    steps[-1].after(self.look(uuid), time.monotonic()))
                return steps[-1]

            waiting.wait_for(
                poll, done=observations.Update.is_over,
                failed=observations.Update.failure, timeout=PATIENCE,
                what=f'{node_count} workers of cluster {uuid}',
                describe=str, pace=_PACE)

        return wait

    def wait_gone(self, uuid, timeout):
        """Wait until Magnum does not know a cluster any more (404)."""
        waiting.wait_for(
            lambda: self.look(uuid), timeout=timeout,
            done=lambda look: not look.trouble and look.cluster is None,
            failed=lambda look: observations.deletion_failure(
                look, look, True),
            what=f'cluster {uuid} to be gone', describe=str, pace=_PACE)
