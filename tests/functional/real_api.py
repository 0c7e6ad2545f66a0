# SPDX-License-Identifier: Apache-2.0

"""A real API server without nodes, scheduler or controllers."""

import os
import pathlib
import subprocess

import fixtures

from magnum_capi import progress
from magnum_capi import waiting
from magnum_capi_tempest.management import client
from magnum_capi_tempest.management import layout
from magnum_capi_tempest.management import pki
from magnum_capi_tempest.management import programs
from magnum_capi_tempest import toolchain

#: Not that of the tests of the management cluster.
_PORT_BASE = 27000


class RealApi(fixtures.Fixture):
    """etcd and kube-apiserver.

    :ivar kubeconfig: path of the administrator's.
    :ivar api: client of the administrator.
    :ivar folder: for more files.
    """

    def _setUp(self):
        self.folder = pathlib.Path(self.useFixture(
            fixtures.TempDir(rootdir='/tmp')).path)
        where = layout.Layout(self.folder, port_base=_PORT_BASE)
        pki.make(where.pki, where.address, where.url('kube-apiserver'))
        paths = toolchain.ensure(['etcd', 'kube-apiserver'],
                                 progress.Silent())
        self.kubeconfig = where.pki / 'admin.kubeconfig'
        self.api = client.from_kubeconfig(self.kubeconfig)
        self._start(programs.etcd(where, paths['etcd']))
        self._start(programs.kube_apiserver(
            where, paths['kube-apiserver'], self.api))

    def _start(self, program):
        with open(self.folder / f'{program.name}.log', 'wb') as log:
            process = subprocess.Popen(
                program.argv, stdout=log, stderr=log,
                env={**os.environ, **program.env})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        waiting.wait_for(program.ready, done=bool, timeout=300,
                         what=program.name)
