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
from magnum_capi_tempest import config
from magnum_capi_tempest import promises
from tests.unit.sandbox import samples

#: What no filter in front of Magnum can do.
OUT_OF_REACH = {'discovery.broken.isolated', 'discovery.template.decides',
                'discovery.distro.magnum-distro-alone'}
DISCOVERY = {name for name in promises.of_magnum()
             if name.startswith('discovery.')}


class TempestConfTest(testtools.TestCase):

    def conf(self, clash=False, discovery_filter=False, **order):
        layout = samples.a_layout(self.useFixture(fixtures.TempDir()).path)
        parser = configparser.RawConfigParser(default_section='none')
        parser.read_string(access.tempest_config(
            layout, samples.PASSWORDS, samples.a_spec(
                clash=clash, discovery_filter=discovery_filter), **order))
        return parser

    def unkept(self, **wanted):
        """What is promised by nobody, whatever the driver."""
        return {*self.conf(**wanted)['magnum_capi']['not_promised'].split(
            ',')} - {''}

    def test_an_unmodified_magnum(self):
        self.assertEqual({*promises.not_of_magnum()}, self.unkept(clash=True))

    def test_the_filter_promises_what_it_can(self):
        self.assertEqual(
            OUT_OF_REACH | {promises.FIRST_TAKEN},
            DISCOVERY & self.unkept(discovery_filter=True))

    def not_promised(self, **order):
        described = driver_info.Description({
            'name': 'k8s_x', 'profiles': [], 'unsupported': ['lifecycle.b.c'],
            'known_issues': {'lifecycle.a.b': 'bug 7'}}, 'x')
        return {name for name in self.unkept(described=described, **order)
                if name.startswith('lifecycle.')}

    def test_what_a_driver_says_it_does_not_do_or_breaks_is_not_asked(self):
        self.assertEqual({'lifecycle.a.b', 'lifecycle.b.c'},
                         self.not_promised())

    def test_what_it_is_known_to_break_can_be_asked(self):
        for promise in ('driver', 'all'):
            self.assertEqual({'lifecycle.b.c'},
                             self.not_promised(promise=promise))

    def test_discovery_can_be_asked_for(self):
        found = self.unkept(promise='discovery')

        self.assertEqual({promises.FIRST_TAKEN}, DISCOVERY & found)
        self.assertIn('magnum.input.refused', found)

    def test_everything_can_be_asked_for(self):
        self.assertEqual({promises.FIRST_TAKEN}, self.unkept(promise='all'))

    def test_the_other_mode(self):
        layout = samples.a_layout(self.useFixture(fixtures.TempDir()).path)
        folder = layout.magnum_conf[1]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / '90-set.conf').write_text(
            '[k8s_discovery]\nmode = hibiscus\n')
        conf = configparser.RawConfigParser(default_section='none')
        conf.read_string(access.tempest_config(
            layout, samples.PASSWORDS, samples.a_spec(discovery_filter=True)))
        found = conf['magnum_capi']['not_promised'].split(',')
        self.assertIn(promises.AMBIGUITY_REFUSED, found)
        self.assertNotIn(promises.FIRST_TAKEN, found)

    def test_the_filter_leaves_no_template_without_a_driver(self):
        described = driver_info.Description({
            'name': 'k8s_x',
            'tempest': {'nameless_os_distro': 'nameless'}}, 'x')
        for discovery_filter in (True, False):
            options = self.conf(driver='k8s_x', described=described,
                                discovery_filter=discovery_filter)
            self.assertEqual(not discovery_filter, 'nameless_os_distro'
                             in options['magnum_capi'])

    def test_no_drivers_that_are_not_there(self):
        options = self.conf()['magnum_capi']

        self.assertEqual([], [name for name in options if 'driver' in name
                              and name != 'network_driver'])

    def test_options_of_the_order(self):
        options = self.conf(options=[('many_clusters', '7')])['magnum_capi']

        self.assertEqual('7', options['many_clusters'])

    def test_every_option_exists(self):
        known = {(group, option.name) for group, options
                 in config.list_opts() for option in options}
        conf = self.conf(clash=True, promise='all')

        for group in ('magnum_capi', 'magnum_capi_feature_enabled'):
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
            (('many_clusters', '7'), ('labels', 'a:b=c')), self.order(
                '--option', 'many_clusters=7', '--option',
                'labels=a:b=c').options)

    def test_what_is_no_option(self):
        for word in ('many_clusters', '=x', 'a b=x', 'a=x\n[y]'):
            self.assertRaises(SystemExit, self.order, '--option', word)
