# SPDX-License-Identifier: Apache-2.0

"""What the driver imports, it has to bring along.

Magnum loads all drivers together: one whose import fails takes the others
with it (``magnum-cluster-api`` needs a library that nothing installs).
"""

import ast
from importlib import metadata
import pathlib
import re
import sys
import tomllib

import testtools

TOP = pathlib.Path(__file__).resolve().parents[3]

#: What loads the driver.
MAGNUM = 'magnum'


def imported():
    """Names of what modules of the library import, by their top level."""
    found = set()
    for path in (TOP / 'magnum-capi' / 'magnum_capi').rglob('*.py'):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {name.name.split('.')[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add(node.module.split('.')[0])
    return found


def required():
    """Normalized names of the requirements."""
    text = (TOP / 'magnum-capi' / 'pyproject.toml').read_text()
    return {_normal(re.match(r'[A-Za-z0-9._-]+', line)[0])
            for line in tomllib.loads(text)['project']['dependencies']}


def _normal(name):
    return re.sub(r'[-_.]+', '-', name).lower()


class ImportsTest(testtools.TestCase):

    def test_every_library_is_required(self):
        known = {*sys.stdlib_module_names, 'magnum_capi', MAGNUM}
        distributions = metadata.packages_distributions()

        lacking = {
            name for name in imported() - known if not required() & {
                _normal(found) for found in distributions.get(name, [name])}}

        self.assertEqual(set(), lacking)

    def test_no_green_threads(self):
        # Magnum 23 has threads.
        self.assertEqual(set(), imported() & {'eventlet', 'greenlet'})
