# SPDX-License-Identifier: Apache-2.0

import json
import types

import fixtures
import testtools

import magnum_capi_sandbox as sandbox
from magnum_capi_sandbox import versions
from tests.unit import own_folders
from tests.unit.sandbox import samples


class MadeTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.box = sandbox.Box(
            self.useFixture(own_folders.OwnFolders()).base / 'box')
        chart = self.box.directory / 'chart'
        chart.mkdir(parents=True)
        (chart / 'Chart.yaml').write_text('{name: a, version: 0.1.0}')
        samples.save(self.box.directory, chart=str(chart))
        self.replace(versions.processes, 'run', lambda *_, **__: json.dumps({
            'magnum': '23.0.0', 'drivers': {'k8s_x': ['Magnum_X', '1.0']}}))
        self.replace(versions.inspection.kube, 'Client', lambda path: (
            types.SimpleNamespace(ask=lambda *words: self.answers[
                (path, *words)])))
        self.answers = {
            (self.box.layout().kubeconfig, 'GET', '/version'):
                {'gitVersion': 'v1.34.9'}}

    def replace(self, *where):
        self.useFixture(fixtures.MockPatchObject(*where))

    def test_the_management_cluster_says_its_own(self):
        self.assertEqual('1.34.9',
                         versions.made(self.box).versions['kube_apiserver'])

    def test_drivers_and_their_distributions(self):
        self.assertEqual({'k8s_x': ('Magnum_X', '1.0')},
                         versions.installed_drivers(self.box))
