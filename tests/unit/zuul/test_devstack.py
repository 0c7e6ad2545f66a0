# SPDX-License-Identifier: Apache-2.0

"""The functions of the devstack plugin, in a bash that has no devstack."""

import configparser
import os
import pathlib
import re
import subprocess

import fixtures
import testtools

from magnum_capi_tempest import features
from tests.unit.zuul import content

DEVSTACK = content.TOP / 'devstack'

#: What those functions of devstack do whose effect counts here. All others
#: that devstack has, and no more, note how they were called.
EFFECTS = {
    'die': 'shift; echo "$@" >&2; exit 1',
    'is_plugin_enabled': '[[ " $PLUGINS " == *" $1 "* ]]',
    'is_service_enabled': '[[ " $DISABLED " != *" $1 "* ]]',
    'trueorfalse': 'echo "${!2:-$1}"',
    'echo_summary': ':',
    'define_plugin': ':',
    'plugin_requires': ':',
    'enable_service': ':',
    'sudo_with_proxies': 'sudo http_proxy="$http_proxy" "$@"',
    'vercmp': '[[ $2 == ">=" ]] && printf "%s\\n" $3 $1 | sort -VC',
}

#: Variables of devstack and Magnum's plugin, and programs.
STUBS = r'''
set -e
note() { echo "$@" >> "$BOX/calls"; }
command_not_found_handle() { echo "$1" >> "$BOX/missing"; return 127; }
openstack() { note openstack "$@"; }
SYSTEMD_DIR=$BOX/systemd
sudo() { env "$@"; }
STACK_USER=$(id -un) DEST=$BOX/stack DATA_DIR=$BOX/data
MAGNUM_CONF=magnum.conf MAGNUM_API_PASTE=api-paste.ini
MAGNUM_GUEST_IMAGE_URL=https://example.org/1/ubuntu-24.04-v1.35.5.qcow2
TEMPEST_CONFIG=tempest.conf TEMPEST_CONFIG_DIR=$BOX
PUBLIC_NETWORK_NAME=public MAGNUM_CAPI_KUBECONFIG=$BOX/kubeconfig
MAGNUM_CAPI_POLL=0
'''

#: A magnum-capi that notes how it was called, and does what $ANSWER says.
PROGRAM = '''#!/bin/bash
echo "magnum-capi $*" >> "$BOX/calls"
eval "$ANSWER"
'''


def functions():
    """The functions of devstack, as stand-ins."""
    names = content.devstack_functions()
    assert names > set(EFFECTS), set(EFFECTS) - names
    return '\n'.join(
        f'{name}() {{ {EFFECTS.get(name, f"""note {name} "$@" """)}; }}'
        for name in sorted(names))


