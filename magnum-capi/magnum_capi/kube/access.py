# SPDX-License-Identifier: Apache-2.0

"""Address and credentials of a Kubernetes API, from a kubeconfig.

Client libraries are not used for this: they write the private key to a file,
which remains when the process is killed, and start the programs that a
kubeconfig names. Here a key is loaded into a TLS context through memory, and
programs are refused.
"""

import base64
import binascii
import collections.abc
import contextlib
import dataclasses
import ipaddress
import os
import pathlib
import ssl
import tempfile
import typing
from urllib import parse
from urllib import request

from magnum_capi import errors
from magnum_capi.kube import kubeconfig_file

#: Where a pod finds its service account
#: (https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/).
SERVICE_ACCOUNT = pathlib.Path('/var/run/secrets/kubernetes.io/serviceaccount')

#: Keys of a cluster and a user that this module supports.
_CLUSTER = (*kubeconfig_file.AUTHORITY, 'proxy-url', 'tls-server-name')
_USER = (*kubeconfig_file.CERTIFICATE, 'token', 'tokenFile')

#: For each file: inode, time of its last change and size; None: no file.
Stamp: typing.TypeAlias = tuple[tuple[int, int, int] | None, ...]

_Environ: typing.TypeAlias = collections.abc.Mapping[str, str]


@dataclasses.dataclass(frozen=True)
class Access:
    """A server, and how to connect to it.

    :param server: URL without a trailing slash.
    :param kubeconfig: its path for other programs, None in a pod.
    :param tls: ssl.SSLContext, None for http.
    :param server_name: name in the server's certificate when it is not the
        host of the URL.
    :param proxy: URL, or None.
    :param token: bearer token, or None.
    :param token_file: file with a token that is renewed outside, or None.
    :param files: that all this was read from.
    """

    server: str
    kubeconfig: pathlib.Path | None
    tls: ssl.SSLContext | None = dataclasses.field(repr=False)
    server_name: str | None = None
    proxy: str | None = dataclasses.field(default=None, repr=False)
    token: str | None = dataclasses.field(default=None, repr=False)
    token_file: pathlib.Path | None = None
    files: tuple[pathlib.Path, ...] = ()

    def headers(self) -> dict[str, str]:
        """Headers of a request. Reads ``token_file`` every time.

        :raises EnvironmentProblem: the token file cannot be read.
        """
        token = self.token
        if self.token_file:
            # As in client-go, a token file wins over a token.
            try:
                token = self.token_file.read_text().strip()
            except OSError as e:
                raise errors.EnvironmentProblem(
                    f'Cannot read the token file: {e.strerror}',
                    where=self.token_file) from None
        return {'Authorization': f'Bearer {token}'} if token else {}


def find(option: str, environ: _Environ = os.environ,
         service_account: pathlib.Path = SERVICE_ACCOUNT
         ) -> pathlib.Path | None:
    """Return the path of the kubeconfig to use, None in a pod.

    :param option: of the configuration; wins when it is not empty.
    :raises UsageError: KUBECONFIG names several files.
    """
    if option:
        return pathlib.Path(option)
    variable = environ.get('KUBECONFIG')
    if variable:
        paths = [p for p in variable.split(os.pathsep) if p]
        if len(paths) != 1:
            raise errors.UsageError(
                'KUBECONFIG names several files', where=variable,
                hint='Name one in [k8s_capi]/kubeconfig_file')
        return pathlib.Path(paths[0])
    if environ.get('KUBERNETES_SERVICE_HOST') and (
            service_account / 'token').exists():
        return None
    return pathlib.Path.home() / '.kube' / 'config'


def load(path: pathlib.Path | None, environ: _Environ = os.environ,
         service_account: pathlib.Path = SERVICE_ACCOUNT) -> Access:
    """Read a kubeconfig, or the service account of this pod.

    :param path: from :func:`find`.
    :raises UsageError: it is unusable, or needs something that is refused.
        Never quotes the file.
    """
    if path is None:
        return _of_pod(environ, service_account)
    path = pathlib.Path(path).absolute()
    current = kubeconfig_file.read(path)
    current.require(_CLUSTER, _USER)
    cluster, user = current.cluster, current.user
    server = cluster['server'].rstrip('/')
    files = [path]
    try:
        tls = None
        if server.startswith('https:'):
            tls = _context(cluster, user, path.parent, files)
        token_file = user.get('tokenFile')
        return Access(
            server=server, kubeconfig=path, tls=tls,
            server_name=cluster.get('tls-server-name'),
            proxy=proxy_of(server, cluster.get('proxy-url')),
            token=user.get('token'),
            token_file=path.parent / token_file if token_file else None,
            files=tuple(files))
    except OSError as e:
        # ssl.SSLError is an OSError: an invalid certificate.
        raise errors.UsageError(
            'A file or certificate of this kubeconfig cannot be used: '
            f'{e.strerror or type(e).__name__}', where=path,
            last_seen=e.filename) from None
    except (ValueError, TypeError) as e:
        raise errors.UsageError(
            f'This kubeconfig is unusable ({type(e).__name__})',
            where=path) from None


