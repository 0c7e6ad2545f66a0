# SPDX-License-Identifier: Apache-2.0

"""What becomes of a credential whose answer is lost; the check of one."""

import base64
import dataclasses
import pathlib

import fixtures
from urllib3 import exceptions

from magnum_capi.driver.desired import credentials
from magnum_capi.driver import failures
from magnum_capi.driver.keys import app_credentials
from magnum_capi.driver.keys import cluster_secrets
from tests.lib import openstack_api
from tests.unit.driver import base
from tests.unit.driver import in_cloud
from tests.unit.driver import small_world
from tests.unit.driver import tls_server
from tests.unit import loopback
import testtools
import yaml

#: Requests to Keystone.
CREATION = 'POST /identity/v3/users'
DELETION = 'DELETE /identity/v3/users'


class LostAnswerTest(base.TestCase):

    def lose(self, times):
        """Keystone's next answers get lost on their way."""
        self.fail_at('repeated', CREATION, times)

    def create_again(self, lost):
        self.lose(lost)
        self.create()

    def applied(self):
        """Number of the credential that the cluster reads."""
        return [made.id for made in self.w.cloud.made].index(
            cluster_secrets.applied_id(self.secrets().credentials()))

    def secrets(self):
        return cluster_secrets.ClusterSecrets(
            self.w.runtime.kube, small_world.NAMESPACE, self.w.row())

    def record(self):
        return self.secrets().state().record

    def names(self):
        return {entry.name for entry in self.record()}

    def test_the_lost_one_goes_and_another_is_made(self):
        self.create_again(lost=1)
        self.assertEqual([1], self.w.credentials())
        self.assertEqual(1, self.applied())
        self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)
        self.assertIn('answer was lost', self.logger.output)
        for made in self.w.cloud.made:
            self.assertNotIn(made.secret, self.logger.output)

    def test_rotation_too(self):
        self.created()
        self.lose(1)
        self.operations().rotate('u1')
        self.assertEqual([0, 2], self.w.credentials())
        self.assertEqual(2, self.applied())

    def test_the_name_stays_recorded_until_there_is_an_id(self):
        recorded = []
        self.fail_at('meanwhile', DELETION, act=lambda: recorded.append(
            [(e.name, e.id) for e in self.record()]))
        self.create_again(lost=1)
        (name,) = self.names()
        self.assertEqual([[(name, None)]], recorded)
        self.assertEqual([1], self.w.credentials())
        self.assertEqual(name, self.w.cloud.made[1].name)

    def test_only_this_name_of_this_user_goes(self):
        others = {
            # The same user's: of another cluster, of this one, no driver's.
            'id-a': (app_credentials.name('another', 'ab'), 'u1'),
            'id-b': (app_credentials.name(small_world.CLUSTER, 'ab'), 'u1'),
            'id-c': ('mine', 'u1')}
        for made, entry in others.items():
            self.there(made, *entry)
        self.fail_at('meanwhile', DELETION, act=lambda: self.there(
            'id-d', self.w.cloud.made[0].name, 'u2'))
        self.create_again(lost=1)
        self.assertEqual({*others, 'id-d', self.w.cloud.made[1].id},
                         set(self.w.cloud.credentials))

    def there(self, made, name, user):
        """A credential that somebody else made."""
        self.w.cloud.credentials[made] = openstack_api.Credential(
            made, name, user, small_world.PROJECT, ('member',), False, 's')

    def test_it_is_not_tried_for_ever(self):
        e = self.assertRaises(failures.Failed, self.create_again, lost=9)
        self.assertIn('Refused: the application credential', str(e))
        self.assertEqual(3, len(self.w.cloud.made))
        # Its name is recorded, so that it goes with the cluster.
        self.assertEqual(self.names(), {
            made.name for made in self.w.cloud.credentials.values()})
        self.operations().delete()
        self.check_status()
        self.assertEqual({}, self.w.cloud.credentials)

    def deletion_fails(self, kind, text):
        self.fail_at(kind, DELETION)
        e = self.assertRaises(failures.Failed, self.create_again, lost=1)
        self.assertIn(text, str(e))
        self.assertIsNone(self.secrets().credentials())
        self.assertEqual([(credentials.PLANNED, None)], [
            (entry.stage, entry.id) for entry in self.record()])
        self.w.doors.clear()
        self.operations().delete()
        self.check_status()
        self.assertEqual({}, self.w.cloud.credentials)

    def test_denied_deletion_is_not_swallowed(self):
        self.deletion_fails('denied', 'No right to the application cred')

    def test_deletion_without_an_answer_is_not_swallowed(self):
        self.deletion_fails('busy', 'No answer about the application cred')

    def test_who_lost_the_lock_leaves_what_its_heir_made(self):
        def heir():
            # Another conductor went on with the record, up to here.
            before = self.secrets().state()
            self.there('id-0', before.record[-1].name, 'u1')
            record = credentials.changed(
                before.record, before.record[-1], stage=credentials.MADE,
                id='id-0')
            self.secrets().write_state(
                dataclasses.replace(before, record=record))
        self.fail_at('meanwhile', CREATION, act=heir)
        self.assertRaises(failures.Failed, self.create)
        self.assertEqual({'id-0'}, set(self.w.cloud.credentials))


