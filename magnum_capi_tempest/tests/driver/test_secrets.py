# SPDX-License-Identifier: Apache-2.0

"""Secrets of a cluster are where they must be, and nowhere else.

The secrets are read in the management cluster: the keys of its authorities,
its application credential, kubeconfigs.
"""

import base64
import json
import uuid

from cryptography.hazmat.primitives import serialization
from cryptography import x509
from tempest import config
from tempest.lib import decorators

from magnum_capi_tempest.evidence import capi
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.services import base_client
from magnum_capi_tempest.tests.common import disclosure
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common.management import remediation
from magnum_capi_tempest.tests.common.management import requested
from magnum_capi_tempest.tests.common import microversions
from magnum_capi_tempest.tests.common import observations
from magnum_capi_tempest.tests.common import operations

CONF = config.CONF


@flags.promise('lifecycle.credential.secrets-untold')
class SecretsTest(operations.BaseOperationsTest):
    shares_cluster = True
    needs = ('management_kubeconfig',)
    management: capi.ManagementCluster

    @classmethod
    def resource_setup(cls) -> None:
        cls.logs = disclosure.Logs(CONF.magnum_capi.log_files)
        super().resource_setup()
        # They must stay hidden even after others have replaced them.
        cls.secrets = cls.read_secrets()

    @classmethod
    def read_secrets(cls) -> dict[str, str]:
        return disclosure.secrets(
            body for _, body in cls.management.bodies(
                ('Secret',), observations.stack_id(cls.cluster)))

    def setUp(self) -> None:
        super().setUp()
        self.assertNotEqual({}, self.secrets, 'The cluster has no secrets')

    @decorators.idempotent_id('d6bc47ae-2a81-4014-abee-0e774e622f9c')
    def test_magnum_answers_without_them(self) -> None:
        uuid = self.cluster['uuid']
        groups = self.magnum.nodegroups.list_nodegroups(uuid)['nodegroups']

        answers = [
            self.magnum.clusters.show_cluster(uuid),
            self.magnum.clusters.list_clusters_detail(
                **base_client.NEWEST_FIRST), groups,
            *(self.magnum.nodegroups.show_nodegroup(uuid, group['uuid'])
              for group in groups)]

        for answer in answers:
            self.assertEqual([], disclosure.find_secrets(
                json.dumps(answer), self.secrets))

    @flags.needs('log_files')
    @decorators.idempotent_id('f8301443-7032-44aa-8bdd-3c7339ac1289')
    def test_logs_are_without_them(self) -> None:
        if (not flags.not_promised('lifecycle.credential.rotation')
                and self.has_microversion(microversions.CREDENTIALS)):
            self.magnum.clusters.rotate_credential(
                self.cluster['uuid'], microversion=microversions.CREDENTIALS)
            self.waiter.until_settled(self.cluster['uuid'])

        logs = self.logs.new()

        self.assertTrue(any(self.cluster['uuid'] in text
                            for text in logs.values()),
                        f'Nothing of the cluster is in {sorted(logs)}')
        secrets = self.secrets | self.read_secrets()
        for path, text in logs.items():
            self.assertEqual([], disclosure.find_secrets(text, secrets), path)


@flags.promise('lifecycle.authority.distinct')
class AuthoritiesTest(operations.BaseOperationsTest):
    """Cluster API reads the authorities of a cluster from Secrets.

    Their names are part of its contract (util/secret/consts.go of
    kubernetes-sigs/cluster-api).
    """

    shares_cluster = True
    needs = ('management_kubeconfig',)
    management: capi.ManagementCluster

    @decorators.idempotent_id('00e6b23a-bbca-4fa9-96c6-c3b12c627996')
    def test_each_is_another(self) -> None:
        stack_id = observations.stack_id(self.cluster)
        found: dict[bytes, list[str]] = {}
        for _, obj in self.management.bodies(('Secret',), stack_id):
            name, _, purpose = obj['metadata']['name'].rpartition('-')
            if name == stack_id and purpose in ('ca', 'etcd', 'proxy'):
                pem = base64.b64decode(obj['data']['tls.crt']).decode()
                found.setdefault(_public_key(pem), []).append(purpose)

        self.assertEqual([['ca'], ['etcd'], ['proxy']],
                         sorted(found.values()))
        shown = self.magnum.certificates.show_ca_certificate(
            self.cluster['uuid'])['pem']
        self.assertEqual(['ca'], found.get(_public_key(shown)))


def _public_key(pem: str) -> bytes:
    """Return the public key of a certificate in PEM, bytes."""
    return x509.load_pem_x509_certificate(pem.encode()).public_key(
    ).public_bytes(serialization.Encoding.DER,
                   serialization.PublicFormat.SubjectPublicKeyInfo)


@flags.promise('lifecycle.credential.proxy-passwords')
class ProxyTest(operations.BaseOperationsTest):
    """The proxy of a template has a password, which must stay secret."""

    needs = ('management_kubeconfig',)
    management: capi.ManagementCluster

    @decorators.idempotent_id('8e1f5c3a-94b7-4d0e-a6a2-3b7c0d5e1f92')
    def test_password_is_in_secrets_only(self) -> None:
        password = uuid.uuid4().hex
        # There is no such proxy: real nodes would pull their images through
        # it, and never be ready.
        look = requested.until_there(
            self.waiter, self.request_cluster(
                self.create_template(
                    http_proxy=f'http://magnum:{password}@192.0.2.3:3128'),
                keypair=self.create_keypair()),
            self.bootstrap_data, bool, 'data to boot a machine with')

        told = [str(found) for found in remediation.management().objects(
            observations.stack_id(look.cluster.body))
            if password in json.dumps(found.body)]

        self.assertEqual([], told)
        self.assertTrue(
            any(password in text for text in look.found or ()),
            f'The password is in none of {len(look.found or ())} Secrets with '
            'data to boot machines with')

    def bootstrap_data(self, stack_id: str) -> list[str]:
        return [
            kube.secret_text(body['data']['value']) or ''
            for _, body in self.management.bodies(('Secret',), stack_id)
            if 'format' in (body.get('data') or {})]
