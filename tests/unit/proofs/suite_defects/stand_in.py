# SPDX-License-Identifier: Apache-2.0

"""The drivers with a stand-in for Magnum.

Only its modules are pretended, in which they find classes; rows, Helm and
the management cluster are the small world of the driver's own tests.
"""

import functools
import importlib
import importlib.machinery
import pathlib
import sys

DRIVERS = pathlib.Path(__file__).resolve().parents[4] / 'drivers' / 'defects'

_PACKAGE = 'magnum_capi_defects'


class _Finder:
    """Finds every module of Magnum; what they have is made up."""

    def find_spec(self, name, path=None, target=None):
        if name.partition('.')[0] != 'magnum':
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        made = {}

        def attribute(name):
            if name == 'make_admin_context':
                return lambda **kwargs: None
            # In lower case are modules, which are imported then.
            if not name[0].isupper():
                raise AttributeError(name)
            # Some classes are inherited, others are raised.
            return made.setdefault(name, type(name, (Exception,), {}))

        module.__getattr__ = attribute


@functools.cache
def modules():
    """Return the modules of the drivers by their names.

    Nobody else finds them, or what they have imported, afterwards.
    """
    known, finder = set(sys.modules), _Finder()
    sys.meta_path.insert(0, finder)
    sys.path.insert(0, str(DRIVERS))
    try:
        return {path.stem: importlib.import_module(f'{_PACKAGE}.{path.stem}')
                for path in sorted((DRIVERS / _PACKAGE).glob('[a-z]*.py'))}
    finally:
        sys.meta_path.remove(finder)
        sys.path.remove(str(DRIVERS))
        for name in set(sys.modules) - known:
            if name.startswith(('magnum.', f'{_PACKAGE}.',
                                'magnum_capi.driver.')) or (
                    name in ('magnum', _PACKAGE)):
                module = sys.modules.pop(name)
                parent, _, own = name.rpartition('.')
                if getattr(sys.modules.get(parent), own, None) is module:
                    delattr(sys.modules[parent], own)


def load(reference):
    """Return what an entry point names: ``module:Class``."""
    module, _, name = reference.partition(':')
    return getattr(modules()[module], name)
