# SPDX-License-Identifier: Apache-2.0

"""What threads, looks and requests share cannot be changed by one of them."""

import dataclasses
import importlib
import inspect
import pkgutil

import testtools

from magnum_capi import driver
from magnum_capi.driver import memory
from magnum_capi import kube
from tests.unit.driver import magnum_double

#: What a process keeps between two looks, and only one thread has.
KEPT = (memory.Memory,)


class ValuesTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.useFixture(magnum_double.Magnum())

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

    @staticmethod
    def values():
        """The dataclasses of all modules."""
        for package in (driver, kube):
            for info in pkgutil.walk_packages(
                    package.__path__, f'{package.__name__}.'):
                module = importlib.import_module(info.name)
                for _name, kind in inspect.getmembers(module, inspect.isclass):
                    if (dataclasses.is_dataclass(kind)
                            and kind.__module__ == module.__name__):
                        yield kind
