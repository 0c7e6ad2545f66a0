# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi tempest init`` on a cloud over HTTP."""

import argparse
import configparser
import io
import pathlib

import fixtures
import testtools

from magnum_capi_tempest.cli import tempest
from magnum_capi_tempest import descriptions
from magnum_capi_tempest import promises
from tests.unit.cli import terminal
from tests.unit.discovery import test_cloud
from tests.unit.workspace import cloud_over_http

HELM = 'k8s_capi_helm_v1'


class StrangersCloudTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(cloud_over_http.Cloud())
        self.folder = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path) / 'work'

    def init(self, *words):
        """Exit code, output, complaints."""
        return terminal.command(
            tempest.Init, '--cloud', 'fake', '--image', 'ubuntu', *words,
            self.folder)

    def conf(self, *words):
        """[magnum_capi] of the tempest.conf."""
        code, _, err = self.init(*words)
        self.assertEqual(0, code, err)
        parser = configparser.RawConfigParser()
        parser.read(self.folder / 'etc' / 'tempest.conf')
        return parser['magnum_capi']

    def assert_refused(self, words, *said):
        code, _, err = self.init(*words)
        self.assertEqual(2, code, err)
        for word in said:
            self.assertIn(word, err)
        self.assertFalse(self.folder.exists())

    def test_images_that_no_list_has(self):
        """Community and hidden ones are found by their ids only."""
        self.cloud.images = []
        self.cloud.hidden = [
            test_cloud.image(1, 'ubuntu', os_distro='ubuntu'),
            test_cloud.image(2, 'newer', os_distro='ubuntu')]
        first, later = (one['id'] for one in self.cloud.hidden)
        found = self.conf('--image', first, '--upgrade-image', later,
                          '--driver', HELM)

        self.assertEqual((first, later), (
            found['image_id'], found['upgrade_image_id']))

    def test_an_image_that_is_not_there(self):
        for missing in ('other', test_cloud.ID.format(9)):
            self.assert_refused(
                ['--image', missing], f'There is no image {missing}')

    def test_what_the_driver_does_not_promise_is_not_tested(self):
        described = descriptions.of_driver(HELM)

        self.assertEqual(
            {*described.unsupported, *described.known_issues,
             *promises.not_of_magnum()},
            {*self.conf('--driver', HELM)['not_promised'].split(',')})

    def test_what_the_filter_promises_is_tested(self):
        found = self.conf('--driver', HELM, '--discovery-filter')[
            'not_promised'].split(',')

        self.assertNotIn('discovery.disabled.refused', found)
        self.assertIn('discovery.template.decides', found)

    def test_without_a_name_it_is_the_driver_that_magnum_chooses(self):
        conf = self.conf()

        self.assertNotIn('driver', conf)
        self.assertIn('lifecycle.cluster.create-timeout',
                      conf['not_promised'])

    def test_an_option_overrides_what_the_driver_promises(self):
        conf = self.conf('--option', 'not_promised=')

        self.assertEqual('', conf['not_promised'])

    def test_an_option_that_is_no_argument(self):
        """Everybody may read arguments, and one may be a password."""
        self.useFixture(fixtures.MonkeyPatch(
            'sys.stdin', io.StringIO('\nflavor_id=f\nnot_promised=a,b\n')))
        conf = self.conf('--option', '-')

        self.assertEqual(('f', 'a,b'),
                         (conf['flavor_id'], conf['not_promised']))

    def test_a_driver_that_nothing_describes_is_reported(self):
        self.cloud.drivers = ['k8s_unheard_of']

        code, out, _ = self.init()

        self.assertEqual(0, code)
        self.assertIn('description of the driver k8s_unheard_of', out)

    def test_a_driver_that_magnum_does_not_have(self):
        for self.cloud.filtered in (False, True):
            self.assert_refused(('--driver', 'nodriver'), 'nodriver')
        self.cloud.templates = [test_cloud.template('t', driver='k8s_used')]
        self.assert_refused(('--driver', 'nodriver'), 'k8s_used')

    def test_a_choice_must_be_made(self):
        self.cloud.filtered = True

        self.assert_refused((), '--driver', *self.cloud.drivers)

    def test_an_older_magnum_cannot_be_asked_and_it_is_said(self):
        self.cloud.newest = '1.11'

        code, out, _ = self.init('--driver', 'nodriver')

        self.assertEqual(0, code)
        self.assertRegex(out, r'(?i)has the driver nodriver.* not known')

    def test_what_it_creates_is_reported_and_deleted(self):
        code, out, _ = self.init('--driver', HELM)

        self.assertEqual(0, code)
        self.assertEqual(sorted(self.cloud.made), sorted(self.cloud.deleted))
        self.assertNotEqual([], self.cloud.made)
        help_ = ' '.join(tempest.Init(None, None).get_parser(
            'x').format_help().split())
        for text in (out, help_):
            self.assertIn('magnum-capi-init-', text)
        self.assertIn('openstack coe cluster template delete', help_)

    def test_what_tests_create_is_recorded(self):
        # For "tempest leaks": otherwise nobody knows who left something.
        recorded = pathlib.Path(self.conf()['artifact_dir'])

        self.assertTrue(recorded.is_relative_to(self.folder))


class OptionTest(testtools.TestCase):

    def test_value_with_equals_signs(self):
        self.assertEqual(('log_command', 'a=b'),
                         tempest.option('log_command=a=b'))

    def test_other_words_are_refused(self):
        for text in ('many_clusters', '=20', 'many clusters=20',
                     'many_clusters=\n20'):
            self.assertRaisesRegex(argparse.ArgumentTypeError, 'NAME=VALUE',
                                   tempest.option, text)

    def test_option_of_another_group_is_refused(self):
        # It would stand in the file and nobody would read it.
        self.assertRaisesRegex(
            argparse.ArgumentTypeError, 'feature_enabled',
            tempest.option, 'real_nodes=true')
