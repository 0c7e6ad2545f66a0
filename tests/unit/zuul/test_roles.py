# SPDX-License-Identifier: Apache-2.0

import configparser
import posixpath
import re

import jinja2
from jinja2 import nativetypes
import testtools

from tests.unit.cli import calls
from tests.unit.zuul import jobs


def _tasks(role):
    for path in sorted((jobs.TOP / 'roles' / role).glob('tasks/*.yaml')):
        yield from jobs.tasks(jobs.load(path))


def _argv(task):
    """Words of the command of a task, as far as they are written there."""
    found = task['ansible.builtin.command']['argv']
    templates = [*jobs.words_in(found),
                 *jobs.words_in(list(task.get('vars', {}).values()))]
    for text in templates:
        if '{{' not in text:
            yield text
        else:
            # Words of a list, in a template.
            yield from re.findall(r"'([\w-]+)'(?=\s*[],])", text)


def _published(path, paths):
    """Where run-conformance publishes the report on an archive.

    :param path: of the archive, one of ``paths`` in the folder for archives.
    :returns: folder, URL and name of the link.
    """
    environment = nativetypes.NativeEnvironment()
    environment.filters.update(
        basename=posixpath.basename, dirname=posixpath.dirname,
        relpath=posixpath.relpath,
        regex_replace=lambda text, this, by: re.sub(this, by, text))
    found = [{'path': f'/archives/{one}'} for one in paths]
    known = {'run_conformance_archives': '/archives',
             'run_conformance_results': '/out', 'run_conformance_url': 'url',
             'run_conformance_found': {'files': found},
             'run_conformance_item': found[paths.index(path)]}

    def render(text):
        return environment.from_string(text).render(known)

    publish, = (task for task in _tasks('run-conformance')
                if task['name'] == 'Publish each archive')
    folder = render(publish['vars']['run_conformance_folder'])
    known['run_conformance_folder'] = folder
    link, = jobs.load('roles/run-conformance/tasks/zuul.yaml')
    artifact, = link['zuul_return']['data']['zuul']['artifacts']
    return folder, render(artifact['url']), render(artifact['name'])


