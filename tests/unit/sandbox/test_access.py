# SPDX-License-Identifier: Apache-2.0

import configparser
import dataclasses
import json
import shlex

import fixtures
from oslo_config import cfg
import testtools
import yaml

from magnum_capi_sandbox import access
from magnum_capi_sandbox import infrastructure
from magnum_capi_sandbox import nodes
from magnum_capi_sandbox import releases
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
            self.layout, samples.PASSWORDS, samples.a_spec(**fields), driver,
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

    def test_what_is_promised(self):
        keeps, polled, balancer, volume = (
            'magnum.template.keeps-driver', 'magnum.cluster.failed-polled',
            'network.service.balancer', 'network.service.volume')
        servers = {'infrastructure': infrastructure.OPENSTACK}
        real = nodes.Nodes(nodes.DOCKER, 'unix:///d', ())
        for wanted, kept, not_kept in (
                ({'magnum': '2025.1'}, (), (keeps, polled)),
                ({'magnum': '2025.2'}, (), (keeps, polled)),
                ({'magnum': '2026.1'}, (polled,), (keeps,)),
                ({'magnum': releases.NEWEST.name}, (keeps, polled), ()),
                # The filter makes templates keep their driver, and that is a
                # promise of discovery.
                ({'magnum': '2025.1', 'discovery_filter': True}, (keeps,), ()),
                ({'magnum': '2025.1', 'promise': 'discovery'}, (keeps,), ()),
                # Nodes without pods have no services.
                ({}, (balancer, volume), ()),
                (servers, (), (balancer, volume)),
                ({**servers, 'machines': real}, (balancer,), (volume,))):
            for name in (*kept, *not_kept):
                self.assertEqual(
                    name in kept, self.promises(name, **wanted),
                    (name, wanted))

    def test_command_with_blanks_in_its_paths(self):
        """As in a home with a blank; oslo.config drops a pair of quotes."""
        self.useFixture(fixtures.MonkeyPatch(
            'sys.executable', '/my home/bin/python'))
        self.layout = samples.a_layout(self.layout.directory / 'a box')
        path = self.layout.directory / 'tempest.conf'
        path.write_text(access.tempest_config(
            self.layout, samples.PASSWORDS, samples.a_spec()))
        conf = cfg.ConfigOpts()
        conf.register_opt(cfg.StrOpt('configure_command'), 'magnum_capi')
        conf([], default_config_files=[str(path)])

        words = shlex.split(conf.magnum_capi.configure_command)
        self.assertEqual('/my home/bin/python', words[0])
        self.assertIn(str(self.layout.directory), words)

    def real(self, *versions, **values):
        """tempest.conf for real nodes."""
        images = {f'kubernetes-{v[1:5]}': f'id-{v}' for v in versions}
        (self.layout.directory / 'seeded.json').write_text(json.dumps(
            {**samples.SEEDED, 'images': images}))
        return self.tempest_conf(machines=nodes.Nodes(
            nodes.DOCKER, 'unix:///d', versions, **values))['magnum_capi']

    def test_real_nodes_are_upgraded_by_one_minor(self):
        for versions, upgraded_to in (
                (('v1.33.13', 'v1.34.9'), 'kubernetes-1.34'),
                (('v1.33.13',), None)):
            conf = self.real(*versions)
            self.assertEqual(
                ('id-v1.33.13', upgraded_to),
                (conf['image_id'], conf.get('upgrade_image_id')))

    def test_real_nodes_have_no_faults_by_flavor_and_take_longer(self):
        was = self.tempest_conf()['magnum_capi']
        conf = self.real('v1.34.9')
        self.assertIn('fault_flavors', was)
        self.assertNotIn('fault_flavors', conf)
        self.assertGreater(int(conf['build_timeout']),
                           int(was['build_timeout']))

    def test_stand_ins_are_reported(self):
        self.assertEqual({'SANDBOX_DOCKER_HOST':
                          'unix:///d', 'MAGNUM_CAPI_IMAGES': 'stand-in'},
                         access.of_nodes(nodes.Nodes(
                             nodes.DOCKER, 'unix:///d', stand_ins=True)))
        self.assertEqual({}, access.of_nodes(nodes.Nodes()))

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

    def test_a_private_authority(self):
        self.layout = dataclasses.replace(self.layout, https=True)
        expected = f'{self.layout.directory}/tls/ca.crt'
        access.write(self.layout, samples.PASSWORDS)
        path = self.layout.directory / 'clouds.yaml'
        self.assertEqual([expected, expected], [
            c['cacert'] for c in yaml.safe_load(
                path.read_text())['clouds'].values()])
        self.assertEqual(expected, self.tempest_conf(profile='full')[
            'identity']['ca_certificates_file'])
        self.assertEqual(expected, access.variables(
            self.layout, samples.VENV)['OS_CACERT'])

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
