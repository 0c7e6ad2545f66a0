# SPDX-License-Identifier: Apache-2.0

"""The microversions of a Magnum are asked for, once."""

import unittest

import fixtures
import testtools

from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import microversions
from tests.unit.services import scripted_magnum


class AllowedTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.FakeLogger())
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.tests.common.microversions._HIGHEST', {}))
        self.script = self.useFixture(scripted_magnum.ScriptedMagnum())
        self.templates = self.script.client('ClusterTemplatesClient')

        self.script.headers['OpenStack-API-Maximum-Version'] = (
            'container-infra 1.11')
        self.script.answers = [(200, {'clustertemplates': []})]

    def test_latest_is_what_magnum_has(self):
        found = [microversions.allowed(self.templates, 'latest')
                 for _ in range(2)]

        self.assertEqual(['1.11', '1.11'], found)
        self.assertEqual(1, len(self.script.requests))

    def test_what_is_configured_counts(self):
        self.assertEqual(
            '1.9', microversions.allowed(self.templates, '1.9'))
        self.assertEqual([], self.script.requests)

    def test_a_magnum_that_fails_is_none_that_lacks_anything(self):
        self.script.answers = [(503, {}), (200, {'clustertemplates': []})]

        found = [microversions.allowed(self.templates, 'latest')
                 for _ in range(2)]

        self.assertEqual(['latest', '1.11'], found)


class RequiredTest(testtools.TestCase):

    def setUp(self):
        super().setUp()

        class ATest(base.BaseMagnumCapiTest):
            newest_microversion = '1.12'

        self.test_class = ATest

    def test_what_this_magnum_has(self):
        self.test_class.require_microversions('1.9', '1.12')

        self.assertTrue(self.test_class.has_microversion('1.12'))

    def test_what_it_lacks(self):
        self.assertRaises(unittest.SkipTest,
                          self.test_class.require_microversions,
                          '1.9', microversions.NODE_LABELS)
        self.assertFalse(self.test_class.has_microversion('1.14'))
