# SPDX-License-Identifier: Apache-2.0

"""The tests of the suite as their source has them: flags and operations.

Nothing is imported: Tempest's tests want a configuration before they can be,
and what a test needs shall not depend on it. What a decorator or a check needs
:mod:`.needs` tells; here a test is followed through its bases and what it
calls. A flag without which no test is skipped belongs to the tests that read
it on their way: it makes them stricter.
"""

import ast
import dataclasses
import functools
import pathlib

import magnum_capi_tempest
from magnum_capi_tempest.matrix import modules
from magnum_capi_tempest.matrix import needs

PACKAGE = 'magnum_capi_tempest.tests'
SERVICES = 'magnum_capi_tempest.services'

#: Above the package, so that a module's name is its path.
TOP = pathlib.Path(magnum_capi_tempest.__file__).resolve().parents[1]

#: What a cloud is, or where the tests run, and not what anybody promises.
OF_THE_PLACE = frozenset(('workload_api', 'driver_field', 'real_nodes'))


@dataclasses.dataclass(frozen=True)
class Test:
    """A test of the suite.

    :param id: of unittest, below :data:`PACKAGE`: ``api.test_x.Y.test_z``.
    :param flags: of [magnum_capi_feature_enabled], without which it is
        skipped, or less strict.
    :param stricter: those of them without which it is less strict: it may
        pass without them, and prove nothing.
    :param operations: names of :func:`operations` that it asks for, itself or
        through what the tests share; not what its class sets up.
    :param attributes: of ``decorators.attr``.
    """

    id: str
    flags: frozenset[str] = frozenset()
    operations: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()
    stricter: frozenset[str] = frozenset()

    @property
    def class_id(self) -> str:
        return self.id.rpartition('.')[0]


@dataclasses.dataclass(frozen=True)
class Operation:
    """A request to Magnum's REST API.

    :param resource: ``clusters``, the module of its client.
    :param what: first line of the docstring.
    """

    name: str
    resource: str
    what: str


