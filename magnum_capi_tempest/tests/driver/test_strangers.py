# SPDX-License-Identifier: Apache-2.0

"""Two clusters of different owners: neither gives access to the other.

One belongs to a member of a project, the other to an admin of another
project.
"""

from tempest import config
from tempest.lib import decorators

from magnum_capi import scratch
from magnum_capi_tempest import json_types
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest import kubeconfig
from magnum_capi_tempest.leaks import model
from magnum_capi_tempest.tests.common import access
from magnum_capi_tempest.tests.common import app_credentials
from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import factories
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common import observations
from magnum_capi_tempest.tests.common import operations
from magnum_capi_tempest.tests.common import waiters

CONF = config.CONF


def answer(client: kube.Client) -> tuple[int, kube.KubeError | None]:
    """Return how a Kubernetes API answers, and why not with its nodes.

    :returns: 200, 401, 403, or 0 if it does not serve requests now.
    """
    try:
        client.nodes()
    except kube.KubeError as e:
        if e.status in (401, 403):
            return e.status, e
        if e.status is None or e.status >= 500:
            return 0, e
        raise
    return 200, None


class StrangersTest(operations.BaseOperationsTest):
    shares_cluster = True
    credentials = ['primary', 'admin']

    @classmethod
    def setup_clients(cls) -> None:
        super().setup_clients()
        cls.require_project('admin', own=False)

    @classmethod
    def resource_setup(cls) -> None:
        super().resource_setup()
        waiter = cls.new_waiter(cls.admin_magnum)
        before = app_credentials.of_user(cls.os_admin)
        template = factories.create_template(
            CONF, cls.admin_magnum, cls.addClassResourceCleanup,
            factories.template_body(CONF))
        who = cls.os_admin.credentials
        cls._watch.add(
            model.TEMPLATE, template['uuid'], template['name'], who)
        body = factories.cluster_body(
            CONF, template, master_count=1, node_count=1,
            keypair=factories.create_keypair(
                cls.os_admin, cls.addClassResourceCleanup, CONF, cls._id()))
        uuid = factories.request_cluster(
            cls.admin_magnum, waiter, cls.addClassResourceCleanup, body,
            lambda uuid: cls._watch.add(
                model.CLUSTER, uuid, body['name'], who))
        with cls.explained([uuid], (cls.os_admin, cls.admin_magnum)):
            cls.other = waiter.until_created(uuid)
        # A person may gain others in the meantime.
        cls.made = [one for one in app_credentials.of_user(cls.os_admin)
                    if one not in before
                    and (CONF.auth.use_dynamic_credentials
                         or uuid in one['name'])]

    def status_of(self, server: json_types.Object, authority: str,
                  certificate: tuple[str, str]) -> int:
        """Return a cluster's answer to a certificate: 200, 401 or 403.

        It is waited for: load balancers take a moment.

        :param server: body of the cluster to connect to.
        :param authority: PEM of the CA to trust.
        :param certificate: pair of a certificate and its key, PEM.
        """
        folder: scratch.Folder = self.enterContext(access.private_folder())
        path = folder.path / 'kubeconfig'
        kubeconfig.write(path, kubeconfig.document(
            server['api_address'], authority, *certificate))
        client = kube.Client(path)
        status, _ = waiters.until(
            lambda: answer(client), lambda found: found[0],
            f'the API of cluster {server["uuid"]} to answer',
            failed=lambda found: (
                str(found[1]) if found[1] and found[1].untrusted else None),
            describe=lambda found: str(found[1]))
        return status

    @staticmethod
    def certificate(magnum: factories.Magnum, cluster: json_types.Object
                    ) -> tuple[str, str]:
        request = kubeconfig.signing_request()
        signed = magnum.certificates.create_certificate(
            cluster_uuid=cluster['uuid'], csr=request.csr)
        return signed['pem'], request.key

    @staticmethod
    def authority(magnum: factories.Magnum, cluster: json_types.Object) -> str:
        return str(magnum.certificates.show_ca_certificate(
            cluster['uuid'])['pem'])

    @flags.needs('workload_api')
    @flags.promise('lifecycle.cluster.own-certificate')
    @decorators.idempotent_id('4fc5fd4c-1329-433d-95c5-f85a6fff11f3')
    def test_a_certificate_opens_its_own_cluster_only(self) -> None:
        clusters = ((self.magnum, self.cluster),
                    (self.admin_magnum, self.other))
        authorities = [self.authority(*one) for one in clusters]
        certificates = [self.certificate(*one) for one in clusters]

        found = [[self.status_of(cluster, authority, certificate)
                  for certificate in certificates]
                 for (_, cluster), authority in zip(
                     clusters, authorities, strict=True)]

        self.assertNotEqual(*authorities, 'Both clusters have one authority')
        self.assertEqual(
            [[200, 401], [401, 200]], found,
            'Answers of the first and the second cluster, to certificates of '
            'the first and the second each')

    @flags.needs('management_kubeconfig')
    @flags.promise('lifecycle.cluster.projects-apart')
    @decorators.idempotent_id('c29073ed-c7d1-4bea-8404-ba4fcfbe7e39')
    def test_have_namespaces_of_their_own(self) -> None:
        management = base.management_cluster(
            CONF.magnum_capi.management_kubeconfig)
        mine, others = (
            {found.namespace for found in management.objects_of(
                observations.stack_id(cluster), cluster['uuid'])}
            for cluster in (self.cluster, self.other))

        self.assertNotEqual(set(), mine)
        self.assertEqual(set(), mine & others)

    @flags.promise('lifecycle.credential.least-role')
    @decorators.idempotent_id('70a60b2b-2c1b-464e-aa75-c022eaa8456c')
    def test_the_credential_of_an_admins_cluster_is_none_of_an_admin(self
                                                                     ) -> None:
        self.assertNotEqual(
            [], self.made, 'The cluster of the admin, '
            f'{self.other["uuid"]}, came with no application credential')
        for credential in self.made:
            about = f'application credential {credential["name"]}'
            self.assertFalse(
                credential.get('unrestricted'), f'{about} is unrestricted')
            roles = [role['name'] for role in credential['roles']]
            self.assertNotEqual([], roles, f'{about} has no role')
            self.assertNotIn('admin', roles, about)
