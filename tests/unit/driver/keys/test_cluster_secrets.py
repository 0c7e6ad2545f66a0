# SPDX-License-Identifier: Apache-2.0

"""What is in a cluster's Secrets, written and read."""

import base64
import dataclasses
import datetime
import json

from cryptography.hazmat.primitives import serialization
import testtools
import yaml

from magnum_capi.driver.desired import credentials
from magnum_capi.driver.desired import state as state_module
from magnum_capi.driver.keys import cluster_secrets
from magnum_capi.kube import lease
from tests.lib import kube_server
from tests.unit.driver import base
from tests.unit.driver import small_world

#: The state of a cluster as the driver wrote it before it had a schema.
YESTERDAY = {
    'operation': 'UPDATE', 'since': '2026-11-21T15:00:00+00:00',
    'applied': ['g1'], 'batch': 2,
    'kept': {'values': {'kubernetesVersion': '1.34.2'},
             'chart': {'name': 'c', 'repository': None, 'version': '1.0.0',
                       'digest': None},
             'template': 't1', 'default_labels': {}, 'images': {},
             'rows': 'r1'},
    'failing': {'machines/m1': '2026-11-21T15:01:00+00:00'},
    'progress': {'at': '2026-11-21T15:01:00+00:00',
                 'looked': '2026-11-21T15:01:00+00:00',
                 'left': {'cluster': ['', 1]}},
    'failed': '', 'marked': ['m1'], 'sizes': {'g1': 3},
    'held': {'g1': ['i1', '1.34.2']}, 'adopted': None,
    'former': {'kept': {'values': {'kubernetesVersion': '1.33.9'},
                        'chart': None, 'template': 't0',
                        'default_labels': None, 'images': {}, 'rows': ''},
               'images': {'g1': 'i1'}, 'held': {'g2': ['i0', '1.33.9']},
               'in_rows': True},
    'record': [{'name': 'n1', 'user_id': 'u1', 'stage': 'applied',
                'id': 'id-1', 'applied_at': '2026-11-21T15:00:00+00:00',
                'outgoing': False}],
    'secrets': {'n1': 'geheim'}}


def secret(text):
    return {cluster_secrets.CLOUDS: base64.b64encode(text.encode()).decode()}


class CloudsTest(testtools.TestCase):

    def clouds(self, **kwargs):
        return cluster_secrets.clouds('an-id', 'a-secret', **{
            'auth_url': 'https://keystone/v3', 'region': None,
            'interface': 'internal', 'verify': False, **kwargs})

    def test_all_that_clients_of_openstack_need(self):
        expected = {
            'auth_type': 'v3applicationcredential',
            'auth': {'auth_url': 'https://keystone/v3',
                     'application_credential_id': 'an-id',
                     'application_credential_secret': 'a-secret'},
            'identity_api_version': 3, 'interface': 'internal',
            'verify': False}
        self.assertEqual({'clouds': {'openstack': expected}}, self.clouds())
        self.assertEqual('an-id', cluster_secrets.applied_id(
            secret(yaml.safe_dump(self.clouds()))))
        self.assertEqual(
            {'clouds': {'openstack': {**expected, 'region_name': 'one'}}},
            self.clouds(region='one'))

    def test_what_cannot_be_read_is_no_credential(self):
        for data in ({}, {cluster_secrets.CLOUDS: None},
                     {cluster_secrets.CLOUDS: 'a'},
                     secret('clouds: ['), secret('[]'), secret('a: b'),
                     secret('clouds: {openstack: {auth: 7}}')):
            self.assertEqual(({}, None), (
                cluster_secrets.auth(data),
                cluster_secrets.applied_id(data)), data)


