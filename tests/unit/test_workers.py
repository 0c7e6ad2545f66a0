# SPDX-License-Identifier: Apache-2.0

"""Which tests stestr keeps together in one worker."""

import configparser
import pathlib
import re

import testtools

TOP = pathlib.Path(__file__).parents[2]

#: An import of the room that runs containers, or of what asks for them.
_ENGINE = re.compile('^from (tools.offline import containers|'
                     'tests.system.nodes import real_nodes)$', re.M)


class GroupsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        config = configparser.ConfigParser(interpolation=None)
        config.read(TOP / '.stestr.conf')
        self.regex = re.compile(config['DEFAULT']['group_regex'])

    def group(self, test_id):
        found = self.regex.match(test_id)
        return found and found.group(0)

    def test_modules_with_the_container_engine(self):
        users = ['.'.join(path.relative_to(TOP).with_suffix('').parts)
                 for stage in ('functional', 'system')
                 for path in (TOP / 'tests' / stage).rglob('test_*.py')
                 if _ENGINE.search(path.read_text())]

        self.assertIn('tests.system.nodes.test_sandbox', users)
        self.assertEqual({'tests.functional.nodes.', 'tests.system.nodes.'}, {
            self.group(f'{name}.ATest.test_it') for name in users})

    def test_others_by_module(self):
        for name in ('functional.test_toolchain',
                     'system.sandbox.test_life', 'unit.test_waiting',
                     'unit.cli.test_main',
                     'unit.driver.operations.test_create'):
            self.assertEqual(f'tests.{name}', self.group(
                f'tests.{name}.ATest.test_it'))
