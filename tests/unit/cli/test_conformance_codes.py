# SPDX-License-Identifier: Apache-2.0

"""Exit code 2 of a conformance command is wrong usage, also for the role."""

import jinja2
import testtools

from tests.unit.cli import terminal
from tests.unit.conformance import by_hand
from tests.unit import own_folders
from tests.unit.zuul import jobs


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

    def test_a_typo_ends_the_role(self):
        tasks = jobs.load('roles/run-conformance/tasks/main.yaml')
        task, = (t for t in tasks if t['name'] == 'Run the tests')
        wrong = self.call('run', '--mode', 'quik')

        for code, fails in ((wrong, True), (0, False), (1, False),
                            (self.call('report', by_hand.PLUGIN), False)):
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

    def test_without_a_cluster_the_role_says_what_to_set(self):
        task = jobs.load('roles/run-conformance/tasks/main.yaml')[-1]

        for run, wanted in (
                ({'skipped': True}, 'run_conformance_kubeconfig'),
                ({'rc': 3, 'stdout_lines': ['no node', 'is ready'],
                  'stderr_lines': []}, 'is ready')):
            said = jinja2.Template(
                task['ansible.builtin.assert']['fail_msg']).render(
                    run_conformance_archives='/archives',
                    run_conformance_found={'matched': 0},
                    run_conformance_run=run)

            self.assertIn('There are 0 archives in /archives', said)
            self.assertIn(wanted, said)

    def test_a_missing_product_is_told_before_the_tests(self):
        """They take hours, and the archive goes with the node."""
        tasks = jobs.load('roles/run-conformance/tasks/main.yaml')
        names = [task['name'] for task in tasks]
        check, = (task for task in tasks
                  if 'run_conformance_described.stat.exists' in
                  task.get('ansible.builtin.assert', {}).get('that', ()))

        self.assertLess(names.index(check['name']),
                        names.index('Run the tests'))
        for product, checked in (('', False), ('/PRODUCT.yaml', True)):
            self.assertEqual(checked, holds(
                check['when'], run_conformance_product=product))
