# SPDX-License-Identifier: Apache-2.0

import configparser
import copy
import pathlib
import re

import testtools

from tests.unit.zuul import content


def _removed(tasks):
    """Paths that tasks remove."""
    for task in tasks:
        found = task.get('ansible.builtin.file', {})
        if found.get('state') == 'absent':
            for item in task.get('loop', ('',)):
                yield found['path'].replace('{{ item }}', item)


class JobsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.jobs = content.jobs()

    def test_names_are_used_once(self):
        self.assertEqual(len(content.bodies('job')), len(self.jobs))

    def test_parents_exist(self):
        self.assertEqual(set(), {
            job['parent'] for job in self.jobs.values()}
            - set(self.jobs) - content.PARENTS)

    def test_nodesets_exist(self):
        nodesets = {n['name'] for n in content.bodies('nodeset')}

        self.assertEqual(nodesets, {
            job['nodeset'] for job in self.jobs.values() if 'nodeset' in job})

    def test_playbooks_exist(self):
        named = {book for name in self.jobs
                 for book in content.playbooks(name, self.jobs)}

        self.assertEqual(
            {str(p.relative_to(content.TOP))
             for p in content.TOP.glob('playbooks/**/*.yaml')
             if p.name != 'PRODUCT.yaml'}, named)

    def test_the_project_runs_every_job_and_no_other(self):
        project, = content.bodies('project')
        run = {name for pipeline in ('check', 'gate', 'periodic-weekly')
               for job in project[pipeline]['jobs']
               for name in ([job] if isinstance(job, str) else job)}

        self.assertEqual({name for name, job in self.jobs.items()
                          if not job.get('abstract')}, run)

    def test_no_job_takes_longer_than_opendev_allows(self):
        """Zuul refuses such a job: "Max Timeout Exceeded"."""
        for name, job in self.jobs.items():
            timeout = job.get('timeout', 0)
            self.assertLessEqual(timeout, content.MAX_JOB_TIMEOUT, name)
            tests = content.variables(name, self.jobs).get(
                'tempest_test_timeout', 0)
            self.assertLess(int(tests), content.MAX_JOB_TIMEOUT, name)

    def test_a_play_ends_before_its_job_does(self):
        for name, job in self.jobs.items():
            for book in content.playbooks(name, self.jobs):
                for task in content.tasks(content.load(book)):
                    self.assertLess(
                        task.get('timeout', 0),
                        job.get('timeout', content.MAX_JOB_TIMEOUT),
                        f'{name}: {task.get("name")}')

    def test_the_steps_of_a_sandbox_end_before_their_job_does(self):
        """Then Zuul ends the job, and no report is linked.

        A job's timeout is for pre-run and run together (Zuul's executor,
        runPlaybooks).
        """
        role = 'ensure-magnum-capi'
        install = sum(
            content.arguments(role)[name]['default']
            for task in content.load(f'roles/{role}/tasks/main.yaml')
            for name in content.names_in(task['timeout']))
        self.assertEqual(2400, install)
        found = {
            (name, book) for name in self.jobs
            for book in ('playbooks/sandbox/run.yaml',
                         'playbooks/driver/run.yaml')
            if book in content.playbooks(name, self.jobs)}
        self.assertGreater(len(found), 8)

        for name, book in found:
            variables = content.variables(name, self.jobs)
            steps = [variables.get(argument, option['default'])
                     for role in content.roles_of(book)
                     for argument, option in content.arguments(role).items()
                     if argument.endswith('_timeout')]
            steps += [task['timeout']
                      for one in (book, 'playbooks/sandbox/pre.yaml')
                      for task in content.tasks(content.load(one))
                      if 'timeout' in task]
            allowed = [job['timeout']
                       for job in content.chain(name, self.jobs)
                       if 'timeout' in job][-1]
            self.assertLess(install + sum(steps), allowed, (name, steps))

    def test_tests_end_with_their_task(self):
        """Those of magnum-capi that take long, and write a report."""
        books = [content.load(f'playbooks/{name}.yaml')
                 for name in ('driver/run', 'sandbox/nodes')]
        found = {
            task['name']: (content.limit_on_the_node(task), task['timeout'])
            for task in content.tasks([
                *books[0], *books[1], *content.load(
                    'roles/run-magnum-capi-tempest/tasks/main.yaml')])
            if 'ansible.builtin.command' in task
            and not task['name'].startswith('Report ')}

        name = 'run_magnum_capi_tempest_timeout'
        self.assertEqual({
            'Test the driver in a sandbox of its own': ('4500', 4800),
            'Build images, bring the sandbox up, and run the tests':
                ('9300', 9600),
            'Run the tests in the sandbox': (name, f'{{{{ {name} + 180 }}}}'),
            'Run the tests in the workspace':
                (name, f'{{{{ {name} + 180 }}}}')}, found)

    def test_no_archive_of_an_earlier_job_is_judged(self):
        """A static node still has it, and then the tests would not run."""
        role, judging = 'run-conformance', set()
        default = content.arguments(role)['run_conformance_archives'][
            'default']
        for name in self.jobs:
            tasks = [task for book in content.playbooks(name, self.jobs)
                     for task in content.tasks(content.load(book))]
            removed = [pathlib.PurePath(path).name for path in _removed(tasks)]
            read = [
                pathlib.PurePath(task['vars'].get(
                    'run_conformance_archives', default)).name
                for task in tasks if task.get(
                    'ansible.builtin.include_role', {}).get('name') == role]
            # A devstack needs a new node anyway.
            if read and 'magnum-capi-devstack' not in {
                    job['name'] for job in content.chain(name, self.jobs)}:
                judging.add(name)
                self.assertEqual(set(), {*read} - {*removed}, name)

        self.assertEqual({'magnum-capi-conformance-chart',
                          'magnum-capi-sandbox-nodes'}, judging)

    def test_no_report_of_an_earlier_job_is_published(self):
        """A static node still has it; a job may end without one of its own."""
        found = {name for name in self.jobs for book in content.playbooks(
            name, self.jobs) if 'pre.yaml' in book and 'sandbox' in book}
        self.assertIn('magnum-capi-driver-test', found)

        for name in found:
            self.assertIn('zuul-output/logs/magnum-capi', {
                path.partition('/')[2] for path in _removed(content.tasks(
                    content.load('playbooks/sandbox/pre.yaml')))})
            # As root, they could not be removed by the next job.
            for book in content.playbooks(name, self.jobs):
                for task in content.tasks(content.load(book)):
                    apply = task.get('ansible.builtin.include_role', {})
                    self.assertNotIn('become', apply.get('apply', {}), book)

    def test_a_second_run_keeps_the_sandbox_of_the_first(self):
        """Somebody may debug its clusters; that of another job goes first."""
        def down(book):
            tasks = content.tasks(content.load(f'playbooks/sandbox/{book}'))
            return [[*content.argv(task)] for task in tasks if 'down' in str(
                task.get('ansible.builtin.command'))]

        self.assertEqual([], down('run.yaml'))
        words, = down('pre.yaml')
        self.assertEqual(['sandbox', 'down', '--directory'], words[:3])

    def test_what_collects_hides_no_failure(self):
        """A task that fails in post-run makes a FAILURE a POST_FAILURE."""
        for book in {job['post-run'] for job in self.jobs.values()
                     if 'post-run' in job}:
            plays = content.load(book)
            rescued = [task['name'] for play in plays
                       for item in play['tasks'] if item.get('rescue')
                       for task in content.tasks(item['block'])]
            self.assertEqual(rescued, [
                task['name'] for task in content.tasks(plays)
                if 'ansible.builtin.include_role' in task], book)

    def test_a_door_for_pods_is_none_for_the_network(self):
        play, = content.load('playbooks/devstack/pre.yaml')
        rules = [(rule['bridge'], rule['jump']) for task in play['tasks']
                 for rule in task.get('loop', ())]

        # The pattern of Docker's bridges is that of Open vSwitch's, too.
        self.assertEqual(
            [('br-ex', 'RETURN'), ('br-int', 'RETURN'),
             ('br-tun', 'RETURN'), ('br-+', 'ACCEPT')], rules)

    def test_no_backups_of_volumes_without_swift(self):
        """lib/cinder of devstack: CINDER_BACKUP_DRIVER is swift."""
        for name in self.jobs:
            services = content.variables(name, self.jobs).get(
                'devstack_services', {})
            # The job of devstack has both.
            self.assertEqual(services.get('s-proxy', True),
                             services.get('c-bak', True), name)

    def test_what_is_on_devstack_does_not_vote(self):
        project, = content.bodies('project')
        voting = {job for pipeline in ('check', 'gate')
                  for job in project[pipeline]['jobs']
                  if isinstance(job, str)}

        self.assertEqual(set(), {
            name for name in voting & set(self.jobs)
            if 'magnum-capi-devstack' in {
                job['name'] for job in content.chain(name, self.jobs)}})

    def test_what_lint_reads_is_linted_when_it_changes(self):
        tox = configparser.ConfigParser(interpolation=None)
        tox.read(content.TOP / 'tox.ini')
        words = ' '.join(
            tox['testenv:zuul-lint'][key] for key in ('deps', 'commands')
        ).replace('-c{toxinidir}/', '').split()
        read = {word for word in words if (content.TOP / word).exists()}
        self.assertIn('constraints/zuul.txt', read)
        patterns = self.jobs['magnum-capi-zuul-lint']['files']

        changed = {f'{path}/x' if (content.TOP / path).is_dir() else path
                   for path in read}
        self.assertEqual(set(), {path for path in changed if not any(
            re.match(pattern, path) for pattern in patterns)})

    def test_the_repository_has_one_name(self):
        home = (content.TOP / 'setup.cfg').read_text()
        required = {project for job in self.jobs.values()
                    for project in job.get('required-projects', ())
                    if project.endswith('/magnum-capi-tempest')}

        for project in required:
            self.assertIn(f'https://opendev.org/{project}\n', home)

    def test_every_variable_means_something(self):
        self.assertEqual({}, {
            name: wrong for name in self.jobs
            for wrong in [content.complaints(name, self.jobs)] if wrong})

    def test_nothing_is_copied_from_the_parent(self):
        copied = []
        for name, job in self.jobs.items():
            if job['parent'] in self.jobs:
                above = content.variables(job['parent'], self.jobs)
                copied += [
                    (name, variable) for variable, value
                    in job.get('vars', {}).items()
                    if above.get(variable) == value]

        self.assertEqual([], copied)


