# SPDX-License-Identifier: Apache-2.0

"""Every method of every client: what it sends, and what it returns."""

import inspect

from tempest.lib import exceptions as lib_exc
import testtools

from magnum_capi_tempest import services
from tests.unit.services import scripted_magnum

PATCH = [{'op': 'replace', 'path': '/name', 'value': 'n'}]

#: (client, method, arguments, keywords) -> (HTTP method, path, body, status).
#: Status codes: magnum 23.0.0, the expose decorators of
#: magnum/api/controllers/v1/*.py.
CALLS = (
    ('CertificatesClient', 'show_ca_certificate', ('c',), {},
     'GET', '/v1/certificates/c', None, 200),
    ('CertificatesClient', 'show_ca_certificate', ('c',),
     {'ca_cert_type': 'etcd'},
     'GET', '/v1/certificates/c?ca_cert_type=etcd', None, 200),
    ('CertificatesClient', 'create_certificate', (),
     {'cluster_uuid': 'u', 'csr': 'r'},
     'POST', '/v1/certificates', {'cluster_uuid': 'u', 'csr': 'r'}, 201),
    ('CertificatesClient', 'rotate_ca_certificate', ('c',), {},
     'PATCH', '/v1/certificates/c', None, 202),
    ('ClusterTemplatesClient', 'create_cluster_template', (), {'coe': 'k'},
     'POST', '/v1/clustertemplates', {'coe': 'k'}, 201),
    ('ClusterTemplatesClient', 'list_cluster_templates', (), {'limit': 2},
     'GET', '/v1/clustertemplates?limit=2', None, 200),
    ('ClusterTemplatesClient', 'list_cluster_templates_detail', (),
     {'marker': 'm'},
     'GET', '/v1/clustertemplates/detail?marker=m', None, 200),
    ('ClusterTemplatesClient', 'show_cluster_template', ('t',), {},
     'GET', '/v1/clustertemplates/t', None, 200),
    ('ClusterTemplatesClient', 'update_cluster_template', ('t', PATCH), {},
     'PATCH', '/v1/clustertemplates/t', PATCH, 200),
    ('ClusterTemplatesClient', 'delete_cluster_template', ('t',), {},
     'DELETE', '/v1/clustertemplates/t', None, 204),
    ('ClustersClient', 'create_cluster', (), {'name': 'n'},
     'POST', '/v1/clusters', {'name': 'n'}, 202),
    ('ClustersClient', 'list_clusters', (), {'sort_key': 'name'},
     'GET', '/v1/clusters?sort_key=name', None, 200),
    ('ClustersClient', 'list_clusters_detail', (), {},
     'GET', '/v1/clusters/detail', None, 200),
    ('ClustersClient', 'show_cluster', ('c',), {},
     'GET', '/v1/clusters/c', None, 200),
    ('ClustersClient', 'update_cluster', ('c', PATCH), {},
     'PATCH', '/v1/clusters/c', PATCH, 202),
    ('ClustersClient', 'resize_cluster', ('c',), {'node_count': 2},
     'POST', '/v1/clusters/c/actions/resize', {'node_count': 2}, 202),
    ('ClustersClient', 'upgrade_cluster', ('c',), {'cluster_template': 't'},
     'POST', '/v1/clusters/c/actions/upgrade', {'cluster_template': 't'},
     202),
    ('ClustersClient', 'rotate_credential', ('c',), {},
     'PATCH', '/v1/credentials/c', None, 202),
    ('ClustersClient', 'delete_cluster', ('c',), {},
     'DELETE', '/v1/clusters/c', None, 204),
    ('MservicesClient', 'list_mservices', (), {},
     'GET', '/v1/mservices', None, 200),
    ('NodegroupsClient', 'create_nodegroup', ('c',), {'name': 'n'},
     'POST', '/v1/clusters/c/nodegroups', {'name': 'n'}, 202),
    ('NodegroupsClient', 'list_nodegroups', ('c',), {'role': 'worker'},
     'GET', '/v1/clusters/c/nodegroups?role=worker', None, 200),
    ('NodegroupsClient', 'show_nodegroup', ('c', 'g'), {},
     'GET', '/v1/clusters/c/nodegroups/g', None, 200),
    ('NodegroupsClient', 'update_nodegroup', ('c', 'g', PATCH), {},
     'PATCH', '/v1/clusters/c/nodegroups/g', PATCH, 202),
    ('NodegroupsClient', 'delete_nodegroup', ('c', 'g'), {},
     'DELETE', '/v1/clusters/c/nodegroups/g', None, 204),
)


class ClientsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.magnum = self.useFixture(scripted_magnum.ScriptedMagnum())

    def call(self, client, method, args, kwargs, status):
        self.magnum.answers = [(status, {'uuid': 'u'})]
        return getattr(self.magnum.client(client), method)(*args, **kwargs)

    def test_requests(self):
        for client, method, args, kwargs, *expected, status in CALLS:
            answer = self.call(client, method, args, kwargs, status)

            sent = self.magnum.requests[-1]
            self.assertEqual(
                expected, [sent.method, sent.path, sent.body], method)
            self.assertEqual({} if status == 204 else {'uuid': 'u'}, answer)

    def test_another_status_is_not_success(self):
        for client, method, args, kwargs, *_, status in CALLS:
            other = 201 if status == 200 else 200

            self.assertRaises(
                lib_exc.InvalidHttpSuccessCode, self.call, client, method,
                args, kwargs, other)

    def test_the_table_names_every_method(self):
        methods = {
            (name, method) for name in services.__all__
            for method, _ in inspect.getmembers(
                getattr(services, name), inspect.isfunction)
            if '_' in method and method.split('_')[0] in (
                'create', 'list', 'show', 'update', 'delete', 'resize',
                'upgrade', 'rotate')}

        self.assertEqual(methods, {call[:2] for call in CALLS})

    def test_names_are_quoted(self):
        self.call('ClustersClient', 'show_cluster', ('a/b c?',), {}, 200)

        self.assertEqual('/v1/clusters/a%2Fb%20c%3F',
                         self.magnum.requests[-1].path)

    def test_refusals_keep_the_text_of_magnum(self):
        self.magnum.answers = [(400, {'errors': [
            {'title': 'Invalid', 'detail': 'Unable to find flavor x.'}]})]

        error = self.assertRaises(
            lib_exc.BadRequest,
            self.magnum.client('ClustersClient').create_cluster, name='n')

        self.assertIn('Unable to find flavor x.', str(error))


class MicroversionTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.magnum = self.useFixture(scripted_magnum.ScriptedMagnum())
        self.magnum.answers = [(200, {})]

    def sent(self):
        return self.magnum.requests[-1].headers['OpenStack-API-Version']

    def test_none_sends_no_header(self):
        self.magnum.client('ClustersClient').show_cluster('c')

        self.assertIsNone(self.sent())

    def test_that_of_the_call_wins(self):
        self.magnum.client(
            'ClustersClient', microversion='1.9').show_cluster(
                'c', microversion='1.14')

        self.assertEqual('container-infra 1.14', self.sent())
