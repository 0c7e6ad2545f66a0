# SPDX-License-Identifier: Apache-2.0

import configparser
import json
import os
import pathlib
import shlex

import fixtures
from oslo_config import cfg
import testtools
import yaml

from magnum_capi_sandbox import access
from magnum_capi_sandbox import infrastructure
from magnum_capi_sandbox import nodes
from magnum_capi_sandbox import releases
from magnum_capi_sandbox import spec
from magnum_capi_tempest import config
from magnum_capi_tempest import promises
from tests.unit.sandbox import samples
from tests.unit import tempest_options


class AccessTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.layout = samples.a_layout(
            self.useFixture(fixtures.TempDir()).path)

    def tempest_conf(self, driver=None, third_party=False, promise='kept',
                     **fields):
        """tempest.conf of a sandbox with these fields of its Spec."""
        parser = configparser.RawConfigParser(default_section='no section')
        parser.read_string(access.tempest_config(
            self.layout, samples.PASSWORDS, spec.Spec(**fields), driver,
            third_party, promise))
        return parser

    def promises(self, name, **wanted):
        """Whether a promise is tested."""
        return not promises.missing(name, self.tempest_conf(**wanted)[
            'magnum_capi']['not_promised'].split(','))

    def test_every_option_of_ours_exists(self):
        known = {(group, option.name) for group, options
                 in config.list_opts() for option in options}
        for driver, third_party, added in (
                (None, False, {}), ('k8s_x', True, {
                    'clash': True, 'discovery_filter': True})):
            conf = self.tempest_conf(driver, third_party, **added)
            ours = {(group, name) for group in conf.sections()
                    if group.startswith('magnum_capi')
                    for name in conf[group]}
            self.assertEqual(set(), ours - known)
            self.assertIn(('magnum_capi', 'image_id'), ours)

    def test_every_option_of_tempest_stays(self):
        self.assertEqual([], tempest_options.dead(self.tempest_conf()))

    def test_seeded_ids(self):
        conf = self.tempest_conf()
        self.assertEqual(
            ('image-id', 'network-id', 'image-id'),
            (conf['magnum_capi']['image_id'],
             conf['magnum_capi']['external_network'],
             conf['compute']['image_ref']))

    def test_driver_only_when_asked_for(self):
        self.assertNotIn('driver', self.tempest_conf()['magnum_capi'])
        self.assertEqual('k8s_x', self.tempest_conf(
            driver='k8s_x')['magnum_capi']['driver'])

    def test_templates_keep_their_driver_as_of_the_newest_magnum(self):
        old, new = (self.promises('magnum.template.keeps-driver',
                                  magnum=magnum)
                    for magnum in ('2026.1', releases.NEWEST.name))

        self.assertEqual((False, True), (old, new))

    def test_the_filter_makes_templates_keep_their_driver(self):
        self.assertTrue(self.promises(
            'magnum.template.keeps-driver', discovery_filter=True,
            magnum='2025.1'))

    def test_it_is_a_promise_of_discovery_to_keep_it(self):
        for promise, asked in (('kept', False), ('discovery', True)):
            self.assertEqual(asked, self.promises(
                'magnum.template.keeps-driver', promise=promise,
                magnum='2025.1'))

    def test_failed_clusters_are_polled_as_of_magnum_22(self):
        self.assertEqual([False, False, True, True], [
            self.promises('magnum.cluster.failed-polled',
                          magnum=release.name)
            for release in releases.RELEASES])

    def test_command_that_changes_the_configuration(self):
        command = shlex.split(
            self.tempest_conf()['magnum_capi']['configure_command'])
        self.assertTrue(os.access(command[0], os.X_OK))
        self.assertEqual(['sandbox', 'set', '--directory',
                          str(self.layout.directory)], command[-4:])

    def test_command_with_blanks_in_its_paths(self):
        """As in a home with a blank; oslo.config drops a pair of quotes."""
        self.useFixture(fixtures.MonkeyPatch(
            'sys.executable', '/my home/bin/python'))
        self.layout = samples.a_layout(self.layout.directory / 'a box')
        path = self.layout.directory / 'tempest.conf'
        path.write_text(access.tempest_config(
            self.layout, samples.PASSWORDS, spec.Spec()))
        conf = cfg.ConfigOpts()
        conf.register_opt(cfg.StrOpt('configure_command'), 'magnum_capi')
        conf([], default_config_files=[str(path)])

        words = shlex.split(conf.magnum_capi.configure_command)
        self.assertEqual('/my home/bin/python', words[0])
        self.assertIn(str(self.layout.directory), words)

    def test_third_party_only_when_asked_for(self):
        self.assertNotIn('magnum', self.tempest_conf())
        conf = self.tempest_conf(third_party=True)
        self.assertEqual(
            ('true', 'ubuntu-capi'),
            (conf['service_available']['magnum'],
             conf['magnum']['image_id']))

    def real(self, *versions, **values):
        """tempest.conf for real nodes."""
        images = {f'kubernetes-{v[1:5]}': f'id-{v}' for v in versions}
        (self.layout.directory / 'seeded.json').write_text(json.dumps(
            {**samples.SEEDED, 'images': images}))
        return self.tempest_conf(machines=nodes.Nodes(
            nodes.DOCKER, '/i', versions, **values))['magnum_capi']

    def test_real_nodes_are_upgraded_by_one_minor(self):
        conf = self.real('v1.33.13', 'v1.34.9')
        self.assertEqual(('id-v1.33.13', 'kubernetes-1.34'),
                         (conf['image_id'], conf['upgrade_image_id']))

    def test_real_nodes_of_one_minor_are_not_upgraded(self):
        conf = self.real('v1.34.9')
        self.assertEqual('id-v1.34.9', conf['image_id'])
        self.assertNotIn('upgrade_image_id', conf)

    def test_real_nodes_have_no_faults_by_flavor_and_take_longer(self):
        was = self.tempest_conf()['magnum_capi']
        conf = self.real('v1.34.9')
        self.assertIn('fault_flavors', was)
        self.assertNotIn('fault_flavors', conf)
        self.assertGreater(int(conf['build_timeout']),
                           int(was['build_timeout']))

    def test_servers_leave_what_servers_leave(self):
        feature = 'magnum_capi_feature_enabled'
        self.assertNotIn('real_nodes', self.tempest_conf()[feature])
        conf = self.tempest_conf(
            infrastructure=infrastructure.OPENSTACK)[feature]
        self.assertEqual('true', conf['real_nodes'])

    def test_nodes_without_pods_have_no_services(self):
        memory, servers, real = (
            [self.promises(f'network.service.{what}', **wanted)
             for what in ('balancer', 'volume')] for wanted in (
                {}, {'infrastructure': infrastructure.OPENSTACK},
                {'infrastructure': infrastructure.OPENSTACK,
                 'machines': nodes.Nodes(nodes.DOCKER, '/i', ())}))
        self.assertEqual([True, True], memory)
        self.assertEqual([False, False], servers)
        self.assertEqual([True, False], real)

    def test_stand_ins_are_told(self):
        self.assertEqual({'SANDBOX_DOCKER_HOST':
                          'unix:///box/containers/docker.sock',
                          'MAGNUM_CAPI_IMAGES': 'stand-in'},
                         access.of_nodes(pathlib.Path('/box'), nodes.Nodes(
                             nodes.DOCKER, stand_ins=True)))
        self.assertEqual({}, access.of_nodes(
            pathlib.Path('/box'), nodes.Nodes()))

    def test_clouds(self):
        access.write(self.layout, samples.PASSWORDS)
        path = self.layout.directory / 'clouds.yaml'
        clouds = yaml.safe_load(path.read_text())['clouds']
        self.assertEqual(
            {'sandbox': ('demo', 'demo', 'demosecret'),
             'sandbox-admin': ('admin', 'admin', 'adminsecret')},
            {name: (c['auth']['username'], c['auth']['project_name'],
                    c['auth']['password']) for name, c in clouds.items()})
        self.assertEqual({self.layout.auth_url}, {
            c['auth']['auth_url'] for c in clouds.values()})
        self.assertEqual(0o600, path.stat().st_mode & 0o777)

    def test_variables_have_no_secret(self):
        found = access.variables(self.layout, samples.VENV)
        self.assertEqual('sandbox', found['OS_CLOUD'])
        self.assertEqual(str(self.layout.kubeconfig), found['KUBECONFIG'])
        self.assertEqual(
            [str(self.layout.directory / p) for p in (
                'magnum-env/bin/magnum-capi', 'etc/magnum.conf',
                'etc/magnum.d')],
            [found[f'SANDBOX_MAGNUM_{n}'] for n in (
                'CAPI', 'CONF', 'CONF_DIR')])
        for secret in samples.PASSWORDS.values():
            self.assertNotIn(secret, ' '.join(found.values()))

    def test_variables_name_the_workspace_of_tempest(self):
        folder = pathlib.Path(access.variables(
            self.layout, samples.VENV)['TEMPEST_CONFIG_DIR'])
        self.assertTrue(folder.is_relative_to(self.layout.directory))
