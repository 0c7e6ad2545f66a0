# SPDX-License-Identifier: Apache-2.0

"""A connection to a Kubernetes API, usually that of a kubeconfig.

The ``kubernetes`` library reads the kubeconfig, including programs that log
in. This module corrects some of the library's behaviour:

- it leaves the private key in a file below /tmp until the process ends, and
  forever if that is killed. Here, the key is loaded into a TLS context when a
  client is created, and the file is removed; if a process is killed in
  between, the next one removes its file;
- the oldest supported version of the library ignores unknown keys, and so may
  use the wrong identity or server. Such keys are refused by name;
- a token in a file is not read again when it has been renewed;
- a proxy in the environment would be used even for this machine;
- Python 3.13 requires extensions that Magnum's CA does not add to
  certificates;
- urllib3 1.26, which OpenStack is pinned to until 2025.2, names no IP address
  to ssl, which would refuse to connect. urllib3 checks the name by itself.
"""

import contextlib
import ipaddress
import pathlib
import ssl
import threading
from urllib import parse

from magnum_capi import errors
from magnum_capi.kube import kubeconfig_file
from magnum_capi import scratch

#: The library caches its files by content, for the whole process: of two
#: clients created at the same time, one would remove the other's.
_LOCK = threading.Lock()

#: Keys of a cluster and a user that the library and :func:`files` support.
_CLUSTER = (*kubeconfig_file.AUTHORITY, 'proxy-url', 'tls-server-name')
_USER = (*kubeconfig_file.CERTIFICATE, 'token', 'tokenFile', 'exec')
_PROVIDERS = ('gcp', 'oidc')

#: Arguments of urllib3 that a TLS context replaces.
_FILES = ('ca_certs', 'ca_cert_data', 'cert_file', 'key_file')


def load(kubeconfig):
    """Return a ``kubernetes.client.ApiClient`` that needs no files.

    It does not retry; callers do.

    :param kubeconfig: path.
    :raises EnvironmentProblem: the library is not installed.
    :raises UsageError: the file is missing, not a kubeconfig, or one with
        unsupported keys; its content is never quoted.
    """
    with files(kubeconfig) as api:
        if api.configuration.host.startswith('https:'):
            arguments = api.rest_client.pool_manager.connection_pool_kw
            with _usable(kubeconfig):
                context = _context(arguments)
            for name in _FILES:
                arguments.pop(name, None)
            arguments['ssl_context'] = context
        return api


@contextlib.contextmanager
def files(kubeconfig):
    """Yield an ``ApiClient`` whose key and certificate are in files.

    Only their owner can read them, and they exist until the block ends; only
    one block at a time.

    :raises: like :func:`load`.
    """
    client, config = _library()
    current = _current(kubeconfig)
    configuration = client.Configuration()
    with _LOCK, scratch.folder('magnum-capi-key-', None) as private:
        with _usable(kubeconfig):
            config.load_kube_config(
                str(kubeconfig), client_configuration=configuration,
                persist_config=False, temp_file_path=str(private.path))
            # Before 35.0, it would name the files of an earlier client.
            config.kube_config._temp_files.clear()
            _follow_token(configuration, current)
            _check_token(configuration)
        # Three retries with growing pauses would delay every failure by ten
        # seconds.
        configuration.retries = 0
        if current.cluster.get('proxy-url'):
            # 33.1 ignores it.
            configuration.proxy = current.cluster['proxy-url']
        elif is_here(configuration.host):
            configuration.proxy = None
        yield client.ApiClient(configuration)


