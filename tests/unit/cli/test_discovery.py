# SPDX-License-Identifier: Apache-2.0

from importlib import metadata
import json
import logging
import pathlib
import subprocess
import sys
from unittest import mock

import fixtures
from oslo_config import cfg
import testtools
import yaml

from magnum_capi.cli import discovery as cli
from magnum_capi.discovery.audit import seen
from magnum_capi.discovery import host
from magnum_capi.discovery import model
from tests.unit.cli import terminal
from tests.unit.discovery import distributions

UBUNTU = model.ClusterType('vm', 'ubuntu', 'kubernetes')
A = model.Offer('a_drv', (UBUNTU,), origin='a 1.0')
B = model.Offer('b_drv', (UBUNTU,), origin='b 1.0')
BETA = model.Offer('z_beta', (UBUNTU,), beta=True)

PASTE = '''
[pipeline:api]
pipeline = authtoken {}api_v1

[filter:authtoken]
paste.filter_factory = keystonemiddleware.auth_token:filter_factory

[filter:driver_discovery]
paste.filter_factory = magnum_capi.discovery.filter:factory
'''


class _Base(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path).resolve()
        for name in ('OS_CLOUD', 'CLIFF_FIT_WIDTH', 'CLIFF_MAX_TERM_WIDTH'):
            self.useFixture(fixtures.EnvironmentVariable(name))
        # No magnum.conf of this machine, and none of its drivers.
        self.addCleanup(cfg.CONF.clear)
        self.useFixture(fixtures.EnvironmentVariable(
            'HOME', str(self.folder)))
        self.useFixture(fixtures.MonkeyPatch(
            'oslo_config.cfg.find_config_files', lambda *args: []))
        self.useFixture(fixtures.MonkeyPatch(
            'oslo_config.cfg.find_config_dirs', lambda *args: []))
        self.installed = self.useFixture(distributions.Distributions())
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi.discovery.catalog.installed',
            lambda: [point for found in metadata.distributions(
                path=[str(self.installed.folder)])
                for point in found.entry_points]))

    def call(self, command, *argv):
        """Exit code and standard output."""
        code, out, self.error = terminal.command(command, *argv)
        return code, out

    def assert_error(self, code, text, command, *argv):
        self.assertEqual((code, ''), self.call(command, *argv))
        self.assertRegex(self.error, r'\Amagnum-capi: [^\n]+\n\Z')
        self.assertIn(text, self.error)

    def inventory(self, *offers, **policy):
        path = self.folder / 'inventory.json'
        path.write_text(json.dumps([
            dict(zip(host.COLUMNS, row)) for row in host.rows(
                model.Catalog(offers, model.Policy(**policy)))]))
        return '--inventory', path

    def cloud(self, **more):
        """A cloud that openstacksdk would read."""
        reader = mock.Mock(**more)
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi.discovery.cloud', reader))
        return reader


