# SPDX-License-Identifier: Apache-2.0

"""Which drivers of a sandbox are there to choose from?"""

import json
import types
from unittest import mock

import fixtures
import testtools

from magnum_capi import driver_info
from magnum_capi import errors
from magnum_capi_sandbox import usable_drivers
from tests.unit.sandbox import samples


class UsableTest(testtools.TestCase):

    def test_drivers_of_the_type_of_the_image(self):
        said = json.dumps([
            {'Driver': name, 'State': state, 'Cluster types': kinds,
             'Error': error} for name, state, kinds, error in (
                ('a', 'usable', [usable_drivers.TYPE], None),
                ('b', 'broken', [], 'import: ImportError: x'),
                ('c', 'usable', [], None),
                ('d', 'disabled', [], None))])
        layout = samples.a_layout(self.useFixture(fixtures.TempDir()).path)

        box = types.SimpleNamespace(layout=lambda: layout,
                                    spec=samples.a_spec)

        with mock.patch.object(usable_drivers.processes, 'run',
                               return_value=said) as run:
            self.assertEqual(['a'], usable_drivers.drivers(box))
            self.assertEqual(
                ['b: broken, import: ImportError: x',
                 'c: not for the image of the sandbox', 'd: disabled'],
                usable_drivers.others(box))
        # A driver may look for the management cluster when it is loaded.
        self.assertEqual(str(layout.kubeconfig),
                         run.call_args.kwargs['env']['KUBECONFIG'])

    def to_test(self, installed, **changes):
        """The driver to test, of those that are installed and usable."""
        box = types.SimpleNamespace(spec=lambda: samples.a_spec(
            install=('x',), **changes))
        with mock.patch.multiple(
                usable_drivers, drivers=lambda box: ['k8s_capi_helm_v1',
                                                     *installed],
                _installed=lambda box, install: {*installed},
                others=lambda box: []):
            return usable_drivers.to_test(box)

    def test_the_driver_to_test_is_the_installed_one(self):
        self.assertEqual('k8s_x', self.to_test(['k8s_x']))
        self.assertRaises(errors.UsageError, self.to_test, ['k8s_x', 'k8s_y'])

    def test_the_driver_to_test_of_those_that_clash(self):
        self.assertEqual('k8s_capi_v1',
                         self.to_test(['k8s_capi_v1'], clash=True))
        self.assertEqual('k8s_x',
                         self.to_test(['k8s_capi_v1', 'k8s_x'], clash=True))

    def test_marks_of_drivers_that_declare_one(self):
        described = {
            'a': driver_info.Description({'mark': {'stack_id': 'a'}}, 'x'),
            'b': driver_info.Description({}, 'x'), 'c': None}

        with mock.patch.object(usable_drivers, 'description',
                               lambda box, name: described[name]):
            self.assertEqual({'a': {'stack_id': 'a'}},
                             usable_drivers.marks(None, ('a', 'b', 'c')))
            self.assertEqual({}, usable_drivers.marks(None, ('b', 'c')))

    def test_a_driver_describes_itself_and_no_other(self):
        layout = samples.a_layout(self.useFixture(fixtures.TempDir()).path)
        said = json.dumps([{'name': 'k8s_a', 'distribution': 'magnum-a 1.0'}])

        with mock.patch.object(usable_drivers.processes, 'run',
                               return_value=said):
            box = types.SimpleNamespace(layout=lambda: layout)
            found = usable_drivers.description(box, 'k8s_a')
            self.assertEqual(('k8s_a', 'magnum-a 1.0'),
                             (found.name, found.distribution))
            error = self.assertRaises(
                errors.UsageError, usable_drivers.description, box, 'k8s_b')
        self.assertIn('of k8s_b describes k8s_a (magnum-a 1.0)', str(error))
