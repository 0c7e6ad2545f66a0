# SPDX-License-Identifier: Apache-2.0

"""How to reach and convince a Kubernetes API: what a kubeconfig says.

Read here and not by a client library. Those write the private key to a file
that lives as long as the process and is left behind when that is killed, and
start the programs that a kubeconfig names. Here a key goes into a TLS
context by way of memory, and programs are refused.
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

#: What this module honours of a cluster and a user.
_CLUSTER = (*kubeconfig_file.AUTHORITY, 'proxy-url', 'tls-server-name')
_USER = (*kubeconfig_file.CERTIFICATE, 'token', 'tokenFile')

#: Of each file: inode, time of its last change and size; None without one.
Stamp: typing.TypeAlias = tuple[tuple[int, int, int] | None, ...]

_Environ: typing.TypeAlias = collections.abc.Mapping[str, str]


@dataclasses.dataclass(frozen=True)
class Access:
    """A server, and how to speak to it.

    :param server: URL without a slash at its end.
    :param kubeconfig: its path for other programs, None in a pod.
    :param tls: ssl.SSLContext, None for http.
    :param server_name: name in the server's certificate when it is not the
        host of the URL.
    :param proxy: URL, or None.
    :param token: bearer token, or None.
    :param token_file: file with a token that others renew, or None.
    :param files: what all this was read from.
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
        """What a request has to carry. Reads ``token_file`` every time.

        :raises EnvironmentProblem: the token file cannot be read.
        """
        token = self.token
        if self.token_file:
            # As client-go: a token file wins over a token.
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

    :param path: what :func:`find` returned.
    :raises UsageError: it is no usable kubeconfig, or asks for something
        that is refused. Never quotes the file.
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
        # ssl.SSLError is an OSError: a certificate that is none.
        raise errors.UsageError(
            'A file or certificate of this kubeconfig cannot be used: '
            f'{e.strerror or type(e).__name__}', where=path,
            last_seen=e.filename) from None
    except (ValueError, TypeError) as e:
        raise errors.UsageError(
            f'This is no usable kubeconfig ({type(e).__name__})',
            where=path) from None


def proxy_of(server: str, configured: str | None = None) -> str | None:
    """The proxy to a server: of the kubeconfig, else of the environment.

    Never one for this machine's own addresses.
    """
    if configured:
        return configured
    url = parse.urlsplit(server)
    host = url.hostname or ''
    try:
        here = ipaddress.ip_address(host).is_loopback
    except ValueError:
        here = host == 'localhost'
    # No stubs have it: it is public in urllib, and in no documentation.
    bypass = request.proxy_bypass_environment  # type: ignore[attr-defined]
    if here or bypass(url.netloc):
        return None
    return request.getproxies_environment().get(url.scheme)


def stamp(files: collections.abc.Iterable[pathlib.Path]) -> Stamp:
    """What changes when one of these files does."""
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
        tls=ssl.create_default_context(cafile=authority),
        token_file=folder / 'token', files=(authority,))


def _context(cluster: kubeconfig_file.Section, user: kubeconfig_file.Section,
             folder: pathlib.Path, files: list[pathlib.Path]
             ) -> ssl.SSLContext:
    authority = _pem(cluster, 'certificate-authority', folder, files)
    tls = ssl.create_default_context(
        cadata=authority.decode() if authority else None)
    if cluster.get('insecure-skip-tls-verify'):
        tls.check_hostname = False
        tls.verify_mode = ssl.CERT_NONE
    certificate = _pem(user, 'client-certificate', folder, files)
    key = _pem(user, 'client-key', folder, files)
    if certificate and key:
        with _file_of(certificate + b'\n' + key) as path:
            tls.load_cert_chain(path)
    return tls


def _pem(section: kubeconfig_file.Section, name: str, folder: pathlib.Path,
         files: list[pathlib.Path]) -> bytes | None:
    """Bytes of a certificate or key; as client-go, data wins over a file."""
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

    OpenSSL takes keys from files only. Where the system has no files in
    memory it is a private one, for the time of this call.
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
