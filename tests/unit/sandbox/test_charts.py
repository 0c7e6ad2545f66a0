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
        for where, changed in (
                (infrastructure.MEMORY, {
                    'infrastructure': 'docker',
                    'docker': {'openStackMirror': True}}),
                # Servers of Nova are containers.
                (infrastructure.OPENSTACK, {'docker': {'servers': True}})):
            spec = self.spec(where=where)
            charts.make(self.directory, spec)
            copy = charts.used(self.directory, spec)
            was, now = (yaml.safe_load((chart / 'values.yaml').read_text())
                        for chart in (OURS, copy))
            self.assertNotEqual(was, now)
            self.assertEqual(charts.merged(was, changed), now)
            self.assertEqual(
                {p.relative_to(OURS): p.read_bytes()
                 for p in (OURS / 'templates').iterdir()},
                {p.relative_to(copy): p.read_bytes()
                 for p in (copy / 'templates').iterdir()})

    def test_the_copy_follows_its_source(self):
        copy = charts.used(self.directory, self.spec())
        charts.make(self.directory, self.spec())
        (copy / 'templates' / 'old.yaml').touch()
        charts.make(self.directory, self.spec())
        self.assertFalse((copy / 'templates' / 'old.yaml').exists())

    def test_a_chart_that_cannot_is_refused(self):
        memory = 'infrastructure: openstack\ndocker: {openStackMirror: false}'
        for text, kind, said in (
                (None, infrastructure.MEMORY, 'cannot be read'),
                ('{', infrastructure.MEMORY, 'cannot be read'),
                *((text, infrastructure.MEMORY,
                   'lacks infrastructure and docker)')
                  for text in ('controlPlane: {}', '- a list')),
                (memory, infrastructure.OPENSTACK, 'lacks docker.servers)')):
            if text is not None:
                (self.directory / 'values.yaml').write_text(text)
            e = self.assertRaises(errors.UsageError, charts.check,
                                  self.directory, kind)
            self.assertIn(said, str(e))
        charts.check(self.directory, infrastructure.MEMORY)
