# SPDX-License-Identifier: Apache-2.0

"""Images with unexpected texts in their properties.

A user who may upload an image can put anything in its properties.
"""

from tempest.lib import decorators
from tempest.lib import exceptions as lib_exc

from magnum_capi_tempest import json_types
from magnum_capi_tempest.tests.common import discovery
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common.negative import bad_input


class HostileValuesTest(discovery.BaseDiscoveryTest):
    """Properties of images are untrusted texts."""

    #: Longer than any name, and too long to read.
    LONG = 'w' * 4096
    #: Ends lines, clears terminals, reverses the direction of writing.
    CONTROLS = bad_input.TEXTS['control characters']
    HTML = bad_input.TEXTS['HTML']
    FORMATS = bad_input.TEXTS['format strings']

    def create_hostile_image(self, **changes: str) -> json_types.Object:
        """Create an image; Glance may rightly refuse it."""
        try:
            return self.create_image(**changes)
        except lib_exc.BadRequest as e:
            raise self.skipException(
                f'Glance refuses such a property: {e}') from None

    def assert_answers_still(self) -> None:
        self.magnum.templates.list_cluster_templates()

    def assert_clean(self, error: lib_exc.BadRequest) -> None:
        """Assert that the texts of an error are safe to show and log."""
        for text in discovery.texts(error.resp_body):
            self.assertTrue(text.isprintable(), ascii(text))
            self.assertLess(len(text), 2000)

    @decorators.attr(type='negative')
    @decorators.idempotent_id('51483083-d5c5-429d-9033-b6a80979941f')
    def test_driver_with_html(self) -> None:
        self.assert_refused(self.create_hostile_image(
            magnum_driver=self.HTML))

        self.assert_answers_still()

    @decorators.attr(type='negative')
    @decorators.idempotent_id('6b8396f2-2f74-4b6b-ae81-e195bea14218')
    def test_driver_with_format_strings(self) -> None:
        self.assert_refused(self.create_hostile_image(
            magnum_driver=self.FORMATS))

        self.assert_answers_still()

    @decorators.attr(type=['negative', 'magnum-values'])
    @flags.needs('discovery.error.values-escaped')
    @decorators.idempotent_id('b83378b9-dae9-432b-960b-eb1c1c3ac094')
    def test_driver_with_control_characters(self) -> None:
        error = self.assert_refused(self.create_hostile_image(
            magnum_driver=self.CONTROLS))

        self.assert_clean(error)
        self.assert_answers_still()

    @decorators.attr(type=['negative', 'magnum-values'])
    @flags.needs('discovery.error.values-escaped')
    @decorators.idempotent_id('3540fb97-88f6-4e7b-8dcb-9536b2ee9e7d')
    def test_driver_of_4_kib(self) -> None:
        error = self.assert_refused(self.create_hostile_image(
            magnum_driver=self.LONG))

        self.assert_clean(error)
        self.assert_answers_still()

    @decorators.attr(type=['negative', 'magnum-d2'])
    @flags.needs('discovery.type.must-be-provided')
    @decorators.idempotent_id('9774f3ab-b602-4cea-9688-e7c96cb1a9d5')
    def test_os_distro(self) -> None:
        self.assert_all_refused('os_distro')

    @decorators.attr(type=['negative', 'magnum-d6'])
    @flags.needs('discovery.distro.magnum-distro')
    @decorators.idempotent_id('1d7ad934-0226-406f-b5a7-194ff4a77423')
    def test_magnum_distro(self) -> None:
        self.assert_all_refused('magnum_distro')

    def assert_all_refused(self, field: str) -> None:
        for value in (self.HTML, self.FORMATS, self.CONTROLS, self.LONG):
            self.assert_clean(self.assert_refused(
                self.create_hostile_image(**{field: value})))
        self.assert_answers_still()
