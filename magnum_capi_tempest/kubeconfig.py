# SPDX-License-Identifier: Apache-2.0

"""Makes a kubeconfig from an API address and a certificate that Magnum signs.

Magnum has no call that returns a kubeconfig. As ``openstack coe cluster
config`` does (python-magnumclient, magnumclient/common/utils.py), the caller
makes a key and a certificate request, Magnum's CA signs the request
(``POST /v1/certificates``), and the Kubernetes API trusts that CA.

Pure except for :func:`write`. The key never appears in a message: objects that
hold it hide it from ``repr``.
"""

import base64
import collections.abc
import dataclasses
import pathlib

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives import serialization
from cryptography import x509
from cryptography.x509.oid import NameOID
import yaml

from magnum_capi import outfile
from magnum_capi_tempest import json_types

#: Who the bearer is: Kubernetes takes the user from the common name and the
#: group from the organization. ``system:masters`` may do everything
#: (https://kubernetes.io/docs/reference/access-authn-authz/authentication/).
USER = 'admin'
GROUP = 'system:masters'


@dataclasses.dataclass(frozen=True)
class SigningRequest:
    """A private key and a certificate request for it, PEM text."""

    csr: str
    key: str = dataclasses.field(repr=False)


def signing_request() -> SigningRequest:
    """Make a key and a certificate request.

    RSA with 2048 bits, like python-magnumclient: every Magnum signs it.

    :returns: SigningRequest.
    """
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    subject = x509.Name([
        x509.NameAttribute(NameOID.COMMON_NAME, USER),
        x509.NameAttribute(NameOID.ORGANIZATION_NAME, GROUP)])
    csr = x509.CertificateSigningRequestBuilder(subject).sign(
        key, hashes.SHA256())
    return SigningRequest(
        csr=csr.public_bytes(serialization.Encoding.PEM).decode(),
        key=key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption()).decode())


def document(server: str, ca_pem: str, cert_pem: str | None,
             key_pem: str | None, name: str = 'cluster') -> json_types.Object:
    """Return a kubeconfig as a dict.

    :param server: URL of the Kubernetes API, Magnum's ``api_address``.
    :param ca_pem: certificate of the CA that signed the server's.
    :param cert_pem: certificate of the client; None for none.
    :param key_pem: private key of the client; None for none.
    :param name: of the cluster, for human readers of the file.
    """
    user = {}
    if cert_pem is not None and key_pem is not None:
        user = {'client-certificate-data': _base64(cert_pem),
                'client-key-data': _base64(key_pem)}
    return {
        'apiVersion': 'v1',
        'kind': 'Config',
        'clusters': [{
            'name': name,
            'cluster': {'server': server,
                        'certificate-authority-data': _base64(ca_pem)}}],
        'users': [{'name': USER, 'user': user}],
        'contexts': [{
            'name': name, 'context': {'cluster': name, 'user': USER}}],
        'current-context': name,
    }


def signed(cluster: json_types.Object,
           sign: collections.abc.Callable[
               [dict[str, str]], json_types.Object],
           authority: collections.abc.Callable[[str], json_types.Object],
           name: str = 'cluster') -> json_types.Object:
    """Have Magnum sign a certificate; return the kubeconfig as a dict.

    :param cluster: body of the cluster; its api_address must be set.
    :param sign: function that sends ``POST /v1/certificates`` with a body and
        returns the body of the answer.
    :param authority: function that returns the body of
        ``GET /v1/certificates/UUID`` for a UUID.
    :param name: see :func:`document`.
    """
    request = signing_request()
    certificate = sign({'cluster_uuid': cluster['uuid'], 'csr': request.csr})
    return document(
        cluster['api_address'], authority(cluster['uuid'])['pem'],
        certificate['pem'], request.key, name)


def write(path: pathlib.Path, document: collections.abc.Mapping[str, object]
          ) -> None:
    """Write a kubeconfig that only its owner can read.

    :raises EnvironmentProblem: the file cannot be written.
    """
    outfile.write_private(path, yaml.safe_dump(document, sort_keys=False))


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
