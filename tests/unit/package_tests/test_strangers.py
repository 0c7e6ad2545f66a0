# SPDX-License-Identifier: Apache-2.0

"""What is known of an admin's cluster that failed, its owner has to ask."""

import types

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.leaks import model
from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import operations
from magnum_capi_tempest.tests.driver import test_strangers
from tests.unit.package_tests import test_base


class EvidenceTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.asked = []
        self.patch(f'{base.__name__}.CONF', types.SimpleNamespace(
            magnum_capi=test_base.Options(
                log_files=[], log_command='', artifact_dir=''),
            magnum_capi_feature_enabled=test_base.Options(
                workload_api=True)))
        self.patch(f'{base.__name__}.details.collect', self._collect)
        self.patch(f'{operations.__name__}.BaseOperationsTest.'
                   'resource_setup', classmethod(lambda cls: None))
        for name in ('create_template', 'template_body', 'create_keypair',
                     'cluster_body'):
            self.patch(f'{test_strangers.__name__}.factories.{name}',
                       lambda *args, **kwargs: {'uuid': 't', 'name': 'n'})
        self.patch(f'{test_strangers.__name__}.factories.request_cluster',
                   self._request_cluster)
        self.recorded = []

    def patch(self, name, value):
        self.useFixture(fixtures.MonkeyPatch(name, value))

    def _request_cluster(self, magnum, waiter, cleanup, body, record):
        record('u')
        return 'u'

    def _collect(self, sources, clusters, seconds, since):
        self.asked.append((sources.magnum, sources.users, clusters))
        return {}

    def test_the_cluster_of_the_admin_fails(self):
        def fail(uuid):
            raise errors.WaitAborted(f'cluster {uuid}')

        class Strangers(test_strangers.StrangersTest):
            admin_magnum = 'magnum of the admin'
            os_admin = types.SimpleNamespace(
                application_credentials_client=types.SimpleNamespace(
                    list_application_credentials=lambda user: {
                        'application_credentials': []}),
                credentials=types.SimpleNamespace(
                    user_id='id of the admin', username='admin'))
            management = None
            _watch = types.SimpleNamespace(
                test='t', add=lambda *args: self.recorded.append(args))
            new_waiter = classmethod(lambda cls, magnum: (
                types.SimpleNamespace(until_created=fail)))

        self.assertRaises(errors.WaitAborted, Strangers.resource_setup)

        self.assertEqual(
            [('magnum of the admin', ('id of the admin', 'admin'), ['u'])],
            self.asked)
        who = Strangers.os_admin.credentials
        self.assertEqual([(model.TEMPLATE, 't', 'n', who),
                          (model.CLUSTER, 'u', 'n', who)], self.recorded)


class AnswerTest(testtools.TestCase):

    def answer(self, status):
        def nodes():
            if status != 200:
                raise kube.KubeError('no', status=status)

        return test_strangers.answer(types.SimpleNamespace(nodes=nodes))[0]

    def test_who_is_refused_has_got_an_answer(self):
        for status in (200, 401, 403):
            self.assertEqual(status, self.answer(status))

    def test_a_load_balancer_that_is_not_ready_is_asked_again(self):
        for status in (None, 503):
            self.assertEqual(0, self.answer(status))

    def test_something_else_is_wrong(self):
        self.assertRaises(kube.KubeError, self.answer, 404)
