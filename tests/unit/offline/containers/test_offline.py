# SPDX-License-Identifier: Apache-2.0

import types

import fixtures
import testtools

from tests.unit.offline import commands
from tools.offline import containers


class CommandTest(testtools.TestCase):

    def run_command(self, *words):
        return commands.run('containers', *words)

    def problem(self, text):
        self.useFixture(fixtures.MockPatchObject(
            containers, 'problem', lambda store: text))

    def engine(self, **methods):
        self.folders = []
        self.useFixture(fixtures.MockPatchObject(
            containers, 'Engine', lambda folder: self.folders.append(
                str(folder)) or types.SimpleNamespace(**methods)))

    def test_check(self):
        self.problem(None)
        self.assertEqual(
            (0, 'Containers can run here\n'), self.run_command('check'))

    def test_check_says_why_not(self):
        self.problem('root lacks everything')
        self.assertEqual(
            (1, 'root lacks everything\n'), self.run_command('check'))

    def test_up_prints_variables_for_a_shell(self):
        self.engine(up=lambda progress: types.SimpleNamespace(
            environment={'DOCKER_HOST': 'unix:///a b', 'NO_PROXY': '10.1'}))
        self.assertEqual(
            (0, "export DOCKER_HOST='unix:///a b'\nexport NO_PROXY=10.1\n"),
            self.run_command('up', '--directory', '/here'))
        self.assertEqual(['/here'], self.folders)
