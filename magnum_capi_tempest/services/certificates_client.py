# SPDX-License-Identifier: Apache-2.0

"""Client for ``/v1/certificates``. It never handles private keys."""

import typing

from magnum_capi_tempest.services import base_client


class CertificatesClient(base_client.MagnumClient):
    """The certificate authority that Magnum keeps for each cluster."""

    def show_ca_certificate(self, cluster: str,
                            microversion: str | None = None,
                            **params: typing.Any) -> base_client.Body:
        """Return ``{'pem': ...}``: the CA certificate of a cluster.

        :param params: ca_cert_type, if a cluster has several CAs.
        """
        return self.call('GET', f'certificates/{base_client.quote(cluster)}',
                         200, None, microversion, params)

    def create_certificate(self, microversion: str | None = None,
                           **request: typing.Any) -> base_client.Body:
        """Have a certificate signed by the CA of a cluster.

        :param request: cluster_uuid and csr (PEM text).
        :returns: ``{'pem': ...}``: the signed certificate.
        """
        return self.call('POST', 'certificates', 201, request, microversion)

    def rotate_ca_certificate(self, cluster: str,
                              microversion: str | None = None
                              ) -> base_client.Body:
        """Ask for a new CA (microversion 1.5)."""
        return self.call('PATCH', f'certificates/{base_client.quote(cluster)}',
                         202, None, microversion)
