# SPDX-License-Identifier: Apache-2.0

"""The base of the tests of driver discovery.

:func:`.flags.needs` above a test names what this Magnum must promise, and the
drivers to test with.

Of the attributes of a test, ``magnum-...`` names the deviation of Magnum 23
that it shows, and ``uncured`` one that no filter in front of Magnum can cure.
Both are listed in doc/source/deviations.rst.
"""

import collections.abc
import shlex
import typing

from tempest import config
from tempest.lib import exceptions as lib_exc

from magnum_capi import processes
from magnum_capi_tempest import json_types
from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import factories
from magnum_capi_tempest.tests.common import images
from magnum_capi_tempest.tests.common import tempest_types

CONF = config.CONF

NOBODY = factories.NO_DRIVER

#: Seconds that configure_command may take.
_CONFIGURED = 300


def texts(value: object) -> collections.abc.Iterator[str]:
    """Yield every string in a value of JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from texts(part)


class BaseDiscoveryTest(base.BaseMagnumCapiTest):
    """A test that creates images and checks their templates' drivers.

    :cvar properties: of the configured image, without magnum_driver.
    :cvar distro: its operating system.
    """

    attributes = ('smoke',)
    needs: tuple[str, ...] = ('service_available.glance',)

    @classmethod
    def resource_setup(cls) -> None:
        super().resource_setup()
        image = images.find(cls.os_primary.image_client_v2,
                            CONF.magnum_capi.image_id)
        cls.properties = images.properties(image)
        cls.properties.pop('magnum_driver', None)
        cls.distro = (cls.properties.pop('magnum_distro', None)
                      or cls.properties['os_distro'])

    def create_image(self, **changes: str | None) -> json_types.Object:
        """Create an image of the configured one's type, with changes."""
        return images.create(
            self.os_primary.image_client_v2, self.addCleanup, CONF,
            {**self.properties, 'os_distro': self.distro, **changes},
            test=self.id())

    def create_template_of(self, image: json_types.Object,
                           driver: str | None = None, **changes: typing.Any
                           ) -> json_types.Object:
        """Create a template for an image, by default without a driver."""
        return self.create_template(
            image_id=image['id'], driver=driver, **changes)

    def assert_refused(self, image: json_types.Object,
                       driver: str | None = None, **changes: typing.Any
                       ) -> lib_exc.BadRequest:
        """Assert that Magnum refuses a template; return the error."""
        try:
            template = self.create_template_of(image, driver, **changes)
        except lib_exc.BadRequest as e:
            return e
        raise self.failureException(
            f'Magnum accepts the template, with the driver '
            f'{template["driver"]!r} for '
            f'{ascii(template["cluster_distro"])[:80]}')

    def assert_cluster_refused(self, template: json_types.Object,
                               **changes: typing.Any) -> None:
        """Assert that Magnum refuses a cluster; needs 1.9."""
        try:
            self.request_small_cluster(template, **changes)
        except lib_exc.BadRequest:
            return
        self.fail('Magnum accepts the cluster of a template with the driver '
                  f'{template["driver"]!r}')

    def request_small_cluster(self, template: json_types.Object,
                              **changes: typing.Any) -> None:
        """Request a cluster only to see whether Magnum accepts it.

        It is always deleted at the end.
        """
        uuid = self.request_cluster(
            template, keypair=self.create_keypair(), **changes)
        self.waiter.until_handed_over(uuid)

    def assert_driver(self, expected: str | None, image: json_types.Object,
                      driver: str | None = None) -> None:
        """Assert which driver a template for an image gets."""
        template = self.create_template_of(image, driver)
        # What is stored counts, not what the answer says.
        found = self.magnum.templates.show_cluster_template(template['uuid'])
        self.assertEqual((expected, expected),
                         (template['driver'], found['driver']))


class Configuration:
    """Changes options of [drivers] in magnum.conf, and restores them.

    :param command: see the option configure_command.
    :param cleanup: ``self.addCleanup`` of a test.
    """

    def __init__(self, command: str, cleanup: tempest_types.Cleanup) -> None:
        self._command = shlex.split(command)
        self._cleanup = cleanup
        self._changed: dict[str, str] = {}

    def set(self, **drivers: str) -> None:
        """Set options of [drivers]; all others stay."""
        if not self._changed:
            self._cleanup(self._restore)
        # Recorded first: a command that fails may have changed them.
        self._changed.update(dict.fromkeys(drivers, ''))
        self._run(drivers)

    def _restore(self) -> None:
        self._run(self._changed)

    def _run(self, drivers: dict[str, str]) -> None:
        processes.run(
            [*self._command, *(f'drivers.{name}={value}'
                               for name, value in drivers.items())],
            timeout=_CONFIGURED, merge=True,
            hint='Check [magnum_capi] configure_command')
