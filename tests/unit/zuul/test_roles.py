# SPDX-License-Identifier: Apache-2.0

import pathlib
import re
import subprocess
import sys

import fixtures
import testtools

from magnum_capi_tempest.management import standalone
from tests.unit.zuul import content


def _files(role):
    return sorted((content.TOP / 'roles' / role).glob('*/*.yaml'))


def _tasks(role):
    for folder in ('tasks', 'handlers'):
        for path in _files(role):
            if path.parent.name == folder:
                yield from content.tasks(content.load(path))


class RolesTest(testtools.TestCase):
    """Each role says what it takes, and takes nothing else."""

    def each(self, wrong):
        self.assertEqual({}, {role: found for role in content.roles()
                              for found in [wrong(role)] if found})

    def test_defaults_and_arguments_agree(self):
        def wrong(role):
            path = f'roles/{role}/defaults/main.yaml'
            defaults = content.load(path)
            said = {name: option['default'] for name, option
                    in content.arguments(role).items()
                    if not option.get('required')}
            return {n for n in {*defaults, *said}
                    if defaults.get(n, self) != said.get(n, self)}
        self.each(wrong)

    def test_no_backslash_in_an_expression(self):
        # Ansible before 2.19, which Zuul has, doubles it: "\\n" is no newline.
        def wrong(role):
            return [value for path in _files(role) for value
                    in re.findall('{{.*?}}', str(content.load(path)), re.S)
                    if '\\\\' in value]
        self.each(wrong)

    def test_every_argument_is_read_and_no_other_name(self):
        def wrong(role):
            prefix = role.replace('-', '_')
            known = set(content.arguments(role))
            made, read = set(), set()
            for task in _tasks(role):
                made |= {task.get('register'), *task.get('vars', {}),
                         *task.get('ansible.builtin.set_fact', {}),
                         task.get('loop_control', {}).get('loop_var')}
                conditions = [
                    f'{{{{ {text} }}}}' for key in (
                        'when', 'changed_when', 'failed_when', 'until')
                    for text in content.words_in(task.get(key, []))]
                read |= content.names_in([task, conditions])
            read -= content.GIVEN
            return (read - known - made) | (known - read) | {
                n for n in read if not n.startswith(prefix)}
        self.each(wrong)

    def test_every_call_of_magnum_capi_is_right(self):
        def wrong(role):
            return [complaint for task in _tasks(role)
                    if 'ansible.builtin.command' in task
                    for complaint in content.misused(
                        list(content.argv(task)))]
        self.each(wrong)

    def test_every_command_ends_in_time(self):
        def wrong(role):
            return [task['name'] for task in _tasks(role)
                    if {'ansible.builtin.command', 'ansible.builtin.pip'}
                    & task.keys() and 'timeout' not in task]
        self.each(wrong)

    def test_every_repetition_is_bounded(self):
        def wrong(role):
            return [task['name'] for task in _tasks(role) if 'until' in task
                    and not {'retries', 'delay'} <= task.keys()]
        self.each(wrong)

    def test_no_value_of_a_user_is_in_a_command_line(self):
        """Everybody on the node may read it, and one may be a password."""
        def wrong(role):
            free = {name for name, option in content.arguments(role).items()
                    if option['type'] == 'dict' or '=VALUE' in str(
                        option['description'])}
            return [task['name'] for task in _tasks(role)
                    if 'ansible.builtin.command' in task
                    and free & content.names_in(
                        [task['ansible.builtin.command']['argv'],
                         task.get('vars', {})])]
        self.assertIn('=VALUE', str(content.arguments('ensure-capi-sandbox')))
        self.each(wrong)

    def test_no_setting_of_magnum_is_in_the_log(self):
        """Zuul's callback zuul_json writes the arguments of modules."""
        task, = (task for task in _tasks('ensure-capi-sandbox')
                 if 'stdin' in task.get('ansible.builtin.command', {}))

        self.assertTrue(task.get('no_log'))

    def test_archives_are_published_before_one_is_judged(self):
        """A run that failed ends the play, and there may be others."""
        folder = 'roles/run-conformance/tasks'
        included = [task['ansible.builtin.include_tasks']
                    for task in content.load(f'{folder}/main.yaml')
                    if 'ansible.builtin.include_tasks' in task]
        self.assertEqual(['publish.yaml', 'judge.yaml'], included)

        for name, command in (('publish', 'publish'), ('judge', 'report')):
            first, *_ = content.load(f'{folder}/{name}.yaml')
            command_of = first['ansible.builtin.command']
            self.assertEqual(command, command_of['argv'][2])
            # Otherwise that of an earlier run would stay.
            self.assertNotIn('creates', command_of)

    def test_zuul_is_told_only_in_zuul(self):
        def wrong(role):
            found = [t for t in _tasks(role) if t.get(
                'ansible.builtin.include_tasks') == 'zuul.yaml']
            return [t for t in found if t.get('when') != 'zuul is defined']
        self.each(wrong)

    def test_the_management_cluster_can_be_brought_up(self):
        argument = content.arguments('ensure-capi-management')[
            'ensure_capi_management_backend']

        self.assertIn(argument['default'], standalone.BACKENDS)


