# SPDX-License-Identifier: Apache-2.0

import dataclasses
import types
from unittest import mock

from magnum_capi import errors
from magnum_capi_tempest.images import plan
from magnum_capi_tempest.images import recipes
from magnum_capi_tempest.images import releases
from magnum_capi_tempest import toolchain
from magnum_capi_tempest.toolchain import go
from magnum_capi_tempest.toolchain import pins
from tests.unit.images import base

CONSTANTS = '''
    DefaultEtcdVersion = "3.6.4-0"
    CoreDNSVersion = "v1.12.1"
    PauseVersion = "3.10.1"
'''


class AskedTest(base.TestCase):

    def test_minors_and_releases(self):
        self.assertEqual({'1.34': None, '1.36': '1.36.4', '1.35': '1.35.0'},
                         releases.asked(['1.34', '1.36.4', 'v1.35.0']))

    def test_no_versions(self):
        for text in ('latest', '1', '1.36.', '1.36.5-rc.1', '../1.36', ''):
            error = self.assertRaises(errors.UsageError, releases.asked,
                                      [text])
            self.assertIn(repr(text), str(error))

    def test_two_of_one_minor(self):
        for texts in (['1.36', '1.36.4'], ['1.36.4', '1.36.5']):
            self.assertRaises(errors.UsageError, releases.asked, texts)

    def test_the_same_twice(self):
        self.assertEqual({'1.36': None}, releases.asked(['1.36', 'v1.36']))


class ChosenTest(base.TestCase):

    def setUp(self):
        super().setUp()
        source = self.folder()
        (source / 'cmd/kubeadm/app/constants').mkdir(parents=True)
        (source / releases._CONSTANTS).write_text(CONSTANTS)
        known = pins.load()
        program = known.programs['kubelet-1.34']
        self.known = mock.patch.object(
            toolchain, 'known', return_value=dataclasses.replace(
                known, programs={'kubelet-1.34.0': program})).start()
        mock.patch.object(go, 'family_module', return_value=source).start()
        self.addCleanup(mock.patch.stopall)

    def test_default_releases_need_nothing(self):
        default = recipes.defaults()['1.34']

        for release in (None, default):
            self.assertEqual((), releases.chosen({'1.34': release}))
        self.assertEqual([], self.known.mock_calls)

    def test_another_release_has_names_and_tags_of_its_own(self):
        found = recipes.load(releases.chosen({'1.34': '1.34.0'}))

        node = found['node-1.34']
        self.assertEqual('v1.34.0', node.kubernetes)
        self.assertEqual('kubelet-1.34.0', node.programs['/usr/bin/kubelet'])
        self.assertEqual(('registry.k8s.io/etcd:3.6.4-0',),
                         found['etcd-1.34'].references)
        self.assertEqual({'/usr/local/bin/etcd': 'etcd-3.6'},
                         found['etcd-1.34'].programs)
        self.assertEqual(recipes.load()['node-1.33'], found['node-1.33'])

    def test_minors_without_recipes(self):
        error = self.assertRaises(errors.UsageError, releases.chosen,
                                  {'1.99': '1.99.0'})

        self.assertIn('1.99.0', str(error))
        self.assertIn('Cluster API', str(error))

    def test_tags_that_are_not_there_stay(self):
        self.assertEqual({'pause': '3.10.1'},
                         releases.tags('PauseVersion = "3.10.1"'))


class OtherReleasesTest(base.TestCase):

    def test_only_what_was_named_counts(self):
        recipe = base.recipe('node-1.34', kubernetes='v1.34.9')
        archives = {'node-1.34': types.SimpleNamespace(kubernetes='v1.34.9')}

        for release, expected in (
                (None, {}), ('1.34.9', {}),
                ('1.34.0', {'node-1.34': 'v1.34.9'})):
            self.assertEqual(expected, plan.of_other_releases(
                [recipe, base.recipe('pause')], archives, {'1.34': release}))