class HostTest(_Base):
    """Everything that is installed, configured and piped on one machine."""

    def setUp(self):
        super().setUp()
        self.installed.module('b_of_cli')
        self.installed.add(
            'b-dist', one_drv='b_of_cli:Driver',
            two_drv='b_of_cli:Driver', bad_drv='not_there:X')
        self.conf = self.folder / 'magnum.conf'
        self.paste = self.folder / 'api-paste.ini'
        self.conf.write_text(
            '[drivers]\ndefault_driver = one_drv\n'
            f'[api]\napi_paste_config = {self.paste}\n')

    def found(self, *argv):
        code, out = self.call(cli.Audit, '--config-file', self.conf,
                              '-f', 'json', *argv)
        return code, {row['Code']: row['Severity']
                      for row in json.loads(out)}

    def test_list(self):
        code, out = self.call(cli.List, '--config-file', self.conf,
                              '-f', 'json')
        self.assertEqual(
            (0, [('one_drv', 'usable', ['default_driver'], None),
                 ('two_drv', 'usable', [], None),
                 ('bad_drv', 'broken', [],
                  "import: ModuleNotFoundError: No module named "
                  "'not_there'")]),
            (code, [(row['Driver'], row['State'], row['Options'],
                     row['Error']) for row in json.loads(out)]))
        # The warning in the log would say it twice.
        self.assertEqual('', self.error)

    def test_a_driver_reads_its_own_options(self):
        # As k8s_capi_v1 does with [k8s_capi]extra_os_distros.
        self.installed.module('c_of_cli', """
            from oslo_config import cfg
            cfg.CONF.register_opt(cfg.ListOpt('more', default=[]), 'c_of_cli')
            class Driver:
                beta = False
                @property
                def provides(self):
                    return [{'server_type': 'vm', 'os': os, 'coe': 'k'}
                            for os in ['ubuntu', *cfg.CONF.c_of_cli.more]]
            """)
        self.installed.add('c-dist', c_drv='c_of_cli:Driver')
        with open(self.conf, 'a') as file:
            file.write('[c_of_cli]\nmore = flatcar\n')
        _, out = self.call(cli.List, '--config-file', self.conf, '-f', 'json')
        [found] = [row for row in json.loads(out) if row['Driver'] == 'c_drv']
        self.assertEqual(['ubuntu', 'flatcar'],
                         [t['os'] for t in found['Cluster types']])

    def test_list_is_an_inventory(self):
        _, out = self.call(cli.List, '--config-file', self.conf,
                           '-f', 'json')
        path = self.folder / 'i.json'
        path.write_text(out)
        self.assertEqual((0, out), self.call(cli.List, '--inventory', path,
                                             '-f', 'json'))

    def test_table(self):
        _, out = self.call(cli.List, '--config-file', self.conf)
        self.assertRegex(
            out, r'\| one_drv +\| \(vm, ubuntu, kubernetes\) \| usable +\| '
                 r' +\| default_driver ')
        self.assertNotIn('None', out)

    def test_no_filter(self):
        self.paste.write_text(PASTE.format(''))
        code, codes = self.found()
        self.assertEqual((1, 'warning'), (code, codes['clash-with-default']))
        self.assertIn(f'Pipeline: {self.paste}, without the filter',
                      self.error)

    def test_filter(self):
        self.paste.write_text(PASTE.format('driver_discovery '))
        code, codes = self.found()
        self.assertEqual((1, 'info', 'error'), (
            code, codes['clash-with-default'], codes['broken']))
        self.assertIn(f'Pipeline: {self.paste}, with the filter\n',
                      self.error)

    def test_another_paste_file(self):
        other = self.folder / 'other.ini'
        other.write_text(PASTE.format('driver_discovery '))
        self.assertEqual('info', self.found('--api-paste', other)[1][
            'clash-with-default'])

    def test_folder(self):
        folder = self.folder / 'conf.d'
        folder.mkdir()
        (folder / 'a.conf').write_text(
            '[drivers]\ndisabled_drivers = bad_drv, two_drv\n')
        code, codes = self.found('--config-dir', folder)
        self.assertEqual((0, {}), (code, codes))
        self.assertIn(f'Configuration: {self.conf}, {folder}', self.error)

    def test_no_findings(self):
        self.conf.write_text(
            '[drivers]\ndisabled_drivers = bad_drv, two_drv\n')
        self.assertEqual((0, 'No findings\n'), self.call(
            cli.Audit, '--config-file', self.conf))
        self.assertNotIn('indings', self.error)

    def test_log_is_as_before(self):
        self.call(cli.List)
        self.assertEqual(logging.NOTSET, logging.root.manager.disable)


class ExplainTest(_Base):

    def test_table(self):
        code, out = self.call(cli.Explain, *self.inventory(A), '--property',
                              'magnum_distro=ubuntu', '--property',
                              'os_distro=ubuntu')
        self.assertEqual(0, code)
        for row in (r'Subject +\| an image',
                    r'Cluster type +\| \(vm, ubuntu, kubernetes\)',
                    r'Driver +\| a_drv',
                    r"Reasons +\| The magnum_distro of the image is '.*'\.",
                    r' +\| Neither the template nor the image', 'Refusal'):
            self.assertRegex(out, fr'\| {row} ')
        self.assertNotIn('None', out)

    def test_refused(self):
        code, out = self.call(cli.Explain, *self.inventory(A, B),
                              '--property', 'os_distro=ubuntu', '-f', 'json')
        found = json.loads(out)
        self.assertEqual((1, None, ['a_drv', 'b_drv']),
                         (code, found['Driver'], found['Candidates']))
        self.assertIn('is ambiguous', found['Refusal'])
        self.assertIn('--driver', found['Remedy'])

    def test_template(self):
        _, out = self.call(
            cli.Explain, *self.inventory(A, B), '--property',
            'os_distro=ubuntu', '--driver', 'b_drv', '--server-type', 'bm',
            '--coe', 'swarm', '-f', 'json')
        found = json.loads(out)
        self.assertEqual({'server_type': 'bm', 'os': 'ubuntu',
                          'coe': 'swarm'}, found['Cluster type'])
        self.assertIn('does not provide', found['Refusal'])

    def test_image(self):
        reader = self.cloud(find_image=mock.Mock(return_value=seen.Image(
            '1', 'x', os_distro='ubuntu', magnum_driver=' a_drv ')))
        code, out = self.call(cli.Explain, *self.inventory(A, B), '--image',
                              'x', '--cloud', 'c', '-f', 'value')
        reader.find_image.assert_called_once_with('c', 'x')
        self.assertEqual(0, code)
        lines = out.splitlines()
        self.assertEqual(('image x (1)', 'a_drv'), (lines[0], lines[2]))

    def test_cloud_of_the_environment(self):
        self.useFixture(fixtures.EnvironmentVariable('OS_CLOUD', 'e'))
        reader = self.cloud(find_image=mock.Mock(
            return_value=seen.Image('1')))
        self.call(cli.Explain, *self.inventory(A), '--image', 'x')
        reader.find_image.assert_called_once_with('e', 'x')

    def test_property(self):
        for bad in ('magnum_distr=x', 'os_distro'):
            self.assertEqual(2, self.call(
                cli.Explain, '--property', bad)[0])
            self.assertIn('is not NAME=VALUE', self.error)

    def test_a_property_that_is_there_twice(self):
        self.assertEqual(2, self.call(
            cli.Explain, *self.inventory(A), '--property', 'os_distro=a',
            '--property', 'os_distro=b')[0])
        self.assertIn('os_distro is given twice', self.error)

    STORED = {'uuid': 'u', 'name': 't', 'driver': 'a_drv',
              'server_type': 'vm', 'cluster_distro': 'ubuntu',
              'coe': 'kubernetes'}

    def test_stored(self):
        self.cloud(
            find_template=mock.Mock(return_value=self.STORED | {
                'uuid': 'other', 'driver': 'b_drv'}),
            find_cluster=mock.Mock(return_value=(
                {'uuid': 'c', 'name': 'c'}, self.STORED)))
        argv = (*self.inventory(A, B), '--cloud', 'c')
        for code, driver, subject, *more in (
                (0, 'b_drv', 'template t (other)', '--template', 't'),
                (0, 'a_drv', 'cluster c (c)', '--cluster', 'c'),
                (1, None, 'upgrade of cluster c (c) to template t (other)',
                 '--upgrade', 'c', 't')):
            got, out = self.call(cli.Explain, *argv, *more, '-f', 'json')
            found = json.loads(out)
            self.assertEqual((code, driver, subject), (
                got, found['Driver'], found['Subject']))

    def test_another_driver_for_what_is_stored(self):
        self.cloud(find_template=mock.Mock(return_value=self.STORED))
        code, out = self.call(
            cli.Explain, *self.inventory(A, B), '--cloud', 'c', '--template',
            't', '--driver', 'b_drv')
        self.assertEqual((2, ''), (code, out))
        self.assertIn('--driver is for an image', self.error)

    def test_stored_in_no_cloud(self):
        for what in (['--image', 'x'], ['--template', 'x'],
                     ['--cluster', 'x'], ['--upgrade', 'x', 'y']):
            self.assertEqual(
                2, self.call(cli.Explain, *self.inventory(A), *what)[0])
            self.assertIn('no cloud is named', self.error)


