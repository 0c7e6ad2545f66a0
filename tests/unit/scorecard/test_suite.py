# SPDX-License-Identifier: Apache-2.0

"""The tests of the suite, as their classes describe themselves."""

import pathlib
import re

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest import config
from magnum_capi_tempest import promises
from magnum_capi_tempest.scorecard import suite
from magnum_capi_tempest import tests as package

NAMED_NODES = ('driver.test_cluster_operations.SharedClusterTest.'
               'test_resize_removes_the_nodes_that_it_names')


class ListedTest(testtools.TestCase):

    def listed(self, conf):
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (folder / 'tempest.conf').write_text(conf)
        return {test.id: test for test in suite.tests(str(folder))}

    def test_promise_and_flags_do_not_depend_on_the_configuration(self):
        for found in ({test.id: test for test in suite.tests()},
                      self.listed('[magnum_capi]\nimage_id = x\n')):
            test = found[NAMED_NODES]

            self.assertEqual('lifecycle.resize.named-nodes', test.promise)
            self.assertEqual({'workload_api'}, test.required)

    def test_why_tests_are_skipped(self):
        found = self.listed(
            '[magnum_capi]\nimage_id = x\nflavor_id = x\n'
            'external_network = x\n'
            'not_promised = lifecycle.resize.named-nodes\n'
            '[magnum_capi_feature_enabled]\nworkload_api = true\n'
            'three_masters = false\n')

        self.assertEqual({
            NAMED_NODES: 'lifecycle.resize.named-nodes is in [magnum_capi] '
            'not_promised',
            'driver.test_cluster_operations.ThreeMastersTest.'
            'test_create_and_delete':
            '[magnum_capi_feature_enabled] three_masters is false',
            'driver.test_cluster_truth.FailureTest.'
            'test_workers_that_never_come':
            'Not set in [magnum_capi] of tempest.conf: fault_flavors.stuck',
            'driver.test_cluster_lifecycle.ClusterLifecycleTest.'
            'test_create_use_resize_delete': ''}, {
                ident: found[ident].skipped for ident in (
                    NAMED_NODES,
                    'driver.test_cluster_operations.ThreeMastersTest.'
                    'test_create_and_delete',
                    'driver.test_cluster_truth.FailureTest.'
                    'test_workers_that_never_come',
                    'driver.test_cluster_lifecycle.ClusterLifecycleTest.'
                    'test_create_use_resize_delete')})

    def test_a_configuration_that_cannot_be_read(self):
        self.assertRaises(errors.CommandFailed, self.listed, 'magnum_capi]')

    def test_a_test_that_is_not_there(self):
        test = suite.tests()[0].id

        self.assertIsInstance(
            suite.get(f'{suite.PACKAGE}.{test}'), suite.Test)
        for name in ('x', test, f'{suite.PACKAGE}.{test}_too'):
            self.assertRaises(LookupError, suite.get, name)


class CoverageTest(testtools.TestCase):
    """The suite itself: nothing is promised that nothing tries."""

    flags = {option.name for option in config.FEATURE_OPTS}

    def setUp(self):
        super().setUp()
        self.tests = suite.tests()

    def test_every_flag_is_asked_for(self):
        text = '\n'.join(path.read_text() for path in pathlib.Path(
            package.__path__[0]).rglob('*.py'))

        self.assertEqual([], [flag for flag in sorted(self.flags)
                              if not re.search(rf'\b{flag}\b', text)])

    def test_every_flag_of_a_test_is_an_option(self):
        for test in self.tests:
            self.assertEqual(set(), test.required - self.flags, test.id)

    def test_every_promise_has_a_test(self):
        self.assertEqual(promises.known().keys(),
                         {test.promise for test in self.tests} - {''})

    def test_what_makes_clusters_judges_a_driver(self):
        self.assertEqual([], [
            test.id for test in self.tests
            if test.id.startswith(('driver.', 'conformance.'))
            and not test.promise])
