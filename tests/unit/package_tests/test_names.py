# SPDX-License-Identifier: Apache-2.0

"""Names of objects in clusters, whatever Tempest's prefix of names is."""

import types
from unittest import mock

import fixtures
from tempest import config
import testtools
from testtools import matchers

from magnum_capi_tempest.tests.scenario import test_machines


class NamesTest(testtools.TestCase):

    def test_pods(self):
        self.useFixture(fixtures.MockPatchObject(
            config.CONF._config, 'resource_name_prefix', 'QA_Süd'))
        test = test_machines.WorkersTest('test_a_resize_waits_for_the_drain')
        test.cluster = None
        test.machines = lambda cluster: [types.SimpleNamespace(
            control_plane=False, node='n')]
        inside = mock.Mock()

        name, = test.create_pods(inside)

        inside.create_pod.assert_called_once_with(
            name, 'n', test_machines.WAITED_FOR)
        self.assertThat(name, matchers.MatchesRegex(
            '[a-z]([-a-z0-9]{0,61}[a-z0-9])?$'))
