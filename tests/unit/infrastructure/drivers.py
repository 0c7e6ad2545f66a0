# SPDX-License-Identifier: Apache-2.0

"""The modules of sandbox/drivers/infrastructure, without OpenStack."""

import importlib
import sys
from unittest import mock

from magnum_capi_sandbox import infrastructure
from magnum_capi_tempest import resources


def load(name):
    """Import a module of the package anew, unless it is loaded."""
    folder = str(resources.find(infrastructure.DRIVERS))
    sys.path.insert(0, folder)
    try:
        return importlib.import_module(f'magnum_capi_infrastructure.{name}')
    finally:
        sys.path.remove(folder)


def load_with(name, stubs):
    """Import a module of the package with stand-ins for other modules.

    :param stubs: :func:`stand_ins` of all that it imports.
    """
    with mock.patch.dict(sys.modules, stubs):
        module = load(name)
        del sys.modules[module.__name__]
    return module


def stand_ins(*names):
    """A mock for each of these modules, by name."""
    return {name: mock.MagicMock() for name in names}


machines = load('machines')
network = load('network')