class _Base(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.box = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (self.box / 'bin').mkdir()
        program = self.box / 'bin' / 'magnum-capi'
        program.write_text(PROGRAM)
        program.chmod(0o755)
        (self.box / 'admin.conf').write_text('a kubeconfig\n')
        self.settings = {
            'MAGNUM_CAPI_MANAGEMENT_KUBECONFIG': str(self.box / 'admin.conf')}

    def call(self, script, answer='true', before='', **settings):
        """Run a script after settings and functions; its exit code.

        :param before: what is run before the settings.
        """
        done = subprocess.run(
            ['bash', '-c', f'{functions()}\n{STUBS}\n{before}\n'
             f'source {DEVSTACK}/settings\n'
             f'source {DEVSTACK}/lib/magnum_capi\n{script}'],
            env={'PATH': f'{self.box}/bin:{os.environ["PATH"]}',
                 'BOX': str(self.box), 'ANSWER': answer,
                 **self.settings, **settings},
            capture_output=True, text=True, timeout=60)
        self.err, self.out = done.stderr, done.stdout
        self.assertEqual([], self.lines('missing'))
        self.calls = self.lines('calls')
        return done.returncode

    def lines(self, name):
        path = self.box / name
        return path.read_text().splitlines() if path.exists() else []


class DevstackTest(_Base):

    def order(self, plugins, **settings):
        return self.call('check_magnum_capi_order', **settings,
                         DEVSTACK_PLUGINS=plugins)

    def test_behind_the_plugins_that_it_builds_on(self):
        self.assertEqual(0, self.order(
            ',devstack-plugin-container,magnum,magnum-capi-helm,'
            'magnum-capi-tempest,octavia'))

    def test_in_front_of_magnum(self):
        for plugins in (',magnum-capi-tempest,magnum',
                        ',magnum-capi-tempest,octavia,magnum,x'):
            self.assertEqual(1, self.order(
                plugins, MAGNUM_CAPI_MANAGEMENT_KUBECONFIG=''))
            self.assertIn('enable the plugin magnum before', self.err)

    def test_in_front_of_who_makes_the_management_cluster(self):
        plugins = ',magnum,magnum-capi-tempest,devstack-plugin-container'
        self.assertEqual(1, self.order(plugins))
        self.assertIn('plugin devstack-plugin-container before', self.err)
        self.assertEqual(0, self.order(
            plugins, MAGNUM_CAPI_MANAGEMENT_KUBECONFIG=''))

    def test_docker_is_installed_where_it_is_missing(self):
        for there, calls in (('false', ['install_package docker.io']),
                             ('true', [])):
            self.call(f'which() {{ {there}; }}; install_magnum_capi',
                      MAGNUM_CAPI_MANAGEMENT_KUBECONFIG='')
            self.assertEqual(
                calls, [c for c in self.calls if 'package' in c])
            (self.box / 'calls').unlink()

    def test_nodes_get_the_label_that_a_driver_wants(self):
        """By a kubectl of ours: devstack has none."""
        kubectl = self.box / 'kubectl'
        kubectl.write_text('#!/bin/bash\necho "kubectl $*" >> "$BOX/calls"\n')
        kubectl.chmod(0o755)

        self.assertEqual(0, self.call(
            'init_magnum_capi', f'echo kubectl {kubectl}',
            MAGNUM_CAPI_DRIVERS='k8s_capi_v1,k8s_cluster_api_ubuntu'))

        self.assertEqual(
            ['magnum-capi toolchain fetch kubectl',
             f'kubectl --kubeconfig {self.box}/kubeconfig label --overwrite '
             'node --all openstack-control-plane=enabled'], self.calls)

    def test_a_driver_that_reads_what_kubectl_reads(self):
        """pykube.KubeConfig.from_env: $KUBECONFIG, else ~/.kube/config."""
        folder = self.box / 'systemd'
        self.call('configure_magnum_capi')
        self.assertFalse(folder.exists())

        self.assertEqual(0, self.call(
            'configure_magnum_capi',
            MAGNUM_CAPI_DRIVERS='k8s_cluster_api_ubuntu'))
        self.assertEqual(
            {f'devstack@magnum-{name}.service.d/magnum-capi.conf':
             f'[Service]\nEnvironment=KUBECONFIG={self.box}/kubeconfig\n'
             for name in ('api', 'cond')},
            {str(path.relative_to(folder)): path.read_text()
             for path in folder.glob('*/*')})

        other = folder / 'devstack@magnum-api.service.d' / 'other.conf'
        other.touch()
        self.assertEqual(0, self.call('cleanup_magnum_capi'))
        self.assertEqual([other], [
            path for path in folder.glob('*/**/*') if path.is_file()])
        other.unlink()
        self.assertEqual(0, self.call('cleanup_magnum_capi'))
        self.assertEqual([], [*folder.glob('*')])
        # clean.sh calls unstack.sh before.
        self.assertEqual(0, self.call('cleanup_magnum_capi'))

    def test_clean_up_ends_the_management_cluster_that_is_ours(self):
        self.assertEqual(0, self.call('cleanup_magnum_capi'))
        self.assertEqual([], self.calls)

        self.call('cleanup_magnum_capi', MAGNUM_CAPI_MANAGEMENT_KUBECONFIG='')
        self.assertEqual(
            ['magnum-capi management down --directory '
             f'{self.box}/data/magnum-capi/management'], self.calls)

    def test_clean_up_finds_the_program_where_pip_put_it(self):
        """unstack.sh and clean.sh have no environment in PATH."""
        venv = self.box / 'venv'
        venv.mkdir()
        (self.box / 'bin').rename(venv / 'bin')

        self.assertEqual(0, self.call(
            'cleanup_magnum_capi', MAGNUM_CAPI_MANAGEMENT_KUBECONFIG='',
            GLOBAL_VENV='True', DEVSTACK_VENV=str(venv)))
        self.assertEqual(
            ['magnum-capi management down --directory '
             f'{self.box}/data/magnum-capi/management'], self.calls)

    def test_drivers_are_installed_beside_magnum(self):
        self.assertEqual(0, self.call(
            'install_magnum_capi', PLUGINS='magnum-capi-helm',
            MAGNUM_CAPI_DRIVERS='k8s_capi_v1,k8s_capi_helm_v1,'
                                'k8s_cluster_api_ubuntu'))
        home = self.box / 'stack' / 'magnum-capi-tempest'
        self.assertEqual([
            f'pip_install -e {home}/magnum-capi',
            f'setup_develop {home} conformance,containers,evidence',
            f'pip_install {home}/drivers/k8s_capi_v1',
            'pip_install magnum-cluster-api'], self.calls)

    def test_unknown_driver(self):
        self.assertEqual(1, self.call(
            'install_magnum_capi', MAGNUM_CAPI_DRIVERS='k8s_capi_v2'))
        self.assertIn('k8s_capi_v2 is no driver', self.err)

    def test_driver_of_a_plugin_that_is_not_enabled(self):
        self.assertEqual(1, self.call(
            'install_magnum_capi', MAGNUM_CAPI_DRIVERS='k8s_capi_helm_v1'))
        self.assertIn('enable the plugin magnum-capi-helm', self.err)

    def test_magnum_gets_the_cluster_that_is_there(self):
        self.assertEqual(0, self.call('configure_magnum_capi'))

        given = self.box / 'kubeconfig'
        self.assertEqual('a kubeconfig\n', given.read_text())
        self.assertEqual(0o600, given.stat().st_mode & 0o777)
        self.assertIn('iniset magnum.conf k8s_capi kubeconfig_file '
                      f'{given}', self.calls)
        self.assertEqual('magnum-capi discovery filter api-paste.ini',
                         self.calls[-1])

    def test_the_driver_that_runs_helm_finds_one(self):
        """devstack has none, unless another plugin brings it."""
        self.assertEqual(0, self.call(
            'configure_magnum_capi',
            '[[ $2 != fetch ]] || echo $3 /cache/$3'))
        self.assertIn('iniset magnum.conf k8s_capi helm_binary /cache/helm',
                      self.calls)

        (self.box / 'calls').unlink()
        self.call('configure_magnum_capi',
                  MAGNUM_CAPI_DRIVERS='k8s_capi_helm_v1')
        self.assertNotIn('magnum-capi toolchain fetch helm', self.calls)

        self.assertNotEqual(0, self.call(
            'configure_magnum_capi', '[[ $2 != fetch ]]'))

    def test_without_the_filter(self):
        self.call('configure_magnum_capi', MAGNUM_CAPI_FILTER='False')

        self.assertNotIn('magnum-capi discovery filter api-paste.ini',
                         self.calls)

    def test_without_a_management_cluster_one_is_brought_up(self):
        self.assertEqual(0, self.call(
            'configure_magnum_capi',
            f'[[ $2 != up ]] || echo {self.box}/admin.conf',
            MAGNUM_CAPI_MANAGEMENT_KUBECONFIG=''))

        self.assertEqual(
            'magnum-capi management up --backend minikube --directory '
            f'{self.box}/data/magnum-capi/management '
            '--infrastructure openstack --addon-provider', self.calls[0])

    def test_magnum_can_enter_the_folder_of_its_kubeconfig(self):
        """A parent that "management up" makes is for its user, root."""
        self.assertEqual(0, self.call(
            'configure_magnum_capi',
            '[[ $2 != up ]] || { mkdir -p -m 700 $BOX/data/magnum-capi; '
            f'echo {self.box}/admin.conf; }}', 'umask 022',
            MAGNUM_CAPI_MANAGEMENT_KUBECONFIG=''))

        folder = self.box / 'data/magnum-capi'
        self.assertEqual(0o755, folder.stat().st_mode & 0o777)

    def test_it_is_downloaded_through_the_proxy_of_devstack(self):
        """sudo resets the environment of what it runs."""
        self.assertEqual(0, self.call(
            'configure_magnum_capi',
            'echo "$2 $http_proxy" >> $BOX/proxies; '
            f'[[ $2 != up ]] || echo {self.box}/admin.conf',
            'sudo() { env -i "BOX=$BOX" "ANSWER=$ANSWER" "$@"; }',
            MAGNUM_CAPI_MANAGEMENT_KUBECONFIG='',
            http_proxy='http://192.0.2.9:3128'))

        self.assertIn('up http://192.0.2.9:3128', self.lines('proxies'))

    def test_a_management_cluster_of_processes(self):
        self.assertEqual(0, self.call(
            'configure_magnum_capi',
            f'[[ $2 != up ]] || echo {self.box}/admin.conf',
            MAGNUM_CAPI_MANAGEMENT_KUBECONFIG='',
            MAGNUM_CAPI_MANAGEMENT_BACKEND='processes'))

        self.assertEqual(
            'magnum-capi management up --backend processes --directory '
            f'{self.box}/data/magnum-capi/management', self.calls[0].strip())

    def test_a_management_cluster_that_does_not_come_up(self):
        self.assertNotEqual(0, self.call(
            'configure_magnum_capi', '[[ $2 != up ]]',
            MAGNUM_CAPI_MANAGEMENT_KUBECONFIG=''))
        self.assertFalse((self.box / 'kubeconfig').exists())

    def test_it_is_waited_for_what_is_missing(self):
        self.assertEqual(0, self.call(
            'configure_magnum_capi',
            '[[ $2 != check ]] || [[ $(wc -l < $BOX/calls) -gt 12 ]]'))

        checks = [c for c in self.calls if ' management check ' in c]
        self.assertGreater(len(checks), 1)

    def test_it_is_not_waited_for_ever(self):
        self.assertEqual(1, self.call(
            'configure_magnum_capi', 'false',
            MAGNUM_CAPI_MANAGEMENT_TIMEOUT='1', MAGNUM_CAPI_POLL='1'))
        self.assertIn('lacks something', self.err)
        self.assertFalse((self.box / 'kubeconfig').exists())

    def test_no_copy_of_the_kubeconfig_stays(self):
        self.call('configure_magnum_capi', TMPDIR=str(self.box / 'bin'))

        self.assertEqual(['magnum-capi'], os.listdir(self.box / 'bin'))

    def test_tempest_gets_options_that_it_has(self):
        (self.box / 'kubeconfig').write_text('')

        self.assertEqual(0, self.call(
            'configure_tempest_magnum_capi',
            MAGNUM_CAPI_UPGRADE_IMAGE_URL='https://example.org/b.qcow2'))

        said = {tuple(c.split(' ', 4)[2:4]): c.split(' ', 4)[4]
                for c in self.calls if c.startswith('iniset ')}
        self.assertEqual(set(), set(said) - set(content.options()))
        for option, value in said.items():
            content.options()[option](value)
        self.assertEqual(
            ('ubuntu-24.04-v1.35.5', 'b', 'k8s_capi_v1'),
            tuple(said['magnum_capi', name] for name in (
                'image_id', 'upgrade_image_id', 'driver')))

    def flags(self, before, **settings):
        """What tempest.conf is told: names and values, in order."""
        (self.box / 'kubeconfig').write_text('')
        (self.box / 'calls').unlink(missing_ok=True)
        self.assertEqual(0, self.call(
            'configure_tempest_magnum_capi', before=before, **settings))
        return [(words[3], words[4]) for words in map(str.split, self.calls)
                if words[0] == 'iniset' and words[4:]]

    def release_flags(self, microversion, discovery_filter):
        """What tempest.conf says of what came with a release of Magnum."""
        found = self.flags(
            f'openstack() {{ note openstack "$@"; echo {microversion}; }}',
            MAGNUM_CAPI_FILTER=discovery_filter)
        self.assertIn(
            'openstack versions show --service container-infra -f value '
            '-c Max Microversion', self.calls)
        names = {option.name for option in features.RELEASE_OPTS}
        return {name: value for name, value in found if name in names}

    def test_tempest_asks_for_what_this_release_of_magnum_has(self):
        self.assertEqual({'hidden_template_unseen': 'False'},
                         self.release_flags('1.12', 'True'))
        self.assertEqual({'hidden_template_unseen': 'False',
                          'template_driver': 'False'},
                         self.release_flags('1.12', 'False'))
        self.assertEqual({}, self.release_flags('1.13', 'True'))

    def roles_enforced(self, of_magnum):
        """What tempest.conf says of readers, by what magnum.conf says."""
        found = self.flags(
            f'iniget() {{ note iniget "$@"; echo {of_magnum}; }}')
        return [value for name, value in found if name == 'roles_enforced']

    def test_readers_are_tested_where_magnum_enforces_roles(self):
        self.assertEqual(['false'], self.roles_enforced('false'))
        self.assertEqual(['true'], self.roles_enforced('true'))
        self.assertEqual([], self.roles_enforced(''))

    def test_images_for_upgrades_get_their_properties(self):
        self.call('init_magnum_capi',
                  MAGNUM_CAPI_UPGRADE_IMAGE_URL='https://example.org/b.qcow2',
                  MAGNUM_CAPI_UPGRADE_KUBE_VERSION='v1.36.1')

        self.assertEqual([
            'upload_image https://example.org/b.qcow2',
            'openstack image set --property os_distro=ubuntu '
            '--property kube_version=v1.36.1 b'], self.calls)

    def test_every_call_of_magnum_capi_is_right(self):
        text = (DEVSTACK / 'lib/magnum_capi').read_text().replace('\\\n', '')
        found = re.findall(r'^[^#\n]*?\bmagnum-capi ([a-z].*)', text, re.M)

        self.assertEqual([], [w for line in found for w in content.misused(
            re.split(r'[\s;]+', line.partition(';')[0]))])
        self.assertEqual(5, len(found))

    def test_the_sample_sets_what_there_is(self):
        names = set(re.findall(
            r'^(MAGNUM_CAPI\w*)=', (DEVSTACK / 'local.conf.sample')
            .read_text(), re.M))

        self.assertNotEqual(set(), names)
        self.assertEqual(set(), names - content.settings())

    def test_tests_on_the_sample_have_the_options_of_a_job(self):
        """Both have no amphorae, which are the drivers' default."""
        _, _, section = (DEVSTACK / 'local.conf.sample').read_text().partition(
            '[[test-config|$TEMPEST_CONFIG]]\n')
        sample = configparser.ConfigParser()
        sample.read_string(section)
        job = content.jobs()['magnum-capi-devstack']['vars'][
            'devstack_local_conf']['test-config']['$TEMPEST_CONFIG']

        self.assertEqual(job, {
            name: dict(sample[name]) for name in sample.sections()})

    def test_each_phase_calls_what_there_is(self):
        phases = (('pre-install', 'check_magnum_capi_order'),
                  ('install', 'install_magnum_capi'),
                  ('post-config', 'configure_magnum_capi'),
                  ('extra', 'init_magnum_capi'),
                  ('test-config', 'configure_tempest_magnum_capi'))
        stack = self.box / 'stack'
        stack.mkdir()
        (stack / 'magnum-capi-tempest').symlink_to(content.TOP)
        self.call(''.join(
            # The plugin sources the functions anew.
            f'source() {{ builtin source "$1"; {name}() {{ note {name}; }};'
            f' }}; (source_plugin() {{ builtin source {DEVSTACK}/plugin.sh;'
            f' }}; source_plugin stack {phase}); unset -f source\n'
            for phase, name in phases))

        self.assertEqual([name for _, name in phases], self.calls)


class PublicLogsTest(_Base):
    """Nobody reads a kubeconfig in the logs of a job."""

    #: As in a job; what root does is noted, not done.
    IN_A_JOB = '''
        sudo() { note sudo "$@"; }
        rm() { note rm "$@"; }
        unset MAGNUM_CAPI_KUBECONFIG
        DEST=/opt/stack DATA_DIR=/opt/stack/data
        TEMPEST_CONFIG_DIR=/opt/stack/tempest/etc
        TEMPEST_CONFIG=$TEMPEST_CONFIG_DIR/tempest.conf
        mktemp() { echo /tmp/a; }
        '''

    def copies(self):
        """Where the plugin has written kubeconfigs when stack.sh ends."""
        self.assertEqual(0, self.call(
            'configure_magnum_capi; configure_tempest_magnum_capi',
            before=self.IN_A_JOB))
        written = {line.split()[-1] for line in self.calls
                   if line.startswith('sudo install ')}
        named = {line.split()[-1] for line in self.calls if re.match(
            'iniset .*kubeconfig', line)}
        # The other one is there for one check.
        self.assertEqual(named | {'/tmp/a'}, written)
        self.assertIn('rm -f /tmp/a', self.calls)
        self.assertEqual(2, len(named))
        return named

    def test_no_copy_is_where_jobs_collect(self):
        collected = content.collected()
        self.assertIn(pathlib.PurePath('/etc/magnum'), collected)

        self.assertEqual(set(), {
            copy for copy in self.copies() for folder in collected
            if pathlib.PurePath(copy).is_relative_to(folder)})

    def test_no_copy_is_left_when_services_end(self):
        for words in content.upstream()['devstack']['phases']['unstack.sh'][
                -1:] + content.upstream()['devstack']['phases']['clean.sh']:
            copies = self.copies()
            (self.box / 'calls').unlink()
            self.assertEqual(0, self.call(
                f'source() {{ :; }}; set -- {" ".join(words)}; '
                f'builtin source {DEVSTACK}/plugin.sh',
                before=self.IN_A_JOB))
            removed = {
                path for line in self.calls if line.startswith('sudo rm -f ')
                for path in line.split()[3:]}
            # And the drop-ins of Magnum's units, which hold no kubeconfig.
            self.assertEqual(copies, {
                path for path in removed
                if not path.startswith(f'{self.box}/systemd/')})

    def test_no_copy_is_left_when_logs_are_taken(self):
        play, = content.load('playbooks/devstack/post.yaml')
        block, = play['tasks']
        role, = (task['ansible.builtin.include_role']['name']
                 for task in block['block'])
        self.assertEqual('collect-capi-logs', role)
        task, = block['always']
        self.assertEqual(('absent', '{{ item }}', True), (
            task['ansible.builtin.file']['state'],
            task['ansible.builtin.file']['path'], task['become']))
        # Magnum's own plugin of devstack may put one there.
        self.assertEqual(self.copies() | {'/etc/magnum/kubeconfig'},
                         set(task['loop']))
        self.assertIn(
            block['block'][0]['vars']['collect_capi_logs_kubeconfig'],
            self.copies())

    def test_each_job_removes_them_before_its_parents_copy(self):
        # Zuul runs the post-run playbooks of a parent after those of a job.
        jobs = content.jobs()
        ours = [name for name in jobs if content.chain(
            name, jobs)[0]['parent'] == 'devstack-tempest']

        self.assertGreater(len(ours), 4)
        for name in ours:
            self.assertIn('playbooks/devstack/post.yaml',
                          content.playbooks(name, jobs))

    def test_without_tempest_there_is_no_copy_for_it(self):
        self.call(f'source() {{ :; }}; set -- stack test-config; '
                  f'builtin source {DEVSTACK}/plugin.sh',
                  before=self.IN_A_JOB, DISABLED='tempest')

        self.assertEqual([], self.calls)
