# SPDX-License-Identifier: Apache-2.0

import types

import fixtures
from tempest.lib import exceptions as lib_exc
import testtools

from magnum_capi import errors
from magnum_capi_tempest.tests.common import factories
from magnum_capi_tempest.tests.common import waiters
from tests.unit import fake_clock
from tests.unit.services import scripted_magnum

CONF = types.SimpleNamespace(
    resource_name_prefix='prefix',
    magnum_capi=types.SimpleNamespace(
        image_id='i', flavor_id='f', master_flavor_id='',
        external_network='n', network_driver='calico',
        master_lb_enabled=True, labels={'a': 'b'}, dns_nameserver='',
        driver='', master_count=1, node_count=2, artifact_dir=''))


class TemplateBodyTest(testtools.TestCase):

    def test_labels_are_added_to_those_that_the_cloud_needs(self):
        for labels, found in (({'c': 'd'}, {'a': 'b', 'c': 'd'}),
                              ({'a': 'c'}, {'a': 'c'}),
                              # One that the cloud has, and a test must not.
                              ({'a': None, 'c': 'd'}, {'c': 'd'}),
                              ('a=b', 'a=b')):
            self.assertEqual(found, factories.template_body(
                CONF, labels=labels)['labels'])
        self.assertNotIn('labels', factories.template_body(CONF, labels=None))

    def test_labels_are_not_shared(self):
        factories.template_body(CONF)['labels']['c'] = 'd'

        self.assertEqual({'a': 'b'}, CONF.magnum_capi.labels)

    def test_cluster_names_suit_every_driver(self):
        # magnum-capi-helm cuts at 30, and a name that then ends with "-"
        # never completes
        for _ in range(9):
            self.assertLessEqual(len(factories.name(
                types.SimpleNamespace(resource_name_prefix='tempest'),
                'cluster')), 30)


class CleanupTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.FakeLogger())
        self.script = self.useFixture(scripted_magnum.ScriptedMagnum())
        self.cleanups, self.recorded = [], []
        clusters = self.script.client('ClustersClient')
        self.magnum = types.SimpleNamespace(
            clusters=clusters,
            templates=self.script.client('ClusterTemplatesClient'))
        self.waiter = waiters.ClusterWaiter(
            clusters, None, interval=1, timeout=9,
            clock=fake_clock.FakeClock())

    def cleanup(self, function, *args):
        self.cleanups.append((function, args))

    def run_cleanup(self):
        function, args = self.cleanups.pop()
        return function(*args)

    def sent(self):
        return [(r.method, r.path) for r in self.script.requests]

    def request_cluster(self):
        return factories.request_cluster(
            self.magnum, self.waiter, self.cleanup, {'name': 'n'},
            self.recorded.append)

    def create_template(self, body, not_promised=()):
        return factories.create_template(
            types.SimpleNamespace(
                magnum_capi=types.SimpleNamespace(
                    not_promised=not_promised)),
            self.magnum, self.cleanup, body)

    def test_template_names_its_driver(self):
        self.script.answers = [(201, {'uuid': 't', 'driver': 'k8s_one'})]

        self.create_template({'name': 'n', 'driver': 'k8s_one'})

        self.assertEqual({'name': 'n', 'driver': 'k8s_one'},
                         self.script.requests[0].body)

    def test_older_magnums_get_the_driver_by_an_update(self):
        self.script.answers = [(201, {'uuid': 't', 'driver': None}),
                               (200, {'uuid': 't', 'driver': 'k8s_one'})]

        template = self.create_template(
            {'name': 'n', 'driver': 'k8s_one'},
            not_promised=['magnum.template'])

        self.assertEqual('k8s_one', template['driver'])
        self.assertEqual(
            [{'name': 'n'},
             [{'op': 'replace', 'path': '/driver', 'value': 'k8s_one'}]],
            [r.body for r in self.script.requests])

    def test_the_image_has_named_the_driver(self):
        self.script.answers = [(201, {'uuid': 't', 'driver': 'k8s_one'})]

        self.create_template({'driver': 'k8s_one'},
                             not_promised=['magnum.template'])

        self.assertEqual(1, len(self.script.requests))

    def test_template_that_is_gone_already_is_no_error(self):
        self.script.answers = [(201, {'uuid': 't'}), (404, {})]
        self.create_template({})

        self.assertIsNone(self.run_cleanup())

    def test_cluster_is_waited_for_until_magnum_knows_it(self):
        self.script.answers = [(202, {'uuid': 'c'}), (404, {}), (404, {}),
                               (200, {'status': 'CREATE_IN_PROGRESS'})]

        self.assertEqual('c', self.request_cluster())
        self.assertEqual(4, len(self.sent()))

    def test_cluster_is_deleted_and_waited_for_in_the_end(self):
        self.script.answers = [
            (202, {'uuid': 'c'}), (200, {'status': 'CREATE_FAILED'}),
            (200, {'status': 'CREATE_FAILED'}), (204, None),
            (200, {'status': 'DELETE_IN_PROGRESS'}), (404, {})]
        self.request_cluster()

        self.run_cleanup()

        self.assertEqual([('DELETE', '/v1/clusters/c'),
                          ('GET', '/v1/clusters/c'),
                          ('GET', '/v1/clusters/c')], self.sent()[-3:])

    def test_cluster_that_cannot_be_deleted_is_an_error(self):
        self.script.answers = [
            (202, {'uuid': 'c'}), (200, {'status': 'CREATE_COMPLETE'}),
            (200, {'status': 'CREATE_COMPLETE'}), (204, None),
            (200, {'status': 'DELETE_FAILED'})]
        self.request_cluster()

        self.assertRaises(errors.WaitAborted, self.run_cleanup)

    def test_cluster_that_is_gone_already_is_no_error(self):
        self.script.answers = [
            (202, {'uuid': 'c'}), (200, {'status': 'CREATE_COMPLETE'}),
            (404, {})]
        self.request_cluster()

        self.assertIsNone(self.run_cleanup())

    def accepted_but_unknown(self, *answers):
        """A cluster that Magnum has not stored within the first wait."""
        self.script.answers = [(202, {'uuid': 'c'}), (404, {})]
        self.assertRaises(errors.WaitTimeout, self.request_cluster)
        self.script.answers = [*answers]
        self.script.requests.clear()

    def test_cluster_that_is_stored_late_is_deleted(self):
        self.accepted_but_unknown(
            (404, {}), (404, {}), (404, {}), (404, {}),
            (200, {'status': 'CREATE_IN_PROGRESS'}),
            (200, {'status': 'CREATE_IN_PROGRESS'}), (204, None),
            (200, {'status': 'DELETE_IN_PROGRESS'}), (404, {}))

        self.assertEqual(['c'], self.recorded)
        self.run_cleanup()

        self.assertEqual([], self.script.answers[1:])
        self.assertEqual(('DELETE', '/v1/clusters/c'), self.sent()[-3])

    def test_cluster_that_is_never_stored_is_reported(self):
        self.accepted_but_unknown((404, {}))

        error = self.assertRaises(errors.WaitTimeout, self.run_cleanup)

        self.assertIn('cluster c, which was accepted', str(error))

    def requested(self, *answers):
        self.script.answers = [(202, {'uuid': 'c'}),
                               (200, {'status': 'CREATE_COMPLETE'}), *answers]
        self.request_cluster()

    def test_cluster_that_cannot_be_shown_is_deleted(self):
        # This answer passes, but here it does not do so within the wait.
        self.requested((400, {'errors': [{'detail': (
            'Invalid input for field/attribute master_count')}]}))

        self.assertRaises(lib_exc.BadRequest, self.run_cleanup)
        self.assertIn(('DELETE', '/v1/clusters/c'), self.sent())

    def test_cluster_is_deleted_after_an_error_of_the_look(self):
        self.requested((500, {'errors': []}), (204, None),
                       (200, {'status': 'DELETE_FAILED'}),
                       (200, {'status': 'DELETE_IN_PROGRESS'}), (404, {}))

        self.run_cleanup()

        self.assertEqual(
            ['DELETE', 'GET', 'GET', 'GET'],
            [method for method, _ in self.sent()][-4:])


class KeypairTest(testtools.TestCase):

    def test_only_a_public_key_is_sent(self):
        made, cleanups = {}, []
        client = types.SimpleNamespace(
            create_keypair=made.update, delete_keypair='delete')

        name = factories.create_keypair(
            types.SimpleNamespace(keypairs_client=client),
            lambda *args: cleanups.append(args), CONF, 'm.T.test_x')

        self.assertEqual(name, made['name'])
        self.assertRegex(made['public_key'], '^ssh-ed25519 ')
        self.assertEqual(('delete', name), cleanups[0][1:])
