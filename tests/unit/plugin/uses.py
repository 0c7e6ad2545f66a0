# SPDX-License-Identifier: Apache-2.0

"""Which options of tempest.conf does code read? Found in its syntax trees."""

import ast
import itertools

from magnum_capi_tempest import config

_GROUPS = frozenset(group.name for group, _ in config.TABLE)

#: Names of the group, whatever they are assigned from.
_GROUP_NAMES = {'options': config.GROUP.name}

#: What names options in texts: classes' attributes, decorators of tests.
_NAMING = frozenset(('needs', 'NEEDS', 'BALANCER', 'LATE',
                     'TEMPLATE_OPTIONS'))


def of_options(trees):
    """Return the set of pairs of a group and an option that are read."""
    return set(itertools.chain.from_iterable(map(_of, trees)))


def attributes_read(source):
    """Return the names of attributes that a source reads from ``options``."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name('getattr'), args=[
                    ast.Name('options'), ast.Constant(name)]):
                found.add(name)
    return found


def _of(tree):
    names = _GROUP_NAMES | {
        target.id: node.value.attr for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr in _GROUPS
        for target in node.targets if isinstance(target, ast.Name)}
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Attribute(attr=group), attr=option):
                yield group, option
            case ast.Attribute(value=ast.Name(name), attr=option):
                yield names.get(name), option
            case ast.Assign(targets=[ast.Name(name)], value=value):
                yield from _texts(name, [value])
            case ast.Call(func=(ast.Name(name) | ast.Attribute(attr=name)),
                          args=args):
                yield from _texts(name, args)


def _texts(name, values):
    if name in _NAMING:
        for value in values:
            for node in ast.walk(value):
                if isinstance(node, ast.Constant):
                    # "fault_flavors.slow" is a key of an option.
                    option = str(node.value).partition('.')[0]
                    for group, options in config.list_opts():
                        if option in [one.name for one in options]:
                            yield group, option
