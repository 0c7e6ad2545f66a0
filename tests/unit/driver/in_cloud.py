# SPDX-License-Identifier: Apache-2.0

"""The OpenStack in memory, open for a test that asks it by the real SDK."""

import functools

import fixtures
from keystoneauth1 import session as keystone_session
from os_service_types import service_types

from magnum_capi.driver.cloud import services
from tests.lib import doors
from tests.lib import openstack_api
from tests.lib import virtual_time
from tests.unit.driver import objects

USER, PROJECT = 'u1', 'p1'

#: The SDK copies all types of services for each client that it makes, which
#: takes longer than all else of it.
_TYPES = property(functools.cache(
    service_types.ServiceTypes.all_types_by_service_type.fget))


class Cloud(fixtures.Fixture):
    """A cloud with one user, for the time of a test.

    :ivar cloud: openstack_api.OpenStack.
    :ivar doors: through which it is reached.
    :ivar clock: virtual_time.Clock.
    """

    def _setUp(self):
        self.clock = virtual_time.Clock(objects.NOW.timestamp())
        self.doors = doors.Doors(self.clock)
        self.cloud = openstack_api.OpenStack()
        self.cloud.users[USER] = {PROJECT: ('member',)}
        self.doors.host(openstack_api.HOST, doors.CLOUD, self.cloud.serve)
        self.useFixture(fixtures.MockPatchObject(
            service_types.ServiceTypes, 'all_types_by_service_type', _TYPES))
        # It waits between attempts.
        self.useFixture(fixtures.MockPatchObject(
            keystone_session, 'time', virtual_time.Program(
                self.clock).modules()['time']))
        opened = self.doors.open()
        opened.__enter__()
        self.addCleanup(opened.__exit__, None, None, None)

    def session(self, user=USER):
        return self.cloud.session(user, PROJECT)

    def services(self, user=USER, **options):
        return services.Services(
            lambda: self.session(user), timeout=60, **options)

    def asked(self, *methods):
        """(method, path, query, body) of requests, without versions."""
        return [one for one in self.cloud.seen if one[0] in methods]

    def deleted(self):
        """Ids of what was asked to be deleted."""
        return [path.rpartition('/')[2] for _, path, *_ in self.asked(
            'DELETE')]
