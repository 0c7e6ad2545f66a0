# SPDX-License-Identifier: Apache-2.0

"""What a run of a real Zuul (tests.zuul) has to find, with its answers."""

import copy
import json
import os
import pathlib
import pwd

import fixtures
import testtools

from tests.unit.zuul import content
from tests.zuul import __main__ as command
from tests.zuul import builds
from tests.zuul import expectations
from tests.zuul import programs
from tests.zuul import repositories
from tests.zuul import site as sites


class JobsTest(testtools.TestCase):

    def test_stand_ins_have_the_parents_that_ours_name_and_no_others(self):
        ours = content.jobs()
        stand_ins = {name: job for name, job in expectations.known().items()
                     if name not in ours}

        self.assertEqual(content.PARENTS, {
            name for name in stand_ins if not name.startswith('proof-')})

    def test_what_needs_a_devstack_is_never_run(self):
        found = expectations.runnable()

        self.assertEqual([], [name for name in found
                              if 'devstack-tempest'
                              in expectations.lineage(name)])
        self.assertIn('magnum-capi-sandbox-clash', found)
        self.assertIn('proof-sandbox-failure', found)
        self.assertEqual(len(found), len(set(found)))

    def test_what_wants_to_be_root_is_never_run(self):
        """The node is a person's machine."""
        found = expectations.runnable()

        self.assertNotIn('magnum-capi-sandbox-nodes', found)
        self.assertEqual([], [
            name for name in found
            for book in content.playbooks(name, content.jobs())
            if expectations.becomes((content.TOP / book).read_text())])

    def test_who_becomes_another_user(self):
        for named in ('- become: true', '- tasks: [{block: [{become: "{{ x '
                      '}}"}]}]', '- vars: {ansible_become: true}',
                      '- tasks: [{import_role: {name: x}, become_user: y}]'):
            self.assertTrue(expectations.becomes(named), named)
        self.assertFalse(expectations.becomes(
            '# It may become another user.\n- hosts: all\n'))

    def test_jobs_of_periodic_are_run_by_name(self):
        found, usual = expectations.runnable(), expectations.usual()

        self.assertLess(set(usual), set(found))
        self.assertEqual({'magnum-capi-driver-test',
                          'magnum-capi-sandbox-2025-2',
                          'magnum-capi-sandbox-2026-1'},
                         set(found) - set(usual))

    def test_the_node_has_the_small_label_only(self):
        large = {node['label'] for nodeset in content.bodies('nodeset')
                 for node in nodeset['nodes']} - {repositories.LABEL}

        self.assertEqual({'ubuntu-noble-32GB'}, large)

    def test_every_project_that_is_named(self):
        self.assertLessEqual(
            {'openstack/magnum', 'openstack/devstack', 'openstack/octavia'},
            repositories.named())


class FoldersTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        # As long as a home may be.
        self.state = pathlib.Path(self.useFixture(fixtures.TempDir()).path,
                                  'state' * 12)
        self.useFixture(fixtures.EnvironmentVariable(
            'MAGNUM_CAPI_STATE', str(self.state)))

    def test_builds_have_room_for_the_sockets_of_ssh(self):
        with command._folders() as (folder, short):
            site = sites.Site(folder, short, folder, '127.0.0.1', folder,
                              folder)
            self.assertEqual(0o700, short.stat().st_mode & 0o777)
            self.assertLessEqual(len(str(site.builds)), sites.LONGEST_BUILDS)

        self.assertFalse(folder.exists())
        self.assertFalse(short.exists())

    def test_what_a_killed_run_has_left_goes_with_the_next(self):
        left = pathlib.Path(self.useFixture(fixtures.TempDir()).path, 'left')
        (left / 'build').mkdir(parents=True)
        (self.state / 'zuul').mkdir(parents=True)
        (self.state / 'zuul/short').symlink_to(left)

        with command._folders():
            self.assertFalse(left.exists())


