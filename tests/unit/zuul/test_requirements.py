# SPDX-License-Identifier: Apache-2.0

"""Whether the plugin of devstack installs what it needs, on old branches."""

import ast
import configparser
import importlib.metadata
import importlib.util
import re
import sys

from packaging import requirements
import testtools

from tests.unit.zuul import jobs


def imported(*modules):
    """Packages of others that modules of ours import, at any time."""
    seen, waiting, found = set(), [*modules], set()
    while waiting:
        name = waiting.pop()
        if name.split('.')[0] not in ('magnum_capi', 'magnum_capi_tempest'):
            found.add(name.split('.')[0])
            continue
        try:
            spec = importlib.util.find_spec(name)
        except ModuleNotFoundError:
            continue        # from MODULE import FUNCTION
        if name in seen or not spec:
            continue
        seen.add(name)
        with open(spec.origin) as source:
            nodes = [*ast.walk(ast.parse(source.read()))]
        for node in nodes:
            if isinstance(node, ast.Import):
                waiting += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                waiting += [node.module, *(f'{node.module}.{alias.name}'
                                           for alias in node.names)]
    return found - set(sys.stdlib_module_names)


class RequirementsTest(testtools.TestCase):

    #: Of upper-constraints.txt of stable/2025.1, what Magnum does not have.
    PINS = {'kubernetes': '32.0.1'}

    def installed(self):
        """What is installed beside Magnum, as requirements.Requirement."""
        extras, = re.findall(
            r'setup_develop \$MAGNUM_CAPI_DIR ([\w,]+)$',
            (jobs.TOP / 'devstack/lib/magnum_capi').read_text(), re.M)
        config = configparser.ConfigParser()
        config.read(jobs.TOP / 'setup.cfg')
        lines = [*(jobs.TOP / 'requirements.txt').read_text().splitlines(),
                 *(line for extra in extras.split(',')
                   for line in config['extras'][extra].splitlines())]
        return [requirements.Requirement(found) for line in lines
                for found in [line.partition('#')[0].strip()] if found]

    def test_old_branches_of_devstack_have_what_is_asked_for(self):
        """pip_install of devstack installs nothing but what is pinned."""
        pins = {**self.PINS, **dict(re.findall(
            r'^([\w.-]+)==([^\s;]+)',
            (jobs.TOP / 'sandbox/constraints/magnum-2025.1.txt').read_text(),
            re.M))}

        self.assertEqual([], [
            str(found) for found in self.installed()
            if not found.specifier.contains(
                pins.get(found.name.lower(), '999'))])

    def test_every_package_that_the_management_cluster_wants(self):
        """What it imports is installed beside Magnum."""
        installed = {found.name.lower() for found in self.installed()}
        homes = importlib.metadata.packages_distributions()
        wanted = imported('magnum_capi_tempest.cli.management')

        self.assertIn('kubernetes', wanted)
        self.assertEqual(set(), {
            package for package in wanted
            if not installed & {home.lower() for home in homes[package]}})
