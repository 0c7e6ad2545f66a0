# SPDX-License-Identifier: Apache-2.0

"""What the plugin of devstack asks of this project, and what it publishes.

tools/run_devstack.sh runs it; shellcheck and bashate read it.
"""

import configparser
import pathlib
import re
import subprocess

import fixtures
import testtools

from magnum_capi_tempest import config
from tests.unit.cli import calls
from tests.unit.zuul import jobs

DEVSTACK = jobs.TOP / 'devstack'


def _text(name):
    """A file of ours without comments, one command a line."""
    found = (DEVSTACK / name).read_text().replace('\\\n', '')
    return re.sub(r'(?m)(^|\s)#.*', '', found)


class NamesTest(testtools.TestCase):

    def test_options_of_tempest_exist(self):
        known = {(group.name, option.name)
                 for group, options in config.TABLE for option in options}
        text = _text('lib/magnum_capi')
        found = set(re.findall(
            r'iniset \$TEMPEST_CONFIG\s+(\w+)\s+(\w+)', text))

        self.assertNotEqual(set(), found)
        self.assertEqual(set(), found - known)

    def test_calls_of_magnum_capi_have_options_that_there_are(self):
        text = (DEVSTACK / 'lib/magnum_capi').read_text().replace('\\\n', '')
        found = re.findall(r'^[^#\n]*?\bmagnum-capi ([a-z].*)', text, re.M)

        self.assertNotEqual([], found)
        self.assertEqual([], [w for line in found for w in calls.misused(
            re.split(r'[\s;]+', line.partition(';')[0]))])


class SampleTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.sample = (DEVSTACK / 'local.conf.sample').read_text()

    def test_it_sets_what_there_is(self):
        names = set(re.findall(r'^(MAGNUM_CAPI\w*)=', self.sample, re.M))

        self.assertNotEqual(set(), names)
        self.assertEqual(set(), names - set(jobs.settings()))

    def test_tests_have_the_options_of_a_job(self):
        """Both have no amphorae, which are the drivers' default."""
        _, _, section = self.sample.partition(
            '[[test-config|$TEMPEST_CONFIG]]\n')
        sample = configparser.ConfigParser()
        sample.read_string(section)
        job = jobs.jobs()['magnum-capi-devstack']['vars'][
            'devstack_local_conf']['test-config']['$TEMPEST_CONFIG']

        self.assertEqual(job, {
            name: dict(sample[name]) for name in sample.sections()})


class ManagementTest(testtools.TestCase):
    """How long stack.sh waits for a management cluster."""

    def check(self, ready):
        """Call check_magnum_capi_management with a limit of 100 s.

        :param ready: seconds after which the cluster has everything.
        :returns: exit code, and the seconds at which it was asked.
        """
        asked = pathlib.Path(self.useFixture(fixtures.TempDir()).join('asked'))
        script = f"""
            source {DEVSTACK}/lib/magnum_capi
            sudo() {{ :; }}
            timeout() {{ shift; "$@"; }}
            magnum-capi() {{
                echo $SECONDS >> {asked}
                [[ $SECONDS -ge {ready} ]]
            }}
            sleep() {{ SECONDS=$((SECONDS + $1)); }}
            die() {{ exit 1; }}
            MAGNUM_CAPI_MANAGEMENT_TIMEOUT=100 MAGNUM_CAPI_POLL=10 SECONDS=0
            check_magnum_capi_management /kubeconfig
        """
        code = subprocess.run(['bash', '-c', script], timeout=60).returncode
        return code, [int(word) for word in asked.read_text().split()]

    def test_until_it_is_ready(self):
        code, asked = self.check(75)
        self.assertEqual((0, 9), (code, len(asked)))

    def test_no_longer_than_the_limit(self):
        code, asked = self.check(1000)
        self.assertEqual(1, code)
        self.assertLessEqual(100, asked[-1])
        self.assertGreater(115, asked[-1])


class PublicLogsTest(testtools.TestCase):
    """Nobody reads a kubeconfig in the logs of a job."""

    def setUp(self):
        super().setUp()
        #: Where the plugin writes kubeconfigs.
        self.copies = {
            value.partition(':-')[2].rstrip('}').replace(
                '$DATA_DIR', '/opt/stack/data')
            for name, value in jobs.settings().items()
            if name in ('MAGNUM_CAPI_KUBECONFIG',
                        'MAGNUM_CAPI_TEMPEST_KUBECONFIG')}

    def test_no_copy_is_where_jobs_collect(self):
        self.assertEqual(2, len(self.copies))
        self.assertEqual(set(), {
            copy for copy in self.copies
            for folder in jobs.upstream()['public']
            if pathlib.PurePath(copy).is_relative_to(folder)})

    def test_no_copy_is_left_when_logs_are_taken(self):
        play, = jobs.load('playbooks/devstack/post.yaml')
        block, = play['tasks']
        task, = block['always']

        self.assertEqual(('absent', '{{ item }}', True), (
            task['ansible.builtin.file']['state'],
            task['ansible.builtin.file']['path'], task['become']))
        # Magnum's own plugin of devstack may put one there.
        self.assertEqual(self.copies | {'/etc/magnum/kubeconfig'},
                         set(task['loop']))

    def test_each_job_removes_them_before_its_parents_copy(self):
        # Zuul runs the post-run playbooks of a parent after those of a job.
        known = jobs.jobs()
        ours = [name for name in known if jobs.chain(
            name, known)[0]['parent'] == 'devstack-tempest']

        self.assertNotEqual([], ours)
        for name in ours:
            self.assertIn('playbooks/devstack/post.yaml',
                          jobs.playbooks(name, known))

    def test_a_door_for_pods_is_none_for_the_network(self):
        play, = jobs.load('playbooks/devstack/pre.yaml')
        rules = [(rule['bridge'], rule['jump']) for task in play['tasks']
                 for rule in task.get('loop', ())]

        # The pattern of Docker's bridges is that of Open vSwitch's, too.
        self.assertEqual(
            [('br-ex', 'RETURN'), ('br-int', 'RETURN'),
             ('br-tun', 'RETURN'), ('br-+', 'ACCEPT')], rules)