class NodeTest(testtools.TestCase):
    """The node, for a user whose HOME is not the one in passwd."""

    def setUp(self):
        super().setUp()
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.home = folder / 'home'
        for name, value in {'HOME': str(self.home), 'XDG_CACHE_HOME': None,
                            'MAGNUM_CAPI_CACHE': None}.items():
            self.useFixture(fixtures.EnvironmentVariable(name, value))
        self.useFixture(fixtures.MockPatchObject(programs, '_program', str))
        self.site = sites.Site(folder, folder, folder, '127.0.0.1',
                               zuul=folder, ansible=folder)

    def test_zuul_has_temporary_files_that_go_with_the_run(self):
        found = {program.name: program.env.get('TMPDIR')
                 for program in programs.programs(self.site, None) if program}

        self.assertEqual({str(self.site.temporary)}, {
            folder for name, folder in found.items()
            if name.startswith('zuul-')})

    def binds(self):
        """Writable folders of the node, with what they are on the machine."""
        node, = (program for program in programs.programs(self.site, None)
                 if program and program.name == 'node')
        words = [str(word) for word in node.argv]
        return {words[index + 2]: words[index + 1]
                for index, word in enumerate(words) if word == '--bind'}

    def test_its_home_is_where_ssh_logs_in(self):
        self.assertEqual(str(self.site.node / 'home'), self.binds()[
            pwd.getpwuid(os.getuid()).pw_dir])

    def test_it_finds_the_caches_of_the_user(self):
        variables = programs.environment()

        for name, cache in {
                'XDG_CACHE_HOME': self.home / '.cache',
                'MAGNUM_CAPI_CACHE': self.home / '.cache/magnum-capi'}.items():
            self.assertEqual(str(cache), variables[name])
            self.assertEqual(str(cache), self.binds()[str(cache)])


class FrozenTest(testtools.TestCase):
    """The answer to freeze-job, as far as it is looked at."""

    NAME = 'magnum-capi-sandbox-clash'

    def setUp(self):
        super().setUp()
        ours = content.jobs()
        run, *around = content.playbooks(self.NAME, ours)
        self.job = {
            'vars': {**copy.deepcopy(content.variables(self.NAME, ours)),
                     'zuul_console_disabled': True},
            'timeout': 5400, 'playbooks': [{'path': run}],
            'pre_playbooks': [{'path': path} for path in around
                              if 'pre' in path],
            'post_playbooks': [{'path': path} for path in around
                               if 'post' in path],
            'nodeset': {'nodes': [{'label': 'ubuntu-noble'}]}}

    def problems(self):
        return expectations.frozen_problems(self.NAME, self.job)

    def test_right(self):
        self.assertEqual([], self.problems())

    def test_a_variable_of_the_parent_that_is_lost(self):
        del self.job['vars']['ensure_capi_sandbox_install']
        problem, = self.problems()
        self.assertIn('ensure_capi_sandbox_install: is None', problem)

    def test_a_time_that_opendev_refuses(self):
        for self.job['timeout'] in (14400, None):
            self.assertEqual([f'timeout: {self.job["timeout"]}'],
                             self.problems())

    def test_a_playbook_that_is_lost(self):
        self.job['post_playbooks'] = []
        self.assertEqual(['playbooks/sandbox/post.yaml: is not run'],
                         self.problems())

    def test_another_node(self):
        self.job['nodeset'] = {'nodes': [{'label': 'ubuntu-jammy'}]}
        self.assertEqual(['ubuntu-jammy: no label of ours'],
                         self.problems())