class TyposTest(testtools.TestCase):
    """A variable that means nothing is found."""

    def complaints(self, name, *path, value):
        jobs = copy.deepcopy(content.jobs())
        place = jobs[name].setdefault('vars', {})
        for step in path[:-1]:
            place = place.setdefault(step, {})
        place[path[-1]] = value
        return content.complaints(name, jobs)

    def test_argument_of_a_role(self):
        self.assertEqual(
            ['run_magnum_capi_tempest_regexp: no role of the job takes it'],
            self.complaints('magnum-capi-sandbox-full',
                            'run_magnum_capi_tempest_regexp', value='x'))

    def test_argument_of_a_role_that_the_job_does_not_run(self):
        self.assertEqual(
            ['run_conformance_mode: no role of the job takes it'],
            self.complaints('magnum-capi-sandbox-full',
                            'run_conformance_mode', value='quick'))

    def test_variable_that_nobody_reads(self):
        self.assertEqual(
            ['magnum_capi_kubernets: nobody reads it'],
            self.complaints('magnum-capi-devstack-upgrade',
                            'magnum_capi_kubernets', value='1.34'))

    def test_variable_that_nobody_sets(self):
        self.assertEqual(
            ['magnum_capi_imgae: used, and not set'],
            self.complaints('magnum-capi-devstack-upgrade',
                            'devstack_localrc', 'FIXED_RANGE',
                            value='{{ magnum_capi_imgae }}'))

    def test_setting_of_a_devstack_plugin(self):
        self.assertEqual(
            ['MAGNUM_CAPI_DRIVRES: no plugin of the job has this setting'],
            self.complaints('magnum-capi-devstack-clash', 'devstack_localrc',
                            'MAGNUM_CAPI_DRIVRES', value='x'))

    def test_option_of_tempest(self):
        self.assertEqual(
            ['[magnum_capi] keypair_id: no such option of Tempest'],
            self.complaints(
                'magnum-capi-devstack-clash', 'devstack_local_conf',
                'test-config', '$TEMPEST_CONFIG', 'magnum_capi', 'keypair_id',
                value='x'))

    def test_value_of_an_option_of_tempest(self):
        wrong, = self.complaints(
            'magnum-capi-devstack-clash', 'devstack_local_conf',
            'test-config', '$TEMPEST_CONFIG', 'magnum_capi',
            'conformance_mode', value='quik')

        self.assertThat(wrong, testtools.matchers.StartsWith(
            '[magnum_capi] conformance_mode:'))

    def test_option_for_the_sandbox(self):
        self.assertEqual(
            ['[magnum_capi] clashing_driver: no such option of Tempest'],
            self.complaints('magnum-capi-sandbox-clash',
                            'run_magnum_capi_tempest_options',
                            'clashing_driver', value='a,b'))

    def test_expression_that_selects_no_test(self):
        self.assertEqual(
            ['tempest_test_regex: selects no test: magnum_capi.*Upgarde'],
            self.complaints('magnum-capi-devstack-upgrade',
                            'tempest_test_regex',
                            value='magnum_capi.*Upgarde'))
