# SPDX-License-Identifier: Apache-2.0
"""The filter as paste makes it, and with many threads."""

import concurrent.futures
import pathlib
import sys
import threading
from unittest import mock

import fixtures
from oslo_config import cfg
import testtools

from magnum_capi.discovery import filter as filter_
from tests.unit.discovery import distributions
from tests.unit.discovery import scripted_magnum


class ConfigurationTest(testtools.TestCase):
    """magnum.conf, with two installed drivers of one type."""

    def setUp(self):
        super().setUp()
        base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.file = base / 'magnum.conf'
        installed = self.useFixture(distributions.Distributions())
        installed.module('mct_good')
        installed.add('two', mct_one='mct_good:Driver',
                      mct_two='mct_good:Driver')
        self.useFixture(fixtures.FakeLogger())
        self.magnum = scripted_magnum.Magnum()

    def start(self, text):
        self.file.write_text(text)
        conf = cfg.ConfigOpts()
        conf([f'--config-file={self.file}'], project='magnum')
        with mock.patch.object(cfg, 'CONF', conf):
            app = filter_.factory({})(self.magnum)
        # There is no Magnum here.
        app._calls = self.magnum.calls
        return app

    def driver(self, app):
        return scripted_magnum.send(app, 'POST', '/v1/clustertemplates', {
            'name': 't', 'image_id': 'ubuntu', 'coe': 'kubernetes'}
        ).json['driver']

    def test_it_is_read_once_at_the_start_like_the_rest_of_magnum_conf(self):
        app = self.start('[drivers]\ndefault_driver = mct_one\n')
        self.assertEqual('mct_one', self.driver(app))

        self.file.write_text('[drivers]\ndefault_driver = mct_two\n')

        self.assertEqual('mct_one', self.driver(app))
        self.assertEqual('mct_two', self.driver(
            self.start(self.file.read_text())))

    def test_who_may_not_ask_learns_nothing(self):
        app = self.start('')
        template, uuid = 'clustertemplate', self.magnum.add_template('t')
        self.magnum.add_cluster(uuid, 'c')
        self.magnum.denied = (f'{template}:create', f'{template}:update',
                              'cluster:create', 'cluster:upgrade')
        for method, path, body in (
                ('POST', '/v1/clusters', {}),
                ('POST', '/v1/clusters/c/actions/upgrade', {}),
                ('POST', '/v1/clustertemplates', {}),
                ('PATCH', '/v1/clustertemplates/t', [
                    {'op': 'remove', 'path': '/driver'}])):
            answer = scripted_magnum.send(app, method, path, body)
            self.assertEqual(403, answer.status_int)
            self.assertNotIn('mct_', answer.text)
        self.assertEqual([], self.magnum.requests)


class ThreadsTest(testtools.TestCase):

    def test_they_do_not_mix(self):
        magnum = scripted_magnum.Magnum()
        app = scripted_magnum.filtered(magnum)
        self.useFixture(fixtures.FakeLogger())
        switch = sys.getswitchinterval()
        self.addCleanup(sys.setswitchinterval, switch)
        sys.setswitchinterval(1e-6)
        for at in range(40):
            magnum.images.known[f'i{at}'] = {
                'os_distro': ('ubuntu', 'flatcar')[at % 2],
                'magnum_driver': scripted_magnum.HELM if at % 4 else 'no'}
        start = threading.Barrier(8)

        def some(thread):
            start.wait(10)
            return [(at, scripted_magnum.send(
                app, 'POST', '/v1/clustertemplates',
                {'name': f'i{at}', 'image_id': f'i{at}',
                 'coe': 'kubernetes'})) for at in range(thread, 40, 8)]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            done = [one for many in pool.map(some, range(8)) for one in many]
        for at, answer in done:
            self.assertEqual(201 if at % 4 else 400, answer.status_int)
            if at % 4:
                self.assertEqual(
                    (f'i{at}', ('ubuntu', 'flatcar')[at % 2]),
                    (answer.json['name'], answer.json['cluster_distro']))
