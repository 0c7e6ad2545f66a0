# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import signal
import subprocess
import threading
import types

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi import progress
from magnum_capi_tempest.cli import management as cli
from magnum_capi_tempest import containers
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.management import dockers
from magnum_capi_tempest.management import driver_kubeconfig
from magnum_capi_tempest.management import folder
from magnum_capi_tempest.management import hosted
from magnum_capi_tempest.management import installation
from magnum_capi_tempest.management import node
from magnum_capi_tempest.management import providers
from magnum_capi_tempest.management import releases
from magnum_capi_tempest.management import repository
from magnum_capi_tempest.management import sources
from magnum_capi_tempest.management import standalone
from magnum_capi_tempest import runmarks
from magnum_capi_tempest.toolchain import download
from tests.unit.management import test_deployments


END = hosted._end


def archive(name, *references, kind='image'):
    return types.SimpleNamespace(
        name=name, references=references, kind=kind, size=2**30,
        path=pathlib.Path(f'/archives/{name}.tar'))


class Inventory:
    directory = pathlib.Path('/archives')

    def __init__(self, *archives):
        self.archives = archives

    def of_kind(self, kind, kubernetes=None):
        return [a for a in self.archives if a.kind == kind]


class OptionsTest(testtools.TestCase):

    def check(self, **kwargs):
        hosted.check(hosted.Options(**kwargs))

    def test_what_cannot_be(self):
        images = pathlib.Path('/archives')
        for kwargs in ({'driver': 'kvm2'}, {'infrastructure': 'vsphere'},
                       {'images': images, 'mirror': 'm'},
                       {'images': images, 'addon_provider': True}):
            self.assertRaises(errors.UsageError, self.check, **kwargs)

    def test_options_of_pods_are_refused_without_them(self):
        command = cli.Up(None, None)
        args = command.get_parser('up').parse_args(['--driver', 'docker'])
        e = self.assertRaises(errors.UsageError, command.take_action, args)
        self.assertIn('--driver', str(e))


class WantedTest(testtools.TestCase):

    def test_only_what_is_missing_is_installed(self):
        wanted = installation.Wanted('docker')
        missing = installation.lacking({('CoreProvider', 'cluster-api')},
                                       wanted)
        argv = installation.init('clusterctl', 'k', types.SimpleNamespace(
            configuration='c'), missing)
        self.assertNotIn('--core', argv)
        self.assertIn('docker:v1.14.0', argv)
        self.assertIn('c', argv)
        self.assertNotIn('--config', installation.init(
            'clusterctl', 'k', releases.Releases(), missing))


class ManifestsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.rendered = self.useFixture(fixtures.MockPatchObject(
            repository, 'load', return_value='rendered')).mock
        self.github = self.useFixture(fixtures.MockPatchObject(
            download, 'problem', return_value=None)).mock
        self.said = []
        self.progress = types.SimpleNamespace(info=self.said.append)

    def load(self, stand_in=False):
        return installation.load(
            installation.Wanted('openstack', stand_in=stand_in), {},
            self.progress)

    def test_releases(self):
        version = providers.RESOURCE_CONTROLLER[1]
        self.assertIsInstance(self.load(), releases.Releases)
        self.assertEqual([
            'https://github.com/cert-manager/cert-manager/releases/download/'
            f'{providers.CERT_MANAGER[1]}/cert-manager.yaml',
            'https://github.com/k-orc/openstack-resource-controller/releases'
            f'/download/{version}/install.yaml'],
            [call.args[0] for call in self.github.call_args_list])
        self.assertFalse(self.rendered.called)
        self.assertEqual([], self.said)

    def test_what_cannot_be_had_is_rendered(self):
        self.github.side_effect = None, 'it is not there'
        self.assertEqual('rendered', self.load())
        self.assertIn('install.yaml: it is not there', self.said[-1])

    def test_images_of_archives_need_the_stand_in(self):
        self.assertEqual('rendered', self.load(stand_in=True))
        self.assertFalse(self.github.called)


class SourcesTest(testtools.TestCase):

    def test_archives_of_references(self):
        inventory = Inventory(archive('cm', 'a:1', 'b:1'),
                              archive('capi', 'c:1'))
        self.assertEqual(['cm', 'capi'], [a.name for a in sources.chosen(
            inventory, ['a:1', 'b:1', 'c:1'])])
        e = self.assertRaises(errors.EnvironmentProblem, sources.chosen,
                              inventory, ['a:1', 'd:1'])
        self.assertIn('d:1', str(e))
        self.assertIn('tools/offline/images.sh', str(e))

    def test_docker_gets_the_machines(self):
        base = archive('kicbase', 'base:1', kind='base')
        inventory = Inventory(
            base, archive('node', 'node:1', kind='node'),
            archive('haproxy', 'kindest/haproxy:v1'), archive('x', 'x:1'))
        for machines, names in ((False, ['kicbase']),
                                (True, ['kicbase', 'node', 'haproxy'])):
            loaded = []
            docker = types.SimpleNamespace(
                load=lambda archives, progress: loaded.extend(archives))
            source = sources.Archives(inventory, machines)
            self.assertEqual('base:1', source.base)
            source.prepare(types.SimpleNamespace(seed=lambda programs: None),
                           docker, dict.fromkeys(source.tools),
                           progress.Silent())
            self.assertEqual(names, [a.name for a in loaded])


class UpTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.directory = self.base / 'cluster'
        self.ended = []
        self.patch(hosted, '_end', lambda d, mine: self.ended.append(mine))
        self.patch(installation, 'load', lambda *a: types.SimpleNamespace(
            images=()))
        self.used = []
        self.patch(dockers, 'kind', lambda: dockers.OWN)
        self.patch(dockers, 'use', lambda kind, d, p: self.used.append(
            (kind, folder.read(d)['docker'])) or types.SimpleNamespace(
                minikube_subnet='10.0.0.0/24', socket='/s'))
        self.patch(kube, 'Client', lambda path, timeout=30:
                   test_deployments.Api({}))

    def patch(self, where, name, value):
        self.useFixture(fixtures.MockPatchObject(where, name, value))

    def up(self, **kwargs):
        return hosted.up(
            self.directory, hosted.Options(**kwargs), progress.Silent(),
            tools={'minikube': '/nowhere'},
            kubeconfig_to=self.base / 'magnum' / 'kubeconfig')

    def work(self):
        def start(machine, wanted, progress):
            (self.directory / 'kubeconfig').write_text('mine')
        self.patch(node, 'start', start)
        self.patch(installation, 'install', lambda *args, env: None)

    def test_record_and_copy_of_the_kubeconfig(self):
        self.work()
        self.assertEqual(self.directory / 'kubeconfig', self.up().kubeconfig)
        record = folder.read(self.directory)
        self.assertEqual(('minikube', 'own'),
                         (record['backend'], record['docker']))
        copy = self.base / 'magnum' / 'kubeconfig'
        self.assertEqual(0o600, copy.stat().st_mode & 0o777)
        standalone.down(self.directory)
        self.assertEqual('own', self.ended[0]['docker'])
        self.assertFalse(copy.exists() or self.directory.exists())

    def test_engine_of_the_caller_is_used_and_left_to_it(self):
        self.work()
        hosted.up(self.directory, hosted.Options(), progress.Silent(),
                  tools={'minikube': '/nowhere'},
                  docker=types.SimpleNamespace(minikube_subnet=None))
        self.assertEqual([], self.used)
        mine = hosted.record(self.directory)
        self.assertEqual('lent', mine['docker'])
        self.patch(dockers, 'engine', None)
        self.patch(dockers, 'machine', None)
        END(self.directory, mine)

    def test_cluster_of_a_sandbox_is_left_to_it(self):
        mine = hosted.Options().record | {'docker': dockers.LENT}
        folder.write(self.directory, mine)
        for command in (self.up, lambda: standalone.down(self.directory)):
            e = self.assertRaises(errors.UsageError, command)
            self.assertIn('belongs to a sandbox', str(e))
        self.assertEqual(mine, hosted.record(self.directory))

    def test_copy_of_another_cluster_stays(self):
        self.work()
        self.up()
        copy = self.base / 'magnum' / 'kubeconfig'
        copy.write_text('somebody else\'s')
        standalone.down(self.directory)
        self.assertTrue(copy.exists())

    def test_other_options_are_refused(self):
        self.work()
        self.up()
        e = self.assertRaises(errors.UsageError, self.up,
                              infrastructure='docker')
        self.assertIn('infrastructure openstack', str(e))
        self.assertRaises(errors.UsageError, standalone.up, self.directory,
                          progress.Silent(), {})

    def test_a_cluster_of_processes_is_refused(self):
        self.directory.mkdir()
        folder.write(self.directory, {'address': '127.77.0.1'})
        e = self.assertRaises(errors.UsageError, self.up)
        self.assertIn('backend processes', str(e))

    def test_complete_one_is_left_alone(self):
        self.work()
        self.up()
        self.patch(installation, 'complete', lambda api, wanted: True)
        self.patch(hosted, '_up', None)
        self.up()

    def test_failed_first_up_leaves_nothing(self):
        for error in (errors.EnvironmentProblem('No disk'),
                      KeyboardInterrupt()):
            def start(machine, wanted, p):
                raise error
            self.patch(node, 'start', start)
            self.assertRaises(type(error), self.up)
            self.assertFalse(self.directory.exists())

    def test_killed_one_goes_on_where_it_was(self):
        self.directory.mkdir()
        folder.write(self.directory, {**hosted.Options().record,
                                      'docker': dockers.MACHINE})
        self.work()
        self.up()
        self.assertEqual([(dockers.MACHINE, dockers.MACHINE)], self.used)
        # It failed later on: what is there is kept.
        self.patch(installation, 'install',
                   lambda *args, env: (_ for _ in ()).throw(
                       errors.WaitTimeout('no')))
        self.assertRaises(errors.WaitTimeout, self.up)
        self.assertTrue((self.directory / folder.RECORD).exists())

    def test_what_a_killed_one_started_ends(self):
        self.directory.mkdir()
        folder.write(self.directory, {**hosted.Options().record,
                                      'docker': dockers.OWN})
        orphan = subprocess.Popen(
            ['sleep', '600'], env={runmarks.MARK: str(self.directory),
                                   'PATH': os.defpath})
        self.addCleanup(orphan.wait)
        self.addCleanup(orphan.kill)
        # Our own child stays a zombie until it is waited for.
        threading.Thread(target=orphan.wait, daemon=True).start()
        self.work()
        self.up()
        self.assertEqual(-signal.SIGKILL, orphan.wait(10))

    def test_half_made_machine_is_made_anew(self):
        calls = []

        class Machine:
            def start(self, wanted, note):
                calls.append('start')
                if len(calls) == 1:
                    raise errors.CommandFailed(['minikube'], 1, 'broken')

            def delete(self):
                calls.append('delete')

        node.start(Machine(), None, progress.Silent())
        self.assertEqual(['start', 'delete', 'start'], calls)

    def test_machines_that_are_containers_use_the_same_docker(self):
        docker = types.SimpleNamespace(
            minikube_subnet='10.0.0.0/24', socket='/s')
        source = sources.Registries()

        def wanted(docker, **kwargs):
            what = node.wanted(hosted.Options(**kwargs), source, docker)
            return what.network, what.subnet, what.socket

        self.assertEqual((None, '10.0.0.0/24', None), wanted(docker))
        self.assertEqual(('kind', None, '/s'),
                         wanted(docker, infrastructure='docker'))
        self.assertEqual((None, None, None), wanted(
            None, driver='none', infrastructure='docker'))

    def test_images_that_are_there_are_not_loaded(self):
        loaded, there = [], {'a:1'}
        archives = [archive('a', 'a:1'), archive('b', 'b:1')]
        machine = types.SimpleNamespace(
            images=lambda: there, load=loaded.extend)
        e = self.assertRaises(errors.EnvironmentProblem, node.load, machine,
                              archives, progress.Silent())
        self.assertEqual([pathlib.Path('/archives/b.tar')], loaded)
        self.assertIn('/archives/b.tar', str(e))
        machine.load = lambda files: there.add('b:1')
        node.load(machine, archives, progress.Silent())


