# SPDX-License-Identifier: Apache-2.0

"""A sandbox with a real OpenStack, one for all tests of a class."""

import openstack

from tests.functional import boxes


class TestCase(boxes.TestCase):
    """With connections of a user, ``cloud``, and of an ``admin``."""

    #: What else ``sandbox up`` is told.
    arguments = ()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.box = boxes.shared(cls, '--infrastructure', 'openstack',
                               *cls.arguments)
        config = openstack.config.OpenStackConfig(
            config_files=[str(cls.box.directory / 'clouds.yaml')],
            secure_files=[], load_envvars=False)
        cls.cloud, cls.admin = (
            openstack.connection.Connection(config=config.get_one(name))
            for name in ('sandbox', 'sandbox-admin'))

    def usages(self):
        """Units of all kinds that placement says are in use."""
        return sum(
            sum(self.admin.placement.get(
                f'/resource_providers/{host.id}/usages').json()[
                    'usages'].values())
            for host in self.admin.placement.resource_providers())
