# SPDX-License-Identifier: Apache-2.0
import pathlib

import fixtures
import testtools
import yaml

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi_tempest.management import providers
from magnum_capi_tempest.toolchain import go
from tools.offline.containers import access
from tools.offline.containers import networks
from tools.offline.management import __main__ as command
from tools.offline.management import certmanager
from tools.offline.management import repository

CORE = repository.PROVIDERS[0]
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


class MakeTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        for name, found in (
                ('module_directory', lambda path, version: self.sources(
                    f'{path}@{version}')),
                ('module_files', lambda module: self.sources(module.name))):
            self.useFixture(fixtures.MockPatchObject(go, name, found))

    def program(self, name, text):
        path = self.base / name
        path.write_text(f'#!/bin/sh\n{text}')
        path.chmod(0o700)
        return path

    def sources(self, name):
        folder = self.base / 'modules' / name.replace('/', '_')
        for tree in ('deploy/charts/cert-manager', 'dist'):
            (folder / tree).mkdir(parents=True, exist_ok=True)
        (folder / 'deploy/charts/cert-manager/Chart.yaml').write_text(
            'version: v0.0.0\nappVersion: v0.0.0\n')
        (folder / 'dist' / 'install.yaml').write_text(
            'spec:\n  - image: quay.io/orc/openstack-resource-controller:v2\n')
        (folder / 'metadata.yaml').write_text('releaseSeries: []\n')
        return folder

    def make(self):
        kubectl = self.program('kubectl', '\n'.join([
            'case $2 in', *(
                f'*{p.module[0].replace("/", "_")}@*/{p.tree}) '
                f'echo "    image: x/{p.image.split("/")[-1]}:dev";;'
                for p in repository.PROVIDERS), 'esac']))
        helm = self.program(
            'helm', f'cat "$3/Chart.yaml" >&2; cat {self.base}/chart')
        (self.base / 'chart').write_text(yaml.safe_dump_all(CHART))
        (self.base / 'made').mkdir()
        return repository.make(
            self.base / 'made', {'kubectl': kubectl, 'helm': helm})

    def test_layout_is_clusterctls(self):
        images = self.make()
        config = yaml.safe_load(
            (self.base / 'made' / 'clusterctl.yaml').read_text())
        self.assertEqual(4, len(config['providers']))
        for provider in config['providers']:
            path = pathlib.Path(provider['url'])
            self.assertIn('image: ', path.read_text())
            self.assertTrue((path.parent / 'metadata.yaml').exists())
            self.assertIn(
                f'{provider["name"]}:{path.parent.name}',
                ' '.join(providers.INIT))
        manager = config['cert-manager']
        text = pathlib.Path(manager['url']).read_text()
        self.assertIn('controller', text)
        self.assertIn(f'/cert-manager/{manager["version"]}/', manager['url'])
        self.assertIn('quay.io/orc/openstack-resource-controller:v2', images)
        self.assertNotIn('quay.io/jetstack/cert-manager-webhook:v1', images)


class CommandTest(testtools.TestCase):

    def test_the_program_asks_for_nothing_from_outside(self):
        base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        program = base / 'real'
        program.write_text('#!/bin/sh\necho "$MINIKUBE_HOME $*"\n')
        wrapper = base / 'minikube'
        wrapper.write_text(command.wrapper(program, base, 'b:1', None))
        for path in (program, wrapper):
            path.chmod(0o755)
        for words, said in (
                (['delete'], f'{base} delete'),
                (['start', '--x'], f'{base} start --x --base-image=b:1 '
                                   '--preload=false --cache-images=false')):
            self.assertEqual(said, processes.run(
                [wrapper, *words], timeout=60, env={}).strip())

    def test_the_engines_ports_are_in_its_network(self):
        network = networks.parse('10.213.0.0/16')
        text = command.wrapper('/m', '/h', 'b:1', access.Access(
            pathlib.Path('/d.sock'), 42, network))
        self.assertIn('exec nsenter --net=/proc/42/ns/net -- /m "$@"', text)
        self.assertIn(f'--subnet={network.minikube}', text)

    def test_the_machine_has_the_images_of_the_providers(self):
        command.check({p.reference for p in repository.PROVIDERS})
        e = self.assertRaises(errors.EnvironmentProblem, command.check,
                              {'example.org/x:1'})
        self.assertIn('example.org/x:1', str(e))
