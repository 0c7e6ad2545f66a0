# SPDX-License-Identifier: Apache-2.0

"""Exit code 2 of a conformance command is wrong usage, and nothing else."""

import jinja2
import testtools

from tests.unit.cli import terminal
from tests.unit.conformance import by_hand
from tests.unit import own_folders
from tests.unit.zuul import jobs

#: Its run ended before a test began.
INCOMPLETE = by_hand.ARCHIVES / 'hello-plugin.tar.gz'
VERDICTS = (('report', INCOMPLETE),
            ('compare', by_hand.QUICK, INCOMPLETE))


def holds(condition, **variables):
    """Whether a condition of Ansible, or each one of a list, holds."""
    conditions = [condition] if isinstance(condition, str) else condition
    return all(jinja2.Environment().compile_expression(one)(**variables)
               for one in conditions)


class CodesTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.useFixture(own_folders.OwnFolders())

    def call(self, *argv):
        """The exit code."""
        return terminal.call('conformance', *argv)[0]

    def test_incomplete(self):
        for argv in VERDICTS:
            self.assertEqual(3, self.call(*argv), argv)

    def test_wrong_usage(self):
        for argv in (*VERDICTS, ('run',), ('attach',), ('abort',),
                     ('run', '--rerun', INCOMPLETE), ('submit',)):
            self.assertEqual(2, self.call(*argv, '--bogus'), argv)

    def test_a_typo_ends_the_role(self):
        tasks = jobs.load('roles/run-conformance/tasks/main.yaml')
        task, = (t for t in tasks if t['name'] == 'Run the tests')
        wrong = self.call('run', '--mode', 'quik')

        for code, fails in ((wrong, True), (0, False), (1, False),
                            (self.call(*VERDICTS[0]), False)):
            self.assertEqual(fails, holds(
                task['failed_when'], run_conformance_run={'rc': code}), code)

    def test_a_run_that_did_not_pass_fails_the_role(self):
        """Even if the records that it left look good."""
        task = jobs.load('roles/run-conformance/tasks/main.yaml')[-1]

        for run, passes in (({'rc': 0}, True), ({'rc': 3}, False),
                            ({'skipped': True}, True)):
            self.assertEqual(passes, holds(
                task['ansible.builtin.assert']['that'],
                run_conformance_run=run,
                run_conformance_found={'matched': 1}), run)
