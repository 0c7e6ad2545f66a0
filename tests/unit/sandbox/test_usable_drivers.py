# SPDX-License-Identifier: Apache-2.0

"""What the sandbox reads from the commands in Magnum's environment."""

import pathlib
import sys
from unittest import mock

import fixtures
import testtools

from magnum_capi_sandbox import usable_drivers
from magnum_capi_tempest import descriptions
from tests.unit.toolchain import base


class TestDescription(testtools.TestCase):

    def setUp(self):
        super().setUp()
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        base.script(folder / 'bin' / 'magnum-capi',
                    f'exec {sys.executable} -m magnum_capi.cli.main "$@"')
        self.box = mock.Mock()
        self.box.layout.return_value.magnum_env = folder

    def test_driver_that_does_not_describe_itself(self):
        found = usable_drivers.description(self.box, 'k8s_capi_helm_v1')

        self.assertIsNotNone(found)
        self.assertEqual(descriptions.of_driver('k8s_capi_helm_v1'), found)
