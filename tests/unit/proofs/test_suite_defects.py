# SPDX-License-Identifier: Apache-2.0

"""The table of defects holds together with the drivers and the suite."""

import ast
import pathlib
import tomllib

import testtools

from magnum_capi_tempest.scorecard import suite
from tests.proofs.suite_defects import tables

DRIVERS = pathlib.Path(__file__).resolve().parents[2] / 'defects'


class TableTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        # It raises ValueError for names and expressions that are wrong.
        self.defects = tables.defects()
        with open(DRIVERS / 'pyproject.toml', 'rb') as file:
            self.entries = tomllib.load(file)['project']['entry-points'][
                'magnum.drivers']

    def test_every_driver_has_a_defect_and_every_defect_a_driver(self):
        self.assertEqual(
            sorted(self.entries),
            sorted(defect.driver for defect in self.defects))

    def test_every_entry_point_is_a_class(self):
        for name, entry in self.entries.items():
            module, _, class_name = entry.partition(':')
            path = DRIVERS / f'{module.replace(".", "/")}.py'
            found = [node.name for node in ast.parse(path.read_text()).body
                     if isinstance(node, ast.ClassDef)]
            self.assertIn(class_name, found, name)

    def test_every_test_is_there_and_judges_a_promise(self):
        for defect in self.defects:
            # It raises LookupError for those that are not.
            self.assertNotEqual('', suite.get(defect.id).promise, defect.name)

    def test_a_driver_that_clashes_should_have_the_mark_of_ours(self):
        clash = next(one for one in self.defects if one.clash)
        fixture = clash.fixture(lambda driver: {'stack_id': driver})

        self.assertEqual(f'{clash.driver},k8s_capi_helm_v1',
                         clash.all_options()['clashing_drivers'])
        self.assertEqual('k8s_capi_v1',
                         fixture['marks'][clash.driver]['stack_id'])
        alone = next(one for one in self.defects if not one.clash)
        self.assertNotIn('clashing_drivers', alone.all_options())
        self.assertEqual({}, alone.fixture(None))