class Suite:
    """The tests below a folder.

    :param top: folder that has the package.
    """

    def __init__(self, top=TOP):
        self._top = pathlib.Path(top)
        self._modules = modules.Modules(top)
        self._names = {}
        self._kept = {}

    def flags(self, test) -> frozenset[str]:
        """Flags that a test needs.

        :param test: id of unittest, the package included.
        :raises LookupError: there is no such test.
        """
        parts = test.rsplit('.', 2)
        if len(parts) != 3 or not parts[2].startswith('test'):
            raise LookupError(f'{test} is no id of a test')
        module = self._modules.find(parts[0])
        if module is None:
            raise LookupError(f'There is no module {parts[0]}')
        lineage = tuple(self._modules.lineage(module, parts[1]))
        found = modules.method(lineage, parts[2])
        if found is None:
            raise LookupError(f'There is no test {test}')
        return self._class_flags(lineage) | needs.decorated(found[1]) | (
            needs.skipping(found[1]))

    def _class_flags(self, lineage):
        found = set()
        for module, node in lineage:
            found |= needs.decorated(node)
            for child in node.body:
                if isinstance(child, ast.FunctionDef) and (
                        child.name in ('skip_checks', 'setUp',
                                       'resource_setup')):
                    found |= needs.skipping(child)
        for module, node in lineage:
            required = needs.required(node)
            if required is not None:
                # The first one hides those of its bases.
                return frozenset(found) | required
        return frozenset(found)

    def follow(self, test, names) -> tuple[frozenset[str], frozenset[str]]:
        """Which of some methods' names a test calls or hands on.

        :param test: id of unittest.
        :returns: them, and the flags that are read on the way.
        """
        lineage, name = self._located(test)
        seen, found, read = set(), set(), set()
        # What all tests share sets up evidence, not operations.
        own = [(module, node) for module, node in lineage
               if module.name.rpartition('.')[2].startswith('test_')]
        for start in (modules.method(lineage, name),
                      modules.method(own, 'setUp')):
            if start:
                self._follow(*start, lineage, names, seen, found, read)
        return frozenset(found), frozenset(read)

    def attributes(self, test) -> frozenset[str]:
        """What ``decorators.attr`` says of a test."""
        lineage, name = self._located(test)
        return needs.attributes(modules.method(lineage, name)[1])

    def _located(self, test):
        """The lineage of a test's class, and the name of its method."""
        path, class_name, name = test.rsplit('.', 2)
        return tuple(self._modules.lineage(
            self._modules.find(path), class_name)), name

    def _kept_flags(self, lineage):
        """Flags by the attribute of a class that keeps them for later."""
        if lineage not in self._kept:
            found = {}
            for _, node in lineage:
                for part in ast.walk(node):
                    if isinstance(part, ast.Assign) and isinstance(
                            part.targets[0], ast.Attribute):
                        flags = needs.mentioned(part.value)
                        if flags:
                            found[part.targets[0].attr] = flags
            self._kept[lineage] = found
        return self._kept[lineage]

    def _names_in(self, function):
        """Nodes of a function that are an attribute, or a name it reads."""
        if function not in self._names:
            self._names[function] = [
                node for node in ast.walk(function)
                if isinstance(node, ast.Attribute)
                or isinstance(node, ast.Name)
                and isinstance(node.ctx, ast.Load)]
        return self._names[function]

    def _follow(self, module, function, lineage, names, seen, found, read):
        if function in seen:
            return
        seen.add(function)
        for node in self._names_in(function):
            target = None
            if isinstance(node, ast.Attribute):
                owner = node.value.id if isinstance(
                    node.value, ast.Name) else ''
                if owner in ('self', 'cls'):
                    target = modules.method(lineage, node.attr)
                    read |= self._kept_flags(lineage).get(node.attr, set())
                elif owner and (
                        other := self._modules.imported(module, owner)):
                    inner = other.functions.get(node.attr)
                    target = inner and (other, inner)
                elif node.attr in names:
                    found.add(node.attr)
                elif getattr(node.value, 'attr', '') == needs.GROUP:
                    read.add(node.attr)
            elif node.id in module.functions:
                target = module, module.functions[node.id]
            if target:
                self._follow(*target, lineage, names, seen, found, read)

    def ids(self, package=PACKAGE) -> list[str]:
        """Ids of all tests below a package, the package included."""
        found = []
        folder = self._top / package.replace('.', '/')
        for path in sorted(folder.rglob('test_*.py')):
            name = '.'.join(path.relative_to(
                self._top).with_suffix('').parts)
            module = self._modules.find(name)
            for class_name in module.classes:
                methods = dict.fromkeys(
                    child.name
                    for _, node in self._modules.lineage(module, class_name)
                    for child in node.body
                    if isinstance(child, ast.FunctionDef)
                    and child.name.startswith('test'))
                found += [f'{name}.{class_name}.{m}' for m in methods]
        return found


@functools.cache
def operations() -> tuple[Operation, ...]:
    """What Magnum can be asked for: the methods of the clients."""
    found = []
    for path in sorted((TOP / SERVICES.replace('.', '/')).glob('*_client.py')):
        if path.stem == 'base_client':
            continue
        module = modules.Module(f'{SERVICES}.{path.stem}', TOP)
        for node in module.classes.values():
            found += [Operation(
                child.name, path.stem.removesuffix('_client'),
                (ast.get_docstring(child) or child.name).splitlines()[0])
                for child in node.body if isinstance(child, ast.FunctionDef)
                and not child.name.startswith('_')]
    return tuple(found)


@functools.cache
def tests() -> tuple[Test, ...]:
    """All tests of the suite, in the order of their modules."""
    suite = Suite()
    names = {operation.name for operation in operations()}
    needed = {test: suite.flags(test) for test in suite.ids()}
    everywhere = frozenset().union(*needed.values())
    found = []
    for test, flags in needed.items():
        asked, read = suite.follow(test, names)
        stricter = read - everywhere - OF_THE_PLACE
        found.append(Test(
            test.removeprefix(f'{PACKAGE}.'), flags | stricter, asked,
            suite.attributes(test), stricter))
    return tuple(found)
