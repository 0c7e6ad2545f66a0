# SPDX-License-Identifier: Apache-2.0

"""The tempest.conf of a sandbox, as far as drivers and their discovery go."""

import configparser
import io
from unittest import mock

import fixtures
import testtools

from magnum_capi import driver_info
from magnum_capi_sandbox import access
from magnum_capi_sandbox.cli import sandbox as cli
from magnum_capi_sandbox import spec
from magnum_capi_tempest import config
from magnum_capi_tempest import features
from tests.unit.sandbox import samples

FLAGS = 'magnum_capi_feature_enabled'
#: What no filter in front of Magnum can do.
OUT_OF_REACH = {'broken_driver_isolated', 'magnum_distro_alone',
                'template_driver_decides'}
#: What the filter promises in its other mode only.
OTHER_MODE = {'first_driver_taken'}
#: About the cloud or the test machine: no promises.
OF_THE_PLACE = {'workload_api', 'template_driver', 'hidden_template_unseen',
                'failed_cluster_polled', 'image_driver', 'real_nodes',
                'cloud_provider'}
#: What this sandbox has room for, whatever the driver.
HERE = {'three_masters'}


class TempestConfTest(testtools.TestCase):

    def conf(self, clash=False, discovery_filter=False, **order):
        layout = samples.a_layout(self.useFixture(fixtures.TempDir()).path)
        parser = configparser.RawConfigParser(default_section='none')
        parser.read_string(access.tempest_config(
            layout, samples.PASSWORDS, spec.Spec(
                clash=clash, discovery_filter=discovery_filter), **order))
        return parser

    def promised(self, **wanted):
        conf = self.conf(**wanted)
        # What a release has is no promise.
        return {name for name in conf[FLAGS] if conf.getboolean(FLAGS, name)
                } - OF_THE_PLACE

    def test_an_unmodified_magnum_promises_nothing(self):
        self.assertEqual(HERE, self.promised(clash=True))

    def test_the_filter_promises_what_it_can(self):
        discovery = {o.name for o in features.DISCOVERY_OPTS}

        self.assertEqual(HERE | discovery - OUT_OF_REACH - OTHER_MODE,
                         self.promised(discovery_filter=True))

    def not_promised(self, **order):
        described = driver_info.Description({
            'name': 'k8s_x', 'profiles': [], 'unsupported': ['lifecycle.b.c'],
            'known_issues': {'lifecycle.a.b': 'bug 7'}}, 'x')
        return self.conf(described=described, **order)['magnum_capi'].get(
            'not_promised')

    def test_what_a_driver_says_it_does_not_do_or_breaks_is_not_asked(self):
        self.assertEqual('lifecycle.a.b,lifecycle.b.c', self.not_promised())
        self.assertNotIn('not_promised', self.conf()['magnum_capi'])

    def test_what_it_is_known_to_break_can_be_asked(self):
        for promise in ('driver', 'all'):
            self.assertEqual('lifecycle.b.c',
                             self.not_promised(promise=promise))

    def test_discovery_can_be_asked_for(self):
        discovery = {o.name for o in features.DISCOVERY_OPTS}

        self.assertEqual(HERE | discovery - OTHER_MODE,
                         self.promised(promise='discovery'))

    def test_everything_can_be_asked_for(self):
        # No node here is a server of Nova.
        everything = {o.name for o in config.FEATURE_OPTS
                      if not o.default} - {'real_nodes'} - OTHER_MODE

        self.assertEqual(everything, self.promised(promise='all'))

    def test_the_other_mode(self):
        layout = samples.a_layout(self.useFixture(fixtures.TempDir()).path)
        folder = layout.magnum_conf[1]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / '90-set.conf').write_text(
            '[k8s_discovery]\nmode = hibiscus\n')
        conf = configparser.RawConfigParser(default_section='none')
        conf.read_string(access.tempest_config(
            layout, samples.PASSWORDS, spec.Spec(discovery_filter=True)))
        self.assertTrue(conf.getboolean(FLAGS, 'first_driver_taken'))
        self.assertNotIn('ambiguity_refused', conf[FLAGS])

    def test_the_filter_leaves_no_template_without_a_driver(self):
        described = driver_info.Description({
            'name': 'k8s_x',
            'tempest': {'nameless_os_distro': 'nameless'}}, 'x')
        for discovery_filter in (True, False):
            options = self.conf(driver='k8s_x', described=described,
                                discovery_filter=discovery_filter)
            self.assertEqual(not discovery_filter, 'nameless_os_distro'
                             in options['magnum_capi'])

    def test_peculiar_drivers(self):
        options = self.conf(clash=True, driver='k8s_x')['magnum_capi']

        self.assertEqual(
            ('k8s_x', 'k8s_capi_disabled_v1'),
            (options['driver'], options['disabled_driver']))

    def test_no_drivers_that_are_not_there(self):
        options = self.conf()['magnum_capi']

        self.assertEqual([], [name for name in options if 'driver' in name
                              and name != 'network_driver'])

    def test_options_of_the_order(self):
        options = self.conf(options=[('broken_driver', 'x')])['magnum_capi']

        self.assertEqual('x', options['broken_driver'])

    def test_every_option_exists(self):
        known = {(group, option.name) for group, options
                 in config.list_opts() for option in options}
        conf = self.conf(clash=True, promise='all')

        for group in ('magnum_capi', FLAGS):
            for name in conf[group]:
                self.assertIn((group, name), known)


class OrderTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.MonkeyPatch('sys.stderr', io.StringIO()))

    def order(self, *words):
        """What the command line hands over."""
        run = self.useFixture(fixtures.MockPatchObject(
            cli, 'tempest', return_value=0)).mock
        self.useFixture(fixtures.MockPatchObject(
            cli.tempest_run, 'chosen', return_value=None))
        command = cli.Tempest(mock.Mock(), None)
        command.run(command.get_parser('x').parse_args(words))
        return run.call_args.args[1]

    def test_what_is_kept_by_default(self):
        order = self.order()

        self.assertEqual(('kept', ()), (order.promise, order.options))

    def test_everything(self):
        self.assertEqual('all', self.order('--promise', 'all').promise)

    def test_options(self):
        self.assertEqual(
            (('broken_driver', 'x'), ('labels', 'a:b=c')), self.order(
                '--option', 'broken_driver=x', '--option',
                'labels=a:b=c').options)

    def test_what_is_no_option(self):
        for word in ('broken_driver', '=x', 'a b=x', 'a=x\n[y]'):
            self.assertRaises(SystemExit, self.order, '--option', word)
