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
import typing
from urllib import parse

from requests import utils
import urllib3

from magnum_capi import errors
from magnum_capi.kube import kubeconfig_file

#: Where a pod finds its service account
#: (https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/).
SERVICE_ACCOUNT = pathlib.Path('/var/run/secrets/kubernetes.io/serviceaccount')

#: Keys of a cluster and a user that this module supports.
_CLUSTER = (*kubeconfig_file.AUTHORITY, 'proxy-url', 'tls-server-name')
_USER = (*kubeconfig_file.CERTIFICATE, 'token', 'tokenFile')

_Environ: typing.TypeAlias = collections.abc.Mapping[str, str]
_Files: typing.TypeAlias = dict[pathlib.Path, bytes]


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
    :param files: that all this was read from, with their content.
    """

    server: str
    kubeconfig: pathlib.Path | None
    tls: ssl.SSLContext | None = dataclasses.field(repr=False)
    server_name: str | None = None
    proxy: str | None = dataclasses.field(default=None, repr=False)
    token: str | None = dataclasses.field(default=None, repr=False)
    token_file: pathlib.Path | None = None
    files: _Files = dataclasses.field(default_factory=dict, repr=False)

    def headers(self) -> dict[str, str]:
        """Headers of a request. Reads ``token_file`` every time.

        :raises EnvironmentProblem: there is no token in the token file.
        """
        token = self.token
        if self.token_file:
            # As in client-go, a token file wins over a token, and an empty
            # one does not make the request anonymous.
            try:
                token = self.token_file.read_text(encoding='utf-8').strip()
            except (OSError, UnicodeError) as e:
                raise errors.EnvironmentProblem(
                    'Cannot read the token file: '
                    f'{getattr(e, "strerror", "it is not UTF-8")}',
                    where=self.token_file) from None
            if not token or not kubeconfig_file.is_token(token):
                raise errors.EnvironmentProblem(
                    'The token file contains no token',
                    where=self.token_file)
        return {'Authorization': f'Bearer {token}'} if token else {}

    def pool(self, connections: int, block: bool = False
             ) -> urllib3.PoolManager:
        """Return a pool that keeps connections to the server.

        :param connections: number of those that are kept.
        :param block: wait for a connection when as many as are kept are in
            use, instead of opening another one.
        :raises EnvironmentProblem: the proxy is of another kind than HTTP.
        """
        options: dict[str, typing.Any] = {
            'maxsize': connections, 'block': block}
        if self.tls is not None:
            options |= self._tls_options(self.tls)
        if not self.proxy:
            return urllib3.PoolManager(**options)
        proxy = parse.urlsplit(self.proxy)
        if proxy.scheme not in ('http', 'https'):
            raise errors.EnvironmentProblem(
                f'Proxies of the kind {proxy.scheme or "?"}:// are not '
                'supported', hint='Use an http:// or https:// proxy')
        if proxy.username:
            options['proxy_headers'] = urllib3.make_headers(
                proxy_basic_auth=f'{parse.unquote(proxy.username)}:'
                                 f'{parse.unquote(proxy.password or "")}')
        host = proxy.netloc.rpartition('@')[2]
        return urllib3.ProxyManager(f'{proxy.scheme}://{host}', **options)

    def _tls_options(self, tls: ssl.SSLContext) -> dict[str, typing.Any]:
        """How urllib3 verifies the server."""
        # urllib3 checks the name in the certificate itself. Its 1.26, which
        # Magnum 20 and 21 are pinned to, passes no IP address to ssl as a
        # name, and ssl refuses to connect without one if it should check it.
        tls.check_hostname = False
        options: dict[str, typing.Any] = {
            'ssl_context': tls, 'cert_reqs': tls.verify_mode}
        if self.server_name:
            options['server_hostname'] = self.server_name
            options['assert_hostname'] = self.server_name
        if tls.verify_mode == ssl.CERT_NONE:
            options['assert_hostname'] = False
        return options

    def is_current(self) -> bool:
        """Whether the files are still those that this was read from."""
        try:
            return all(path.read_bytes() == content
                       for path, content in self.files.items())
        except OSError:
            return False


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
        with _usable(service_account):
            return _of_pod(environ, service_account)
    path = pathlib.Path(path).absolute()
    text = kubeconfig_file.text_of(path)
    return of(kubeconfig_file.parse(text, path), {path: text.encode()})


def of(current: kubeconfig_file.Current, files: _Files | None = None
       ) -> Access:
    """How to connect to the cluster of a kubeconfig's current context.

    :param files: that it was read from, with their content.
    :raises UsageError: see :func:`load`.
    """
    current.require(_CLUSTER, _USER)
    with _usable(current.where):
        return _of_context(current, dict(files or {}))


@contextlib.contextmanager
def _usable(where: pathlib.Path) -> collections.abc.Iterator[None]:
    try:
        yield
    except OSError as e:
        # ssl.SSLError is an OSError: an invalid certificate.
        raise errors.UsageError(
            'A file or certificate of this kubeconfig cannot be used: '
            f'{e.strerror or type(e).__name__}', where=where,
            last_seen=e.filename) from None
    except (ValueError, TypeError) as e:
        raise errors.UsageError(
            f'This kubeconfig is unusable ({type(e).__name__})', where=where
        ) from None


def proxy_of(server: str, configured: str | None = None) -> str | None:
    """The proxy for a server: from the kubeconfig, else the environment.

    None for this machine's own addresses, and for those in NO_PROXY.
    """
    if configured:
        return configured
    found = None if is_here(server) else utils.get_environ_proxies(server).get(
        parse.urlsplit(server).scheme)
    # As for requests and Helm, a variable needs no scheme.
    return found and utils.prepend_scheme_if_needed(found, 'http')


def is_here(server: str) -> bool:
    """Whether a URL leads to this machine's loopback addresses."""
    host = parse.urlsplit(server).hostname or ''
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == 'localhost'


