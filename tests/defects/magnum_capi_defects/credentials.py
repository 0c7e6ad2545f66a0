# SPDX-License-Identifier: Apache-2.0

"""Defects of credentials and certificates."""

from magnum.common import cert_manager
from magnum import objects
from oslo_log import log as logging

from magnum_capi_defects import doors
from magnum_capi_defects import taps

LOG = logging.getLogger(__name__)

#: A file that makes containerd use a proxy.
_PROXY = '/etc/systemd/system/containerd.service.d/proxy.conf'


@taps.seen_by('SharedClusterTest.test_rotate_credential',
              'as many application credentials as before')
class RotationIgnored(taps.Tapped):
    """A rotation of the credential is accepted, and nothing happens."""

    def rotate_credential(self, context, cluster):
        """Nothing."""


@taps.seen_by('RotateAuthorityTest.test_the_cluster_can_be_used_afterwards',
              'certificate')
class AuthorityHalfRotated(taps.Tapped):
    """A refused rotation leaves Magnum with another authority."""

    def rotate_ca_certificate(self, context, cluster):
        # The driver finds no new authority in this row, and undoes nothing.
        super().rotate_ca_certificate(
            context, objects.Cluster.get_by_uuid(context, cluster.uuid))


class _Created(taps.Tapped):
    """A driver with its own idea of application credentials."""

    def asked(self, credential):
        """Change a credential that is requested, a dict."""

    def made(self, cluster, credential):
        """Use a new credential, a dict with its secret."""

    @staticmethod
    def _is_creation(request):
        return request.method == 'POST' and request.path.endswith(
            '/application_credentials')

    def sends(self, method, cluster, request):
        if self._is_creation(request):
            body = request.json
            self.asked(body['application_credential'])
            request.json = body

    def hears(self, method, cluster, request, answer):
        if self._is_creation(request) and answer.status < 300:
            self.made(cluster, answer.json['application_credential'])


@taps.seen_by('StrangersTest.'
              'test_the_credential_of_an_admins_cluster_is_none_of_an_admin',
              'admin')
class AllRoles(_Created):
    """Clusters may do in the cloud whatever their owner may."""

    def asked(self, credential):
        # Keystone's default are all roles of the user.
        credential.pop('roles', None)


@taps.seen_by('ClusterLifecycleTest.test_create_use_resize_delete',
              'to be created.*(403|orbidden|not allowed|disallowed)',
              infrastructure='openstack')
class ReaderOnly(_Created):
    """Clusters may only read in the cloud."""

    def asked(self, credential):
        credential['roles'] = [{'name': 'reader'}]


@taps.seen_by('StrangersTest.'
              'test_the_credential_of_an_admins_cluster_is_none_of_an_admin',
              'True is not false')
class Unrestricted(_Created):
    """The credential of a cluster can make others."""

    def asked(self, credential):
        credential['unrestricted'] = True


@taps.seen_by('SecretsTest.test_logs_are_without_them',
              'clouds.yaml of Secret')
class SecretLogged(_Created):
    """The log contains the application credential of every cluster."""

    def made(self, cluster, credential):
        LOG.info('Cluster %s reaches the cloud with %s', cluster.uuid,
                 credential)


@taps.seen_by('SecretsTest.test_magnum_answers_without_them',
              'clouds.yaml of Secret')
class SecretTold(_Created):
    """status_reason contains the application credential of a cluster."""

    _secrets = {}

    def made(self, cluster, credential):
        self._secrets[cluster.uuid] = credential['secret']

    def saves(self, method, cluster, row):
        if taps.is_cluster(row) and row.status.endswith('_COMPLETE'):
            row.status_reason = self._secrets.get(row.uuid)


@taps.seen_by('SharedClusterTest.test_rotate_credential',
              'as many application credentials as before')
class OldCredentialKept(taps.Tapped):
    """A rotation adds a credential, and takes none away."""

    def rotate_credential(self, context, cluster):
        super().rotate_credential(context, cluster)
        taps.cloud(context).identity.create_application_credential(
            context.user_id, f'magnum-{cluster.uuid}-old')


@taps.seen_by('MembersTest.test_a_resize_by_another_member_cures_it',
              'to be HEALTHY.*UNHEALTHY|credential')
