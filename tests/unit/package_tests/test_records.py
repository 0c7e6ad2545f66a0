# SPDX-License-Identifier: Apache-2.0

"""What a kill leaves behind is in the record: images and networks, too."""

import types

import fixtures
import testtools

from magnum_capi_tempest.leaks import model
from magnum_capi_tempest.leaks import record
from magnum_capi_tempest.tests.common import images
from magnum_capi_tempest.tests.common import networks


class RecordsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = self.useFixture(fixtures.TempDir()).path
        self.conf = types.SimpleNamespace(
            resource_name_prefix='prefix', magnum_capi=types.SimpleNamespace(
                artifact_dir=self.folder, external_network='n'))
        self.useFixture(fixtures.MonkeyPatch(
            f'{networks.__name__}.CONF', self.conf))

    def recorded(self):
        return sorted((one.kind, one.ident, one.test)
                      for one in record.read(self.folder))

    def ignore(self, *args, **kwargs):
        """A cleanup that is never run."""

    def test_an_image(self):
        client = types.SimpleNamespace(
            create_image=lambda **fields: {'id': 'i', **fields},
            delete_image=None)

        images.create(client, self.ignore, self.conf, {}, test='t')

        self.assertEqual([(model.IMAGE, 'i', 't')], self.recorded())

    def test_a_network_and_its_router(self):
        def created(kind, ident):
            return lambda **fields: {kind: {'id': ident, **fields}}

        manager = types.SimpleNamespace(
            networks_client=types.SimpleNamespace(
                create_network=created('network', 'n'), delete_network=None,
                list_networks=lambda **filters: {
                    'networks': [{'id': 'n', 'name': 'x'}]}),
            network_extensions_client=types.SimpleNamespace(
                list_extensions=lambda: {'extensions': [
                    {'alias': 'router'}]}),
            routers_client=types.SimpleNamespace(
                create_router=created('router', 'r'), delete_router=None,
                add_router_interface=self.ignore,
                remove_router_interface=None))
        own = networks.Networks(manager, self.ignore, 't')

        own.create()
        own.connect({'id': 's'})

        self.assertEqual([(model.NETWORK, 'n', 't'), (model.ROUTER, 'r', 't')],
                         self.recorded())
