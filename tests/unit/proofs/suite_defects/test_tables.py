# SPDX-License-Identifier: Apache-2.0

"""The table of defects holds together with the drivers and the suite."""

import ast
import pathlib
import re
import tempfile
import tomllib

import testtools

from magnum_capi_tempest.scorecard import suite
from tests.proofs.suite_defects import box
from tests.proofs.suite_defects import tables

TOP = pathlib.Path(__file__).resolve().parents[4]
DRIVERS = TOP / 'drivers' / 'defects'

ONE = '''
[[defect]]
name = "one"
does = "nothing"
test = "scenario.test_x.XTest.test_y"
says = "text"
'''


def read(text):
    with tempfile.NamedTemporaryFile('w', suffix='.toml') as file:
        file.write(text)
        file.flush()
        return tables.defects(file.name)


class TablesTest(testtools.TestCase):

    def test_a_defect(self):
        found, = read(ONE + 'options = {build_timeout = "5"}\n')

        self.assertEqual('seeded_one', found.driver)
        self.assertEqual('magnum_capi_tempest.tests.scenario.test_x.XTest.'
                         'test_y', found.id)
        self.assertEqual('XTest.test_y', found.short)
        self.assertEqual({'build_timeout': '5', 'delete_timeout': '60'},
                         found.all_options())
        self.assertEqual({'build_timeout': '5', 'delete_timeout': '120'},
                         found.all_options(2.0))

    def test_a_name_that_is_there_twice(self):
        self.assertRaises(ValueError, read, ONE + ONE)

    def test_what_is_no_regular_expression(self):
        self.assertRaises(ValueError, read, ONE.replace('text', '('))

    def test_the_expression_finds_the_tests_and_no_others(self):
        found = read(ONE)
        finds = re.compile(tables.regex(found)).search
        test, = tables.tests(found)

        self.assertTrue(finds(test))
        self.assertTrue(finds(f'{test}[id-1,slow]'))
        for other in (f'{test}_too', f'x.{test}', test[:-1],
                      test.replace('.', 'x')):
            self.assertFalse(finds(other), other)


class RealTableTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
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

    def test_every_test_is_there(self):
        for defect in self.defects:
            # It raises LookupError for those that are not.
            suite.get(defect.id)

    def test_what_the_issue_names_is_there(self):
        does = ' '.join(defect.does for defect in self.defects)
        for what in ('never completes', 'completes early',
                     'leaks a credential', 'ignores resize',
                     'deletes slowly', 'wrong kubeconfig CA',
                     'wrong node group'):
            self.assertIn(what, does)


class KeptByTest(testtools.TestCase):

    def test_only_tests_of_what_is_promised(self):
        defects = [defect for defect in tables.defects() if defect.name in (
            'never_completes', 'named_nodes_ignored')]

        self.assertEqual(
            ['never_completes'],
            [d.name for d in box.kept_by(
                ('lifecycle.resize.named-nodes',), defects)])
        self.assertEqual(2, len(box.kept_by((), defects)))

    def test_every_defect_breaks_a_promise(self):
        for defect in tables.defects():
            self.assertNotEqual('', suite.get(defect.id).promise, defect.name)
