# SPDX-License-Identifier: Apache-2.0

"""What drivers say of themselves, and how that is checked."""

import contextlib
import importlib.metadata
import io
import json
import pathlib
import sys
from unittest import mock

import fixtures
import testtools
import yaml

from magnum_capi.cli import driver_info as cli
from magnum_capi import driver_info
from magnum_capi import errors
from magnum_capi_tempest import config
from magnum_capi_tempest import descriptions
from magnum_capi_tempest import promises
from magnum_capi_tempest.scorecard import suite

TOP = pathlib.Path(__file__).resolve().parents[2]
OURS = TOP / 'magnum-capi/magnum_capi/driver' / driver_info.FILE

ONE = yaml.safe_load(OURS.read_text())


class DescriptionTest(testtools.TestCase):

    def refused(self, **changes):
        return driver_info.problems({**ONE, **changes})

    def test_ours_is_right(self):
        found = driver_info.parse(OURS.read_text(), OURS)

        self.assertEqual('k8s_capi_v1', found.name)
        self.assertEqual((), found.unsupported)

    def test_what_is_wrong(self):
        for changes in ({'kind': 'Pod'}, {'name': ''}, {'url': 'x'},
                        {'profiles': ['speed']}, {'colour': 'red'},
                        {'unsupported': ['last_resize_wins']},
                        {'known_issues': {'lifecycle.a.b': ''}},
                        {'known_races': {'test_x': 'no class'}},
                        {'labels': {'a': 1}}, {'companions': 'x'},
                        {'environment': {'a': 1}},
                        {'environment': {'a': {'value': '1'}}},
                        {'magnum_conf': {'a': 'b'}},
                        {'mark': {}}, {'mark': {'stack_id': '('}},
                        {'mark': {'objects': {'Secret': 'x'}}},
                        {'mark': {'objects': {'Secret/(': 'x'}}},
                        {'mark': {'deletion': {'Cluster/x': 'x'}}}):
            found, = self.refused(**changes)
            self.assertIn(next(iter(changes)), found)

    def test_what_is_no_description(self):
        for text in ('', '[]', 'a: [', 'kind: Driver'):
            self.assertRaises(errors.UsageError, driver_info.parse, text, 'x')

    def test_those_of_others_fit_the_registry(self):
        known = {option.name for option in config.OPTS}
        others = descriptions.known()
        self.assertIn('k8s_capi_helm_v1', [one.name for one in others])
        for found in (driver_info.parse(OURS.read_text(), OURS), *others):
            names = (*found.unsupported, *found.known_issues)

            self.assertEqual(
                set(), {*names} - promises.known().keys(), found.where)
            self.assertEqual(len({*names}), len(names), found.where)
            self.assertEqual(
                set(), found.tempest.keys() - known, found.where)
            self.assertEqual(set(), found.known_races.keys() - {
                '.'.join(test.id.split('.')[-2:]) for test in suite.tests()})


class InstalledTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.package = folder / 'magnum_of_x'
        self.package.mkdir()
        (self.package / '__init__.py').write_text('')
        self.useFixture(fixtures.MonkeyPatch('sys.path',
                                             [str(folder), *sys.path]))
        self.addCleanup(sys.modules.pop, 'magnum_of_x', None)
        self.write(name='k8s_x')
        self.points = [importlib.metadata.EntryPoint(
            'k8s_x', 'magnum_of_x', driver_info.GROUP)]
        self.useFixture(fixtures.MockPatchObject(
            importlib.metadata, 'entry_points', return_value=self.points))

    def write(self, **changes):
        (self.package / driver_info.FILE).write_text(
            yaml.safe_dump({**ONE, **changes}))

    def call(self, *words):
        out = io.StringIO()
        app = mock.Mock(stdout=out)
        app.options.debug = False
        one = cli.Info(app, None)
        with contextlib.redirect_stderr(io.StringIO()):
            code = one.run(one.get_parser('x').parse_args(words))
        return code, out.getvalue()

    def test_the_command_prints_it(self):
        code, out = self.call('k8s_x')

        self.assertEqual((0, 'k8s_x'), (code, json.loads(out)[0]['name']))
        self.assertEqual(2, self.call('k8s_y')[0])

    def test_the_command_checks_it(self):
        self.assertEqual(0, self.call('--check')[0])
        self.write(name='k8s_other')
        code, out = self.call('--check')
        self.assertEqual(1, code)
        self.assertIn("the entry point is 'k8s_x'", out)
        self.write(profiles=['speed'])
        self.assertIn("'speed' is not one of", self.call('--check')[1])

    def test_the_command_checks_a_file(self):
        self.assertEqual((0, f'{OURS}: valid\n'),
                         self.call('--check', str(OURS)))
        self.assertEqual(2, self.call('--check', '/nowhere/x.yaml')[0])

    def test_the_command_checks_a_folder_with_the_source(self):
        folder = self.package.parent
        # What pip leaves there: it was built when the name was wrong.
        built = folder / 'build' / 'lib' / self.package.name
        built.mkdir(parents=True)
        (built / driver_info.FILE).write_text('name: 5')

        self.assertEqual(
            (0, f'{self.package / driver_info.FILE}: valid\n'),
            self.call('--check', f'{folder}/'))

    def test_the_command_checks_what_is_no_yaml(self):
        for text in ('a: [', 'a: 2026-99-99', '[' * 9999):
            (self.package / driver_info.FILE).write_text(text)
            code, out = self.call('--check')
            self.assertEqual(1, code)
            self.assertIn(f'{driver_info.FILE}: not YAML: ', out)
            self.assertEqual(2, self.call()[0])

    def test_a_package_without_the_file(self):
        (self.package / driver_info.FILE).unlink()
        self.assertRaises(errors.UsageError, driver_info.of, 'k8s_x')

    def test_a_package_that_cannot_be_imported(self):
        for code in ('import magnum_of_nobody', 'raise SystemExit(0)'):
            sys.modules.pop('magnum_of_x', None)
            (self.package / '__init__.py').write_text(code)

            error = self.assertRaises(errors.UsageError,
                                      driver_info.of, 'k8s_x')
            self.assertIn('entry point k8s_x', str(error))

    def test_a_broken_package_of_another_driver(self):
        self.points.append(importlib.metadata.EntryPoint(
            'k8s_a', 'magnum_of_nobody', driver_info.GROUP))

        self.assertEqual('k8s_x', driver_info.of('k8s_x').name)
        self.assertIsNone(driver_info.of('k8s_y'))
        self.assertEqual(0, self.call('k8s_x')[0])
        self.assertEqual(2, self.call()[0])
