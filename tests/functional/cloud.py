# SPDX-License-Identifier: Apache-2.0

"""What tests ask of a sandbox's Magnum and Keystone, as one of its users."""

import collections
import functools
import json
import time

import requests

from magnum_capi import errors
from magnum_capi import waiting
from magnum_capi_sandbox import rest
from magnum_capi_tempest.tests.common import observations

#: Seconds for a cluster of in-memory machines, on a loaded machine.
PATIENCE = 300

_PACE = waiting.Pace(0.2, 1.2, 0.5)


class Cloud:
    """A user of a running sandbox.

    :param box: sandbox.Box.
    :param driver: of templates; by default the one that Magnum chooses.
    :param user: "demo", or "admin".
    :param timeout: seconds for an answer.
    :ivar answers: numbers of answers by status code, with 0 for none.
    :ivar seeded: ids of images and networks of the sandbox, by name.
    """

    def __init__(self, box, driver=None, user='demo', timeout=60):
        self.answers = collections.Counter()
        self._driver = driver
        self.user = rest.User(box.layout(), box.passwords()[user], user,
                              timeout)
        self.seeded = json.loads((box.directory / 'seeded.json').read_text())

    @functools.cached_property
    def template(self):
        """UUID of a template for clusters that are as usual."""
        return self.make_template()

    def template_body(self, image='ubuntu-capi', **change):
        """Fields of a template.

        :param image: name of one of the sandbox's images.
        :param change: fields that are not as usual.
        """
        driver = {'driver': self._driver} if self._driver else {}
        return {'name': 'template', 'coe': 'kubernetes',
                'network_driver': 'calico', 'flavor_id': 'm1.small',
                'master_flavor_id': 'm1.small',
                'image_id': self.seeded['images'][image],
                'external_network_id': self.seeded['networks']['public'],
                **driver, **change}

    def make_template(self, image='ubuntu-capi', **change):
        """Make a template, see :meth:`template_body`; its UUID."""
        return self.ask('POST', 'clustertemplates', self.template_body(
            image, **change))['uuid']

    def magnum(self, method, path, body=None, timeout=None):
        """Send one request.

        :returns: the answer, whatever its status.
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

    def ask(self, method, path, body=None):
        """Send one request; the decoded answer, None if it is empty.

        :raises MagnumCapiError: it was refused.
        """
        answer = self.magnum(method, path, body)
        if not answer.ok:
            raise errors.MagnumCapiError(
                f'Magnum answered {answer.status_code}',
                where=f'{method} {path}', last_seen=answer.text[:500])
        return answer.json() if answer.content else None

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

    def observe(self, uuid, timeout=None):
        """Observe a cluster and its workers once, as observations does."""
        try:
            answer = self.magnum('GET', f'clusters/{uuid}', timeout=timeout)
            if answer.status_code == 404:
                return observations.Observation()
            group = self.magnum(
                'GET', f'clusters/{uuid}/nodegroups/default-worker',
                timeout=timeout)
        except requests.RequestException as e:
            return observations.Observation(
                trouble=f'no answer ({type(e).__name__})')
        # Magnum answers 400 while a cluster has no node groups yet.
        for part in (answer, group):
            if part.status_code != 200:
                return observations.Observation(
                    trouble=f'{part.status_code}: {part.text[:200]}')
        return observations.Observation(answer.json(), group.json())

    def create(self, name, node_count=1, **change):
        """Ask for a cluster with one control plane machine; its UUID.

        :param change: fields that are not as usual.
        """
        if 'cluster_template_id' not in change:
            change['cluster_template_id'] = self.template
        return self.ask('POST', 'clusters', {
            'name': name, 'keypair': 'demo', 'master_count': 1,
            'node_count': node_count, **change})['uuid']

    def wait_created(self, uuid, timeout=PATIENCE):
        """Wait for CREATE_COMPLETE; returns the last observation."""
        return waiting.wait_for(
            lambda: self.observe(uuid),
            done=lambda state: state.status == 'CREATE_COMPLETE',
            failed=observations.creation_failure(),
            timeout=timeout, what=f'cluster {uuid} to be created',
            describe=str, pace=_PACE)

    def upgrade(self, uuid, template):
        """Ask for the version of another template."""
        # Without max_batch_size, Magnum 2026.2 answers 500 behind a broker.
        self.ask('POST', f'clusters/{uuid}/actions/upgrade', {
            'cluster_template': template, 'max_batch_size': 1})

    def resize(self, uuid, node_count):
        """Ask for another number of workers; what waits for it.

        :returns: function that waits until the update is complete.
        """
        update = observations.Update(self.observe(uuid), node_count)
        self.ask('POST', f'clusters/{uuid}/actions/resize',
                 {'node_count': node_count})

        return functools.partial(
            waiting.wait_for,
            update.poll(lambda: self.observe(uuid), time),
            done=observations.Update.is_over,
            failed=observations.Update.failure, timeout=PATIENCE,
            what=f'{node_count} workers of cluster {uuid}',
            describe=str, pace=_PACE)

    def delete(self, uuid, timeout=PATIENCE):
        """Have a cluster deleted, and wait until it is gone."""
        self.ask('DELETE', f'clusters/{uuid}')
        self.wait_gone(uuid, timeout)

    def wait_gone(self, uuid, timeout=PATIENCE):
        """Wait until Magnum does not know a cluster any more (404)."""
        waiting.wait_for(
            lambda: self.observe(uuid), timeout=timeout,
            done=lambda state: not state.trouble and state.cluster is None,
            failed=observations.deletion_failure(
                observations.Observation()),
            what=f'cluster {uuid} to be gone', describe=str, pace=_PACE)
