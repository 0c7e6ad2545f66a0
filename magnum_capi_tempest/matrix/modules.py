# SPDX-License-Identifier: Apache-2.0

"""Modules of Python as their source has them; none of them is imported.

Where is a class, what does it inherit, which function does a name mean?
"""

import ast
import pathlib


class Module:
    """A module's syntax tree, by names."""

    def __init__(self, name, top):
        self.name = name
        path = top / f'{name.replace(".", "/")}.py'
        tree = ast.parse(path.read_text(encoding='utf-8'))
        self.classes = {node.name: node for node in tree.body
                        if isinstance(node, ast.ClassDef)}
        self.functions = {node.name: node for node in tree.body
                          if isinstance(node, ast.FunctionDef)}
        self.imports = {
            alias.asname or alias.name: f'{node.module}.{alias.name}'
            for node in tree.body if isinstance(node, ast.ImportFrom)
            for alias in node.names}


class Modules:
    """The modules below a folder, read when they are asked for.

    :param top: folder that has the packages.
    """

    def __init__(self, top):
        self._top = pathlib.Path(top)
        self._found = {}

    def find(self, name):
        """A :class:`Module`, or None when there is no such file."""
        if name not in self._found:
            try:
                self._found[name] = Module(name, self._top)
            except (FileNotFoundError, NotADirectoryError):
                self._found[name] = None
        return self._found[name]

    def lineage(self, module, name):
        """A class and its bases: yields (Module, ast.ClassDef).

        Bases outside of this project are left out.
        """
        if name not in module.classes:
            return
        node = module.classes[name]
        yield module, node
        for base in node.bases:
            if isinstance(base, ast.Name):
                yield from self.lineage(module, base.id)
            elif (isinstance(base, ast.Attribute)
                  and isinstance(base.value, ast.Name)):
                other = self.imported(module, base.value.id)
                if other:
                    yield from self.lineage(other, base.attr)

    def imported(self, module, name):
        """A module of this project by the name it has in another, or None."""
        target = module.imports.get(name, '')
        return (self.find(target)
                if target.startswith(('magnum_capi_tempest.', 'tests.'))
                else None)


def method(lineage, name):
    """(Module, ast.FunctionDef) of the first class that has it."""
    for module, node in lineage:
        for child in node.body:
            if isinstance(child, ast.FunctionDef) and child.name == name:
                return module, child
    return None
