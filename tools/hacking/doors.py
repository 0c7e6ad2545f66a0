# SPDX-License-Identifier: Apache-2.0

"""Two contract types for import-linter: which room may open which door.

import-linter's own contracts require every module to exist, and only forbid
known imports. For a growing project, this contract type is more suitable: a
room that does not exist yet is no error, a new room has no doors until
``.importlinter`` defines some, and a door is one line that reads like the
architecture: ``sandbox -> management``.
"""

import sys

from importlinter import Contract
from importlinter import ContractCheck
from importlinter import fields
from importlinter import output


class DoorsContract(Contract):
    """Rooms (children of the root package) import only through doors.

    - ``root``: the root package.
    - ``library``: another package, whose rooms also have doors; their names
      include the package.
    - ``foundation``: rooms that every room may import, including each other.
    - ``doors``: lines ``room -> room, room.module``; ``*`` for any room.

    An unused door must be removed: it breaks the contract as well.
    """

    type_name = 'doors'
    root = fields.StringField()
    library = fields.StringField(required=False)
    foundation = fields.ListField(subfield=fields.StringField())
    doors = fields.ListField(subfield=fields.StringField())

    def check(self, graph, verbose):
        doors = _table(self.doors, '->')
        foundation = {name.strip() for name in self.foundation}
        broken, unused = [], {
            (room, door) for room in doors for door in doors[room]}
        for importer, imported in _imports(graph):
            if not _within(importer, self.root):
                continue
            below = self._below(imported)
            here, there = _room(self._below(importer)), _room(below)
            used = {door for door in doors.get(here, ())
                    if door == '*' or _within(below, door)}
            unused -= {(here, door) for door in used}
            if not (used or here == there or not there
                    or any(_within(below, room) for room in foundation)):
                broken.append((f'{here} -> {there}', importer, imported))
        broken += [(f'{room} -> {door}', room, '') for room, door
                   in sorted(unused)]
        return _verdict(broken)

    def render_broken_contract(self, check):
        _show(check, 'There is no such door')

    def _below(self, module):
        """The path below the root; a path of the library keeps its name."""
        if _within(module, self.root):
            return module[len(self.root) + 1:]
        if self.library and module.startswith(f'{self.library}.'):
            return module
        return ''


class LibrariesContract(Contract):
    """Modules import only the listed libraries, and the project itself.

    - ``root``: the root package.
    - ``library``: another package of the project.
    - ``libraries``: lines ``module: library, library`` with the module's
      path below the root. ``stdlib`` is the standard library, ``-x`` excludes
      ``x`` from it.
    """

    type_name = 'libraries'
    root = fields.StringField()
    library = fields.StringField(required=False)
    libraries = fields.ListField(subfield=fields.StringField())

    def check(self, graph, verbose):
        table = {f'{self.root}.{module}': allowed for module, allowed
                 in _table(self.libraries, ':').items()}
        broken = []
        for importer, imported in _imports(graph):
            if _within(imported, self.root) or (
                    self.library and _within(imported, self.library)):
                continue
            for module, allowed in table.items():
                if _within(importer, module) and not _permits(
                        allowed, imported.partition('.')[0]):
                    broken.append((f'{module}: {imported}', importer,
                                   imported))
        return _verdict(broken)

    def render_broken_contract(self, check):
        _show(check, 'This module may not import this library')


def _room(path):
    """The room in a path below the root: "a" in "a.b"."""
    return path.partition('.')[0]


def _table(lines, separator):
    table = {}
    for line in lines:
        left, found, right = line.partition(separator)
        if not found:
            raise ValueError(f'{line!r} has no {separator!r}')
        table.setdefault(left.strip(), set()).update(
            name.strip() for name in right.split(',') if name.strip())
    return table


def _imports(graph):
    for importer in sorted(graph.modules):
        for imported in sorted(graph.find_modules_directly_imported_by(
                importer)):
            yield importer, imported


def _within(module, package):
    return module == package or module.startswith(f'{package}.')


def _permits(allowed, library):
    if f'-{library}' in allowed:
        return False
    return library in allowed or (
        'stdlib' in allowed and library in sys.stdlib_module_names)


def _verdict(broken):
    return ContractCheck(kept=not broken, metadata={'broken': broken})


def _show(check, what):
    for door, importer, imported in check.metadata['broken']:
        if imported:
            output.print_error(f'{what}: {door}', bold=True)
            output.print_error(f'{importer} imports {imported}')
        else:
            output.print_error(f'Unused door: {door}', bold=True)
        output.new_line()
