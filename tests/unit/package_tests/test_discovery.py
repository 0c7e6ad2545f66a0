# SPDX-License-Identifier: Apache-2.0

import sys

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.tests.common import discovery

#: Writes its arguments down; fails when one of them says so.
_COMMAND = """
import sys
with open(sys.argv[1], 'a') as file:
    print(*sys.argv[2:], file=file)
sys.exit('bad' in sys.argv[2])
"""


class ConfigurationTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        folder = self.useFixture(fixtures.TempDir()).path
        self.log = f'{folder}/a log'
        script = f'{folder}/set.py'
        with open(script, 'w') as file:
            file.write(_COMMAND)
        self.cleanups = []
        self.configuration = discovery.Configuration(
            f"{sys.executable} {script} '{self.log}'",
            lambda *call: self.cleanups.append(call))

    def lines(self):
        with open(self.log) as file:
            return file.read().splitlines()

    def run_cleanups(self):
        while self.cleanups:
            function, *arguments = self.cleanups.pop()
            function(*arguments)

    def test_options_are_of_drivers(self):
        self.configuration.set(default_driver='a', disabled_drivers='b,c')

        self.assertEqual(
            ['drivers.default_driver=a drivers.disabled_drivers=b,c'],
            self.lines())

    def test_all_that_was_changed_is_put_back_at_once(self):
        self.configuration.set(default_driver='a')
        self.configuration.set(default_driver='b')
        self.configuration.set(disabled_drivers='c')

        self.run_cleanups()

        self.assertEqual(
            ['drivers.default_driver= drivers.disabled_drivers='],
            self.lines()[3:])

    def test_also_after_a_command_that_failed(self):
        self.assertRaises(errors.CommandFailed, self.configuration.set,
                          default_driver='bad')

        self.run_cleanups()

        self.assertEqual('drivers.default_driver=', self.lines()[-1])


class TextsTest(testtools.TestCase):

    def test_all_strings_of_an_answer(self):
        self.assertEqual(
            ['t', 'd', 'plain'], list(discovery.texts(
                [{'status': 400, 'title': 't', 'links': [],
                  'more': {'detail': 'd'}}, None, 'plain'])))
