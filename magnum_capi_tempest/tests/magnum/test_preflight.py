# SPDX-License-Identifier: Apache-2.0

"""Does tempest.conf fit this cloud? Run and read this test first."""

from tempest import config
from tempest.lib import decorators

from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common.preflight import checks
from magnum_capi_tempest.tests.common.preflight import options

CONF = config.CONF


class PreflightTest(base.BaseMagnumCapiTest):

    # The test reports missing options; it must not be skipped for them.
    uses_templates = False

    @classmethod
    def setup_credentials(cls) -> None:
        # A cloud can be tested without an admin, but with fewer checks.
        if cls.is_admin_available():
            cls.credentials = ['primary', 'admin']
        with checks.identity(CONF.identity.uri_v3):
            super().setup_credentials()

    @decorators.idempotent_id('fa186e67-45de-43c3-8868-3cb247c9e9d7')
    @decorators.attr(type='smoke')
    def test_configuration_fits_the_cloud(self) -> None:
        cloud = options.Cloud(
            CONF, self.os_primary, self.magnum,
            getattr(self, 'admin_magnum', None))

        found = checks.problems(cloud)

        if found:
            self.fail(checks.screen(found))
