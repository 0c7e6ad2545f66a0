# SPDX-License-Identifier: Apache-2.0

"""The contract with Tempest, and what the plugin must not do to others."""

import importlib
import inspect
import os
import pathlib
import re
import sys

from oslo_config import cfg
from tempest import config as tempest_config
from tempest.lib.common import rest_client
from tempest.test_discover import plugins
import testtools

from magnum_capi import processes
import magnum_capi_tempest
from magnum_capi_tempest import config
from magnum_capi_tempest import plugin
from magnum_capi_tempest import services

#: Prints what importing the plugin loads beyond tempest itself.
_LOADED = '''
import sys
import tempest.config, tempest.test_discover.plugins
before = {m.split('.')[0] for m in sys.modules}
import magnum_capi_tempest.plugin
after = {m.split('.')[0] for m in sys.modules}
print(*sorted(after - before))
'''


class ImportTest(testtools.TestCase):

    def test_plugin_loads_nothing_but_itself(self):
        loaded = processes.run([sys.executable, '-c', _LOADED], timeout=60)

        self.assertEqual({'magnum_capi_tempest'},
                         {*loaded.split()} - sys.stdlib_module_names)


class PluginTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.plugin = plugin.MagnumCapiTempestPlugin()

    def test_tempest_finds_the_tests_in_the_package(self):
        package = os.path.dirname(magnum_capi_tempest.__file__)
        found = plugins.TempestTestPluginManager()

        self.assertEqual(
            (os.path.join(package, 'tests'), os.path.dirname(package)),
            found.get_plugin_load_tests_tuple()['magnum_capi'])

    def test_client_has_names_of_its_own(self):
        client, = self.plugin.get_service_clients()

        self.assertEqual(('magnum_capi_v1', 'magnum_capi.v1'),
                         (client['name'], client['service_version']))

    def test_client_is_configured_by_the_option_group(self):
        client, = self.plugin.get_service_clients()

        self.assertEqual('container-infra', client['service'])
        self.assertEqual(5, client['build_interval'])

    def test_every_client_that_exists_is_registered(self):
        client, = self.plugin.get_service_clients()

        module = importlib.import_module(client['module_path'])
        self.assertEqual(sorted(services.__all__),
                         sorted(client['client_names']))
        for name in client['client_names']:
            self.assertTrue(issubclass(getattr(module, name),
                                       rest_client.RestClient), name)

    def test_options_are_registered_once(self):
        conf = cfg.ConfigOpts()

        self.plugin.register_opts(conf)

        self.assertTrue(conf.service_available.magnum_capi)
        self.assertEqual('calico', conf.magnum_capi.network_driver)
        self.assertTrue(conf.magnum_capi_feature_enabled.workload_api)


class OptionsTest(testtools.TestCase):

    def test_three_lists_are_one(self):
        listed = [(group, [o.name for o in opts])
                  for group, opts in config.list_opts()]
        told = [(group, [o.name for o in opts]) for group, opts in
                plugin.MagnumCapiTempestPlugin().get_opt_lists()]

        self.assertEqual(listed, told)
        self.assertEqual(['service_available', 'magnum_capi',
                          'magnum_capi_feature_enabled'],
                         [group for group, _ in listed])

    def test_help_is_written_in_sentences(self):
        for group, opts in config.list_opts():
            for opt in opts:
                self.assertRegex(
                    opt.help, r'(?s)^[A-Z].{30,}\.$', f'{group}.{opt.name}')

    def test_every_option_is_used(self):
        # given all code of the plugin except the table itself, and what
        # Tempest reads for the clients of a service
        folder = pathlib.Path(magnum_capi_tempest.__file__).parent
        words = {*re.findall(r"[.'](\w+)", ''.join([
            inspect.getsource(tempest_config.service_client_config), *(
                path.read_text(encoding='utf-8') for path in (
                    folder / 'plugin.py', *folder.glob('tests/**/*.py')))]))}

        self.assertEqual([], [
            opt.name for _, opts in config.list_opts() for opt in opts
            if opt.name not in words])

    def test_names_do_not_clash_with_tempest_and_other_plugins(self):
        # given the options of tempest and of every installed plugin
        others = [(getattr(group, 'name', group), opt)
                  for group, opts in tempest_config.list_opts()
                  for opt in opts]
        ours = [(group, opt) for group, opts in config.list_opts()
                for opt in opts]

        foreign = {(group, opt.name) for group, opt in others
                   if opt not in [o for _, o in ours]}

        self.assertEqual(
            set(), foreign & {(group, opt.name) for group, opt in ours})