def proxy_of(server: str, configured: str | None = None) -> str | None:
    """The proxy for a server: from the kubeconfig, else the environment.

    None for this machine's own addresses.
    """
    if configured:
        return configured
    url = parse.urlsplit(server)
    host = url.hostname or ''
    address = None
    with contextlib.suppress(ValueError):
        address = ipaddress.ip_address(host)
    here = address.is_loopback if address else host == 'localhost'
    # Public in urllib, but undocumented and not in stubs.
    bypass = request.proxy_bypass_environment  # type: ignore[attr-defined]
    found = request.getproxies_environment()
    if here or bypass(url.netloc) or (
            address and _is_in(address, found.get('no', ''))):
        return None
    return found.get(url.scheme)


def _is_in(address: ipaddress.IPv4Address | ipaddress.IPv6Address,
           no_proxy: str) -> bool:
    """Whether NO_PROXY names an address or its network, for urllib does not.

    Helm (golang.org/x/net/http/httpproxy) and requests read it like this.
    """
    for text in no_proxy.split(','):
        with contextlib.suppress(ValueError):
            if address in ipaddress.ip_network(text.strip(), strict=False):
                return True
    return False


def stamp(files: collections.abc.Iterable[pathlib.Path]) -> Stamp:
    """A value that changes when one of these files does."""
    found: list[tuple[int, int, int] | None] = []
    for path in files:
        try:
            status = os.stat(path)
        except OSError:
            found.append(None)
        else:
            found.append((status.st_ino, status.st_mtime_ns, status.st_size))
    return tuple(found)


def _of_pod(environ: _Environ, folder: pathlib.Path) -> Access:
    host = environ['KUBERNETES_SERVICE_HOST']
    port = environ.get('KUBERNETES_SERVICE_PORT', '443')
    if ':' in host:
        host = f'[{host}]'
    authority = folder / 'ca.crt'
    return Access(
        server=f'https://{host}:{port}', kubeconfig=None,
        tls=_trusting(cafile=authority),
        token_file=folder / 'token', files=(authority,))


def _context(cluster: kubeconfig_file.Section, user: kubeconfig_file.Section,
             folder: pathlib.Path, files: list[pathlib.Path]
             ) -> ssl.SSLContext:
    authority = _pem(cluster, 'certificate-authority', folder, files)
    tls = _trusting(cadata=authority.decode() if authority else None)
    if cluster.get('insecure-skip-tls-verify'):
        tls.check_hostname = False
        tls.verify_mode = ssl.CERT_NONE
    certificate = _pem(user, 'client-certificate', folder, files)
    key = _pem(user, 'client-key', folder, files)
    if certificate and key:
        with _file_of(certificate + b'\n' + key) as path:
            tls.load_cert_chain(path)
    return tls


def _trusting(**authority: typing.Any) -> ssl.SSLContext:
    """A context that trusts what Go's programs trust, such as helm.

    Python 3.13 refuses authorities without a key identifier, and certificates
    of them: those of EKS and of older releases of kubeadm
    (https://github.com/kubernetes-client/python/issues/2394).

    :param authority: of ssl.create_default_context; None: the system's.
    """
    tls = ssl.create_default_context(**authority)
    tls.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return tls


def _pem(section: kubeconfig_file.Section, name: str, folder: pathlib.Path,
         files: list[pathlib.Path]) -> bytes | None:
    """Bytes of a certificate or key; like in client-go, data wins."""
    if section.get(f'{name}-data'):
        try:
            return base64.b64decode(section[f'{name}-data'], validate=True)
        except binascii.Error:
            raise ValueError(name) from None
    if section.get(name):
        path: pathlib.Path = folder / section[name]
        files.append(path)
        return path.read_bytes()
    return None


@contextlib.contextmanager
def _file_of(content: bytes) -> collections.abc.Iterator[str]:
    """A path to read ``content`` from, without a trace on any disk.

    OpenSSL only reads keys from files. If the system has no files in memory,
    this uses a private temporary file during the block.
    """
    if hasattr(os, 'memfd_create'):
        with os.fdopen(os.memfd_create('key'), 'wb') as f:
            f.write(content)
            f.flush()
            yield f'/proc/self/fd/{f.fileno()}'
    else:
        with tempfile.NamedTemporaryFile() as f:
            f.write(content)
            f.flush()
            yield f.name
