# SPDX-License-Identifier: Apache-2.0


"""The mutants of a source, made with the operators of cosmic-ray."""

import ast
from collections.abc import Iterator
import dataclasses
import difflib
import functools
import hashlib
import importlib
import warnings

from magnum_capi import errors


@dataclasses.dataclass(frozen=True, order=True)
class Place:
    """Something that an operator of cosmic-ray can change.

    :param file: below the package.
    :param operator: its name.
    :param occurrence: the how many-th of its places in the file, from 0.
    :param line: where it begins, from 1.
    :param function: innermost function or class around it, may be empty.
    """

    file: str
    operator: str
    occurrence: int
    line: int = dataclasses.field(compare=False)
    function: str = dataclasses.field(compare=False, default='')

    @property
    def key(self) -> str:
        return f'{self.file}:{self.operator}:{self.occurrence}'


@dataclasses.dataclass(frozen=True)
class Mutant:
    """A source with one change.

    :param before: the changed lines as they were, without indentation.
    :param after: the same lines as they are.
    """

    place: Place
    source: str
    before: str
    after: str


def places(file: str, text: str) -> list[Place]:
    """All places in a source, sorted."""
    cosmic = _cosmic_ray('cosmic_ray.ast')
    query = _cosmic_ray('cosmic_ray.ast.ast_query').ASTQuery
    nodes = list(cosmic.ast_nodes(cosmic.get_ast(text)))
    found = []
    for name, operator in _operators().items():
        where = [(node, start[0]) for node in nodes
                 for start, _end in operator.mutation_positions(node)]
        found += [Place(file, name, number, line,
                        query(node).get_definition_name() or '')
                  for number, (node, line) in enumerate(where)]
    return sorted(found)


def make(place: Place, text: str) -> Mutant | None:
    """Apply a change; None when the result is no Python, or nothing new."""
    mutating = _cosmic_ray('cosmic_ray.mutating')
    changed = mutating.MutationVisitor.mutate_code(
        text, _operators()[place.operator], place.occurrence)
    if changed is None or not is_new(text, changed):
        return None
    return Mutant(place, changed, *difference(text, changed))


def is_new(text: str, changed: str) -> bool:
    """Whether a changed source is Python, and does something else.

    Annotations do nothing, but for those that end every import.
    """
    try:
        with warnings.catch_warnings():
            # Of "is" with a literal.
            warnings.simplefilter('ignore', SyntaxWarning)
            compile(changed, 'mutant', 'exec', dont_inherit=True)
        return _plain(changed) != _plain(text)
    except (SyntaxError, ValueError):
        return False


def _plain(text):
    """What a source says without its annotations."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        for name in ('annotation', 'returns'):
            if getattr(node, name, None):
                setattr(node, name, ast.Constant(None))
    return ast.dump(tree)


def difference(text: str, changed: str) -> tuple[str, str]:
    """The lines that differ, before and after, as one line each."""
    lines = [line for line in difflib.ndiff(
        text.splitlines(), changed.splitlines()) if line[0] in '+-']
    return tuple(' '.join(' '.join(line[2:] for line in lines
                                   if line[0] == sign).split())
                 for sign in '-+')


def ranked(found: list[Place], seed: int) -> Iterator[Place]:
    """Places in an order by chance that depends on nothing but the seed.

    Where a place stands does not depend on the others: a change of one file
    leaves the sample of the others as it was.
    """
    return iter(sorted(found, key=lambda place: hashlib.sha256(
        f'{seed} {place.key}'.encode()).digest()))


def statement(text: str, line: int) -> tuple[range, bool]:
    """The lines of the innermost statement around a line.

    Of a statement with a body only its head counts. Tracing tells of lines
    that begin something, not of each that an expression goes on in.

    :returns: the lines, and whether they run when the module is imported.
    """
    best, imported = range(line, line + 1), True
    size = None
    for node, inside in _statements(ast.parse(text), False):
        first = min((d.lineno for d in getattr(node, 'decorator_list', ())),
                    default=node.lineno)
        body = getattr(node, 'body', None)
        last = body[0].lineno - 1 if body else node.end_lineno
        for handler in getattr(node, 'handlers', ()):
            last = min(last, handler.lineno - 1)
        lines = range(first, max(first, last) + 1)
        if line in lines and (size is None or len(lines) <= size):
            best, imported, size = lines, not inside, len(lines)
    return best, imported


def _statements(node, inside):
    """All statements and handlers below, and if a function is around them."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.stmt, ast.excepthandler, ast.match_case)):
            if hasattr(child, 'lineno'):
                yield child, inside
        yield from _statements(child, inside or isinstance(
            child, (ast.FunctionDef, ast.AsyncFunctionDef)))


class HandlerRemover:
    """Has a handler not catch one of its exceptions.

    Instead of cosmic-ray's ExceptionReplacer, which (in 8.7.0) fails on
    dotted names, and whose handlers raise NameError for the other exceptions
    of a tuple, too.
    """

    #: What no code of this project raises or catches.
    _NEVER = 'GeneratorExit'

    def mutation_positions(self, node):
        if node.type == 'except_clause':
            for one in self._types(node):
                yield one.start_pos, one.end_pos

    def mutate(self, node, index):
        one = self._types(node)[index]
        siblings = one.parent.children
        siblings[siblings.index(one)] = _cosmic_ray('cosmic_ray.ast').get_ast(
            one.get_first_leaf().prefix + self._NEVER)
        return node

    @staticmethod
    def _types(node):
        one = node.children[1]
        if one.type == 'atom':
            one = one.children[1]
        return (one.children[::2] if one.type == 'testlist_comp' else [one])


@functools.cache
def _operators():
    """All that need no arguments, by name."""
    provider = _cosmic_ray('cosmic_ray.operators.provider').OperatorProvider()
    found = {name: provider[name]() for name in provider
             if not provider[name].arguments()}
    del found['ExceptionReplacer']
    return found | {'HandlerRemover': HandlerRemover()}


def _cosmic_ray(name):
    try:
        return importlib.import_module(name)
    except ImportError as e:
        raise errors.EnvironmentProblem(
            'Mutants are made with cosmic-ray', last_seen=e,
            hint='Run: tox -e mutation') from e
