# SPDX-License-Identifier: Apache-2.0

"""What threads of Magnum's API share: nobody can change it."""

import dataclasses

import testtools

from magnum_capi.discovery.audit import seen
from magnum_capi.discovery import explain
from magnum_capi.discovery import guarded
from magnum_capi.discovery import host
from magnum_capi.discovery import model
from magnum_capi.discovery import unmodified


class ValuesTest(testtools.TestCase):

    def test_they_cannot_be_changed(self):
        catalog = model.Catalog([model.Offer('a')])
        request = model.Request(model.ImageProperties())
        for value in (
                catalog.offers[0], catalog.policy, request, request.image,
                seen.Image('i'), seen.Template('t'), seen.Cloud(),
                guarded.Route('cluster create'), host.Host(catalog, None, ()),
                unmodified.default_driver(catalog),
                explain.tell('image x', {}, request, catalog)):
            for field in dataclasses.fields(value):
                self.assertRaises(dataclasses.FrozenInstanceError, setattr,
                                  value, field.name, None)
