# SPDX-License-Identifier: Apache-2.0

"""The modules that import Magnum, imported beside one that is in memory."""

import functools
import importlib
import sys

from tests.lib import magnum_api
from tests.unit.driver import in_cloud

DRIVER = 'k8s_capi_v1'

_OURS = ('magnum_capi.driver.driver', 'magnum_capi.driver.store')


class Magnum(in_cloud.Cloud):
    """Magnum's modules, and its cloud, for the time of a test.

    :ivar rows: magnum_api.Magnum; its tables are reached through the doors,
        whose ``log`` tells how.
    :ivar conf: ConfigOpts of this process.
    :ivar driver, stores: the modules of the driver.
    """

    def _setUp(self):
        super()._setUp()
        self.rows = magnum_api.Magnum(
            self.clock, self.doors, self.cloud, DRIVER)
        for name, module in self.rows.modules().items():
            self._put(name, module)
        self.conf = sys.modules['magnum.conf'].CONF
        self.addCleanup(self._forget)
        self._forget()
        self.stores = importlib.import_module(_OURS[1])

    @functools.cached_property
    def driver(self):
        return importlib.import_module(_OURS[0])

    def _put(self, name, module):
        # Somebody else may have another stand-in.
        before = sys.modules.get(name)
        sys.modules[name] = module
        if before is None:
            self.addCleanup(sys.modules.pop, name)
        else:
            self.addCleanup(sys.modules.__setitem__, name, before)

    @staticmethod
    def _forget():
        for name in _OURS:
            sys.modules.pop(name, None)
            parent, _, own = name.rpartition('.')
            sys.modules[parent].__dict__.pop(own, None)
