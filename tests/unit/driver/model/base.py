# SPDX-License-Identifier: Apache-2.0

"""What tests that play stories share."""

import testtools

from tests.unit.driver.model import machine
from tests.unit.driver.model import world


class TestCase(testtools.TestCase):
    """Stories in an estate that the tests of a class share."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.estate = world.Estate()
        cls.estate.__enter__()
        cls.addClassCleanup(cls.estate.__exit__)

    def new_model(self):
        """A model whose world has just begun."""
        return type('Model', (machine.Model,), {'estate': self.estate})()
