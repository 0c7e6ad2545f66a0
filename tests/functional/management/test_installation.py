# SPDX-License-Identifier: Apache-2.0

"""The programs that install Cluster API, against a real API server.

Nothing runs pods here, so only what is in the API can be checked.
"""

import pathlib

import fixtures
import testtools

from magnum_capi import progress
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.management import deployments
from magnum_capi_tempest.management import installation
from magnum_capi_tempest import toolchain
from tests.functional import real_api
from tools.offline.management import __main__ as offline
from tools.offline.management import repository


class OfflineTest(testtools.TestCase):

    def test_everything_comes_from_the_folder(self):
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        tools = toolchain.ensure(installation.TOOLS, progress.Silent())
        offline.check(repository.make(folder, tools))
        kubeconfig = self.useFixture(real_api.RealApi()).kubeconfig
        self.useFixture(fixtures.EnvironmentVariable(
            installation.OFFLINE, str(folder)))
        self.useFixture(fixtures.EnvironmentVariable(
            'https_proxy', 'http://127.0.0.1:9'))
        self.useFixture(fixtures.MockPatchObject(installation, 'wait'))

        installation.install(kubeconfig, False, tools, progress.Silent(),
                             {'NO_PROXY': '127.0.0.0/8'})

        api = kube.Client(kubeconfig)
        found = deployments.read(api)
        self.assertEqual(
            {*installation.wanted(False), ('cert-manager', 'cert-manager'),
             ('cert-manager', 'cert-manager-cainjector')},
            {(d.namespace, d.name) for d in found})
        self.assertEqual(
            ['cert-manager', 'cert-manager-cainjector'],
            sorted(d.name for d in found if d.stand_in))
        listed = api.get('/apis/clusterctl.cluster.x-k8s.io/v1alpha3/'
                         'providers')
        self.assertEqual(
            {'cluster-api', 'bootstrap-kubeadm', 'control-plane-kubeadm',
             'infrastructure-openstack'},
            {o['metadata']['name'] for o in listed['items']})