def client_for(server, ca, certificate):
    """Return an ``ApiClient`` for a server, whose key is not copied.

    It does not retry, and uses no proxy.

    :param server: URL.
    :param ca: path of the server's authority, or its certificate as PEM
        text; None for a server without TLS.
    :param certificate: paths of the client's certificate and key, or None.
    :raises OSError: a file cannot be read, or contains no certificate.
    """
    client, _ = _library()
    configuration = client.Configuration(host=server)
    configuration.proxy = None
    configuration.retries = 0
    api = client.ApiClient(configuration)
    if ca:
        pem = str(ca).startswith('-----BEGIN')
        context = ssl.create_default_context(
            cafile=None if pem else ca, cadata=ca if pem else None)
        context.check_hostname = False
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        if certificate:
            context.load_cert_chain(*certificate)
        arguments = api.rest_client.pool_manager.connection_pool_kw
        for name in _FILES:
            arguments.pop(name, None)
        arguments['ssl_context'] = context
    return api


def is_here(url):
    """Return whether a URL leads to this machine's loopback addresses."""
    host = parse.urlsplit(url).hostname or ''
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == 'localhost'


def _library():
    try:
        from kubernetes import client
        from kubernetes import config
    except ImportError as e:
        raise errors.EnvironmentProblem(
            'The Python package kubernetes is not installed',
            hint='pip install kubernetes') from e
    return client, config


def _current(path):
    found = kubeconfig_file.read(pathlib.Path(path))
    found.require(_CLUSTER, (*_USER, *_logins(found.user)))
    for kind, section, names in (
            ('cluster', found.cluster, ('certificate-authority',)),
            ('user', found.user, ('client-certificate', 'client-key'))):
        for name in names:
            _check_file(found.where, kind, section, name)
    return found


def _check_file(where, kind, section, name):
    """Refuse a file that the library would ignore, or fail to name.

    The file's name is not quoted: it may be a misplaced key.
    """
    if not section.get(name) or section.get(f'{name}-data'):
        return
    if f'{name}-data' in section:
        raise errors.UsageError(
            f'"{name}-data" of its {kind} is empty and hides "{name}"',
            where=where, hint='Remove the empty key')
    if not (where.parent / str(section[name])).is_file():
        raise errors.UsageError(
            f'"{name}" of its {kind} names no file', where=where)


def _logins(user):
    """Other keys that the library supports, depending on their content."""
    if user.get('username') and user.get('password'):
        yield from ('username', 'password')
    provider = user.get('auth-provider')
    if isinstance(provider, dict) and provider.get('name') in _PROVIDERS:
        yield 'auth-provider'


def _follow_token(configuration, current):
    """Strip white space around a token in a file, and read the file again.

    Like client-go: tokens of service accounts are renewed within the hour. The
    library does neither.
    """
    if not current.user.get('tokenFile'):
        return
    path = current.where.parent / current.user['tokenFile']
    for name, header in configuration.api_key.items():
        configuration.api_key[name] = ' '.join(
            part.strip() for part in header.split(' ', 1))

    def read(configuration):
        with contextlib.suppress(OSError, UnicodeDecodeError):
            token = path.read_text(encoding='utf-8').strip()
            if token and kubeconfig_file.is_token(token):
                for name in configuration.api_key:
                    configuration.api_key[name] = f'Bearer {token}'

    configuration.refresh_api_key_hook = read


def _check_token(configuration):
    # Its name there depends on the release.
    for header in configuration.api_key.values():
        if not kubeconfig_file.is_token(header.partition(' ')[2]):
            raise ValueError('token')


@contextlib.contextmanager
def _usable(kubeconfig):
    try:
        yield
    except Exception as e:
        # The library raises any error of its parts, including PyYAML's. The
        # text of the error is omitted: it may quote the file.
        raise errors.UsageError(
            f'Not a usable kubeconfig ({type(e).__name__})',
            where=kubeconfig) from None


def _context(arguments):
    """Create the TLS context that urllib3 would create from its arguments."""
    from urllib3.util import ssl_
    context = ssl_.create_urllib3_context(cert_reqs=arguments['cert_reqs'])
    context.check_hostname = False
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    file, data = arguments.get('ca_certs'), arguments.get('ca_cert_data')
    if file or data:
        context.load_verify_locations(file, cadata=data)
    else:
        context.load_default_certs()
    if arguments.get('cert_file'):
        context.load_cert_chain(
            arguments['cert_file'], arguments.get('key_file'))
    return context
