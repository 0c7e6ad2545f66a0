# SPDX-License-Identifier: Apache-2.0

"""Which flags does a piece of a test need? Pure: syntax trees in, names out.

Three ways to need a flag of [magnum_capi_feature_enabled] are known: the
class attribute ``required_flags``, a decorator that names it, and a check
that skips when that one flag is false.
"""

import ast

#: The group of options that are flags.
GROUP = 'magnum_capi_feature_enabled'

_SKIPS = frozenset(('skipException', 'skipTest', 'SkipTest'))


def required(node):
    """Elements of the class attribute ``required_flags``, or None."""
    for statement in node.body:
        if isinstance(statement, ast.Assign) and any(
                getattr(target, 'id', '') == 'required_flags'
                for target in statement.targets):
            return frozenset(ast.literal_eval(statement.value))
    return None


def decorated(node):
    """Flags that the decorators of a class or function name."""
    found = set()
    for decorator in node.decorator_list:
        found |= mentioned(decorator)
        if (isinstance(decorator, ast.Call)
                and getattr(decorator.func, 'attr', '') == 'promised'):
            found |= {argument.value for argument in decorator.args}
    return frozenset(found)


def skipping(function):
    """Flags that a function skips without: ``if not ...: skip``.

    A condition of several flags skips only when all are false: none of them
    is needed.
    """
    group = {target.id for node in ast.walk(function)
             if isinstance(node, ast.Assign)
             and getattr(node.value, 'attr', '') == GROUP
             for target in node.targets if isinstance(target, ast.Name)}
    found = set()
    for node in ast.walk(function):
        if isinstance(node, ast.If) and any(
                getattr(part, 'attr', '') in _SKIPS
                for child in node.body for part in ast.walk(child)):
            flags = mentioned(node.test, group)
            if len(flags) == 1:
                found |= flags
    return frozenset(found)


def mentioned(expression, aliases=()):
    """Flags that an expression reads: ``CONF.<group>.flag``."""
    return {node.attr for node in ast.walk(expression)
            if isinstance(node, ast.Attribute)
            and (getattr(node.value, 'attr', '') == GROUP
                 or getattr(node.value, 'id', '') in aliases)}


def attributes(function) -> frozenset[str]:
    """What ``decorators.attr`` says of a test."""
    found = set()
    for decorator in function.decorator_list:
        if (isinstance(decorator, ast.Call)
                and getattr(decorator.func, 'attr', '') == 'attr'):
            for keyword in decorator.keywords:
                value = ast.literal_eval(keyword.value)
                found |= {value} if isinstance(value, str) else set(value)
    return frozenset(found)
