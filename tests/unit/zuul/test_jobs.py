# SPDX-License-Identifier: Apache-2.0

"""Whether what jobs name exists: jobs, playbooks, roles, options, tests.

Names of other projects are recorded in upstream.yaml.
"""

import ast
import configparser
import functools
import re

import testtools

from magnum_capi_tempest import config
from magnum_capi_tempest.toolchain import pins
from tests.mutation import rooms
from tests.proofs import __main__ as proofs
from tests.unit.zuul import jobs


def _recorded(kind):
    return {name for names in jobs.upstream()[kind].values()
            for name in names}


@functools.cache
def _options():
    """Options of tempest.conf of this project: types by (group, name)."""
    return {(group.name, opt.name): opt.type
            for group, opts in config.TABLE for opt in opts}


@functools.cache
def _test_ids():
    """Ids of all tests of this project, with their tags, by their source."""
    found = []
    for path in sorted((jobs.TOP / 'magnum_capi_tempest/tests').glob(
            '*/test_*.py')):
        module = '.'.join(path.relative_to(jobs.TOP).with_suffix('').parts)
        for node in ast.parse(path.read_text()).body:
            for method in getattr(node, 'body', ()):
                if getattr(method, 'name', '').startswith('test_'):
                    tags = [word.value for decorator in method.decorator_list
                            for word in ast.walk(decorator)
                            if isinstance(word, ast.Constant)]
                    found.append(f'{module}.{node.name}.{method.name}'
                                 f'[{",".join(map(str, tags))}]')
    return found


def _complaints(name, known):
    """What is wrong with the variables of a job; a list of str."""
    found = jobs.variables(name, known)
    books = jobs.playbooks(name, known)
    taken = {argument for book in books for role in jobs.roles_of(book)
             if role in jobs.roles() for argument in jobs.arguments(role)}
    read = jobs.names_in(found) | {n for book in books for n in jobs.names_in(
        jobs.load(book))}
    out = []
    for variable in found:
        if variable in taken or variable in _recorded('variables'):
            continue
        if not variable.startswith('magnum_capi_'):
            out.append(f'{variable}: no role of the job takes it')
        elif variable not in read:
            out.append(f'{variable}: nobody reads it')
    out += [f'{n}: used, and not set' for n in sorted(
        jobs.names_in(found) - set(found) - taken - jobs.GIVEN)]
    out += _localrc(found.get('devstack_localrc', {}),
                    found.get('devstack_plugins', {}))
    for phase, files in found.get('devstack_local_conf', {}).items():
        for name, groups in files.items():
            if (phase, name) != ('test-config', '$TEMPEST_CONFIG'):
                out.append(f'{phase} {name}: not known here')
            else:
                out += _tempest(groups)
    out += _tempest({config.GROUP.name: found.get(
        'run_magnum_capi_tempest_options', {})})
    for variable in ('tempest_test_regex', 'run_magnum_capi_tempest_regex'):
        regex = found.get(variable)
        if regex and not any(re.search(regex, i) for i in _test_ids()):
            out.append(f'{variable}: selects no test: {regex}')
    return out


def _localrc(found, plugins):
    known = {name for plugin in ('devstack', *plugins)
             for name in jobs.upstream()['localrc'].get(plugin, ())}
    return [f'{name}: no plugin of the job has this setting'
            for name in found if name not in known | set(jobs.settings())]


def _tempest(groups):
    out = []
    for group, wanted in groups.items():
        for name, value in wanted.items():
            kind = _options().get((group, name))
            if kind is None:
                out.append(f'[{group}] {name}: no such option of Tempest')
            elif '{{' not in str(value):
                try:
                    kind(str(value))
                except ValueError as e:
                    out.append(f'[{group}] {name}: {e}')
    return out


class JobsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.jobs = jobs.jobs()

    def test_playbooks_exist(self):
        named = {book for name in self.jobs
                 for book in jobs.playbooks(name, self.jobs)}

        self.assertEqual(
            {str(p.relative_to(jobs.TOP))
             for p in jobs.TOP.glob('playbooks/**/*.yaml')
             if p.name != 'PRODUCT.yaml'}, named)

    def test_roles_exist_and_a_job_uses_each_of_ours(self):
        named = {role for name in self.jobs
                 for book in jobs.playbooks(name, self.jobs)
                 for role in jobs.roles_of(book)}

        self.assertEqual(_recorded('roles') | {*jobs.roles()}, named)

    def test_the_project_runs_every_job_and_no_other(self):
        project, = jobs.bodies('project')
        run = {name for pipeline in ('check', 'gate', 'periodic-weekly')
               for job in project[pipeline]['jobs']
               for name in ([job] if isinstance(job, str) else job)}

        self.assertEqual({name for name, job in self.jobs.items()
                          if not job.get('abstract')}, run)

    def test_every_variable_means_something(self):
        self.assertEqual({}, {
            name: wrong for name in self.jobs
            for wrong in [_complaints(name, self.jobs)] if wrong})

    def test_a_second_run_keeps_the_sandbox_of_the_first(self):
        """Somebody may debug its clusters; that of another job goes first."""
        def down(book):
            found = [task.get('ansible.builtin.command', {}).get('argv', [])
                     for task in jobs.tasks(
                         jobs.load(f'playbooks/sandbox/{book}'))]
            return [[word for word in words[1:] if '{' not in word]
                    for words in found if 'down' in words]

        self.assertEqual([], down('run.yaml'))
        # Its record may be of another version of this program.
        self.assertEqual([['sandbox', 'down', '--force', '--directory']],
                         down('pre.yaml'))

    def test_what_collects_hides_no_failure(self):
        """A task that fails in post-run makes a FAILURE a POST_FAILURE."""
        for book in {job['post-run'] for job in self.jobs.values()
                     if 'post-run' in job}:
            plays = jobs.load(book)
            rescued = [task['name'] for play in plays
                       for item in play['tasks'] if item.get('rescue')
                       for task in jobs.tasks(item['block'])]
            self.assertEqual(rescued, [
                task['name'] for task in jobs.tasks(plays)
                if 'ansible.builtin.include_role' in task], book)


class WeeklyTest(testtools.TestCase):
    """What takes hours has a job, so that nobody has to think of it."""

    def setUp(self):
        super().setUp()
        known = jobs.jobs()
        project, = jobs.bodies('project')
        self.found = [jobs.variables(name, known)
                      for name in project['periodic-weekly']['jobs']]
        self.tox = configparser.ConfigParser(interpolation=None)
        self.tox.read(jobs.TOP / 'tox.ini')

    def arguments(self, environment):
        """What jobs of an environment of tox pass to its command."""
        return [found.get('tox_extra_args', '').removeprefix('-- ')
                for found in self.found
                if found.get('tox_envlist') == environment]

    def test_each_proof(self):
        self.assertEqual(sorted(proofs.PROOFS),
                         sorted(self.arguments('proofs')))

    def test_one_part_of_all_that_can_be_mutated(self):
        parts, = (found['magnum_capi_parts'] for found in self.found
                  if found.get('tox_envlist') == 'mutation')

        self.assertEqual(sorted(rooms.ROOMS), parts)

    def test_environments_of_tox_exist(self):
        wanted = {found.get('tox_envlist') for found in self.found
                  if 'devstack_localrc' not in found} - {None}

        self.assertLessEqual({'audit', 'fuzz', 'system'}, wanted)
        self.assertEqual(set(), {
            name for name in wanted if f'testenv:{name}' not in self.tox})

    def test_the_go_that_builds_is_the_one_that_is_judged(self):
        go = pins.load().go

        self.assertIn(f'{go.package}=={go.version}',
                      self.tox['testenv:audit']['deps'].split())
