# SPDX-License-Identifier: Apache-2.0

"""Defects of a creation, and of its status in Magnum."""

import dataclasses
import datetime

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives import serialization
from cryptography import x509
from cryptography.x509 import oid

from magnum_capi.driver import status_check
from magnum_capi.driver import store
from magnum_capi_defects import parts


class NeverCompletes(parts.Seeded):
    """Clusters stay in CREATE_IN_PROGRESS forever."""

    class StatusCheck(parts.FalseVerdict):

        def told(self, rows, verdict):
            if verdict.status != 'CREATE_COMPLETE':
                return verdict
            return dataclasses.replace(verdict, status='CREATE_IN_PROGRESS')


class LabelsExpected(NeverCompletes):
    """The same, but only without the labels of the cluster template."""

    class StatusCheck(NeverCompletes.StatusCheck):

        def told(self, rows, verdict):
            if rows.cluster.labels == rows.template.labels:
                return verdict
            return super().told(rows, verdict)


class CompletesEarly(parts.Seeded):
    """A cluster is complete as soon as its API answers."""

    class StatusCheck(parts.FalseVerdict):

        def told(self, rows, verdict):
            early = (rows.operation == 'CREATE' and verdict.api_address
                     and verdict.coe_version)
            return parts.ended(verdict) if early else verdict

        def _judged(self, rows, wanted, snapshot, busy, thorough):
            # Only a thorough look has the version.
            return super()._judged(
                rows, wanted, snapshot, busy, True)


class ResizesEarly(parts.Seeded):
    """A change is complete as soon as it is requested."""

    class StatusCheck(parts.FalseVerdict):

        def told(self, rows, verdict):
            early = rows.operation == 'UPDATE' and not verdict.action
            return parts.ended(verdict) if early else verdict


class NoAddress(parts.Seeded):
    """Magnum never learns where the API of a cluster is."""

    class StatusCheck(parts.FalseVerdict):

        def told(self, rows, verdict):
            return dataclasses.replace(verdict, api_address=None)


class NoVersion(parts.Seeded):
    """Magnum never learns which Kubernetes a cluster has."""

    class StatusCheck(parts.FalseVerdict):

        def told(self, rows, verdict):
            return dataclasses.replace(verdict, coe_version=None)


class FailureHidden(parts.Seeded):
    """A failure is reported as complete."""

    class StatusCheck(parts.FalseVerdict):

        def told(self, rows, verdict):
            failed = verdict.status.endswith('_FAILED')
            return parts.ended(verdict) if failed else verdict


class FailureUnexplained(parts.Seeded):
    """A failure is reported without a reason."""

    class StatusCheck(parts.FalseVerdict):

        def told(self, rows, verdict):
            failed = verdict.status.endswith('_FAILED')
            return parts.ended(verdict, 'FAILED') if failed else verdict


class TimeoutIgnored(parts.Seeded):
    """The create_timeout has no effect."""

    class StatusCheck(status_check.StatusCheck):

        def _wanted(self, rows):
            return dataclasses.replace(super()._wanted(rows), timeout=None)


class WrongAuthority(parts.Seeded):
    """Clusters get a certificate authority of their own, not Magnum's."""

    class Store(store.Store):

        def authorities(self, cluster):
            return super().authorities(cluster) | {
                'ca': _authority(cluster.uuid)}


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
        _made[uuid] = (
            certificate.public_bytes(serialization.Encoding.PEM).decode(),
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.TraditionalOpenSSL,
                serialization.NoEncryption()).decode())
    return _made[uuid]


class GroupFailurePasses(parts.Seeded):
    """A node group fails, and its cluster is complete."""

    class StatusCheck(parts.FalseVerdict):

        def told(self, rows, verdict):
            if verdict.status != 'UPDATE_FAILED':
                return verdict
            return dataclasses.replace(
                verdict, status='UPDATE_COMPLETE', reason='')


class QuotaUntold(parts.Seeded):
    """No reason says what a cluster waits for."""

    class StatusCheck(parts.FalseVerdict):

        def told(self, rows, verdict):
            return dataclasses.replace(
                verdict, reason='Please wait' if verdict.reason else '')

    def get_monitor(self, context, cluster):
        """Nothing: there are no reasons of its health either."""


class UpgradesEarly(ResizesEarly):
    """An upgrade is complete as soon as it is requested."""


class DrainUnawaited(ResizesEarly):
    """A resize is complete while the removed nodes are still there."""


class HardNameLost(parts.Seeded):
    """Clusters are looked up by a name that the chart does not give them.

    The first 30 characters of a name may end with a hyphen, and another one
    follows.
    """

    def update_cluster_status(self, context, cluster, use_admin_ctx=False):
        if (cluster.name[:30].endswith('-')
                and cluster.status == 'CREATE_IN_PROGRESS'):
            return
        super().update_cluster_status(context, cluster, use_admin_ctx)