class AuditTest(_Base):

    def code(self, *argv, offers=(A, B), **policy):
        return self.call(cli.Audit, *self.inventory(*offers, **policy),
                         *argv)[0]

    def test_codes(self):
        """(code, with --strict) of errors, warnings, information, nothing."""
        for codes, given in (
                ((1, 1), {}), ((0, 1), {'default_driver': 'b_drv'}),
                ((0, 0), {'offers': (A, model.Offer('z_beta', beta=True))}),
                ((0, 0), {'offers': (A,)})):
            self.assertEqual(codes, (
                self.code(**given), self.code('--strict', **given)), given)

    def test_without_a_cloud(self):
        self.code()
        self.assertIn('Cloud: not checked', self.error)
        self.assertIn('inventory.json', self.error)

    def test_cloud(self):
        reader = self.cloud(read=mock.Mock(return_value=seen.Cloud(
            (seen.Image('1', 'x', magnum_distro='ubuntu'),), (), 'as seen')))
        code, out = self.call(cli.Audit, *self.inventory(A), '--cloud',
                              'c', '-f', 'yaml')
        reader.read.assert_called_once_with('c', False)
        self.assertIn('Cloud: c, as seen', self.error)
        self.assertEqual((1, [('error', 'image-no-os-distro',
                               'image x (1)')]),
                         (code, [(row['Severity'], row['Code'],
                                  row['Subject'])
                                 for row in yaml.safe_load(out)]))

    def test_without_a_driver(self):
        reader = self.cloud(read=mock.Mock(return_value=seen.Cloud(
            templates=(seen.Template('t', cluster_distro='ubuntu',
                                     driver='a_drv'),),
            clusters=(seen.Cluster('1', 'mine', 't', 'stack'),))))
        argv = (*self.inventory(A, B), '--cloud', 'c', '-f', 'json')
        for driver, code, codes in (
                ('a_drv', 1, ['cluster-stranded', 'template-stranded']),
                ('b_drv', 0, [])):
            got, out = self.call(cli.Audit, *argv, '--without', driver)
            self.assertEqual((code, codes), (
                got, [row['Code'] for row in json.loads(out)]))
        reader.read.assert_called_with('c', True)
        self.assertEqual(2, self.call(cli.Audit, *argv, '--without',
                                      'c_drv')[0])
        self.assertIn('No driver of this name', self.error)

    def test_without_a_driver_of_no_cloud(self):
        self.assert_error(2, '--without needs a cloud', cli.Audit,
                          *self.inventory(A), '--without', 'a_drv')


class ImportsTest(testtools.TestCase):

    def test_no_openstacksdk_without_a_cloud(self):
        code = ('import sys\n'
                'from magnum_capi.cli import main\n'
                'from magnum_capi.cli import discovery\n'
                'from magnum_capi.discovery import host\n'
                'assert "openstack" not in sys.modules')
        ended = subprocess.run([sys.executable, '-c', code], timeout=60,
                               capture_output=True, text=True)
        self.assertEqual((0, ''), (ended.returncode, ended.stderr))
