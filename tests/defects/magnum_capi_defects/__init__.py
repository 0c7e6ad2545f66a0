# SPDX-License-Identifier: Apache-2.0

"""k8s_capi_v1 with one seeded defect each; see tests/proofs/suite_defects.

:func:`classes` finds them without Magnum: setup.py makes the entry points, and
the proof its table.
"""

import ast
import pathlib
import re

#: Prefix of the drivers' entry points. It sorts after the names of real
#: drivers: Magnum gives templates without a driver the alphabetically first.
PREFIX = 'seeded_'


def classes():
    """Yield each driver: its name, ``module:Class``, and its class in the AST.

    A driver is a class that ``taps.seen_by`` decorates. ``NoAddress`` has the
    name ``no_address``.
    """
    for path in sorted(pathlib.Path(__file__).parent.glob('*.py')):
        for node in ast.parse(path.read_text()).body:
            if any(ast.unparse(decorator).startswith('taps.seen_by(')
                   for decorator in getattr(node, 'decorator_list', ())):
                name = re.sub(r'(?<!^)(?=[A-Z])', '_', node.name).lower()
                yield (name, f'{path.parent.name}.{path.stem}:{node.name}',
                       node)
