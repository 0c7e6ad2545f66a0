# SPDX-License-Identifier: Apache-2.0

import dataclasses
import pathlib
import ssl
from urllib import parse

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi import progress
from magnum_capi_sandbox.cloud import backends
from magnum_capi_sandbox.cloud import services
from magnum_capi_sandbox import layout as layouts
from magnum_capi_sandbox import profiles
from magnum_capi_tempest.management import pki
from magnum_capi_tempest import runmarks
from magnum_capi_tempest import supervision
from tests.unit import loopback
from tests.unit.sandbox import samples


class ProgramsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.layout = samples.a_layout(
            self.useFixture(fixtures.TempDir()).path)
        self.useFixture(fixtures.MockPatchObject(
            backends, '_program', lambda name: f'/usr/sbin/{name}'))

    def programs(self, profile):
        profile = profiles.get(profile)
        layout = dataclasses.replace(self.layout, https=profile.https)
        found = [
            *services.base(layout, samples.VENV, profile),
            *services.magnum(layout, samples.VENV, profile,
                             pathlib.Path('/tools/helm'))]
        if profile.broker:
            found += [
                backends.MariaDB(self.layout.directory).program(),
                backends.RabbitMQ(self.layout, 'brokersecret').program()]
        return {p.name: p for p in found}

    def test_variables_for_drivers_are_magnums_alone(self):
        found = services.magnum(
            self.layout, samples.VENV, profiles.get('full'),
            pathlib.Path('/tools/helm'), {'KUBECONFIG': '/k'})
        self.assertEqual({'/k'}, {p.env['KUBECONFIG'] for p in found})
        self.assertNotIn('KUBECONFIG', ' '.join(
            name for p in self.programs('full').values() for name in p.env))

    def test_each_program(self):
        for profile in profiles.PROFILES:
            for name, program in self.programs(profile).items():
                with self.subTest(f'{name} of {profile}'):
                    self.assert_fit(program)

    def assert_fit(self, program):
        self.assertTrue(pathlib.Path(program.argv[0]).is_absolute())
        self.assertEqual({str}, set(map(type, (
            *program.argv, *program.env, *program.env.values()))))
        text = ' '.join((*program.argv, *program.env.values()))
        for secret in samples.PASSWORDS.values():
            self.assertNotIn(secret, text)
        self.assertTrue(callable(program.ready))

    def test_whose_port_it_is_is_known_before_anything_is_sent_to_it(self):
        for profile in profiles.PROFILES:
            found = self.programs(profile)
            servers = set(found) - {'magnum-conductor', 'mariadb'}
            self.assertEqual(
                {n: ((self.layout.address, self.layout.port(n)),)
                 for n in servers}, {n: found[n].listens for n in servers})
            self.assertEqual(
                {*samples.SERVICES, 'magnum-conductor'} & set(found)
                - {'keystone'},
                {n for n, p in found.items() if 'keystone' in p.after})
            self.assertEqual(
                {'magnum-conductor'} & set(found),
                {n for n, p in found.items() if 'rabbitmq' in p.after})

    def test_where_https_is_served_and_by_how_many(self):
        for profile, plain, workers in (
                ('embedded', samples.SERVICES, {}), ('full', set(), {
                    **dict.fromkeys(samples.SERVICES, '1'), 'magnum': '2'})):
            files = {name: [pathlib.Path(word).name for word in p.argv]
                     for name, p in self.programs(profile).items()}
            self.assertEqual(plain, {
                name for name, words in files.items()
                if {'serve.py', 'magnum_all.py'}.intersection(words)})
            self.assertEqual(workers, {
                name: words[6] for name, words in files.items()
                if 'serve_tls.py' in words})

    def test_nothing_of_the_users_environment(self):
        self.useFixture(fixtures.EnvironmentVariable('OS_PASSWORD', 'mine'))
        self.useFixture(fixtures.EnvironmentVariable('http_proxy', 'http://p'))
        env = services.environment(self.layout, samples.VENV)
        self.assertNotIn('OS_PASSWORD', env)
        self.assertNotIn('http_proxy', env)

    def test_commands_are_found_by_the_mark(self):
        """Of those that fill the databases: supervisord knows none."""
        env = services.environment(self.layout, samples.VENV)
        self.assertEqual(str(self.layout.directory), env[runmarks.MARK])

    def test_mariadb_has_no_port(self):
        self.assertIn('--skip-networking',
                      self.programs('full')['mariadb'].argv)


class RabbitTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.layout = samples.a_layout(
            self.useFixture(fixtures.TempDir()).path, https=True)
        self.broker = backends.RabbitMQ(self.layout, 'brokersecret')
        self.useFixture(fixtures.MockPatchObject(
            backends, '_program', lambda name: f'/usr/sbin/{name}'))

    def test_the_password_is_in_a_private_file_only(self):
        self.broker.configure()
        self.assertEqual(['rabbitmq.conf'], [
            p.name for p in (self.layout.directory / 'rabbitmq').rglob('*')
            if p.is_file() and 'brokersecret' in p.read_text()])
        path = self.layout.directory / 'rabbitmq' / 'rabbitmq.conf'
        self.assertEqual(0o600, path.stat().st_mode & 0o777)

    def test_the_cookie_of_its_distribution_is_the_sandboxs(self):
        self.broker.configure()
        home = pathlib.Path(self.broker.program().env['HOME'])
        cookie = home / '.erlang.cookie'
        first = cookie.read_text()
        self.broker.configure()

        # Erlang refuses one that others may read.
        self.assertEqual(0o600, cookie.stat().st_mode & 0o777)
        self.assertRegex(first, '^[0-9a-f]{64}$')
        self.assertNotEqual(first, cookie.read_text())

    def test_it_listens_on_the_address_of_the_sandbox_for_tls_only(self):
        self.broker.configure()
        text = (self.layout.directory / 'rabbitmq'
                / 'rabbitmq.conf').read_text()
        set_ = dict(line.split(' = ') for line in text.splitlines())
        self.assertEqual({
            'listeners.tcp': 'none', 'listeners.ssl.1': '127.77.0.1:25672',
            'ssl_options.cacertfile': 'tls/ca.crt',
            'ssl_options.certfile': 'tls/server.crt',
            'ssl_options.keyfile': 'tls/server.key'},
            {name: value for name, value in set_.items()
             if name.startswith(('listeners', 'ssl_options'))})
        self.assertEqual(self.layout.directory, self.broker.program().cwd)
        self.assertIn('127,77,0,1', self.broker.program().env[
            'RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS'])

    def test_it_is_ready_when_it_proves_who_it_is(self):
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        for name in ('box/tls', 'theirs'):
            pki.make_server(folder / name, '127.0.0.1')

        def ready(tls):
            where = parse.urlsplit(loopback.start(self, loopback.Handler, tls))
            layout = samples.a_layout(
                folder / 'box', '127.0',
                where.port - layouts.PORTS['rabbitmq'], https=True)
            return backends.RabbitMQ(layout, 'x').program().ready

        self.assertTrue(ready(folder / 'box/tls')())
        for name, tls in (('another', folder / 'theirs'), ('none', None)):
            with self.subTest(name):
                self.assertRaises(ssl.SSLError, ready(tls))

    def test_epmd_of_two_sandboxes_does_not_meet(self):
        folder = self.useFixture(fixtures.TempDir()).path
        other = backends.RabbitMQ(
            samples.a_layout(folder, prefix='127.78'), 'x')
        self.assertNotEqual(
            self.broker.program().env['ERL_EPMD_PORT'],
            other.program().env['ERL_EPMD_PORT'])


class CheckTest(testtools.TestCase):

    def test_missing_packages_are_named(self):
        self.useFixture(fixtures.MockPatchObject(
            backends.shutil, 'which', lambda *args, **kwargs: None))
        e = self.assertRaises(errors.EnvironmentProblem, backends.check)
        self.assertIn('mariadbd is missing', str(e))
        self.assertIn('apt-get install mariadb-server', str(e))


class StrangerTest(testtools.TestCase):
    """Somebody else has the port of a service before that can listen."""

    def setUp(self):
        super().setUp()
        folder = pathlib.Path(self.useFixture(
            fixtures.TempDir(rootdir='/tmp')).path).resolve()
        self.supervisor = supervision.Supervisor(folder)
        self.addCleanup(self.supervisor.shutdown)
        self.supervisor.start()
        self.stranger = self.useFixture(loopback.Stranger('127.210.0.1'))
        layout = samples.a_layout(
            folder, '127.210',
            self.stranger.port - layouts.PORTS['keystone'])
        self.keystone = services.base(
            layout, samples.VENV, profiles.get('embedded'))[0]

    def launch(self, *argv, timeout=2):
        self.supervisor.launch(
            [dataclasses.replace(self.keystone, argv=argv)], timeout,
            progress.Silent())

    def test_it_is_asked_nothing(self):
        e = self.assertRaises(errors.WaitTimeout, self.launch,
                              '/bin/sleep', '60')
        self.assertIn('not ready: keystone', str(e))
        self.assertEqual([], self.stranger.heard)


class AnswersTest(testtools.TestCase):

    def serve(self, status):
        class Handler(loopback.Handler):
            def do_GET(self):
                self.answer(status)

        address = parse.urlsplit(loopback.start(self, Handler))
        return services.answers(address.hostname, address.port)

    def test_another_server_with_a_certificate_is_not_asked(self):
        heard = []

        class Handler(loopback.Handler):
            def do_GET(self):
                heard.append(self.path)
                self.answer(200)

        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        for name in ('ours', 'theirs'):
            pki.make_server(folder / name, '127.0.0.1')
        where = parse.urlsplit(loopback.start(self, Handler, folder / 'ours'))
        self.assertTrue(services.answers(
            where.hostname, where.port, '/',
            folder / 'ours' / 'ca.crt')())
        self.assertRaises(OSError, services.answers(
            where.hostname, where.port, '/', folder / 'theirs' / 'ca.crt'))
        self.assertEqual(['/'], heard)

    def test_a_refusal_is_an_answer_and_an_error_is_none(self):
        self.assertTrue(self.serve(401)())
        self.assertFalse(self.serve(503)())
        self.assertRaises(OSError, services.answers('127.0.0.1', 1))
