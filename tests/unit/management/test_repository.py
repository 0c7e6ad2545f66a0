# SPDX-License-Identifier: Apache-2.0
import pathlib

import fixtures
import testtools
import yaml

from magnum_capi import errors
from magnum_capi import progress
from magnum_capi_tempest.management import certmanager
from magnum_capi_tempest.management import providers
from magnum_capi_tempest.management import repository
from magnum_capi_tempest.toolchain import go

CORE = providers.CORE[0]
TREE = '''\
        image: gcr.io/k8s-staging-cluster-api/cluster-api-controller:main
        imagePullPolicy: Always
        args: ["--gates=${CLUSTER_TOPOLOGY:=false}"]
'''

CHART = [
    {'kind': 'Deployment',
     'metadata': {'name': name, 'labels': {
         'app.kubernetes.io/component': component}},
     'spec': {'template': {
         'metadata': {'annotations': {'prometheus.io/port': '9402'},
                      'labels': {'app.kubernetes.io/component': component}},
         'spec': {'containers': [{
             'image': f'quay.io/jetstack/{name}:v1', 'args': ['--v=2'],
             'livenessProbe': {}, 'ports': []}]}}}}
    for name, component in (('cert-manager', 'controller'),
                            ('cert-manager-cainjector', 'cainjector'),
                            ('cert-manager-webhook', 'webhook'))] + [
    {'kind': 'ValidatingWebhookConfiguration',
     'metadata': {'name': 'cert-manager-webhook'}},
    {'kind': 'CustomResourceDefinition',
     'metadata': {'name': 'issuers.cert-manager.io'}}]


class ReleasedTest(testtools.TestCase):

    def test_image_is_the_releases(self):
        text = repository.released(CORE, TREE)
        self.assertIn(f'image: {CORE.reference}\n', text)
        self.assertIn('imagePullPolicy: IfNotPresent\n', text)
        # clusterctl fills these in.
        self.assertIn('${CLUSTER_TOPOLOGY:=false}', text)

    def test_another_tree_is_refused(self):
        e = self.assertRaises(errors.MagnumCapiError, repository.released,
                              CORE, 'image: gcr.io/else/other:main\n')
        self.assertIn('cluster-api-controller', str(e))

    def test_unknown_infrastructure(self):
        e = self.assertRaises(errors.UsageError, providers.chosen, 'vsphere')
        self.assertIn('docker, openstack', str(e))


class CertManagerTest(testtools.TestCase):

    def test_stand_in_has_no_webhook_and_says_what_it_is(self):
        found = certmanager.stand_in(CHART)
        self.assertEqual(
            ['cert-manager', 'cert-manager-cainjector',
             'issuers.cert-manager.io'],
            [o['metadata']['name'] for o in found])
        template = found[1]['spec']['template']
        container, = template['spec']['containers']
        self.assertEqual(['cainjector'], container['args'])
        self.assertNotIn('livenessProbe', container)
        for labels in (found[1]['metadata']['labels'],
                       template['metadata']['labels']):
            self.assertEqual('true', labels[certmanager.STAND_IN])


class LoadTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.calls = 0
        self.useFixture(fixtures.MockPatchObject(
            go, 'module_directory', self.sources))

    def program(self, name, text):
        path = self.base / name
        path.write_text(f'#!/bin/sh\n{text}')
        path.chmod(0o700)
        return path

    def sources(self, path, version):
        self.calls += 1
        folder = self.base / 'modules' / f'{path}@{version}'.replace('/', '_')
        for tree in ('deploy/charts/cert-manager', 'dist'):
            (folder / tree).mkdir(parents=True, exist_ok=True)
        (folder / 'deploy/charts/cert-manager/Chart.yaml').write_text(
            'version: v0.0.0\nappVersion: v0.0.0\n')
        (folder / 'dist' / 'install.yaml').write_text(
            'spec:\n  - image: quay.io/orc/openstack-resource-controller:v2\n')
        (folder / 'metadata.yaml').write_text('releaseSeries: []\n')
        return folder

    def load(self):
        kubectl = self.program('kubectl', '\n'.join(
            ['case $2 in'] + [
                f'*{p.tree}) echo "    image: x/{p.image.split("/")[-1]}:dev"'
                ';;' for p in (*providers.CORE[1:],
                               providers.INFRASTRUCTURES['openstack'])
            ] + [f'*) echo "    image: x/{CORE.image.split("/")[-1]}:m";;',
                 'esac']).replace('*config/default)',
                                  '*openstack*config/default)'))
        helm = self.program(
            'helm', f'cat "$3/Chart.yaml" >&2; cat {self.base}/chart')
        (self.base / 'chart').write_text(yaml.safe_dump_all(CHART))
        return repository.load(
            'openstack', True, {'kubectl': kubectl, 'helm': helm},
            progress.Silent(), self.base / 'cache')

    def test_layout_is_clusterctls_and_it_is_kept(self):
        found = self.load()
        config = yaml.safe_load(found.configuration.read_text())
        for provider in config['providers']:
            path = pathlib.Path(provider['url'])
            self.assertTrue(path.is_relative_to(found.directory))
            self.assertIn('image: ', path.read_text())
            self.assertTrue((path.parent / 'metadata.yaml').exists())
        self.assertEqual(4, len(config['providers']))
        self.assertIn('quay.io/orc/openstack-resource-controller:v2',
                      found.images)
        self.assertNotIn('quay.io/jetstack/cert-manager-webhook:v1',
                         found.images)
        self.assertIn('controller', found.cert_manager.read_text())
        calls = self.calls
        self.assertEqual(found, self.load())
        self.assertEqual(calls, self.calls)

    def test_failure_leaves_nothing(self):
        self.useFixture(fixtures.MockPatchObject(
            certmanager, 'render',
            side_effect=errors.EnvironmentProblem('No disk')))
        self.assertRaises(errors.EnvironmentProblem, self.load)
        self.assertEqual([], list((self.base / 'cache').iterdir()))
