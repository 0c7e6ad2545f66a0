# SPDX-License-Identifier: Apache-2.0

import json
import os
import pathlib
import tomllib

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_sandbox import nodes
from magnum_capi_sandbox import prerequisites
from magnum_capi_sandbox import spec
from magnum_capi_tempest import resources
from tests.unit.sandbox import samples


class SavedTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path)
        self.file = self.directory / spec.NAME

    def test_what_is_saved_is_what_is_read(self):
        for changes in ({}, {'ready': False}, {
                'install': ('/drivers/x', 'y>=1'), 'clash': True,
                'magnum_conf': ('/x.conf',), 'discovery_filter': True,
                'nodes': 'docker', 'machines': nodes.Nodes(
                    nodes.DOCKER, 'unix:///d', ('v1.33.13', 'v1.34.9'), True),
                'management': 'minikube'}):
            saved = samples.save(self.directory, **changes)
            self.assertEqual(saved, spec.load(self.directory))
            self.assertEqual(0o600, self.file.stat().st_mode & 0o777)
        self.assertTrue(saved.pods)

    def test_folder_without_one(self):
        self.assertIsNone(spec.load(self.directory))
        self.assertIsNone(spec.load(self.directory / 'missing'))
        self.file.touch()
        self.assertIsNone(spec.load(self.file))

    def test_damaged_ones_and_those_of_other_versions_are_refused(self):
        samples.save(self.directory)
        valid = json.loads(self.file.read_text())
        for text in ('', '{"profile": ', '[]', '{"other": 1}', '\0' * 20,
                     'null', json.dumps(valid | {'added later': 1}),
                     json.dumps(valid | {'machines': 1}),
                     json.dumps(valid | {'machines': {'x': 1}})):
            with self.subTest(text[:30]):
                self.file.write_text(text)
                for read in (spec.load, spec.require_ready):
                    e = self.assertRaises(
                        errors.UsageError, read, self.directory)
                    self.assertIn('cannot be read', str(e))
                self.assertEqual(text, self.file.read_text())

    def test_require_ready(self):
        saved = samples.save(self.directory)
        self.assertEqual(saved, spec.require_ready(self.directory))
        for prepare in (lambda: samples.save(self.directory, ready=False),
                        self.file.unlink):
            prepare()
            e = self.assertRaises(
                errors.UsageError, spec.require_ready, self.directory)
            self.assertIn('magnum-capi sandbox up', str(e))


class WishTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path).resolve()

    def test_no_wish_is_a_default_sandbox(self):
        found = spec.decided(spec.checked(spec.Spec(), None))
        self.assertEqual(
            samples.a_spec(chart=str(spec.chart(None)), versions={},
                           network='', ready=False), found)
        self.assertEqual({}, spec.differences(spec.Spec(), found))
        self.assertEqual(((), ()), (found.requirements,
                                    found.configuration))

    def test_paths_become_absolute(self):
        for name in ('Chart.yaml', 'x.conf'):
            (self.base / name).write_text('[a]\nb = 1\n')
        (self.base / 'driver').mkdir()
        (self.base / 'driver' / 'setup.py').touch()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.base)
        found = spec.checked(spec.Spec(
            chart=pathlib.Path('.'), magnum_conf=('x.conf',),
            install=('driver', 'x>=1')), None)
        base = str(self.base)
        self.assertEqual(
            (base, (f'{base}/x.conf',), (f'{base}/driver', 'x>=1')),
            (found.chart, found.magnum_conf, found.install))

    def test_chart_that_is_none(self):
        e = self.assertRaises(errors.UsageError, spec.chart, self.base)
        self.assertIn('no Chart.yaml', str(e))

    def test_clash_is_a_distribution_and_its_configuration(self):
        found = spec.Spec(clash=True, install=('x',), magnum_conf=('/x',))
        folder = resources.find(spec.CLASH)
        self.assertEqual((str(folder), str(resources.find(spec.OWN)), 'x'),
                         found.requirements)
        # The user's file wins.
        self.assertEqual((str(folder / 'magnum.conf'), '/x'),
                         found.configuration)

    def test_the_users_own_build_of_k8s_capi_v1_is_the_one_that_clashes(self):
        wheel = str(self.base / 'magnum_driver_k8s_capi_v1-1.0-py3-none-'
                    'any.whl')
        self.assertEqual(
            (str(resources.find(spec.CLASH)), wheel),
            spec.Spec(clash=True, install=(wheel,)).requirements)


class InfrastructureTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.MockPatchObject(
            prerequisites, 'services', lambda install: frozenset(
                ['load-balancer', 'compute'] if 'x' in install else ())))

    def test_memory_unless_a_driver_needs_more(self):
        for wish, kind in (({}, 'memory'), ({'install': ('y',)}, 'memory'),
                           ({'profile': 'full'}, 'memory'),
                           ({'install': ('y', 'x')}, 'openstack'),
                           ({'install': ('x',),
                             'infrastructure': 'memory'}, 'memory')):
            self.assertEqual(kind, spec.decided(
                spec.Spec(**wish)).infrastructure)

    def test_where_it_cannot_be_had(self):
        for wish, said in (
                ({'install': ('x',)}, 'need the services load-balancer.'),
                ({'infrastructure': 'openstack'}, 'the profile "embedded"')):
            e = self.assertRaises(errors.UsageError, spec.decided,
                                  spec.Spec(profile='full', **wish))
            self.assertIn(said, str(e))


class ManagementTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.MockPatchObject(
            nodes, 'wanted', lambda kind, servers: nodes.Nodes(
                kind or 'memory', f'unix:///{servers}')))

    def decided(self, **wish):
        return spec.decided(spec.Spec(**wish))

    def test_minikube_with_servers(self):
        found = self.decided(management='minikube', nodes='docker',
                             infrastructure='openstack')
        self.assertEqual(('minikube', 'unix:///True'),
                         (found.management, found.machines.docker))

    def test_minikube_makes_only_servers_that_are_containers(self):
        for wish in ({'infrastructure': 'memory', 'nodes': 'docker'},
                     {'infrastructure': 'openstack'}):
            e = self.assertRaises(errors.UsageError, self.decided,
                                  management='minikube', **wish)
            self.assertIn('--infrastructure openstack --nodes docker', str(e))


class DistributionsTest(testtools.TestCase):
    """The drivers of this project that are made for tests."""

    def project(self, name):
        with open(resources.find(f'sandbox/drivers/{name}/pyproject.toml'),
                  'rb') as f:
            return tomllib.load(f)['project']

    def test_they_say_what_they_are_not_for(self):
        for name in ('clash', 'broken'):
            text = resources.find(
                f'sandbox/drivers/{name}/README.rst').read_text()
            self.assertRegex(text, r'Never install (it|them) in production')
            self.assertIn('Private :: Do Not Upload',
                          self.project(name)['classifiers'])