class HandoverTest(testtools.TestCase):

    def test_no_folder_for_it(self):
        base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (base / 'kubeconfig').write_text('x')
        (base / 'file').touch()
        e = self.assertRaises(
            errors.EnvironmentProblem, driver_kubeconfig.give, base,
            base / 'kubeconfig', base / 'file' / 'kubeconfig')
        self.assertIn('file', str(e))


class DockersTest(testtools.TestCase):

    def kind(self, machine, problem):
        self.useFixture(fixtures.MockPatchObject(
            dockers, 'machine', lambda: machine))
        self.useFixture(fixtures.MockPatchObject(
            containers, 'problem', lambda: problem))
        return dockers.kind()

    def test_docker_of_this_machine_comes_first(self):
        self.assertEqual(dockers.MACHINE, self.kind(
            dockers.HostDocker('unix:///s'), 'not root'))
        self.assertEqual(dockers.OWN, self.kind(None, None))

    def test_neither_is_reported_in_one_line(self):
        e = self.assertRaises(errors.EnvironmentProblem, self.kind, None,
                              'not root')
        self.assertIn('last seen: not root', str(e))

    def test_engine_on_another_machine(self):
        self.assertEqual(pathlib.Path('/s'),
                         dockers.HostDocker('unix:///s').socket)
        docker = dockers.HostDocker('tcp://there:2376')
        e = self.assertRaises(errors.UsageError, lambda: docker.socket)
        self.assertIn('tcp://there:2376', str(e))

    def test_engine_that_has_gone(self):
        self.useFixture(fixtures.MockPatchObject(
            dockers, 'machine', lambda: None))
        e = self.assertRaises(errors.EnvironmentProblem, dockers.use,
                              dockers.MACHINE, pathlib.Path('/m'), None)
        self.assertIn('does not respond', str(e))
