# SPDX-License-Identifier: Apache-2.0

"""A real API server without nodes, scheduler or controllers."""

import dataclasses
import os
import pathlib
import subprocess

import fixtures

from magnum_capi import errors
from magnum_capi import progress
from magnum_capi import waiting
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.management import layout
from magnum_capi_tempest.management import network
from magnum_capi_tempest.management import pki
from magnum_capi_tempest.management import programs
from magnum_capi_tempest import toolchain


#: Logs user, request and status, without contents.
_AUDIT = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
"""


class RealApi(fixtures.Fixture):
    """etcd and kube-apiserver.

    :ivar audit: path of the audit log, JSON lines.
    :ivar kubeconfig: path of the administrator's kubeconfig.
    :ivar api: client of the administrator.
    :ivar folder: for more files.
    """

    def _setUp(self):
        self.folder = pathlib.Path(self.useFixture(
            fixtures.TempDir(rootdir='/tmp')).path)
        where = layout.Layout(self.folder)
        free = network.allocate(where.ports.values())
        self.addCleanup(free.release)
        where = dataclasses.replace(where, address=free.address)
        pki.make(where.pki, where.address, where.url('kube-apiserver'))
        tools = toolchain.ensure(['etcd', 'kube-apiserver'],
                                 progress.Silent())
        self.kubeconfig = where.pki / 'admin.kubeconfig'
        self.api = kube.Client(self.kubeconfig)
        self._start(programs.etcd(where, tools['etcd']))
        self.audit = self.folder / 'audit.log'
        policy = self.folder / 'audit-policy.yaml'
        policy.write_text(_AUDIT)
        server = programs.kube_apiserver(
            where, tools['kube-apiserver'], self.api)
        self._start(dataclasses.replace(server, argv=(
            *server.argv, f'--audit-policy-file={policy}',
            f'--audit-log-path={self.audit}')))

    def _start(self, program):
        path = self.folder / f'{program.name}.log'
        with open(path, 'wb') as log:
            process = subprocess.Popen(
                program.argv, stdout=log, stderr=log,
                env={**os.environ, **program.env})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)

        def ready():
            if process.poll() is not None:
                raise errors.EnvironmentProblem(
                    f'{program.name} has ended', where=path,
                    last_seen=path.read_text()[-500:])
            return program.ready()

        waiting.wait_for(ready, done=bool, timeout=300, what=program.name)


def definition(group, plural, kind, versions):
    """A CustomResourceDefinition without validation.

    :param versions: the first one is stored.
    """
    return {
        'apiVersion': 'apiextensions.k8s.io/v1',
        'kind': 'CustomResourceDefinition',
        'metadata': {'name': f'{plural}.{group}', 'annotations': {
            'api-approved.kubernetes.io': 'unapproved, for a test'}},
        'spec': {
            'group': group, 'scope': 'Namespaced',
            'names': {'kind': kind, 'plural': plural},
            'versions': [{
                'name': version, 'served': True,
                'storage': version == versions[0],
                'schema': {'openAPIV3Schema': {
                    'type': 'object',
                    'x-kubernetes-preserve-unknown-fields': True}}}
                for version in versions]}}
