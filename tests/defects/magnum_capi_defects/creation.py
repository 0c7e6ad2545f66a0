# SPDX-License-Identifier: Apache-2.0

"""Defects of a creation, and of its status in Magnum."""

import base64
import datetime

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives import serialization
from cryptography import x509
from cryptography.x509 import oid

from magnum_capi_defects import taps


@taps.seen_by('ClusterLifecycleTest.test_create_use_resize_delete',
              'to be created.*CREATE_IN_PROGRESS')
class NeverCompletes(taps.Tapped):
    """Clusters stay in CREATE_IN_PROGRESS forever."""

    def saves(self, method, cluster, row):
        if taps.is_cluster(row) and row.status == 'CREATE_COMPLETE':
            row.status = 'CREATE_IN_PROGRESS'


@taps.seen_by('OwnLabelsTest.test_create_and_delete',
              'to settle.*CREATE_IN_PROGRESS')
class LabelsExpected(NeverCompletes):
    """Clusters without the labels of their template are never complete."""

    def saves(self, method, cluster, row):
        if row.labels != cluster.cluster_template.labels:
            super().saves(method, cluster, row)


@taps.seen_by('CompleteTest.test_create',
              'It is CREATE_COMPLETE with 1 control plane nodes and 1 '
              'workers, but')
class CompletesEarly(taps.Tapped):
    """A cluster is complete as soon as it has a control plane."""

    def update_cluster_status(self, context, cluster, use_admin_ctx=False):
        super().update_cluster_status(context, cluster, use_admin_ctx)
        if cluster.status == 'CREATE_IN_PROGRESS' and cluster.api_address:
            version = taps.control_plane_version(cluster)
            if version:
                cluster.coe_version = version
                taps.end(cluster)


class _Early(taps.Tapped):
    """What is requested is complete at the next check."""

    _early = set()

    def soon(self, cluster):
        self._early.add(cluster.uuid)

    def update_cluster_status(self, context, cluster, use_admin_ctx=False):
        super().update_cluster_status(context, cluster, use_admin_ctx)
        if cluster.uuid in self._early:
            self._early.discard(cluster.uuid)
            taps.end(cluster)


@taps.seen_by('CompleteTest.test_resize',
              'It is UPDATE_COMPLETE with 1 control plane nodes and 2 '
              'workers, but')
class ResizesEarly(_Early):
    """A resize is complete as soon as it is requested."""

    def resize_cluster(self, context, cluster, *args, **kwargs):
        super().resize_cluster(context, cluster, *args, **kwargs)
        self.soon(cluster)


@taps.seen_by('CompleteTest.test_upgrade', 'It is UPDATE_COMPLETE with|v1.34')
class UpgradesEarly(_Early):
    """An upgrade is complete as soon as it is requested."""

    def upgrade_cluster(self, context, cluster, *args, **kwargs):
        super().upgrade_cluster(context, cluster, *args, **kwargs)
        self.soon(cluster)


@taps.seen_by('LateGroupTest.test_an_update_takes_as_long_as_it_needs',
              'It is UPDATE_COMPLETE with 1 control plane nodes and 2 '
              'workers, but', build_timeout='180')
class GroupsEarly(_Early):
    """A new node group is complete as soon as it is requested."""

    def create_nodegroup(self, context, cluster, nodegroup):
        super().create_nodegroup(context, cluster, nodegroup)
        self.soon(cluster)


@taps.seen_by('WorkersTest.test_a_resize_waits_for_the_drain',
              'is UPDATE_COMPLETE already')
class DrainUnawaited(taps.Tapped):
    """A resize is complete while the removed nodes are still there."""

    def update_cluster_status(self, context, cluster, use_admin_ctx=False):
        super().update_cluster_status(context, cluster, use_admin_ctx)
        if cluster.status == 'UPDATE_IN_PROGRESS' and any(
                'deletionTimestamp' in machine['metadata']
                for machine in taps.of_cluster(cluster, 'machines')):
            taps.end(cluster)


@taps.seen_by('ClusterLifecycleTest.test_create_use_resize_delete',
              r"didn't match: .\^https://")
class NoAddress(taps.Tapped):
    """Magnum never learns where the API of a cluster is."""

    def saves(self, method, cluster, row):
        if taps.is_cluster(row):
            row.api_address = None


@taps.seen_by('ClusterLifecycleTest.test_create_use_resize_delete',
              r"didn't match: .\^v")
class NoVersion(taps.Tapped):
    """Magnum never learns which Kubernetes a cluster has."""

    def saves(self, method, cluster, row):
        if taps.is_cluster(row):
            row.coe_version = None


@taps.seen_by('FailureTest.test_workers_of_a_new_cluster',
              'CREATE_FAILED.*CREATE_COMPLETE')
