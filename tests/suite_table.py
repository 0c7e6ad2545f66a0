# SPDX-License-Identifier: Apache-2.0

"""What the tests of the suite are about, read from their classes.

``python -m tests.suite_table`` writes the tables of
:mod:`magnum_capi_tempest.scorecard.suite`. Flags are there as decorators and
classes note them (:mod:`magnum_capi_tempest.tests.common.flags`). Which
operations a test asks for is followed through what it calls.
"""

import collections
import csv
import dataclasses
import dis
import importlib
import inspect
import pathlib
import types

import magnum_capi_tempest
from magnum_capi_tempest.scorecard import plan
from magnum_capi_tempest.scorecard import suite
from magnum_capi_tempest.tests.common import rbac

PROJECT = (magnum_capi_tempest.__name__, 'tests')

#: Flags about the cloud or the test machine, which are no promises.
OF_THE_PLACE = frozenset((
    'workload_api', 'template_driver', 'hidden_template_unseen',
    'failed_cluster_polled', 'image_driver', 'real_nodes',
    'cloud_provider'))


def operations() -> set[str]:
    """The operations of Magnum: the methods of its clients."""
    return {name for module in _modules('services', '*_client.py')
            if not module.__name__.endswith('.base_client')
            for client in _classes(module)
            for name in vars(client) if not name.startswith('_')}


def tests(names):
    """Yield a suite.Test for each test, in the order of their modules.

    :param names: of operations.
    """
    for module in _modules('tests', 'test_*.py'):
        for case in _classes(module):
            for name in _names(case):
                yield read(case, name, names)


def read(case, name, names):
    """Return the suite.Test of a method of a class.

    :param names: of operations.
    """
    test = inspect.getattr_static(case, name)
    asked, stricter, seen = set(), set(), set()
    todo = [_function(found) for found in (test, *_setups(case)[:1])]
    while todo:
        function = todo.pop()
        if function in seen or function is None:
            continue
        seen.add(function)
        stricter.update(getattr(function, 'stricter_flags', ()))
        words, called = _used(case, function, names)
        asked.update(words)
        todo += called
    return suite.Test(
        f'{case.__module__}.{case.__name__}.{name}'.removeprefix(
            f'{suite.PACKAGE}.'),
        getattr(test, 'promise', '') or getattr(case, 'promise', ''),
        frozenset((*case.required_flags,
                   *getattr(test, 'required_flags', ()))),
        frozenset(asked), frozenset(stricter))


def costs(names):
    """Yield a plan.Cost for each class, and each test, that takes clusters.

    What a call asks for is counted as often as it stands there, loops once.
    Only tests of type "slow" are served; those about bad input, or about who
    may do what, are refused.
    """
    for module in _modules('tests', 'test_*.py'):
        for case in _classes(module):
            found = [read(case, name, names) for name in _names(case)]
            asked = sum((_counted(case, vars(base)['resource_setup'], names)
                         for base in case.__mro__
                         if 'resource_setup' in vars(base)),
                        collections.Counter())
            if found:
                yield _cost(found[0].class_id, asked)
            for test in found:
                name = test.id.rpartition('.')[2]
                if not (test.stricter or _is_refused(case, name)):
                    yield _cost(test.id, sum((
                        _counted(case, function, names) for function in (
                            inspect.getattr_static(case, name),
                            *_setups(case)[:1])), collections.Counter()))


def _cost(ident, asked):
    return plan.Cost(ident, asked['create_cluster'],
                     sum(asked[name] for name in plan.CHANGES))


def _is_refused(case, name):
    test = inspect.getattr_static(case, name)
    return ('slow' not in getattr(test, '__testtools_attrs', ())
            or issubclass(case, rbac.BaseRbacTest))


def _counted(case, function, names, within=()):
    """Count the operations that a function asks for, a Counter."""
    function = _function(function)
    if function is None or function in within:
        return collections.Counter()
    words, called = _used(case, function, names)
    return sum((_counted(case, found, names, (*within, function))
                for found in called), collections.Counter(words))


def _setups(case):
    # What all tests share sets up evidence, not operations.
    return [vars(base)['setUp'] for base in case.__mro__
            if 'setUp' in vars(base)
            and base.__module__.rpartition('.')[2].startswith('test_')]


def _names(case):
    return dict.fromkeys(name for base in case.__mro__ for name in vars(base)
                         if name.startswith('test'))


def _used(case, function, names):
    """Return the operations and the functions that a function uses, lists."""
    asked, called = [], []
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
                asked.append(word)
        called.append(_function(found))
    return asked, [found for found in called
                   if found and not getattr(found, 'is_cleanup', False)]


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
    names = operations()
    write(suite.TESTS,
          ('test', 'promise', 'required', 'operations', 'stricter'),
          ((test.id, test.promise, *(' '.join(sorted(words)) for words in (
              test.required, test.operations, test.stricter)))
           for test in tests(names)))
    write(plan.COSTS, ('id', 'clusters', 'changes'),
          (dataclasses.astuple(cost)
           for cost in costs(names)
           if cost.clusters or cost.changes))


if __name__ == '__main__':
    main()
