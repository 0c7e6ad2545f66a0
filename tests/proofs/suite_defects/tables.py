# SPDX-License-Identifier: Apache-2.0

"""The seeded defects, as their drivers describe themselves."""

import ast
import dataclasses
import re

from magnum_capi_sandbox import infrastructure as infrastructures
from magnum_capi_tempest.scorecard import suite
from tests.defects import magnum_capi_defects as drivers

#: Seconds, options of [magnum_capi]: limits for things that never happen. On
#: an idle machine, expected results take 10 to 30 s.
TIMEOUTS = {'build_timeout': 75}

#: The driver of which all in the table are variants, and one that clashes.
OWN = 'k8s_capi_v1'
CLASHES_WITH = 'k8s_capi_helm_v1'


@dataclasses.dataclass(frozen=True)
class Defect:
    """A driver with a defect, and the test that finds it.

    :param name: of the driver, without its prefix.
    :param does: what the driver does, a sentence.
    :param test: class and method, as in reports.
    :param says: regular expression for the message of the failure.
    :param options: of [magnum_capi]; they win over TIMEOUTS.
    :param infrastructure: of the sandbox in which it can be seen.
    :param clash: its driver clashes with that of CLASHES_WITH, and should
        have the mark of OWN.
    """

    name: str
    does: str
    test: str
    says: str
    options: dict = dataclasses.field(default_factory=dict)
    infrastructure: str = infrastructures.MEMORY
    clash: bool = False

    @property
    def driver(self):
        """Name of its entry point."""
        return f'{drivers.PREFIX}{self.name}'

    @property
    def known(self) -> suite.Test:
        """Its test.

        :raises ValueError: there is none.
        """
        found, = (test for test in suite.tests()
                  if test.id.endswith(f'.{self.test}'))
        return found

    @property
    def id(self):
        """Full id of its test."""
        return f'{suite.PACKAGE}.{self.known.id}'

    def all_options(self, patience=1.0):
        """Options of [magnum_capi], texts by name.

        :param patience: factor of TIMEOUTS.
        """
        found = {name: f'{seconds * patience:.0f}'
                 for name, seconds in TIMEOUTS.items()} | self.options
        if self.clash:
            found['clashing_drivers'] = f'{self.driver},{CLASHES_WITH}'
        return found

    def fixture(self, marks):
        """Fields of the discovery fixture.

        :param marks: function that returns the mark of a driver.
        """
        return {'marks': {CLASHES_WITH: marks(CLASHES_WITH),
                          self.driver: marks(OWN)}} if self.clash else {}


def defects() -> tuple[Defect, ...]:
    """All defects, by name.

    :raises ValueError: ``taps.seen_by`` has something else than literals.
    :raises re.error: ``says`` is not a regular expression.
    """
    return tuple(sorted((_read(name, node) for name, _, node
                         in drivers.classes()), key=lambda one: one.name))


def _read(name, node):
    seen_by, = node.decorator_list
    test, says = map(ast.literal_eval, seen_by.args)
    re.compile(says)
    options = {word.arg: ast.literal_eval(word.value)
               for word in seen_by.keywords}
    fields = {field: options.pop(field) for field in (
        'infrastructure', 'clash') if field in options}
    return Defect(name, ast.get_docstring(node).partition('\n')[0], test, says,
                  options, **fields)


def of(infrastructure) -> tuple[Defect, ...]:
    """The defects that are seen with one infrastructure."""
    return tuple(defect for defect in defects()
                 if defect.infrastructure == infrastructure)


def tests(found) -> tuple[str, ...]:
    """Full ids of the tests of defects, each once, sorted."""
    return tuple(sorted({defect.id for defect in found}))


def regex(found) -> str:
    """Regular expression of ``tempest run`` for the tests of defects."""
    ids = '|'.join(re.escape(test) for test in tests(found))
    # Tempest appends attributes in brackets.
    return rf'^({ids})(\[|$)'
