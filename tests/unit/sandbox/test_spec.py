# SPDX-License-Identifier: Apache-2.0

import configparser
import pathlib
import tomllib

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_sandbox import infrastructure
from magnum_capi_sandbox import nodes
from magnum_capi_sandbox import options
from magnum_capi_sandbox import prerequisites
from magnum_capi_sandbox import spec
from magnum_capi_tempest.management import pods
from magnum_capi_tempest import resources


class AdditionsTest(testtools.TestCase):

    def test_an_empty_spec(self):
        self.assertEqual(spec.Additions(),
                         spec.additions(spec.Spec('embedded')))

    def test_clash_is_a_distribution_and_its_configuration(self):
        found = spec.additions(spec.Spec(clash=True))
        folder = resources.find('sandbox/drivers/clash')
        own = str(resources.find('drivers/k8s_capi_v1'))
        self.assertEqual(spec.Additions(
            (str(folder), own), (str(folder / 'magnum.conf'),), False, True),
            found)

    def test_the_users_own_build_of_k8s_capi_v1_is_the_one_that_clashes(self):
        wheel = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path
        ) / 'magnum_driver_k8s_capi_v1-1.0-py3-none-any.whl'
        wheel.touch()

        found = spec.additions(spec.Spec(clash=True, install=(str(wheel),)))

        self.assertEqual((str(resources.find(spec.CLASH)), str(wheel)),
                         found.install)

    def test_the_users_configuration_wins_over_that_of_clash(self):
        path = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path) / 'x.conf'
        path.write_text('[a]\nb = 1\n')
        found = spec.additions(spec.Spec(
            install=('x',), magnum_conf=(path,), clash=True))
        self.assertEqual('x', found.install[-1])
        self.assertEqual(str(path), found.magnum_conf[-1])
        self.assertEqual(2, len(found.magnum_conf))


class InfrastructureTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.MockPatchObject(
            prerequisites, 'services', lambda install: frozenset(
                ['load-balancer', 'compute'] if 'x' in install else ())))

    def test_memory_has_what_most_drivers_need(self):
        for wanted in (spec.Spec(), spec.Spec(install=('y',)),
                       spec.Spec(profile='full')):
            self.assertEqual('memory', spec.infrastructure_of(wanted))

    def test_a_driver_that_needs_more_gets_it(self):
        self.assertEqual('openstack', spec.infrastructure_of(
            spec.Spec(install=('y', 'x'))))

    def test_the_user_decides(self):
        self.assertEqual('memory', spec.infrastructure_of(
            spec.Spec(install=('x',), infrastructure='memory')))

    def test_where_it_cannot_be_had(self):
        e = self.assertRaises(
            errors.UsageError, spec.infrastructure_of,
            spec.Spec(install=('x',), profile='full'))
        self.assertIn('need the services load-balancer.', str(e))


class ManagementTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.asked = []
        self.useFixture(fixtures.MockPatchObject(
            pods, 'check', lambda *a: self.asked.append(a)))
        self.useFixture(fixtures.MockPatchObject(
            nodes, 'wanted', lambda kind, *a: nodes.Nodes(kind, '/images')))

    def both(self, **wanted):
        wanted = spec.Spec(nodes=nodes.DOCKER, **wanted)
        where = spec.management_of(wanted, infrastructure.OPENSTACK)
        spec.nodes(wanted, infrastructure.OPENSTACK, 'progress')
        return where

    def test_processes_by_default(self):
        for wanted in ({}, {'management': 'processes'}):
            self.assertEqual('processes', self.both(**wanted))
        self.assertEqual([], self.asked)

    def test_minikube_needs_its_archives(self):
        """They are made, but not in a folder that is named."""
        for images, make in ((None, 'progress'), ('/images', None)):
            self.assertEqual('minikube', self.both(
                management='minikube', images=images))
            self.assertEqual(('/images', make), self.asked.pop())

    def test_minikube_makes_only_servers_that_are_containers(self):
        for kind, made_of in ((infrastructure.MEMORY, nodes.DOCKER),
                              (infrastructure.OPENSTACK, None)):
            e = self.assertRaises(
                errors.UsageError, spec.management_of,
                spec.Spec(management='minikube', nodes=made_of), kind)
            self.assertIn('--infrastructure openstack --nodes docker', str(e))


class DistributionsTest(testtools.TestCase):
    """The drivers of this project that are made for tests."""

    def project(self, name):
        with open(resources.find(f'sandbox/drivers/{name}/pyproject.toml'),
                  'rb') as f:
            return tomllib.load(f)['project']

    def names(self, name):
        return list(self.project(name)['entry-points']['magnum.drivers'])

    def test_names_are_in_the_order_that_decides(self):
        names = self.names('clash')
        self.assertEqual(sorted(names), names)
        self.assertEqual([f'k8s_capi_{n}_v1' for n in (
            'alias', 'beta', 'disabled', 'lenient')], names)

    def test_the_disabled_one_is_disabled(self):
        path = options.check(
            resources.find('sandbox/drivers/clash/magnum.conf'))
        parser = configparser.ConfigParser()
        parser.read(path)
        self.assertIn(parser['drivers']['disabled_drivers'],
                      self.names('clash'))

    def test_they_say_what_they_are_not_for(self):
        for name in ('clash', 'broken'):
            text = resources.find(
                f'sandbox/drivers/{name}/README.rst').read_text()
            self.assertRegex(text, r'Never install (it|them) in production')
            self.assertIn('Private :: Do Not Upload',
                          self.project(name)['classifiers'])
