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

CONF = config.CONF


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
        cls.made = [one for one in app_credentials.of_user(cls.os_admin)
                    if one not in before]

    def status_of(self, server: json_types.Object, authority: str,
                  certificate: tuple[str, str]) -> int:
        """Return a cluster's answer to a certificate: 200, 401 or 403.

        :param server: body of the cluster to connect to.
        :param authority: PEM of the CA to trust.
        :param certificate: pair of a certificate and its key, PEM.
        """
        folder: scratch.Folder = self.enterContext(access.private_folder())
        path = folder.path / 'kubeconfig'
        kubeconfig.write(path, kubeconfig.document(
            server['api_address'], authority, *certificate))
        try:
            kube.Client(path).nodes()
        except kube.KubeError as e:
            if e.status not in (401, 403):
                raise
            return e.status
        return 200

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

        self.assertNotEqual(*authorities)
        self.assertEqual([[200, 401], [401, 200]], found)

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
        self.assertNotEqual([], self.made)
        for credential in self.made:
            self.assertFalse(credential.get('unrestricted'))
            roles = [role['name'] for role in credential['roles']]
            self.assertNotEqual([], roles)
            self.assertNotIn('admin', roles)