class RefusedCredentialKept(taps.Tapped):
    """A resize takes a credential for valid that Keystone refuses."""

    def sends(self, method, cluster, request):
        if method != 'resize_cluster' or not request.path.endswith(
                '/auth/tokens'):
            return None
        asked = (request.json or {}).get('auth', {}).get('identity', {})
        if 'application_credential' not in asked.get('methods', ()):
            return None
        answer = doors.Answer(201, headers={'X-Subject-Token': 'a-token'})
        answer.json = {'token': {
            'methods': ['application_credential'], 'user': {'id': 'nobody'},
            'issued_at': '2020-01-01T00:00:00.000000Z',
            'expires_at': '2099-01-01T00:00:00.000000Z'}}
        return answer


@taps.seen_by('ProxyTest.test_password_is_in_secrets_only', 'KubeadmConfig')
class ProxyPasswordTold(taps.Tapped):
    """Passwords of proxies are values of the chart."""

    def values(self, method, cluster, values):
        proxy = cluster.cluster_template.http_proxy
        if proxy:
            for key in ('controlPlane', 'nodeGroupDefaults'):
                spec = values.setdefault(key, {}).setdefault(
                    'kubeadmConfigSpec', {})
                spec.setdefault('files', []).append({
                    'path': _PROXY, 'owner': 'root:root',
                    'permissions': '0600', 'content':
                    f'[Service]\nEnvironment="HTTP_PROXY={proxy}"\n'})
        return values


@taps.seen_by('CompleteTest.test_rotation_does_not_end_a_resize',
              'It is UPDATE_COMPLETE with 1 control plane nodes and 2 '
              'workers, but')
class RotationEndsResize(taps.Tapped):
    """A rotation of the credential ends what is in progress."""

    def rotate_credential(self, context, cluster):
        super().rotate_credential(context, cluster)
        for row in (*cluster.nodegroups, cluster):
            row.status = 'UPDATE_COMPLETE'
            row.save()


@taps.seen_by('StrangersTest.test_have_namespaces_of_their_own',
              'magnum-together')
class ProjectsTogether(taps.Tapped):
    """Secrets of all projects are in one namespace."""

    NAMESPACE = 'magnum-together'

    def create_cluster(self, context, cluster, cluster_create_timeout):
        super().create_cluster(context, cluster, cluster_create_timeout)
        taps.kube('POST', '/api/v1/namespaces', {
            'apiVersion': 'v1', 'kind': 'Namespace',
            'metadata': {'name': self.NAMESPACE}})
        taps.kube('POST', f'/api/v1/namespaces/{self.NAMESPACE}/secrets', {
            'apiVersion': 'v1', 'kind': 'Secret',
            'metadata': {'name': f'{cluster.stack_id}-together'}})

    def delete_cluster(self, context, cluster):
        taps.kube('DELETE', f'/api/v1/namespaces/{self.NAMESPACE}/secrets/'
                            f'{cluster.stack_id}-together')
        super().delete_cluster(context, cluster)


@taps.seen_by('AuthoritiesTest.test_each_is_another', "'ca', 'etcd', 'proxy'")
class OneAuthority(taps.Tapped):
    """etcd and the front proxy trust the authority of the API."""

    def create_cluster(self, context, cluster, cluster_create_timeout):
        cluster.etcd_ca_cert_ref = cluster.ca_cert_ref
        cluster.front_proxy_ca_cert_ref = cluster.ca_cert_ref
        cluster.save()
        super().create_cluster(context, cluster, cluster_create_timeout)


@taps.seen_by('StrangersTest.test_a_certificate_opens_its_own_cluster_only',
              'BEGIN CERTIFICATE')
class OneAuthorityForAll(taps.Tapped):
    """All clusters have the authority of the first one."""

    _first = []

    def create_cluster(self, context, cluster, cluster_create_timeout):
        manager = cert_manager.get_backend().CertManager
        if not self._first:
            self._first.append(manager.get_cert(
                cluster.ca_cert_ref, context=context))
        else:
            first, = self._first
            cluster.ca_cert_ref = manager.store_cert(
                certificate=first.get_certificate(),
                private_key=first.get_private_key(),
                private_key_passphrase=first.get_private_key_passphrase(),
                context=context)
            cluster.save()
        super().create_cluster(context, cluster, cluster_create_timeout)