class OneStreamTest(testtools.TestCase):
    """Zuul's command module has standard error in the standard output."""

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path)
        for name in ('CACHE', 'STATE'):
            self.useFixture(fixtures.EnvironmentVariable(
                f'MAGNUM_CAPI_{name}', str(self.folder / name)))

    def call(self, *arguments):
        """Run magnum-capi; what Ansible registers of it in Zuul."""
        done = subprocess.run(
            [sys.executable, '-m', 'magnum_capi.cli.main',
             *map(str, arguments)], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=120)
        return {'rc': done.returncode, 'stdout': done.stdout, 'stderr': ''}

    def test_nobody_reads_what_is_said(self):
        self.assertEqual([], [
            text for role in content.roles() for task in _tasks(role)
            for key in ('when', 'changed_when', 'failed_when', 'until')
            for text in content.words_in(task.get(key, []))
            if re.search(r'\.std(out|err)', text)])

    def test_without_a_sandbox_one_is_brought_up(self):
        look, bring_up, *_ = _tasks('ensure-capi-sandbox')
        seen = self.call('sandbox', 'status', '--directory',
                         self.folder / 'box')
        self.assertFalse(content.holds(
            look['failed_when'], ensure_capi_sandbox_status=seen), seen)
        self.assertTrue(content.holds(
            bring_up['changed_when'], ensure_capi_sandbox_status=seen))

    def test_a_sandbox_with_other_options_is_refused(self):
        """The command compares; the role has to call it."""
        _, bring_up, *_ = _tasks('ensure-capi-sandbox')
        self.assertNotIn('when', bring_up)
        self.assertFalse(content.holds(
            bring_up['changed_when'], ensure_capi_sandbox_status={'rc': 0}))

    def test_a_call_that_is_wrong_fails(self):
        look, *_ = _tasks('ensure-capi-sandbox')
        seen = self.call('sandbox', 'status', '--folder', self.folder)
        self.assertTrue(content.holds(
            look['failed_when'], ensure_capi_sandbox_status=seen), seen)


class MisusedTest(testtools.TestCase):
    """A call of magnum-capi with a typo is found."""

    def test_right(self):
        self.assertEqual([], content.misused(
            ['sandbox', 'up', '--directory', '/x', '--clash']))

    def test_option(self):
        self.assertEqual(['sandbox_up has no --clahs'], content.misused(
            ['sandbox', 'up', '--clahs']))

    def test_command(self):
        self.assertEqual(
            ["no command of magnum-capi: ['sandbox', 'upp']"],
            content.misused(['sandbox', 'upp']))


class PlaybooksTest(testtools.TestCase):

    def test_they_set_what_roles_take(self):
        wrong = []
        for path in content.TOP.glob('playbooks/**/*.yaml'):
            if path.name == 'PRODUCT.yaml':
                continue
            for task in content.tasks(content.load(path)):
                role = task.get('ansible.builtin.include_role', {}).get(
                    'name')
                if role in content.roles():
                    wrong += [(path.name, name) for name
                              in task.get('vars', {})
                              if name not in content.arguments(role)]

        self.assertEqual([], wrong)
