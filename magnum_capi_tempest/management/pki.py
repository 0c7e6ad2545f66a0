# SPDX-License-Identifier: Apache-2.0

"""Private certificate authorities, and what they sign.

Each management cluster has its own authority, created and thrown away with it.
All connections between its programs, including etcd's, use TLS with client
certificates, because other users of the machine can reach the same loopback
addresses. :func:`make_server` makes an authority for another server.

Files of a management cluster, below one folder (mode 0700, files 0600)::

    ca.crt, ca.key
    server.crt, server.key      kube-apiserver, etcd
    etcd-client.crt, .key       for kube-apiserver as a client of etcd
    admin.crt, .key             and one pair for every name of CLIENTS
    webhook/tls.crt, tls.key    names that controller-runtime expects
    service-account.key         signs service account tokens
    *.kubeconfig                one for every name of CLIENTS
"""

import collections.abc
import datetime
import ipaddress
import pathlib
import shutil
import types

from cryptography import x509
import trustme
import yaml

from magnum_capi import outfile
from magnum_capi_tempest import kubeconfig

#: File name -> common name of clients of the API server. All are in
#: ``system:masters``, to which kube-apiserver allows everything: Cluster
#: API's own ClusterRoles would add nothing to what the sandbox tests.
CLIENTS = types.MappingProxyType({
    'admin': 'magnum-capi-admin',
    'capi': 'magnum-capi-manager',
})

#: Days; a cluster of this kind lives for hours.
LIFETIME = 365

_NAMES = ('localhost', 'kubernetes', 'kubernetes.default',
          'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local')

# trustme makes the names critical, and Go refuses a critical extension without
# any: "unhandled critical extension" (crypto/x509, parseSANExtension).
_NO_SERVER = ('client.invalid',)


def pair(authority: trustme.CA, common_name: str,
         addresses: collections.abc.Sequence[str] = (),
         organization: str | None = None) -> tuple[bytes, bytes]:
    """A certificate and its key in PEM, for a server, a client or both.

    :param addresses: host names and IP addresses of a server.
    :param organization: the Kubernetes group of a client.
    """
    now = datetime.datetime.now(datetime.UTC)
    made = authority.issue_cert(
        *(addresses or _NO_SERVER), common_name=common_name,
        organization_name=organization,
        # An hour earlier, as clocks of virtual machines jump.
        not_before=now - datetime.timedelta(hours=1),
        not_after=now + datetime.timedelta(days=LIFETIME))
    return made.cert_chain_pems[0].bytes(), made.private_key_pem.bytes()


def make(directory: pathlib.Path, address: str, server_url: str) -> None:
    """Write all keys, certificates and kubeconfigs, all or nothing.

    :param directory: folder, replaced when it exists.
    :param address: IP address of all servers.
    :param server_url: URL of the API server for the kubeconfigs.
    """
    directory = pathlib.Path(directory)
    authority = trustme.CA()
    ca = authority.cert_pem.bytes()
    addresses = list(dict.fromkeys((address, '127.0.0.1'))) + list(_NAMES)
    pairs = {
        'ca': (ca, authority.private_key_pem.bytes()),
        'server': pair(authority, 'kube-apiserver', addresses),
        'webhook/tls': pair(authority, 'capi-webhook', addresses),
        'etcd-client': pair(authority, 'kube-apiserver-etcd-client'),
        **{name: pair(authority, common_name, organization='system:masters')
           for name, common_name in CLIENTS.items()}}
    # kube-apiserver does not accept a PKCS#8 service account key for
    # verification (k8s.io/client-go/util/keyutil, PublicKeysFromFile);
    # trustme's are of the traditional format.
    contents = {'service-account.key':
                trustme.CA().private_key_pem.bytes()}
    for name, (certificate, key) in pairs.items():
        contents |= {f'{name}.crt': certificate, f'{name}.key': key}
    for name in CLIENTS:
        certificate, key = pairs[name]
        contents[f'{name}.kubeconfig'] = yaml.safe_dump(kubeconfig.document(
            server_url, ca.decode(), certificate.decode(), key.decode(),
            name='magnum-capi')).encode()
    _write(directory, contents)


def make_server(directory: pathlib.Path, address: str) -> None:
    """Write the certificate of a server and that of its authority, or nothing.

    The files are ``ca.crt``, ``server.crt`` and ``server.key``. The key of the
    authority is thrown away: it signs nothing else.

    :param directory: folder, replaced when it exists.
    :param address: IP address of the server, whatever its port.
    """
    authority = trustme.CA()
    certificate, key = pair(authority, address, [address])
    _write(pathlib.Path(directory), {
        'ca.crt': authority.cert_pem.bytes(),
        'server.crt': certificate, 'server.key': key})


def _write(directory: pathlib.Path,
           contents: collections.abc.Mapping[str, bytes]) -> None:
    scratch = directory.with_name(f'{directory.name}.new')
    for old in (scratch, directory):
        shutil.rmtree(old, ignore_errors=True)
    for name, content in contents.items():
        outfile.write_private(scratch / name, content)
    scratch.rename(directory)


def usable(directory: pathlib.Path, address: str) -> bool:
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
