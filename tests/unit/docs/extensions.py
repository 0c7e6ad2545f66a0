# SPDX-License-Identifier: Apache-2.0

"""The documentation's own extensions, which are in no package."""

import importlib.util
import pathlib

_FOLDER = pathlib.Path(__file__).resolve().parents[3] / 'doc/extensions'


def load(name):
    """Return a module of ``doc/extensions``."""
    spec = importlib.util.spec_from_file_location(
        name, _FOLDER / f'{name}.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
