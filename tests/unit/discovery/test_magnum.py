# SPDX-License-Identifier: Apache-2.0
"""What the filter calls in Magnum's process, with doubles of Magnum's modules.

tests/functional/discovery makes the same calls in real Magnums.
"""

import sys
import types
from unittest import mock

import fixtures
from keystoneauth1 import exceptions
import testtools

from magnum_capi.discovery import answers
from magnum_capi.discovery import images
from magnum_capi.discovery import magnum

UUID = '8bd1b1a8-4b1c-4d5e-9c1e-1f0d5a1d6b7c'
FIELDS = {'uuid': UUID, 'driver': 'd', 'image_id': 'i', 'server_type': 'vm',
          'cluster_distro': 'ubuntu', 'coe': 'kubernetes'}


class MagnumException(Exception):
    code = 403


class MagnumTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.user = types.SimpleNamespace(
            is_admin=False, all_tenants=False, auth_token='t',
            auth_token_info={'token': {}})
        self.template = mock.Mock(
            spec=[*FIELDS, 'as_dict', 'save', 'destroy', 'other'], **FIELDS)
        self.template.as_dict.return_value = {'all': 'fields'}
        self.cluster = mock.Mock(uuid='c', cluster_template_id=UUID,
                                 project_id='p', user_id='u')
        self.enforce = mock.Mock()
        self.options = types.SimpleNamespace(
            endpoint_type='publicURL', region_name='R')
        self.objects = mock.Mock()
        self.objects.ClusterTemplate.get_by_uuid.return_value = self.template
        self.objects.ClusterTemplate.get_by_name.return_value = self.template
        self.objects.Cluster.get_by_name.return_value = self.cluster
        self.clients = mock.Mock()
        common = types.SimpleNamespace(
            policy=types.SimpleNamespace(enforce=self.enforce),
            exception=types.SimpleNamespace(MagnumException=MagnumException),
            clients=types.SimpleNamespace(OpenStackClients=self.clients),
            context=types.SimpleNamespace(
                make_admin_context=lambda all_tenants: (
                    'admin', all_tenants)))
        double = types.SimpleNamespace(
            common=common, objects=self.objects,
            api=types.SimpleNamespace(hooks=types.SimpleNamespace(
                ContextHook=lambda: types.SimpleNamespace(
                    before=self.before))),
            conf=types.SimpleNamespace(CONF=types.SimpleNamespace(
                glance_client=self.options)))
        patched = mock.patch.dict(sys.modules, {
            'magnum': double, 'magnum.common': common,
            'magnum.api': double.api, 'magnum.conf': double.conf})
        patched.start()
        self.addCleanup(patched.stop)
        self.calls = magnum.Magnum({'HTTP_X_AUTH_TOKEN': 't'})

    def before(self, state):
        self.assertEqual('t', state.request.headers['X-Auth-Token'])
        self.assertEqual({'HTTP_X_AUTH_TOKEN': 't'}, state.request.environ)
        state.request.context = self.user

    def refused(self, status, call, *args):
        e = self.assertRaises(answers.Refused, call, *args)
        self.assertEqual(status, e.status)

    def enforced(self):
        return [(*call.args[1:], call.kwargs)
                for call in self.enforce.call_args_list]

    def test_permit(self):
        self.calls.permit('cluster:create')
        self.enforce.assert_called_once_with(
            self.user, 'cluster:create', action='cluster:create')
        self.enforce.side_effect = MagnumException('no')
        self.refused(403, self.calls.permit, 'cluster:create')

    def test_template(self):
        kind = self.objects.ClusterTemplate
        for ident, find in ((UUID, kind.get_by_uuid),
                            ('mine', kind.get_by_name)):
            self.assertEqual(FIELDS, self.calls.template_to_upgrade_to(ident))
            find.assert_called_once_with(self.user, ident)
        # oslo.db has an error of its own for it, without a status.
        kind.get_by_name.side_effect = Exception('Invalid Parameter')
        kind.get.side_effect = kind.get_by_name.side_effect
        for read in (self.calls.template_to_create_with,
                     self.calls.template_to_upgrade_to):
            self.refused(404, read, '\ud800')

    def test_template_to_update(self):
        action = 'clustertemplate:update'
        self.assertEqual(FIELDS, self.calls.template_to_update('mine'))
        self.assertEqual([(action, {'all': 'fields'}, {'action': action})],
                         self.enforced())
        self.assertFalse(self.user.all_tenants)
        self.enforce.side_effect = MagnumException('no')
        self.refused(403, self.calls.template_to_update, 'mine')

    def test_an_administrator_sees_all_projects(self):
        self.user.is_admin = True
        self.calls.template_to_update('mine')
        everywhere = 'clustertemplate:update_all_projects'
        self.assertEqual((everywhere, {'action': everywhere}),
                         self.enforced()[0])
        self.assertTrue(self.user.all_tenants)

    def test_cluster_to_upgrade(self):
        self.assertEqual(('c', FIELDS), self.calls.cluster_to_upgrade('mine'))
        # The template as nobody but the conductor sees it.
        self.objects.ClusterTemplate.get_by_uuid.assert_called_once_with(
            ('admin', True), UUID)
        self.assertEqual(
            [('cluster:upgrade', {'project_id': 'p', 'user_id': 'u'},
              {'action': 'cluster:upgrade'})], self.enforced())

    def test_a_new_template(self):
        self.calls.set_decided(UUID, 'other', 'flatcar')
        self.assertEqual(('other', 'flatcar'), (
            self.template.driver, self.template.cluster_distro))
        self.template.save.assert_called_once_with()
        self.calls.delete_template(UUID)
        self.template.destroy.assert_called_once_with()

    def test_image(self):
        made = self.clients.return_value
        for more, verify in (
                ({}, None), ({'insecure': False, 'ca_file': None}, None),
                ({'insecure': False, 'ca_file': '/ca'}, '/ca'),
                ({'insecure': True, 'ca_file': '/ca'}, False)):
            self.options.__dict__.update(more)
            glance = self.useFixture(fixtures.MockPatchObject(
                images, 'Glance')).mock
            self.assertIs(glance.return_value.read.return_value,
                          self.calls.image('i'))
            glance.assert_called_once_with(
                made.keystone.return_value.session,
                made.url_for.return_value, verify)
            glance.return_value.read.assert_called_once_with('i')
        self.clients.assert_called_with(self.user)
        made.url_for.assert_called_with(
            service_type='image', interface='publicURL', region_name='R')

    def test_image_of_no_service(self):
        self.clients.return_value.url_for.side_effect = (
            exceptions.EndpointNotFound)
        self.refused(503, self.calls.image, 'i')

    def test_image_without_a_token(self):
        for missing in ('auth_token', 'auth_token_info'):
            with mock.patch.object(self.user, missing, None):
                self.refused(401, self.calls.image, 'i')
        self.clients.assert_not_called()