class RolesTest(testtools.TestCase):
    """Each role says what it takes, and takes nothing else."""

    def each(self, wrong):
        self.assertEqual({}, {role: found for role in jobs.roles()
                              for found in [wrong(role)] if found})

    def test_defaults_and_arguments_agree(self):
        def wrong(role):
            path = f'roles/{role}/defaults/main.yaml'
            defaults = jobs.load(path)
            said = {name: option['default'] for name, option
                    in jobs.arguments(role).items()
                    if not option.get('required')}
            return {n for n in {*defaults, *said}
                    if defaults.get(n, self) != said.get(n, self)}
        self.each(wrong)

    def test_every_argument_is_read_and_no_other_name(self):
        def wrong(role):
            prefix = role.replace('-', '_')
            known = set(jobs.arguments(role))
            made, read = set(), set()
            for task in _tasks(role):
                made |= {task.get('register'), *task.get('vars', {}),
                         *task.get('ansible.builtin.set_fact', {}),
                         task.get('loop_control', {}).get('loop_var')}
                conditions = [
                    f'{{{{ {text} }}}}' for key in (
                        'when', 'changed_when', 'failed_when', 'until')
                    for text in jobs.words_in(task.get(key, []))]
                read |= jobs.names_in([task, conditions])
            read -= jobs.GIVEN
            return (read - known - made) | (known - read) | {
                n for n in read if not n.startswith(prefix)}
        self.each(wrong)

    def test_every_call_of_magnum_capi_is_right(self):
        def wrong(role):
            return [complaint for task in _tasks(role)
                    if 'ansible.builtin.command' in task
                    for complaint in calls.misused(
                        list(_argv(task)))]
        self.each(wrong)

    def test_a_sandbox_and_a_workspace_get_driver_and_options(self):
        """Without them the tests of a cloud would be about another driver."""
        wanted = {f'run_magnum_capi_tempest_{name}'
                  for name in ('driver', 'options')}
        role = 'run-magnum-capi-tempest'
        missing = {task['name']: left for task in _tasks(role)
                   if 'ansible.builtin.command' in task
                   and {'sandbox', 'init'} & {*_argv(task)}
                   and (left := wanted - jobs.names_in([task]))}
        self.assertEqual({}, missing)

    def test_two_clusters_for_one_run_are_not_silently_one(self):
        """The command refuses both."""
        argv, = (task['ansible.builtin.command']['argv']
                 for task in _tasks('run-conformance')
                 if task['name'] == 'Run the tests')
        words = nativetypes.NativeEnvironment().from_string(argv).render(
            {**jobs.load('roles/run-conformance/defaults/main.yaml'),
             'run_conformance_kubeconfig': '/k',
             'run_conformance_cluster': 'c1'})
        self.assertLessEqual({'--kubeconfig', '/k', '--cluster', 'c1'},
                             {*words})

    def test_two_archives_of_a_folder_have_a_report_each(self):
        """One report for both would hide the first, maybe a failure."""
        for paths, folders, urls in (
                (['a.tar.gz'], ['/out'], ['url/report.html']),
                (['run/a.tar.gz'], ['/out/run'], ['url/run/report.html']),
                (['run/junit_01.xml'], ['/out/run'], ['url/run/report.html']),
                (['a.tar.gz', 'b.tar.gz', 'run/a.tar.gz'],
                 ['/out/a', '/out/b', '/out/run'],
                 ['url/a/report.html', 'url/b/report.html',
                  'url/run/report.html']),
                (['run/a.tar.gz', 'run/junit_01.xml'],
                 ['/out/run/a', '/out/run/junit_01'],
                 ['url/run/a/report.html', 'url/run/junit_01/report.html'])):
            found = [_published(path, paths) for path in paths]

            self.assertEqual(folders, [folder for folder, _, _ in found])
            self.assertEqual(urls, [url for _, url, _ in found])
            self.assertEqual(
                [f'Conformance tests {folder[5:]}'.strip()
                 for folder in folders], [name for _, _, name in found])

    def test_all_archives_are_published_before_one_is_judged(self):
        """The first archive that did not pass ends the play."""
        included = [task.get('ansible.builtin.include_tasks') for task in
                    jobs.load('roles/run-conformance/tasks/main.yaml')]

        self.assertLess(included.index('publish.yaml'),
                        included.index('judge.yaml'))

    def test_what_runs_with_other_options_is_not_taken_for_wanted(self):
        """Only "up" refuses it, so that is always called."""
        for role in 'ensure-capi-sandbox', 'ensure-capi-management':
            up, = (task for task in _tasks(role)
                   if 'up' in _argv({'ansible.builtin.command': {'argv': []},
                                     **task}))
            self.assertNotIn('when', up)

    def test_extras_are_those_that_there_are(self):
        """pip only warns of others, which a job does not notice."""
        parser = configparser.ConfigParser()
        parser.read(jobs.TOP / 'setup.cfg')
        option = jobs.arguments('ensure-magnum-capi')[
            'ensure_magnum_capi_extras']
        self.assertEqual(sorted(parser['extras']),
                         sorted(option.get('choices', ())))

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

    def test_a_kubeconfig_that_is_missing_is_not_waited_for(self):
        """Code 2 is a wrong call, 3 a server that may answer later."""
        task, = (task for task in _tasks('ensure-capi-management')
                 if 'until' in task)

        for code, ends, fails in ((0, True, False), (1, False, True),
                                  (2, True, True), (3, False, True)):
            self.assertEqual([ends, fails], [
                jinja2.Environment().compile_expression(task[key])(
                    ensure_capi_management_check={'rc': code})
                for key in ('until', 'failed_when')], code)

    def test_no_value_of_a_user_is_in_a_command_line(self):
        """Everybody on the node may read it, and one may be a password."""
        def wrong(role):
            free = {name for name, option in jobs.arguments(role).items()
                    if option['type'] == 'dict' or '=VALUE' in str(
                        option['description'])}
            return [task['name'] for task in _tasks(role)
                    if 'ansible.builtin.command' in task
                    and free & jobs.names_in(
                        [task['ansible.builtin.command']['argv'],
                         task.get('vars', {})])]
        self.assertIn('=VALUE', str(jobs.arguments('ensure-capi-sandbox')))
        self.each(wrong)

    def test_no_setting_of_magnum_is_in_the_log(self):
        """Zuul's callback zuul_json writes the arguments of modules."""
        task, = (task for task in _tasks('ensure-capi-sandbox')
                 if 'stdin' in task.get('ansible.builtin.command', {}))

        self.assertTrue(task.get('no_log'))


class PlaybooksTest(testtools.TestCase):

    def test_they_set_what_roles_take(self):
        wrong = []
        for path in jobs.TOP.glob('playbooks/**/*.yaml'):
            if path.name == 'PRODUCT.yaml':
                continue
            for task in jobs.tasks(jobs.load(path)):
                role = task.get('ansible.builtin.include_role', {}).get(
                    'name')
                if role in jobs.roles():
                    wrong += [(path.name, name) for name
                              in task.get('vars', {})
                              if name not in jobs.arguments(role)]

        self.assertEqual([], wrong)
