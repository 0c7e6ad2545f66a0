# SPDX-License-Identifier: Apache-2.0

"""What threads, looks and requests share cannot be changed by one of them."""

import dataclasses
import importlib
import inspect
import pkgutil

import testtools

from magnum_capi import driver
from magnum_capi.driver.adoption import adopt
from magnum_capi.driver.adoption import rules
from magnum_capi.driver.cloud import openstack
from magnum_capi.driver.cloud import services
from magnum_capi.driver.desired import charts
from magnum_capi.driver.desired import goal
from magnum_capi.driver.desired import label_registry
from magnum_capi.driver.desired import label_types
from magnum_capi.driver.desired import labels
from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import node_files
from magnum_capi.driver.desired import pins
from magnum_capi.driver.desired import placement
from magnum_capi.driver.desired import registries
from magnum_capi.driver.desired import replacement
from magnum_capi.driver.desired import rows
from magnum_capi.driver.desired import spec
from magnum_capi.driver.desired import upgrade
from magnum_capi.driver import gather
from magnum_capi.driver.gitops import description
from magnum_capi.driver.gitops import rendering
from magnum_capi.driver.helm import releases
from magnum_capi.driver.keys import app_credentials
from magnum_capi.driver.keys import credentials
from magnum_capi.driver.keys import rotation
from magnum_capi.driver.keys import state
from magnum_capi.driver.moving import move
from magnum_capi.driver.moving import site
from magnum_capi.driver.moving import standing
from magnum_capi.driver.observed import attention
from magnum_capi.driver.observed import conditions
from magnum_capi.driver.observed import groups
from magnum_capi.driver.observed import snapshot
from magnum_capi.driver.observed import verdicts
from magnum_capi.driver import other_options
from magnum_capi.driver import reconcile
from magnum_capi.driver import settings
from magnum_capi.driver import status_check
from magnum_capi.kube import access
from magnum_capi.kube import kinds
from magnum_capi.kube import kubeconfig_file
from magnum_capi.kube import rest
from tests.unit.driver import magnum_double

#: Those with values.
MODULES = (
    openstack, services, reconcile, gather, description, rendering,
    app_credentials, credentials, rotation, state, access, kinds,
    kubeconfig_file,
    releases, rest, attention, conditions, groups, snapshot,
    verdicts, settings, charts, goal, label_registry, label_types, labels,
    names, pins, rows, spec, upgrade, status_check, move, site, standing,
    node_files, replacement, adopt, rules, other_options,
    placement, registries)

#: What a process keeps between two looks, and only one thread has.
KEPT = (status_check.CheckCache, attention.Attention)


class ValuesTest(testtools.TestCase):

    def test_they_cannot_be_changed(self):
        found = set(self.values())
        self.assertGreater(len(found), 50)
        for kind in found - set(KEPT):
            value = object.__new__(kind)
            for field in dataclasses.fields(kind):
                with testtools.ExpectedException(
                        dataclasses.FrozenInstanceError, msg=str(kind)):
                    setattr(value, field.name, None)

    def test_they_are_compared_by_what_they_say(self):
        # Two looks at the same are equal, so that nothing is written.
        for kind in set(self.values()) - set(KEPT):
            one, two = (object.__new__(kind) for _ in range(2))
            for value in (one, two):
                for field in dataclasses.fields(kind):
                    object.__setattr__(value, field.name, field.name)
            self.assertEqual(one, two)
            for field in dataclasses.fields(kind):
                if field.compare:
                    object.__setattr__(two, field.name, 'other')
                    self.assertNotEqual(one, two)
                    object.__setattr__(two, field.name, field.name)

    def test_none_is_left_out(self):
        self.useFixture(magnum_double.Magnum())
        found = {importlib.import_module(info.name) for info in
                 pkgutil.walk_packages(
                     driver.__path__, f'{driver.__name__}.')}
        # As a list: matchers want to sort a set, and classes have no order.
        self.assertEqual([], list(self.values(found - set(MODULES))))

    @staticmethod
    def values(modules=MODULES):
        """The dataclasses of modules."""
        for module in modules:
            for _name, kind in inspect.getmembers(module, inspect.isclass):
                if (dataclasses.is_dataclass(kind)
                        and kind.__module__ == module.__name__):
                    yield kind
