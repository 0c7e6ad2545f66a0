# SPDX-License-Identifier: Apache-2.0

"""Drivers that take the version from a label can be upgraded by the suite."""

import types

import fixtures
import testtools

from magnum_capi_tempest.tests.common import operations
from magnum_capi_tempest.tests.scenario import test_cluster_truth
from magnum_capi_tempest.tests.scenario import test_cluster_upgrade
from magnum_capi_tempest.tests.scenario import test_openstack_nodes
from magnum_capi_tempest.tests.scenario import test_rollout
from tests.unit.package_tests import test_base

CONF = types.SimpleNamespace(magnum_capi=test_base.Options(
    labels={'kube_tag': 'v1.34.2', 'boot_volume_size': '20'},
    upgrade_image_id='newer', upgrade_labels={'kube_tag': 'v1.35.0'},
    volume_labels={'reclaim': 'yes'}, slow_flavor='slow', master_count=1))
UPGRADED = {'kube_tag': 'v1.35.0', 'boot_volume_size': '20'}


class Made(Exception):
    """The templates of a class are there."""


class LabelsTest(testtools.TestCase):

    def templates(self, case):
        """Return what a class asks of its templates, dicts, in turn."""
        self.useFixture(fixtures.MonkeyPatch(
            f'{operations.__name__}.BaseOperationsTest.resource_setup',
            classmethod(lambda cls: None)))
        self.useFixture(fixtures.MonkeyPatch(
            f'{case.__module__}.CONF', CONF))
        made = []

        def fail(*args, **kwargs):
            raise Made

        class Case(case):
            os_primary = magnum = None
            create_class_template = classmethod(
                lambda cls, **changes: made.append(changes))
            create_class_cluster = staticmethod(fail)
            things = staticmethod(lambda kind: frozenset())

        self.assertRaises(Made, Case.resource_setup)
        return made

    def test_templates_to_upgrade_to(self):
        for case in (test_cluster_upgrade.UpgradeTest,
                     test_cluster_truth.CompleteTest,
                     test_rollout.RolloutTest):
            old, new = self.templates(case)

            self.assertNotIn('labels', old)
            self.assertEqual(('newer', UPGRADED),
                             (new['image_id'], new['labels']), case)

    def test_volumes_go_as_the_driver_has_it(self):
        template, = self.templates(test_openstack_nodes.OpenStackNodesTest)

        self.assertEqual({**CONF.magnum_capi.labels, 'reclaim': 'yes'},
                         template['labels'])
