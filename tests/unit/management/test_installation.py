# SPDX-License-Identifier: Apache-2.0

import pathlib

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi import progress
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.management import installation
from magnum_capi_tempest.management import providers
from tests.unit.management import test_deployments


class InstallTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.tools = {}
        for name in installation.TOOLS:
            file = self.tools[name] = self.base / name
            file.write_text(
                f'#!/bin/sh\necho "{name} $*" >> {self.base}/called\n')
            file.chmod(0o755)
        self.available(*providers.DEPLOYMENTS, providers.ADDON_DEPLOYMENT)

    def available(self, *names):
        self.useFixture(fixtures.MockPatchObject(
            kube, 'Client', lambda path: test_deployments.api_with(*names)))

    def install(self, addon_provider=False):
        installation.install('/k', addon_provider, self.tools,
                             progress.Silent(), {})
        return (self.base / 'called').read_text().splitlines()

    def test_three_programs_with_pinned_versions(self):
        controller, init = self.install()
        self.assertIn('--filename https://github.com/k-orc/'
                      'openstack-resource-controller/releases/download/v2.4.0/'
                      'install.yaml', controller)
        self.assertEqual(
            'clusterctl init --kubeconfig /k --core=cluster-api:v1.14.0 '
            '--bootstrap=kubeadm:v1.14.0 --control-plane=kubeadm:v1.14.0 '
            '--infrastructure=openstack:v0.14.6', init)

    def test_addon_provider(self):
        self.assertIn('helm upgrade cluster-api-addon-provider',
                      self.install(addon_provider=True)[-1])

    def test_a_folder_in_the_place_of_releases(self):
        self.useFixture(fixtures.EnvironmentVariable(
            installation.OFFLINE, '/o'))
        controller, init = self.install()
        self.assertIn('--filename /o/resource-controller.yaml', controller)
        self.assertIn('--config /o/clusterctl.yaml', init)

    def test_what_does_not_start_is_named(self):
        self.useFixture(fixtures.MockPatchObject(installation, 'TIMEOUT', 0.1))
        self.available(*providers.DEPLOYMENTS[1:])
        e = self.assertRaises(errors.WaitTimeout, self.install)
        self.assertIn('capi-system/capi-controller-manager', str(e))
