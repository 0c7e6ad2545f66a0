# SPDX-License-Identifier: Apache-2.0

"""The modules of drivers/infrastructure that import nothing of OpenStack."""

import importlib
import sys

from magnum_capi_tempest import resources
from magnum_capi_tempest.sandbox import infrastructure


def load(name):
    """Import a module of the package anew, unless it is loaded."""
    folder = str(resources.find(infrastructure.DRIVERS))
    sys.path.insert(0, folder)
    try:
        return importlib.import_module(f'magnum_capi_infrastructure.{name}')
    finally:
        sys.path.remove(folder)


machines = load('machines')
network = load('network')
