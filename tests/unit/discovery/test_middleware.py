# SPDX-License-Identifier: Apache-2.0
"""The filter as paste makes it, over loopback HTTP, and with many threads."""

import concurrent.futures
import pathlib
import sys
import threading
from unittest import mock

import fixtures
from keystoneauth1 import loading
from oslo_config import cfg
import testtools

from magnum_capi.discovery import answers
from magnum_capi.discovery import authorization
from magnum_capi.discovery import images
from magnum_capi.discovery import middleware
from magnum_capi import errors
from tests.unit.discovery import distributions
from tests.unit.discovery import scripted_glance
from tests.unit.discovery import scripted_magnum


def configured(files=()):
    """A ConfigOpts with what Magnum registers."""
    conf = cfg.ConfigOpts()
    loading.register_session_conf_options(conf, 'keystone_auth')
    conf.register_opts([cfg.StrOpt('region_name'),
                        cfg.StrOpt('endpoint_type', default='publicURL')],
                       'glance_client')
    conf([f'--config-file={path}' for path in files], project='magnum',
         default_config_files=[], default_config_dirs=[])
    return conf


class FactoryTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.MockPatchObject(cfg, 'CONF', configured()))

    def test_times_are_options(self):
        made = self.useFixture(fixtures.MockPatchObject(
            images.Reader, 'of')).mock
        middleware.factory({'here': '/etc'}, read_timeout='7.5')
        self.assertEqual((5.0, 7.5), made.call_args.args[1])
        middleware.factory({}, connect_timeout='0.5')
        self.assertEqual((0.5, 30.0), made.call_args.args[1])

    def test_options_that_are_none(self):
        for name, value in (('read_timeout', 'x'), ('read_timeout', '0'),
                            ('connect_timeout', '-1'), ('timeout', '5'),
                            ('read_timeout', 'inf'),
                            ('read_timeout', 'nan')):
            e = self.assertRaises(errors.UsageError, middleware.factory, {},
                                  **{name: value})
            self.assertIn(f'{name} = {value}', str(e))


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
        # There is no Magnum here.
        self.useFixture(fixtures.MockPatchObject(
            authorization, 'check', self.authorize))
        self.allowed = True
        self.useFixture(fixtures.FakeLogger())
        self.magnum = scripted_magnum.Magnum()

    def authorize(self, route, environ):
        if not self.allowed:
            raise answers.Refused(403, 'The policy does not allow this.')

    def start(self, text):
        self.file.write_text(text)
        with mock.patch.object(cfg, 'CONF', configured([self.file])), \
                mock.patch.object(images.Reader, 'of',
                                  lambda *args: self.magnum.images):
            return middleware.factory({})(self.magnum)

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

    def test_without_a_usable_one_magnum_does_not_start(self):
        e = self.assertRaises(errors.UsageError, self.start,
                              '[k8s_discovery]\nmode = lenient\n')
        self.assertIn('lenient', str(e))

    def test_who_may_not_ask_learns_nothing(self):
        app = self.start('')
        self.allowed = False
        for method, path, body in (
                ('POST', '/v1/clusters', {}),
                ('POST', '/v1/clustertemplates', {}),
                ('PATCH', '/v1/clustertemplates/t', [])):
            answer = scripted_magnum.send(app, method, path, body)
            self.assertEqual(403, answer.status_int)
            self.assertNotIn('mct_', answer.text)
        self.assertEqual([], self.magnum.requests)


class TlsTest(testtools.TestCase):

    def session(self, text, *, magnum):
        """The session with Glance in some release, for a magnum.conf."""
        path = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path) / 'magnum.conf'
        path.write_text(f'[keystone_auth]\ncafile = /k.pem\n{text}')
        conf = configured([path])
        if magnum < 23:
            # magnum/conf/glance.py, common_security_opts.
            conf.register_opts(
                [cfg.StrOpt('ca_file'),
                 cfg.BoolOpt('insecure', default=False)], 'glance_client')
        return images.Reader.of(conf)._session

    def test_that_of_keystone(self):
        for magnum in (20, 23):
            self.assertEqual(
                '/k.pem', self.session('', magnum=magnum).verify)

    def test_magnum_before_23_has_another_for_glance(self):
        for text, verify in (('ca_file = /g.pem\n', '/g.pem'),
                             ('insecure = true\n', False)):
            self.assertEqual(verify, self.session(
                f'[glance_client]\n{text}', magnum=22).verify)


class TogetherTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.glance = self.useFixture(scripted_glance.Glance())
        self.magnum = scripted_magnum.Magnum()
        reader = images.Reader.of(configured())
        self.app = middleware.Filter(
            self.magnum, scripted_magnum.catalog(), reader, self.magnum)
        self.useFixture(fixtures.FakeLogger())

    def create(self, image, driver=None):
        return scripted_magnum.send(
            self.app, 'POST', '/v1/clustertemplates',
            {'name': image, 'image_id': image, 'coe': 'kubernetes',
             'driver': driver},
            **{'keystone.token_info': self.glance.token_info})

    def test_a_template_is_made(self):
        self.glance.images.append(
            {'id': 'id-flatcar', 'name': 'flatcar', 'os_distro': 'flatcar'})
        answer = self.create('flatcar')
        self.assertEqual((201, scripted_magnum.HELM),
                         (answer.status_int, answer.json['driver']))

    def test_threads_do_not_mix(self):
        switch = sys.getswitchinterval()
        self.addCleanup(sys.setswitchinterval, switch)
        sys.setswitchinterval(1e-6)
        for at in range(40):
            distro = ('ubuntu', 'flatcar')[at % 2]
            self.magnum.images.known[f'i{at}'] = {'os_distro': distro}
            self.glance.images.append({
                'id': f'id-i{at}', 'name': f'i{at}', 'os_distro': distro,
                'magnum_driver': scripted_magnum.HELM if at % 4 else 'no'})
        start = threading.Barrier(8)

        def some(thread):
            start.wait(10)
            return [(at, self.create(f'i{at}'))
                    for at in range(thread, 40, 8)]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            done = [one for many in pool.map(some, range(8)) for one in many]
        for at, answer in done:
            self.assertEqual(201 if at % 4 else 400, answer.status_int)
            if at % 4:
                self.assertEqual(
                    (f'i{at}', ('ubuntu', 'flatcar')[at % 2]),
                    (answer.json['name'], answer.json['cluster_distro']))
        self.assertLessEqual(self.glance.connections, 8)
