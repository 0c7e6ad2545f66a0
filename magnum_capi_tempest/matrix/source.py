# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""The tests of the suite as their source has them: flags and operations.

Nothing is imported: Tempest's tests want a configuration before they can be,
and what a test needs shall not depend on it. Three ways to need a flag of
[magnum_capi_feature_enabled] are known: the class attribute
``required_flags``, a decorator that names it, and a check that skips when
that one flag is false. A flag without which no test is skipped belongs to the
tests that read it on their way: it makes them stricter.
"""

import ast
import dataclasses
import functools
import pathlib

import magnum_capi_tempest

PACKAGE = 'magnum_capi_tempest.tests'
SERVICES = 'magnum_capi_tempest.services'

#: Above the package, so that a module's name is its path.
TOP = pathlib.Path(magnum_capi_tempest.__file__).resolve().parents[1]

#: What a cloud is, or where the tests run, and not what anybody promises.
OF_THE_PLACE = frozenset(('workload_api', 'driver_field', 'real_nodes'))

_GROUP = 'magnum_capi_feature_enabled'
_SKIPS = frozenset(('skipException', 'skipTest', 'SkipTest'))


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


class Suite:
    """The tests below a folder.

    :param top: folder that has the package.
    """

    def __init__(self, top=TOP):
        self._top = pathlib.Path(top)
        self._modules = {}
        self._names = {}
        self._kept = {}

    def module(self, name):
        """A :class:`Module`, or None when there is no such file."""
        if name not in self._modules:
            try:
                self._modules[name] = Module(name, self._top)
            except (FileNotFoundError, NotADirectoryError):
                self._modules[name] = None
        return self._modules[name]

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
                other = self._imported(module, base.value.id)
                if other:
                    yield from self.lineage(other, base.attr)

    def _imported(self, module, name):
        target = module.imports.get(name, '')
        return (self.module(target)
                if target.startswith(('magnum_capi_tempest.', 'tests.'))
                else None)

    def method(self, lineage, name):
        """(Module, ast.FunctionDef) of the first class that has it."""
        for module, node in lineage:
            for child in node.body:
                if isinstance(child, ast.FunctionDef) and child.name == name:
                    return module, child
        return None

    def flags(self, test) -> frozenset[str]:
        """Flags that a test needs.

        :param test: id of unittest, the package included.
        :raises LookupError: there is no such test.
        """
        parts = test.rsplit('.', 2)
        if len(parts) != 3 or not parts[2].startswith('test'):
            raise LookupError(f'{test} is no id of a test')
        module = self.module(parts[0])
        if module is None:
            raise LookupError(f'There is no module {parts[0]}')
        lineage = tuple(self.lineage(module, parts[1]))
        found = self.method(lineage, parts[2])
        if found is None:
            raise LookupError(f'There is no test {test}')
        return self._class_flags(lineage) | _decorated(found[1]) | (
            _skipping(found[1]))

    def _class_flags(self, lineage):
        found = set()
        for module, node in lineage:
            found |= _decorated(node)
            for child in node.body:
                if isinstance(child, ast.FunctionDef) and (
                        child.name in ('skip_checks', 'setUp',
                                       'resource_setup')):
                    found |= _skipping(child)
        for module, node in lineage:
            required = _required(node)
            if required is not None:
                # The first one hides those of its bases.
                return frozenset(found) | required
        return frozenset(found)

    def follow(self, test, names) -> tuple[frozenset[str], frozenset[str]]:
        """Which of some methods' names a test calls or hands on.

        :param test: id of unittest.
        :returns: them, and the flags that are read on the way.
        """
        path, class_name, name = test.rsplit('.', 2)
        lineage = tuple(self.lineage(self.module(path), class_name))
        seen, found, read = set(), set(), set()
        # What all tests share sets up evidence, not operations.
        own = [(module, node) for module, node in lineage
               if module.name.rpartition('.')[2].startswith('test_')]
        for start in (self.method(lineage, name), self.method(own, 'setUp')):
            if start:
                self._follow(*start, lineage, names, seen, found, read)
        return frozenset(found), frozenset(read)

    def _kept_flags(self, lineage):
        """Flags by the attribute of a class that keeps them for later."""
        if lineage not in self._kept:
            found = {}
            for _, node in lineage:
                for part in ast.walk(node):
                    if isinstance(part, ast.Assign) and isinstance(
                            part.targets[0], ast.Attribute):
                        flags = _mentioned(part.value)
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
                    target = self.method(lineage, node.attr)
                    read |= self._kept_flags(lineage).get(node.attr, set())
                elif owner and (other := self._imported(module, owner)):
                    inner = other.functions.get(node.attr)
                    target = inner and (other, inner)
                elif node.attr in names:
                    found.add(node.attr)
                elif getattr(node.value, 'attr', '') == _GROUP:
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
            module = self.module(name)
            for class_name in module.classes:
                methods = dict.fromkeys(
                    child.name for _, node in self.lineage(module, class_name)
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
        module = Module(f'{SERVICES}.{path.stem}', TOP)
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
            _attributes(suite, test), stricter))
    return tuple(found)


def _attributes(suite, test):
    path, class_name, name = test.rsplit('.', 2)
    _, node = suite.method(
        suite.lineage(suite.module(path), class_name), name)
    found = set()
    for decorator in node.decorator_list:
        if (isinstance(decorator, ast.Call)
                and getattr(decorator.func, 'attr', '') == 'attr'):
            for keyword in decorator.keywords:
                value = ast.literal_eval(keyword.value)
                found |= {value} if isinstance(value, str) else set(value)
    return frozenset(found)


def _required(node):
    """Elements of the class attribute ``required_flags``, or None."""
    for statement in node.body:
        if isinstance(statement, ast.Assign) and any(
                getattr(target, 'id', '') == 'required_flags'
                for target in statement.targets):
            return frozenset(ast.literal_eval(statement.value))
    return None


def _decorated(node):
    """Flags that the decorators of a class or function name."""
    found = set()
    for decorator in node.decorator_list:
        found |= _mentioned(decorator)
        if (isinstance(decorator, ast.Call)
                and getattr(decorator.func, 'attr', '') == 'promised'):
            found |= {argument.value for argument in decorator.args}
    return frozenset(found)


def _skipping(function):
    """Flags that a function skips without: ``if not ...: skip``.

    A condition of several flags skips only when all are false: none of them
    is needed.
    """
    group = {target.id for node in ast.walk(function)
             if isinstance(node, ast.Assign)
             and getattr(node.value, 'attr', '') == _GROUP
             for target in node.targets if isinstance(target, ast.Name)}
    found = set()
    for node in ast.walk(function):
        if isinstance(node, ast.If) and any(
                getattr(part, 'attr', '') in _SKIPS
                for child in node.body for part in ast.walk(child)):
            flags = _mentioned(node.test, group)
            if len(flags) == 1:
                found |= flags
    return frozenset(found)


def _mentioned(expression, aliases=()):
    """Flags that an expression reads: ``CONF.<group>.flag``."""
    return {node.attr for node in ast.walk(expression)
            if isinstance(node, ast.Attribute)
            and (getattr(node.value, 'attr', '') == _GROUP
                 or getattr(node.value, 'id', '') in aliases)}