class CheckTest(testtools.TestCase):

    def check(self, status, **changes):
        """Ask a Keystone that answers with a status."""
        cloud = self.useFixture(in_cloud.Cloud()).cloud
        if status == 201:
            cloud.credentials['an-id'] = openstack_api.Credential(
                'an-id', 'its name', in_cloud.USER, in_cloud.PROJECT,
                ('member',), False, 'a-secret')
        else:
            cloud.answers['POST', '/auth/tokens'] = status, {}
        clouds = cluster_secrets.clouds(
            'an-id', 'a-secret', auth_url=f'{openstack_api.URL}/identity/v3',
            region=None, interface='public', verify=True)
        text = yaml.safe_dump(clouds | changes).encode()
        found = app_credentials.check(
            {'clouds.yaml': base64.b64encode(text).decode()}, None, 5)
        return found, [body for _, _, _, body in cloud.seen]

    def test_what_keystone_answers(self):
        for status, expected in (
                (201, credentials.VALID), (401, credentials.INVALID),
                (404, credentials.INVALID), (403, credentials.UNKNOWN),
                (400, credentials.UNKNOWN), (500, credentials.UNKNOWN)):
            found, asked = self.check(status)
            self.assertEqual(expected, found, status)
            self.assertEqual(
                ('an-id', 'a-secret'), tuple(
                    asked[0]['auth']['identity']['application_credential'][
                        key] for key in ('id', 'secret')))

    def test_who_has_none_asks_nobody(self):
        self.assertEqual((credentials.UNKNOWN, []),
                         self.check(201, clouds={}))

    def test_authorities_are_those_of_the_cluster(self):
        # Magnum's own change when the cloud gets a new certificate.
        class Refusing(loopback.Handler):
            def do_POST(self):
                self.answer(401, {})

        servers = [self.useFixture(tls_server.TlsServer(handler=Refusing))
                   for _ in range(2)]
        folder = self.useFixture(fixtures.TempDir()).path
        self.useFixture(fixtures.WarningsFilter([{
            'action': 'ignore', 'category': exceptions.SecurityWarning}]))
        for own, magnums, verify, expected in (
                (0, 1, True, credentials.INVALID),
                (1, 0, True, credentials.UNTRUSTED),
                (1, 0, False, credentials.INVALID),
                (None, 0, True, credentials.INVALID)):
            text = yaml.safe_dump(cluster_secrets.clouds(
                'an-id', 'a-secret', auth_url=f'{servers[0].url}/v3',
                region=None, interface='public', verify=verify))
            data = {cluster_secrets.CLOUDS: text}
            if own is not None:
                data[cluster_secrets.CACERT] = servers[own].ca
            path = pathlib.Path(folder) / 'ca.pem'
            path.write_text(servers[magnums].ca)
            self.assertEqual(expected, app_credentials.check(
                {key: base64.b64encode(value.encode()).decode()
                 for key, value in data.items()}, str(path), 5))

    def test_keystone_that_is_away(self):
        plain = loopback.start(self, loopback.Handler)
        for url in ('http://127.0.0.1:1',
                    # That says nothing about certificates.
                    plain.replace('http:', 'https:')):
            text = yaml.safe_dump(cluster_secrets.clouds(
                'an-id', 'a-secret', auth_url=f'{url}/v3',
                region=None, interface='public', verify=True))
            self.assertEqual(credentials.UNKNOWN, app_credentials.check({
                'clouds.yaml': base64.b64encode(text.encode()).decode()},
                None, 5))
