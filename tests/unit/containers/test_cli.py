# SPDX-License-Identifier: Apache-2.0

import io
import types

import fixtures
import testtools

from magnum_capi.cli import main
from magnum_capi_tempest.cli import containers


class TableTest(testtools.TestCase):

    def test_one_line_for_each_container(self):
        found = [types.SimpleNamespace(
            name=name, status='running', attrs=attrs)
            for name, attrs in (('node-b', {'Config': {'Image': 'node:1'}}),
                                ('lb-a', {}))]
        lines = containers.table(found)
        self.assertEqual(['CONTAINER', 'STATE', 'IMAGE'], lines[0].split())
        self.assertEqual(['lb-a', 'running', '-'], lines[1].split())
        self.assertEqual(['node-b', 'running', 'node:1'], lines[2].split())


class CommandTest(testtools.TestCase):

    def run_command(self, *words):
        out = self.useFixture(fixtures.MonkeyPatch(
            'sys.stdout', io.StringIO()))
        code = main.main(['containers', *words])
        return code, out.new_value.getvalue()

    def problem(self, text):
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.containers.problem', lambda store: text))

    def test_check(self):
        self.problem(None)
        self.assertEqual(
            (0, 'Containers can run here\n'), self.run_command('check'))

    def test_check_says_why_not(self):
        self.problem('root lacks everything')
        self.assertEqual(
            (1, 'root lacks everything\n'), self.run_command('check'))

    def test_status_of_nothing(self):
        folder = self.useFixture(fixtures.TempDir()).path
        self.assertEqual((1, 'No engine is running\n'), self.run_command(
            'status', '--directory', folder))
