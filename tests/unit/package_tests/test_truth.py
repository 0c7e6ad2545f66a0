# SPDX-License-Identifier: Apache-2.0

"""Attributes of clusters that a driver supports need not be refused."""

import base64
import types

import testtools

from magnum_capi_tempest.tests.common import operations
from magnum_capi_tempest.tests.driver import test_cluster_truth

REGISTRY = 'registry.example.org:5000'


def encoded(text):
    return base64.b64encode(text.encode()).decode()


class AttributeTest(testtools.TestCase):

    def judge(self, *objects, reason=None):
        """Run the test with a driver.

        :param objects: what the cluster is made of.
        :param reason: of the refusal; None: it accepts the cluster.
        """
        def refusal(**changes):
            if reason is None:
                raise operations.NotRefused('no', {'stack_id': 's'})
            return reason

        test = test_cluster_truth.RefusalTest('test_attribute_without_effect')
        test.refusal = refusal
        test.management = types.SimpleNamespace(
            bodies=lambda stack_id: [('Kind', obj) for obj in objects])
        test.test_attribute_without_effect()

    def test_it_is_refused_by_its_name(self):
        self.judge(reason='insecure_registry is not supported')
        self.assertRaises(AssertionError, self.judge, reason='no room')

    def test_it_is_part_of_the_cluster(self):
        for obj in ({'spec': {'files': [{'content': f'x {REGISTRY} y'}]}},
                    {'data': {'config.toml': encoded(f'host {REGISTRY}')}}):
            self.judge({'spec': {}}, obj)

    def test_it_has_no_effect(self):
        for obj in ({'spec': {'files': [{'content': 'x', 'mode': 1}]}},
                    {'data': {'config.toml': encoded('other')}},
                    # It only says what was requested.
                    {'metadata': {'annotations': {'registry': REGISTRY}}}):
            self.assertRaises(operations.NotRefused, self.judge, obj)
