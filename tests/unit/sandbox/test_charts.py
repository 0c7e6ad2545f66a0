# SPDX-License-Identifier: Apache-2.0

import pathlib

import fixtures
import testtools
import yaml

from magnum_capi import errors
from magnum_capi_sandbox import charts
from magnum_capi_sandbox import infrastructure
from magnum_capi_sandbox import nodes
from magnum_capi_tempest import resources
from tests.unit.sandbox import samples

OURS = resources.find('sandbox/charts/sandbox-cluster')


class ChartTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path)

    def spec(self, kind=nodes.DOCKER, where=infrastructure.MEMORY):
        return samples.a_spec(chart=str(OURS), nodes=kind,
                              machines=nodes.Nodes(kind),
                              infrastructure=where)

    def test_nodes_in_memory_have_the_chart_itself(self):
        self.assertEqual(OURS, charts.used(
            self.directory, self.spec(nodes.MEMORY)))
        charts.make(self.directory, self.spec(nodes.MEMORY))
        self.assertEqual([], list(self.directory.iterdir()))

    def test_the_copy_differs_in_its_defaults_alone(self):
        charts.make(self.directory, self.spec())
        copy = charts.used(self.directory, self.spec())
        was, now = (yaml.safe_load((chart / 'values.yaml').read_text())
                    for chart in (OURS, copy))
        self.assertEqual(('openstack', 'docker'),
                         (was.pop('infrastructure'),
                          now.pop('infrastructure')))
        self.assertTrue(now['docker'].pop('openStackMirror'))
        self.assertFalse(was['docker'].pop('openStackMirror'))
        self.assertEqual(was, now)
        self.assertEqual(
            {p.relative_to(OURS): p.read_bytes()
             for p in (OURS / 'templates').iterdir()},
            {p.relative_to(copy): p.read_bytes()
             for p in (copy / 'templates').iterdir()})

    def test_servers_of_nova_are_containers_in_another_copy(self):
        servers = self.spec(where=infrastructure.OPENSTACK)
        charts.make(self.directory, servers)
        copy = charts.used(self.directory, servers)
        was, now = (yaml.safe_load((chart / 'values.yaml').read_text())
                    for chart in (OURS, copy))
        self.assertTrue(now['docker'].pop('servers'))
        self.assertFalse(was['docker'].pop('servers'))
        self.assertEqual(was, now)

    def test_the_copy_follows_its_source(self):
        copy = charts.used(self.directory, self.spec())
        charts.make(self.directory, self.spec())
        (copy / 'templates' / 'old.yaml').touch()
        charts.make(self.directory, self.spec())
        self.assertFalse((copy / 'templates' / 'old.yaml').exists())

    def test_a_chart_of_openstack_alone_is_refused(self):
        for text in ('controlPlane: {}\n', '- a list\n'):
            (self.directory / 'values.yaml').write_text(text)
            e = self.assertRaises(errors.UsageError, charts.check,
                                  self.directory, infrastructure.MEMORY)
            self.assertIn('lacks infrastructure and docker)', str(e))

    def test_a_chart_without_containers_as_servers_is_refused(self):
        (self.directory / 'values.yaml').write_text(
            'infrastructure: openstack\ndocker: {openStackMirror: false}\n')
        charts.check(self.directory, infrastructure.MEMORY)
        e = self.assertRaises(errors.UsageError, charts.check,
                              self.directory, infrastructure.OPENSTACK)
        self.assertIn('lacks docker.servers)', str(e))

    def test_values_that_cannot_be_read(self):
        self.unread()
        (self.directory / 'values.yaml').write_text('{')
        self.unread()

    def unread(self):
        e = self.assertRaises(errors.UsageError, charts.check,
                              self.directory, infrastructure.MEMORY)
        self.assertIn('cannot be read', str(e))

    def test_ours_can(self):
        for kind in infrastructure.KINDS:
            charts.check(OURS, kind)

    def test_merged(self):
        self.assertEqual(
            {'a': {'b': 1, 'c': 3}, 'd': 4, 'e': {'f': 5}},
            charts.merged({'a': {'b': 1, 'c': 2}, 'd': {'x': 1}},
                          {'a': {'c': 3}, 'd': 4, 'e': {'f': 5}}))
