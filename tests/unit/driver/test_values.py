# SPDX-License-Identifier: Apache-2.0

"""What threads, polls and requests share cannot be changed by one of them."""

import dataclasses
import importlib
import inspect
import pkgutil

import testtools

from magnum_capi import driver
from magnum_capi.driver import poll_cache
from magnum_capi import kube
from tests.unit.driver import in_magnum

#: What a process keeps between two polls, and only one thread has.
KEPT = (poll_cache.PollCache,)


class ValuesTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.useFixture(in_magnum.Magnum())

    def test_they_cannot_be_changed(self):
        found = set(self.values())
        self.assertGreater(len(found), 50)
        for kind in found - set(KEPT):
            value = object.__new__(kind)
            for field in dataclasses.fields(kind):
                with testtools.ExpectedException(
                        dataclasses.FrozenInstanceError, msg=str(kind)):
                    setattr(value, field.name, None)

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