class BuildTest(testtools.TestCase):
    """A build as the API lists it, with job-output.json of Zuul's callback."""

    #: Where tests/zuul/config says that proof-sandbox-failure fails.
    WANTED = ('run', 'Run the tests in the sandbox', 1)

    def setUp(self):
        super().setUp()
        self.logs = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        for name in ('job-output.txt', 'report.html'):
            (self.logs / name).write_text('x')

    def problems(self, name='proof-sandbox-failure', result='FAILURE',
                 links=('report.html',), failed=(WANTED,), **more):
        url = f'file://{self.logs}/'
        (self.logs / 'job-output.json').write_text(json.dumps([
            self.playbook('pre', 'Install', 0), self.playbook('run', 'Up', 0),
            *(self.playbook(*found, failed=True) for found in failed)]))
        return builds.problems({
            'job_name': name, 'result': result, 'log_url': url,
            'artifacts': [{'name': 'Report', 'url': url + link}
                          for link in links], **more})

    @staticmethod
    def playbook(phase, task, rc, **more):
        return {'phase': phase, 'plays': [{'tasks': [
            {'task': {'name': task},
             'hosts': {'controller': {'rc': rc, **more}}}]}]}

    def test_right(self):
        self.assertEqual([], self.problems())
        self.assertEqual([], self.problems('magnum-capi-sandbox-clash',
                                           'SUCCESS', failed=()))

    def test_every_job_that_must_fail_says_where(self):
        failing = {name for name in expectations.known()
                   if expectations.failure(name)}

        self.assertEqual({name for name in expectations.known()
                          if name.endswith('-failure')}, failing)
        for name in failing:
            phase, task, _rc = expectations.failure(name)
            self.assertEqual('run', phase)
            self.assertIn(f'- name: {task}\n', '\n'.join(
                path.read_text() for path in (content.TOP / 'roles').glob(
                    '*/tasks/*.yaml')))

    def test_a_failure_that_is_hidden(self):
        self.assertEqual(
            ['POST_FAILURE, expected FAILURE: no space'],
            self.problems(result='POST_FAILURE', error_detail='no space'))

    def test_a_failure_that_was_not_seen(self):
        self.assertEqual(['SUCCESS, expected FAILURE'],
                         self.problems(result='SUCCESS'))

    def test_a_failure_of_another_task(self):
        self.assertEqual(
            ['run: "Bring the sandbox up" failed with exit code 3',
             'run: "Run the tests in the sandbox" did not fail with exit '
             'code 1'],
            self.problems(failed=[('run', 'Bring the sandbox up', 3)]))

    def test_a_failure_of_the_task_for_another_reason(self):
        """Exit code 2: a wrong option, so that no test ran."""
        self.assertEqual(
            ['run: "Run the tests in the sandbox" failed with exit code 2',
             'run: "Run the tests in the sandbox" did not fail with exit '
             'code 1'],
            self.problems(failed=[('run', self.WANTED[1], 2)]))

    def test_a_failure_behind_the_one_that_is_wanted(self):
        """Rescued, so that the result is the same."""
        self.assertEqual(
            ['post: "Collect objects and logs" failed with exit code 3'],
            self.problems(failed=[
                self.WANTED, ('post', 'Collect objects and logs', 3)]))

    def test_a_module_that_has_no_exit_code(self):
        self.assertEqual(
            ['pre: "Push the repositories" failed'],
            self.problems('magnum-capi-zuul-lint', 'SUCCESS',
                          failed=[('pre', 'Push the repositories', None)]))

    def test_a_playbook_that_timed_out(self):
        """Zuul notes it in the same file, with no task."""
        self.problems()
        found = json.loads((self.logs / 'job-output.json').read_text())
        self.assertEqual(
            [self.WANTED], builds.failed([*found, {
                'phase': 'post', 'plays': [{'play': {}, 'tasks': [
                    {'hosts': {}, 'task': {'name': ''}}]}]}]))

    def test_a_report_that_is_not_linked(self):
        self.assertEqual(['no report is linked'], self.problems(links=()))
        # Not by a role.
        self.assertEqual(['no report is linked'], self.problems(
            'magnum-capi-driver-test', 'SUCCESS', (), ()))

    def test_a_job_without_a_report(self):
        self.assertEqual([], self.problems(
            'magnum-capi-zuul-lint', 'SUCCESS', (), ()))

    def test_links_that_lead_nowhere(self):
        (self.logs / 'job-output.txt').write_text('')
        missing, empty = self.problems(links=('missing.html',))
        self.assertIn('missing.html does not open', missing)
        self.assertIn('job-output.txt is empty', empty)

    def test_a_job_that_never_ran(self):
        self.assertEqual(
            ['NODE_FAILURE, expected SUCCESS',
             'no log is linked: see the report, and zuul/ beside it'],
            self.problems('magnum-capi-zuul-lint', 'NODE_FAILURE', (),
                          log_url=None))


class ExecutorLogTest(testtools.TestCase):

    LOG = '''\
2026-11-25 10:00:00,001 INFO zuul.Executor: [e: 1] [build: a] Beginning
2026-11-25 10:00:01,002 ERROR zuul.Job: [e: 1] [build: a] No socket
Traceback (most recent call last):
OSError: path is too long
2026-11-25 10:00:02,003 INFO zuul.Executor: [e: 1] [build: b] Beginning
Traceback of b
2026-11-25 10:00:03,004 INFO zuul.Executor: [e: 1] [build: a] Result
'''

    def setUp(self):
        super().setUp()
        self.path = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path, 'zuul-executor.log')

    def test_what_it_said_of_one_build(self):
        self.path.write_text(self.LOG)
        lines = self.LOG.replace('[e: 1] [build: a] ', '').splitlines()

        self.assertEqual('\n'.join([*lines[:4], lines[6]]),
                         builds.said(self.path, 'a'))
        self.assertEqual('\n'.join([lines[3], lines[6]]),
                         builds.said(self.path, 'a', lines=2))

    def test_a_build_that_no_executor_had(self):
        self.assertEqual('', builds.said(self.path, 'a'))
