# SPDX-License-Identifier: Apache-2.0

"""A version that Magnum shows before all nodes have it."""

import types

import testtools

from magnum_capi import errors
from magnum_capi_tempest.tests.common import access
from magnum_capi_tempest.tests.common import versions


class WatchTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.nodes = []
        self.observe_all = 0
        self.watch = versions.Watch(self.observe)

    def observe(self, cluster):
        self.observe_all += 1
        if isinstance(self.nodes, Exception):
            raise self.nodes
        return access.Nodes(tuple(
            types.SimpleNamespace(name=f'n{number}', version=version)
            for number, version in enumerate(self.nodes)))

    def see(self, version, uuid='c', status='UPDATE_IN_PROGRESS'):
        self.watch.see(
            {'uuid': uuid, 'coe_version': version, 'status': status})

    def test_the_version_of_a_creation_is_not_compared(self):
        for version in (None, 'v1.34.2', 'v1.34.2'):
            self.see(version)

        self.assertEqual(0, self.observe_all)

    def test_a_node_is_older(self):
        self.see('v1.34.9')
        self.nodes = ['v1.35.0', 'v1.34.9']

        error = self.assertRaises(
            versions.ShownTooEarly, self.see, 'v1.35.0')

        self.assertIn('n1 v1.34.9', str(error))
        self.assertIn(versions.PROMISE, str(error))
        # It goes on to be wrong.
        self.assertRaises(versions.ShownTooEarly, self.see, 'v1.35.0')

    def test_only_what_is_complete_if_the_driver_promises_no_more(self):
        self.watch = versions.Watch(self.observe, always=False)
        self.see('v1.34.9')
        self.nodes = ['v1.34.9']

        self.see('v1.35.0')
        error = self.assertRaises(
            versions.ShownTooEarly, self.see, 'v1.35.0',
            status='UPDATE_COMPLETE')

        self.assertNotIn(versions.PROMISE, str(error))

    def test_all_nodes_have_it(self):
        self.see('v1.9.9')
        self.nodes = ['v1.10.0', 'v1.10.0+build.7']

        self.see('v1.10.0')
        self.see('v1.10.0')

        self.assertEqual(1, self.observe_all)

    def test_nodes_that_cannot_be_seen_are_seen_later(self):
        self.see('v1.34.9')
        for self.nodes in (errors.MagnumCapiError('no'), []):
            self.see('v1.35.0')
        self.nodes = ['v1.34.9']

        self.assertRaises(versions.ShownTooEarly, self.see, 'v1.35.0')

    def test_a_cluster_that_is_ignored(self):
        self.see('v1.34.9')
        self.nodes = ['v1.34.9']
        self.watch.ignore('c')

        self.see('v1.35.0')

    def test_each_cluster_has_its_own(self):
        self.see('v1.34.9')
        self.see('v1.35.0', 'd')

        self.assertEqual(0, self.observe_all)
