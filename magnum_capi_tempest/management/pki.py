# SPDX-License-Identifier: Apache-2.0

"""The certificate authority of a management cluster, and what it signs.

Each cluster has its own authority, created and thrown away with it. All
connections between its programs, including etcd's, use TLS with client
certificates, because other users of the machine can reach the same loopback
addresses.

Files below one folder (mode 0700, files 0600)::

    ca.crt, ca.key
    server.crt, server.key      kube-apiserver, kube-controller-manager, etcd
    etcd-client.crt, .key       for kube-apiserver as a client of etcd
    admin.crt, .key             and one pair for every name of CLIENTS
    webhook/tls.crt, tls.key    names that controller-runtime expects
    service-account.key         signs service account tokens
    *.kubeconfig                one for every name of CLIENTS
"""

import datetime
import ipaddress
import pathlib
import shutil
import types

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives import serialization
from cryptography import x509
from cryptography.x509 import oid
import yaml

from magnum_capi import outfile
from magnum_capi_tempest import kubeconfig

#: File name -> common name of clients of the API server. All are in
#: ``system:masters``, to which kube-apiserver allows everything: Cluster
#: API's own ClusterRoles would add nothing to what the sandbox tests.
CLIENTS = types.MappingProxyType({
    'admin': 'magnum-capi-admin',
    'capi': 'magnum-capi-manager',
    'kube-controller-manager': 'system:kube-controller-manager',
})

#: Days; a cluster of this kind lives for hours.
LIFETIME = 365

_NAMES = ('localhost', 'kubernetes', 'kubernetes.default',
          'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local')


class Authority:
    """Signs certificates; holds its key in memory.

    :param common_name: subject of the authority.
    """

    def __init__(self, common_name='magnum-capi-management'):
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name(common_name)
        self.certificate = self._builder(self._name, self._key).add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True,
        ).add_extension(
            _key_usage(key_cert_sign=True, crl_sign=True), critical=True,
        ).sign(self._key, hashes.SHA256())
        self.pem = _pem(self.certificate), _pem(self._key)

    def server(self, common_name, addresses, client=False):
        """A pair for a server.

        :param addresses: host names and IP addresses, str.
        :param client: whether it is also a client (etcd talks to itself).
        :returns: certificate and key, PEM bytes.
        """
        usages = [oid.ExtendedKeyUsageOID.SERVER_AUTH]
        if client:
            usages.append(oid.ExtendedKeyUsageOID.CLIENT_AUTH)
        return self._leaf(_name(common_name), usages, addresses)

    def client(self, common_name, organization=None):
        """A pair for a client; the organization is its Kubernetes group.

        :returns: certificate and key, PEM bytes.
        """
        return self._leaf(_name(common_name, organization),
                          [oid.ExtendedKeyUsageOID.CLIENT_AUTH])

    def _leaf(self, subject, usages, addresses=()):
        key = ec.generate_private_key(ec.SECP256R1())
        builder = self._builder(subject, key).add_extension(
            x509.BasicConstraints(ca=False, path_length=None), critical=True,
        ).add_extension(
            _key_usage(digital_signature=True), critical=True,
        ).add_extension(
            x509.ExtendedKeyUsage(usages), critical=False,
        ).add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(
                self._key.public_key()), critical=False)
        if addresses:
            builder = builder.add_extension(
                x509.SubjectAlternativeName(
                    [_general_name(a) for a in addresses]), critical=False)
        return _pem(builder.sign(self._key, hashes.SHA256())), _pem(key)

    def _builder(self, subject, key):
        now = datetime.datetime.now(datetime.UTC)
        return x509.CertificateBuilder(
            issuer_name=self._name, subject_name=subject,
            public_key=key.public_key(),
            serial_number=x509.random_serial_number(),
            # An hour earlier, as clocks of virtual machines jump.
            not_valid_before=now - datetime.timedelta(hours=1),
            not_valid_after=now + datetime.timedelta(days=LIFETIME),
        ).add_extension(x509.SubjectKeyIdentifier.from_public_key(
            key.public_key()), critical=False)


def make(directory, address, server_url):
    """Write all keys, certificates and kubeconfigs, all or nothing.

    :param directory: folder, replaced when it exists.
    :param address: IP address of all servers.
    :param server_url: URL of the API server for the kubeconfigs.
    """
    directory = pathlib.Path(directory)
    authority = Authority()
    addresses = list(dict.fromkeys((address, '127.0.0.1'))) + list(_NAMES)
    contents = {}

    def pair(name, content):
        contents[f'{name}.crt'], contents[f'{name}.key'] = content

    pair('ca', authority.pem)
    pair('server', authority.server('kube-apiserver', addresses, client=True))
    pair('webhook/tls', authority.server('capi-webhook', addresses))
    pair('etcd-client', authority.client('kube-apiserver-etcd-client'))
    contents['service-account.key'] = _pem(
        ec.generate_private_key(ec.SECP256R1()))
    for name, common_name in CLIENTS.items():
        mine = authority.client(common_name, 'system:masters')
        pair(name, mine)
        contents[f'{name}.kubeconfig'] = yaml.safe_dump(kubeconfig.document(
            server_url, *(pem.decode() for pem in (authority.pem[0], *mine)),
            name='magnum-capi')).encode()
    scratch = directory.with_name(f'{directory.name}.new')
    for old in (scratch, directory):
        shutil.rmtree(old, ignore_errors=True)
    for name, content in contents.items():
        outfile.write_private(scratch / name, content)
    scratch.rename(directory)


def usable(directory, address) -> bool:
    """Whether there are certificates for this address, valid another day."""
    try:
        certificate = x509.load_pem_x509_certificate(
            (pathlib.Path(directory) / 'server.crt').read_bytes())
    except (OSError, ValueError):
        return False
    names = certificate.extensions.get_extension_for_class(
        x509.SubjectAlternativeName).value
    tomorrow = (datetime.datetime.now(datetime.UTC)
                + datetime.timedelta(days=1))
    return (ipaddress.ip_address(address)
            in names.get_values_for_type(x509.IPAddress)
            and certificate.not_valid_after_utc > tomorrow)


def _name(common_name, organization=None):
    parts = [x509.NameAttribute(oid.NameOID.COMMON_NAME, common_name)]
    if organization:
        parts.append(x509.NameAttribute(
            oid.NameOID.ORGANIZATION_NAME, organization))
    return x509.Name(parts)


def _general_name(text):
    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)


def _key_usage(**wanted):
    usages = dict.fromkeys((
        'digital_signature', 'content_commitment', 'key_encipherment',
        'data_encipherment', 'key_agreement', 'key_cert_sign', 'crl_sign',
        'encipher_only', 'decipher_only'), False)
    return x509.KeyUsage(**{**usages, **wanted})


def _pem(thing):
    if isinstance(thing, x509.Certificate):
        return thing.public_bytes(serialization.Encoding.PEM)
    # kube-apiserver does not accept a PKCS#8 service account key for
    # verification (k8s.io/client-go/util/keyutil, PublicKeysFromFile).
    return thing.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption())
