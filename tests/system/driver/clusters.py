# SPDX-License-Identifier: Apache-2.0

"""Clusters of a sandbox, and commands next to its conductor."""

import pathlib
import subprocess

from magnum_capi.kube import access
from magnum_capi.kube import client
from magnum_capi.kube import rest as kube_rest
from magnum_capi import waiting
from magnum_capi_tempest import toolchain
from tests.functional import boxes
from tests.functional import cloud

_DRIVER = pathlib.Path(boxes.__file__).parents[2] / 'drivers/k8s_capi_v1'


class Base(boxes.TestCase):
    """A sandbox with this driver and magnum-capi-helm."""

    def up(self, *arguments):
        self.assert_done(self.one.up('--install', str(_DRIVER), *arguments))
        self.layout = self.one.sandbox.layout()
        self.cloud = cloud.Cloud(self.one.sandbox)
        self.user = self.cloud.user
        self.kube = client.Kube(kube_rest.Rest(access.load(
            self.layout.kubeconfig)))

    def status(self, uuid):
        answer = self.cloud.magnum('GET', f'clusters/{uuid}')
        # A busy machine may answer with an error; a lasting one ends up in
        # the timeout message.
        return answer.json()['status'] if answer.ok else answer.text

    def wait_for(self, wanted, *uuids):
        waiting.wait_for(
            lambda: {self.status(uuid) for uuid in uuids},
            done=lambda found: found == {wanted},
            timeout=300, what=f'the clusters to be {wanted}')

    def template(self, image='ubuntu-capi', driver='k8s_capi_v1'):
        return self.cloud.make_template(image, driver=driver)

    def clusters(self, template, *names):
        """Uuids of new clusters with one worker each."""
        found = [self.cloud.ask('POST', 'clusters', {
            'name': name, 'node_count': 1, 'master_count': 1,
            'cluster_template_id': template})['uuid'] for name in names]
        self.wait_for('CREATE_COMPLETE', *found)
        return found

    def command(self, *arguments, code=0):
        """Output of the command in Magnum's environment."""
        file, folder = self.layout.magnum_conf
        files = [file, *sorted(folder.glob('*.conf'))]
        helm = toolchain.ensure(['helm'])['helm']
        done = subprocess.run(
            [self.layout.magnum_env / 'bin' / 'python', '-m',
             'magnum_capi.cli.main', 'driver', *arguments,
             *(word for path in files for word in ('--config-file', path))],
            env=self.one.env | {'PATH': f'{helm.parent}:/usr/bin:/bin'},
            capture_output=True, text=True, timeout=600, check=False)
        ended = boxes.Ended(done.returncode, done.stdout, done.stderr)
        self.assert_done(ended, code)
        return ended.out

    def machines(self, release):
        """Their uids."""
        return {one['metadata']['uid'] for namespace in self.kube.list(
            'Namespace', None) for one in self.kube.list(
                'Machine', namespace['metadata']['name'],
                {'cluster.x-k8s.io/cluster-name': release})}