def _of_context(current: kubeconfig_file.Current, files: _Files) -> Access:
    path, cluster, user = current.where, current.cluster, current.user
    server = cluster['server'].rstrip('/')
    token_file = user.get('tokenFile')
    return Access(
        server=server, kubeconfig=path,
        tls=_context(cluster, user, path.parent, files)
        if server.startswith('https:') else None,
        server_name=cluster.get('tls-server-name'),
        proxy=proxy_of(server, cluster.get('proxy-url')),
        token=user.get('token'),
        token_file=path.parent / token_file if token_file else None,
        files=files)


def _of_pod(environ: _Environ, folder: pathlib.Path) -> Access:
    host = environ['KUBERNETES_SERVICE_HOST']
    port = environ.get('KUBERNETES_SERVICE_PORT', '443')
    if ':' in host:
        host = f'[{host}]'
    authority = (folder / 'ca.crt').read_bytes()
    return Access(
        server=f'https://{host}:{port}', kubeconfig=None,
        tls=trusting(authority), token_file=folder / 'token',
        files={folder / 'ca.crt': authority})


def _context(cluster: kubeconfig_file.Section, user: kubeconfig_file.Section,
             folder: pathlib.Path, files: _Files) -> ssl.SSLContext:
    tls = trusting(_pem(cluster, 'certificate-authority', folder, files))
    if cluster.get('insecure-skip-tls-verify'):
        tls.check_hostname = False
        tls.verify_mode = ssl.CERT_NONE
    certificate = _pem(user, 'client-certificate', folder, files)
    key = _pem(user, 'client-key', folder, files)
    if certificate and key:
        # OpenSSL only reads keys from files. This one is in memory.
        with os.fdopen(os.memfd_create('key'), 'wb') as f:
            f.write(certificate + b'\n' + key)
            f.flush()
            tls.load_cert_chain(f'/proc/self/fd/{f.fileno()}')
    return tls


def trusting(authority: bytes | None) -> ssl.SSLContext:
    """A context that trusts what Go's programs trust, such as helm.

    Python 3.13 refuses authorities without a key identifier, and certificates
    of them: those of EKS and of older releases of kubeadm
    (https://github.com/kubernetes-client/python/issues/2394).

    :param authority: PEM; None: the system's authorities.
    """
    tls = ssl.create_default_context(
        cadata=authority.decode() if authority else None)
    tls.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return tls


def _pem(section: kubeconfig_file.Section, name: str, folder: pathlib.Path,
         files: _Files) -> bytes | None:
    """Bytes of a certificate or key; like in client-go, data wins."""
    if section.get(f'{name}-data'):
        try:
            return base64.b64decode(section[f'{name}-data'], validate=True)
        except binascii.Error:
            raise ValueError(name) from None
    if section.get(name):
        path: pathlib.Path = folder / section[name]
        try:
            files[path] = path.read_bytes()
        except OSError as e:
            # A key may have been put in the place of its file.
            raise OSError(e.errno, f'{e.strerror}, "{name}"',
                          None if name == 'client-key' else path) from None
        return files[path]
    return None