class FailureHidden(taps.Tapped):
    """A cluster whose machines cannot be built is complete."""

    def saves(self, method, cluster, row):
        operation, _, state = (row.status or '').partition('_')
        if state == 'FAILED':
            row.status = f'{operation}_COMPLETE'
            row.status_reason = None


@taps.seen_by('FailureTest.test_workers_of_a_new_cluster', 'None is not true')
class FailureUnexplained(taps.Tapped):
    """A failure is reported without a reason."""

    def saves(self, method, cluster, row):
        if (row.status or '').endswith('_FAILED'):
            row.status_reason = None


@taps.seen_by('FailureTest.test_a_new_node_group',
              'UPDATE_FAILED.*UPDATE_COMPLETE')
class GroupFailurePasses(taps.Tapped):
    """A node group fails, and its cluster is complete."""

    def saves(self, method, cluster, row):
        if taps.is_cluster(row) and row.status == 'UPDATE_FAILED':
            row.status = 'UPDATE_COMPLETE'
            row.status_reason = None


@taps.seen_by('FailureTest.test_workers_that_never_come', 'to settle')
class TimeoutIgnored(taps.Tapped):
    """The create_timeout has no effect."""

    def sees(self, method, cluster, row):
        if taps.is_cluster(row):
            row.create_timeout = 0

    def create_cluster(self, context, cluster, cluster_create_timeout):
        super().create_cluster(context, cluster, 0)


@taps.seen_by('ClusterLifecycleTest.test_create_use_resize_delete',
              'certificate')
class WrongAuthority(taps.Tapped):
    """Clusters get a certificate authority of their own, not Magnum's."""

    def sends(self, method, cluster, request):
        body = request.json
        if (isinstance(body, dict) and body.get('kind') == 'Secret'
                and body['metadata']['name'].endswith('-ca')):
            request.json = body | {'data': {
                name: base64.b64encode(text.encode()).decode()
                for name, text in _authority(cluster.uuid).items()}}


_made = {}


def _authority(uuid):
    """Certificate and key, PEM texts; always the same for a cluster."""
    if uuid not in _made:
        key = rsa.generate_private_key(65537, 2048)
        name = x509.Name([x509.NameAttribute(
            oid.NameOID.COMMON_NAME, 'not of Magnum')])
        now = datetime.datetime.now(datetime.timezone.utc)
        certificate = (
            x509.CertificateBuilder().subject_name(name).issuer_name(name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(hours=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.BasicConstraints(True, None), True)
            .sign(key, hashes.SHA256()))
        _made[uuid] = {
            'tls.crt': certificate.public_bytes(
                serialization.Encoding.PEM).decode(),
            'tls.key': key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.TraditionalOpenSSL,
                serialization.NoEncryption()).decode()}
    return _made[uuid]


@taps.seen_by('CloudQuotasTest.test_servers_are_named', 'to mention a quota',
              infrastructure='openstack', build_timeout='180')
class QuotaUntold(taps.Tapped):
    """No reason says what a cluster waits for."""

    def saves(self, method, cluster, row):
        if row.status_reason:
            row.status_reason = 'Please wait'

    def get_monitor(self, context, cluster):
        """Nothing: there are no reasons of its health either."""


@taps.seen_by('CloudQuotasTest.test_networks',
              'to be complete after all.*CREATE_FAILED',
              infrastructure='openstack', build_timeout='180')
class QuotaFinal(taps.Tapped):
    """A quota without room is the end of a creation."""

    _ended = set()

    def update_cluster_status(self, context, cluster, use_admin_ctx=False):
        super().update_cluster_status(context, cluster, use_admin_ctx)
        if cluster.status == 'CREATE_IN_PROGRESS' and 'quota' in str(
                taps.of_cluster(cluster, 'openstackclusters',
                                f'infrastructure.{taps.CAPI}')).lower():
            self._ended.add(cluster.uuid)
            taps.end(cluster, 'FAILED', 'A quota has no room')

    def get_monitor(self, context, cluster):
        if cluster.uuid in self._ended:
            return None
        return super().get_monitor(context, cluster)


@taps.seen_by('HardNamesTest.test_cluster',
              'to be created.*CREATE_IN_PROGRESS')
class HardNameLost(taps.Tapped):
    """Clusters are looked up by a name that the chart does not give them.

    The first 30 characters of a name may end with a hyphen, and another one
    follows.
    """

    def update_cluster_status(self, context, cluster, use_admin_ctx=False):
        if (cluster.name[:30].endswith('-')
                and cluster.status == 'CREATE_IN_PROGRESS'):
            return
        super().update_cluster_status(context, cluster, use_admin_ctx)