class StateTest(base.TestCase):
    """The driver's state is only written over what was read."""

    def secrets(self):
        return cluster_secrets.ClusterSecrets(
            self.w.runtime.kube, small_world.NAMESPACE, self.w.row())

    def written(self, **fields):
        """Who had the lock, its Secrets and what it read, once it is lost."""
        ours = self.secrets()
        state = ours.write_state(state_module.State(operation='CREATE'))
        theirs = self.secrets()
        theirs.write_state(dataclasses.replace(theirs.state(), **fields))
        return ours, state

    def test_newer_record_of_credentials_is_not_overwritten(self):
        # The write of who holds the lock may take as long as the lock lasts.
        entry = credentials.Entry('theirs', 'u1')
        ours, state = self.written(record=(entry,))

        self.assertRaises(lease.LockLost, ours.write_state,
                          dataclasses.replace(state, operation='UPDATE'))

        self.assertEqual(((entry,), 'CREATE'), (
            self.secrets().state().record, self.secrets().state().operation))

    def test_state_that_another_process_made_first_is_kept(self):
        self.written()
        self.assertRaises(lease.LockLost, self.secrets().write_state,
                          state_module.State(operation='DELETE'))

    def test_state_that_was_removed_is_not_made_again(self):
        ours, state = self.written()
        self.secrets().remove()
        self.assertRaises(lease.LockLost, ours.write_state, state)
        self.assertIsNone(self.secrets().state().version)

    def test_write_whose_answer_was_lost_is_ours(self):
        state = self.secrets().write_state(state_module.State())
        after = dataclasses.replace(state, operation='UPDATE')
        put = kube_server._Request._put

        def losing(request, path, query, body):
            if '/secrets/' in path and self.api.objects[path].get(
                    'data') != body['data']:
                self.api.put(path, body)
                return request.hang_up()
            return put(request, path, query, body)
        self.patch(kube_server._Request, '_put', losing)

        written = self.secrets().write_state(after)

        self.assertEqual(after, self.secrets().state())
        self.assertEqual(written.version, self.secrets().state().version)

    def test_requests_are_numbered(self):
        state = state_module.State()
        for number in 1, 2:
            state = self.secrets().write_state(state_module.begun(
                state, 'UPDATE', small_world.NOW))
            self.assertEqual(number, self.secrets().state().generation)

    def test_state_of_yesterday_is_read(self):
        path = (f'/api/v1/namespaces/{small_world.NAMESPACE}/secrets/'
                f'{small_world.RELEASE}-magnum')
        self.api.put(path, {'data': {state_module.KEY: base64.b64encode(
            json.dumps(YESTERDAY).encode()).decode()}})

        state = self.secrets().state()

        began = datetime.datetime(
            2026, 11, 21, 15, tzinfo=datetime.timezone.utc)
        self.assertEqual(
            ('UPDATE', began, {'g1'}, 2, '1.34.2', ('m1',), {'g1': 3},
             {'g1': ('i1', '1.34.2')}, 'id-1', {'n1': 'geheim'}, 0),
            (state.operation, state.since, set(state.applied), state.batch,
             state.values['kubernetesVersion'], state.marked, state.sizes,
             state.deferred, state.record[0].id, state.secrets,
             state.generation))
        written = self.secrets().write_state(state)
        self.assertEqual(state, self.secrets().state())
        self.assertEqual(written.version, self.secrets().state().version)
        # Conductors of an earlier release read it, too.
        content = json.loads(base64.b64decode(
            self.api.objects[path]['data'][state_module.KEY]))
        self.assertEqual(YESTERDAY, {
            key: value for key, value in content.items()
            if key in YESTERDAY})


class KeyPairTest(testtools.TestCase):

    def test_as_cluster_api_makes_it(self):
        public, private = (
            text.encode() for text in cluster_secrets.key_pair())
        key = serialization.load_pem_private_key(private, None)
        self.assertEqual((2048, 65537), (
            key.key_size, key.public_key().public_numbers().e))
        self.assertTrue(private.startswith(b'-----BEGIN RSA PRIVATE KEY'))
        self.assertEqual(
            key.public_key(), serialization.load_pem_public_key(public))
