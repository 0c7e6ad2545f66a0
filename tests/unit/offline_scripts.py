# SPDX-License-Identifier: Apache-2.0

"""The scripts in tools/offline, which are no modules of a package."""

import contextlib
import importlib.util
import io
import pathlib

_FOLDER = pathlib.Path(__file__).parents[2] / 'tools' / 'offline'


def load(name):
    """Return a script as a module."""
    spec = importlib.util.spec_from_file_location(
        f'offline_{name}', _FOLDER / f'{name}.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(name, *argv):
    """Run a script; return its exit code and its output."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = load(name).main([str(word) for word in argv])
    return code, out.getvalue()
