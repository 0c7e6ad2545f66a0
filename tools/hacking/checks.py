# SPDX-License-Identifier: Apache-2.0

"""House rules as flake8 checks; HACKING.rst lists them, tox.ini names them.

Each check reads the syntax tree: a rule that reads lines is fooled by a line
break, and then nobody trusts it. To allow an exception, add ``# noqa: MC101``
with the reason beside it.
"""

import ast
import functools

#: The packages, as opposed to their tests.
PACKAGES = ('magnum_capi/', 'magnum_capi_tempest/')
#: The module that may start programs, and those that may sleep.
STARTS_PROGRAMS = ('magnum-capi/magnum_capi/processes.py',)
WAITS = ('magnum-capi/magnum_capi/waiting.py',
         'magnum-capi/magnum_capi/progress.py')
#: Tests that run against a cloud.
CLOUD_TESTS = 'magnum_capi_tempest/tests/'

_CLASS_FIXTURES = {
    'setUpClass': 'skip_checks, setup_credentials, setup_clients or '
                  'resource_setup',
    'tearDownClass': 'addClassResourceCleanup',
    'tearDown': 'addCleanup, right after the creation',
}
_MUTABLE_CALLS = {'list', 'dict', 'set', 'bytearray'}


def no_bare_exception(tree, filename):
    """MC101: an error has a type, so that its data can be read."""
    for node in _nodes(tree):
        if not isinstance(node, ast.Raise):
            continue
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        if _dotted(raised) in ('Exception', 'BaseException'):
            yield _found(node, 'MC101: raise a class of '
                         'magnum_capi.errors, not Exception')


def no_class_fixtures(tree, filename):
    """MC102: Tempest's class life cycle, like T105 of Tempest."""
    if CLOUD_TESTS not in _path(filename):
        return
    for item in _members(tree):
        instead = _CLASS_FIXTURES.get(getattr(item, 'name', None))
        if instead:
            yield _found(item, f'MC102: {item.name} is not for Tempest '
                         f'tests, use {instead}')


def no_sleep(tree, filename):
    """MC103: every wait is bounded and says what it last saw."""
    if _path(filename).endswith(WAITS):
        return
    names = _imported(tree, 'time', 'sleep')
    for node in _nodes(tree):
        if isinstance(node, ast.Call) and _dotted(node.func) in names:
            yield _found(node, 'MC103: use magnum_capi.waiting, it '
                         'is bounded; do not sleep')


def no_mutable_defaults(tree, filename):
    """MC104: a default is evaluated once and shared by all calls."""
    for node in _nodes(tree):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef,
                                 ast.Lambda)):
            continue
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if (isinstance(default, (ast.List, ast.Dict, ast.Set,
                                     ast.ListComp, ast.DictComp,
                                     ast.SetComp))
                    or isinstance(default, ast.Call)
                    and (_dotted(default.func) in _MUTABLE_CALLS
                         or _dotted(default.func).endswith('rand_name'))):
                yield _found(default, 'MC104: this default is made once and '
                             'shared by all calls, use None')


def only_processes_starts_programs(tree, filename):
    """MC105: a program is started with a timeout and a typed error."""
    path = _path(filename)
    if (not any(package in path for package in PACKAGES)
            or path.endswith(STARTS_PROGRAMS)):
        return
    for node in _nodes(tree):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            modules = [node.module]
            if node.module == 'os':
                modules += [f'os.{alias.name}' for alias in node.names]
        elif isinstance(node, ast.Call):
            modules = [_dotted(node.func)]
        else:
            continue
        for module in modules:
            if (module.split('.')[0] == 'subprocess' and not isinstance(
                    node, ast.Call)
                    or module in ('os.system', 'os.popen')):
                yield _found(node, 'MC105: use magnum_capi.processes,'
                             ' it has a timeout and typed errors')


@functools.lru_cache(maxsize=1)
def _nodes(tree):
    """All nodes of a file, for all of its checks."""
    return tuple(ast.walk(tree))


def _members(tree):
    """Direct members of classes."""
    return (item for node in _nodes(tree) if isinstance(node, ast.ClassDef)
            for item in node.body)


def _path(filename):
    return str(filename).replace('\\', '/')


def _dotted(node):
    """``a.b.c`` for a name or attribute, else an empty string."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ''
    return '.'.join((node.id, *reversed(parts)))


def _imported(tree, module, name):
    """Every dotted name by which this file can call ``module.name``."""
    names = set()
    for node in _nodes(tree):
        if isinstance(node, ast.Import):
            names |= {f'{alias.asname or alias.name}.{name}'
                      for alias in node.names if alias.name == module}
        elif isinstance(node, ast.ImportFrom) and node.module == module:
            names |= {alias.asname or alias.name
                      for alias in node.names if alias.name == name}
    return names


def _found(node, text):
    code, _, rest = text.partition(': ')
    return node.lineno, node.col_offset, f'{code} {rest}', None
