# SPDX-License-Identifier: Apache-2.0

"""What a cloud is tested with, and the files that tell Tempest."""

import configparser
import dataclasses
import pathlib
import stat
from unittest import mock

import fixtures
from oslo_config import cfg
import testtools
import yaml

from magnum_capi import errors
from magnum_capi_tempest import config
from magnum_capi_tempest.workspace import cloud as clouds
from magnum_capi_tempest.workspace import folder
from magnum_capi_tempest.workspace import init
from magnum_capi_tempest.workspace import runs
from magnum_capi_tempest.workspace import selection
from tests.unit import tempest_options

IMAGE = selection.Thing('i-1', 'ubuntu', {'os_distro': 'ubuntu'})
SMALL = selection.Thing('f-1', 'm1.small', {'vcpus': 2, 'ram': 2048})
TINY = selection.Thing('f-2', 'm1.tiny', {'vcpus': 1, 'ram': 512})
PUBLIC = selection.Thing('n-1', 'public')
ADMIN = selection.Account('a', 'admin', 'pa$$word', 'admin', 'Default',
                          'Default', ('admin', 'member'))
MEMBER = selection.Account('m', 'demo', '"quoted"', 'demo', 'Users',
                           'Projects', ('member',))
READER = dataclasses.replace(MEMBER, username='r', roles=('reader',))


def a_cloud(**changes):
    return dataclasses.replace(selection.Cloud(
        auth_url='https://cloud/v3', region='R', interface='public',
        verify=True, cacert='', accounts=(MEMBER,),
        services=frozenset(('volumev3',)), images=(IMAGE,),
        flavors=(SMALL, TINY), networks=(PUBLIC,),
        microversions=('1.1', '1.14')), **changes)


class ChooseTest(testtools.TestCase):

    def choose(self, preferred=None, **cloud):
        return selection.choose(a_cloud(**cloud),
                                preferred or selection.Preferences('ubuntu'))

    def refusal(self, preferred=None, **cloud):
        return str(self.assertRaises(errors.UsageError, self.choose, preferred,
                                     **cloud))

    def test_what_is_unique_is_taken(self):
        found = self.choose()

        self.assertEqual((IMAGE, SMALL, SMALL, PUBLIC), (
            found.image, found.flavor, found.master_flavor, found.network))

    def test_names_and_ids_do(self):
        found = self.choose(
            selection.Preferences('i-1', 'm1.tiny', 'f-1', 'n-1'))

        self.assertEqual((TINY, SMALL), (found.flavor, found.master_flavor))

    def test_choices_are_named(self):
        large = selection.Thing('f-3', 'm1.large', {'vcpus': 4, 'ram': 8192})
        text = self.refusal(flavors=(SMALL, TINY, large))

        self.assertIn('--flavor', text)
        self.assertIn('Choose from: m1.large, m1.small', text)
        self.assertNotIn('m1.tiny', text)

    def test_networks_too(self):
        text = self.refusal(
            networks=(PUBLIC, selection.Thing('n-2', 'provider')))

        self.assertIn('--external-network', text)
        self.assertIn('provider, public', text)
        self.assertIn('There is no external network',
                      self.refusal(networks=()))

    def test_what_is_not_there(self):
        text = self.refusal(selection.Preferences('debian'))

        self.assertIn('There is no image debian', text)
        self.assertIn('Choose from: ubuntu', text)

    def test_a_name_that_several_have(self):
        other = dataclasses.replace(IMAGE, id='i-2')

        self.assertIn('i-1, i-2', self.refusal(images=(IMAGE, other)))

    def test_an_image_without_os_distro(self):
        bare = selection.Thing('i-1', 'ubuntu', {'os_distro': None})

        self.assertIn('openstack image set', self.refusal(images=(bare,)))

    def test_microversions_that_both_know(self):
        self.assertEqual(('1.2', '1.9'), self.choose(
            microversions=('1.2', '1.9')).microversions)
        self.assertEqual(('1.1', '1.14'), self.choose(
            microversions=('1.1', '1.20')).microversions)
        self.assertIn('none of the microversions', self.refusal(
            microversions=('1.15', '1.20')))

    def test_the_driver_of_templates_counts_as_of_magnum_23(self):
        old, new = (self.choose(microversions=('1.1', highest))
                    for highest in ('1.12', '1.14'))

        self.assertEqual((False, True), (
            old.promises(selection.KEEPS_DRIVER),
            new.promises(selection.KEEPS_DRIVER)))
        self.assertIn('older than 23', ' '.join(old.notes()))

    def test_the_filter_before_an_old_magnum(self):
        old = dataclasses.replace(
            self.choose(microversions=('1.1', '1.12')),
            heeds_template_driver=True)

        self.assertTrue(old.promises(selection.KEEPS_DRIVER))
        self.assertNotIn('older than 23', ' '.join(old.notes()))
        said = dataclasses.replace(old, preferred=dataclasses.replace(
            old.preferred, options=(('not_promised', 'magnum.template'),)))
        self.assertFalse(said.promises(selection.KEEPS_DRIVER))

    def test_an_administrator_makes_users(self):
        found = self.choose(accounts=(ADMIN, MEMBER))

        self.assertTrue(found.dynamic)
        self.assertEqual((None, None),
                         (found.workers, selection.accounts(found)))

    def test_others_are_the_users(self):
        found = self.choose(accounts=(MEMBER, MEMBER))

        self.assertFalse(found.dynamic)
        self.assertEqual(2, found.workers)

    def test_workers_share_no_administrator(self):
        for workers, accounts in (
                (1, (MEMBER, MEMBER, ADMIN)), (1, (MEMBER, READER)),
                (2, (MEMBER, MEMBER, ADMIN, ADMIN, ADMIN))):
            self.assertEqual(workers, selection.choose(
                a_cloud(accounts=accounts), selection.Preferences('ubuntu'),
                static=True).workers, accounts)

    def test_an_administrator_need_not(self):
        found = selection.choose(a_cloud(accounts=(ADMIN, MEMBER)),
                                 selection.Preferences('ubuntu'), static=True)

        self.assertEqual(1, found.workers)
        self.assertEqual(
            [['admin'], None],
            [one.get('types') for one in
             yaml.safe_load(selection.accounts(found))])

    def test_an_administrator_of_two_domains_does_not(self):
        # tempest.conf has one name for the domains of both
        self.assertFalse(self.choose(accounts=(dataclasses.replace(
            ADMIN, project_domain='Other'), MEMBER)).dynamic)

    def test_somebody_has_to_be_a_member(self):
        for accounts in ((ADMIN,), (READER,), (ADMIN, READER)):
            error = self.assertRaises(
                errors.UsageError, selection.choose,
                a_cloud(accounts=accounts), selection.Preferences('ubuntu'),
                static=True)

            self.assertIn('--cloud', str(error))

    def test_passwords_are_not_shown(self):
        self.assertNotIn('quoted', repr(self.choose()))
        self.assertNotIn('quoted', ' '.join(self.choose().notes()))


class FilesTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path) / 'work'

    def init(self, overwrite=False, preferred=None, **cloud):
        with (mock.patch.object(clouds, 'read',
                                return_value=a_cloud(**cloud)),
              mock.patch.object(clouds, 'trials') as trials,
              mock.patch.object(runs, 'make_repository')):
            tried = trials.return_value.__enter__.return_value
            tried.driver.return_value = ''
            return init.init(self.folder, ['x'],
                             preferred or selection.Preferences('ubuntu'),
                             overwrite=overwrite)

    def conf(self):
        """As Tempest reads it."""
        conf = cfg.ConfigOpts()
        for group, opts in config.TABLE:
            conf.register_group(group)
            conf.register_opts(opts, group=group)
        for name in ('admin_password', 'admin_domain_name',
                     'test_accounts_file', 'use_dynamic_credentials'):
            conf.register_opt(cfg.StrOpt(name), group='auth')
        conf(['--config-file', str(self.folder / 'etc' / 'tempest.conf')],
             project='x', default_config_files=[], default_config_dirs=[])
        return conf

    def test_every_option_of_tempest_stays(self):
        parser = configparser.RawConfigParser(default_section='no section')
        self.init()
        parser.read(self.folder / 'etc' / 'tempest.conf')

        self.assertEqual([], tempest_options.dead(parser))

    def test_what_was_chosen_is_written(self):
        self.init()
        options = self.conf().magnum_capi

        self.assertEqual(
            ('i-1', 'f-1', 'f-1', 'n-1'),
            (options.image_id, options.flavor_id, options.master_flavor_id,
             options.external_network))

    def test_volumes_are_found_where_the_catalog_has_them(self):
        for services in (('volumev3',), ('block-storage', 'volumev3')):
            self.init(services=frozenset(services), interface='internal')
            conf = configparser.ConfigParser(
                interpolation=None, default_section='')
            conf.read(self.folder / 'etc' / 'tempest.conf')

            self.assertEqual(
                {'catalog_type': services[0], 'endpoint_type': 'internal'},
                dict(conf['volume']))

    def test_what_the_user_says_is_written(self):
        newer = selection.Thing('i-2', 'newer', {'os_distro': 'ubuntu'})
        self.init(images=(IMAGE, newer), preferred=selection.Preferences(
            'ubuntu', labels=(('a', 'b'), ('kube_tag', 'v1.34.2')),
            upgrade_image='newer', management_kubeconfig='/etc/k',
            options=(('node_count', '2'), ('image_id', 'other')),
            features=(('real_nodes', True), ('workload_api', False))))
        conf = self.conf()
        options, features = conf.magnum_capi, conf.magnum_capi_feature_enabled

        self.assertEqual(
            ({'a': 'b', 'kube_tag': 'v1.34.2'}, 'i-2', '/etc/k', 2, 'other'),
            (options.labels, options.upgrade_image_id,
             options.management_kubeconfig, options.node_count,
             options.image_id))
        self.assertEqual((True, False, False), (
            features.real_nodes, features.workload_api,
            features.three_masters))

    def test_a_label_that_no_file_can_have(self):
        self.assertRaises(
            errors.UsageError, self.init,
            preferred=selection.Preferences('ubuntu', labels=(('a', 'b,c'),)))

    def edit(self, name='tempest.conf'):
        path = self.folder / 'etc' / name
        path.write_text(path.read_text() + '# mine\n')
        return path

    def test_what_somebody_has_edited_stays(self):
        for name in ('accounts.yaml', 'tempest.conf'):
            self.init()
            path = self.edit(name)
            text = path.read_text()

            error = self.assertRaises(errors.UsageError, self.init)

            self.assertIn('--overwrite', str(error))
            self.assertEqual(text, path.read_text())
            self.init(overwrite=True)

    def test_an_edit_can_be_set_aside(self):
        self.init()
        path = self.edit()

        self.init(overwrite=True)

        self.assertNotIn('# mine', path.read_text())
        self.assertIn('# mine', path.with_name(
            'tempest.conf.edited').read_text())

    def test_an_edit_that_was_set_aside_stays(self):
        for text in ('# first', '# second', '# third'):
            self.init()
            path = self.folder / 'etc' / 'tempest.conf'
            path.write_text(f'{path.read_text()}\n{text}\n')
            self.init(overwrite=True)

        self.assertEqual(
            {'tempest.conf.edited': '# first',
             'tempest.conf.edited-2': '# second',
             'tempest.conf.edited-3': '# third'},
            {aside.name: aside.read_text().splitlines()[-1]
             for aside in path.parent.glob('tempest.conf.*')})

    def test_users_that_somebody_has_edited_are_not_forgotten(self):
        self.init()
        path = self.edit('accounts.yaml')

        self.assertRaises(errors.UsageError, self.init, accounts=(ADMIN,))
        self.assertTrue(path.exists())

    def test_a_workspace_of_an_older_release(self):
        self.init()
        (self.folder / '.made.json').unlink()

        # As it would be written now: nothing is lost.
        self.init()
        (self.folder / '.made.json').unlink()

        self.assertRaises(errors.UsageError, self.init, region='Other')

    def test_accounts_are_read_as_they_are(self):
        self.init()
        conf = self.conf()
        account, = yaml.safe_load(
            pathlib.Path(conf.auth.test_accounts_file).read_text())

        self.assertEqual('false', conf.auth.use_dynamic_credentials)
        self.assertEqual(
            {'username': 'demo', 'password': '"quoted"',
             'project_name': 'demo', 'user_domain_name': 'Users',
             'project_domain_name': 'Projects', 'roles': ['member']},
            account)

    def test_a_password_with_dollars_is_read_as_it_is(self):
        self.init(accounts=(ADMIN,))
        conf = self.conf()

        self.assertEqual('pa$$word', conf.auth.admin_password)
        self.assertFalse((self.folder / 'etc' / 'accounts.yaml').exists())

    def test_every_option_of_ours_exists(self):
        self.init()
        parser = configparser.RawConfigParser()
        parser.read(self.folder / 'etc' / 'tempest.conf')
        known = {(group, option.name) for group, options
                 in config.list_opts() for option in options}

        for group in ('magnum_capi', 'magnum_capi_feature_enabled'):
            for name in parser.options(group):
                if name not in parser.defaults():
                    self.assertIn((group, name), known)

    def test_secrets_are_for_their_owner(self):
        self.init()

        for path in (self.folder / 'etc').iterdir():
            self.assertEqual(0o600, stat.S_IMODE(path.stat().st_mode))
        self.assertEqual(0o700, stat.S_IMODE(self.folder.stat().st_mode))

    def test_a_workspace_can_be_made_again(self):
        self.init(accounts=(ADMIN,))
        self.init()

        self.assertEqual('false', self.conf().auth.use_dynamic_credentials)

    def test_users_of_before_are_forgotten(self):
        self.init()
        self.init(accounts=(ADMIN,))

        self.assertEqual(['tempest.conf'], [
            path.name for path in (self.folder / 'etc').iterdir()])

    def test_a_folder_of_something_else_is_left_alone(self):
        self.folder.mkdir()
        (self.folder / 'thesis.tex').write_text('x')

        self.assertRaises(errors.UsageError, self.init)
        self.assertEqual(['thesis.tex'],
                         [path.name for path in self.folder.iterdir()])

    def test_a_workspace_that_somebody_has_made_is_left_alone(self):
        # By hand, or with "tempest init".
        folder.lay_out(self.folder, '[auth]\n', accounts='- username: me\n')

        self.assertRaises(errors.UsageError, self.init)

        self.assertEqual(
            {'tempest.conf': '[auth]\n', 'accounts.yaml': '- username: me\n'},
            {path.name: path.read_text()
             for path in (self.folder / 'etc').iterdir()})

    def test_what_no_file_can_have(self):
        self.assertRaises(errors.UsageError, selection.value, 'a\nb')
        # oslo.config takes the first two characters for an escaped "$".
        self.assertRaises(errors.UsageError, selection.value, 'a\\$b')
