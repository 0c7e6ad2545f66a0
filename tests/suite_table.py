# SPDX-License-Identifier: Apache-2.0

"""What the tests of the suite are about, read from their classes.

``python -m tests.suite_table`` writes the tables of
:mod:`magnum_capi_tempest.matrix.suite`. Flags are there as decorators and
classes note them (:mod:`magnum_capi_tempest.tests.common.flags`). Which
operations a test asks for is followed through what it calls.
"""

import csv
import dis
import importlib
import inspect
import pathlib
import types

import magnum_capi_tempest
from magnum_capi_tempest.matrix import suite

PROJECT = (magnum_capi_tempest.__name__, 'tests')


def operations():
    """Yield a suite.Operation for each method of the clients."""
    for module in _modules('services', '*_client.py'):
        resource = module.__name__.rpartition('.')[2].removesuffix('_client')
        if resource != 'base':
            for client in _classes(module):
                for name, method in vars(client).items():
                    if not name.startswith('_'):
                        yield suite.Operation(
                            name, resource,
                            inspect.getdoc(method).partition('\n')[0])


def tests(names):
    """Yield a suite.Test for each test, in the order of their modules.

    :param names: of operations.
    """
    for module in _modules('tests', 'test_*.py'):
        for case in _classes(module):
            for name in dict.fromkeys(
                    name for base in case.__mro__ for name in vars(base)
                    if name.startswith('test')):
                yield read(case, name, names)


def read(case, name, names):
    """Return the suite.Test of a method of a class.

    :param names: of operations.
    """
    test = inspect.getattr_static(case, name)
    # What all tests share sets up evidence, not operations.
    setups = [vars(base)['setUp'] for base in case.__mro__
              if 'setUp' in vars(base)
              and base.__module__.rpartition('.')[2].startswith('test_')]
    asked, stricter, seen = set(), set(), set()
    todo = [_function(found) for found in (test, *setups[:1])]
    while todo:
        function = todo.pop()
        if function in seen or function is None or (
                getattr(function, 'is_cleanup', False)):
            continue
        seen.add(function)
        stricter.update(getattr(function, 'stricter_flags', ()))
        for owner, word in _words(function.__code__):
            if owner in ('self', 'cls'):
                found = inspect.getattr_static(case, word, None)
            elif owner is None:
                found = function.__globals__.get(word)
            else:
                module = function.__globals__.get(owner)
                found = (getattr(module, word, None)
                         if inspect.ismodule(module) else None)
                if found is None and word in names:
                    asked.add(word)
            todo.append(_function(found))
    return suite.Test(
        f'{case.__module__}.{case.__name__}.{name}'.removeprefix(
            f'{suite.PACKAGE}.'),
        frozenset((*case.required_flags,
                   *getattr(test, 'required_flags', ()))),
        frozenset(asked), frozenset(stricter))


def _modules(folder, pattern):
    top = pathlib.Path(magnum_capi_tempest.__file__).parent
    for path in sorted((top / folder).rglob(pattern)):
        yield importlib.import_module('.'.join(
            path.relative_to(top.parent).with_suffix('').parts))


def _classes(module):
    return [found for found in vars(module).values()
            if inspect.isclass(found) and found.__module__ == module.__name__]


def _function(found):
    """The function of this project behind a name, or None."""
    found = getattr(found, '__func__', found)
    found = inspect.unwrap(getattr(found, 'fget', found))
    return (found if inspect.isfunction(found)
            and found.__module__.partition('.')[0] in PROJECT else None)


def _words(code):
    """Yield what a piece of code reads: (owner, name) each.

    The owner is the name of the variable whose attribute it is, '' when that
    has none, and None for what is global itself.
    """
    owner = ''
    for step in dis.get_instructions(code):
        if step.opname in ('LOAD_ATTR', 'LOAD_METHOD'):
            yield owner, step.argval
            owner = ''
        elif step.opname == 'LOAD_GLOBAL':
            yield None, step.argval
            owner = step.argval
        elif 'LOAD_FAST' in step.opname or step.opname == 'LOAD_DEREF':
            # Python 3.13 loads two at a time, or stores one first.
            owner = (step.argval if isinstance(step.argval, str)
                     else step.argval[-1])
        elif step.opname != 'CACHE':
            owner = ''
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _words(inner)


def write(path, heads, rows):
    with open(path, 'w', newline='', encoding='utf-8') as file:
        writer = csv.writer(file, lineterminator='\n')
        writer.writerows((heads, *rows))


def main():
    found = tuple(operations())
    write(suite.OPERATIONS, ('operation', 'resource', 'what'),
          ((one.name, one.resource, one.what) for one in found))
    write(suite.TESTS, ('test', 'required', 'operations', 'stricter'),
          ((test.id, *(' '.join(sorted(names)) for names in (
              test.required, test.operations, test.stricter)))
           for test in tests({one.name for one in found})))


if __name__ == '__main__':
    main()
