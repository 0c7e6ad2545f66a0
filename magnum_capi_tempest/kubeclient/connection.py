# SPDX-License-Identifier: Apache-2.0

"""A connection to a Kubernetes API, most often the one of a kubeconfig.

The ``kubernetes`` library reads it, programs that log in included. What that
library does otherwise than is wanted here is mended in this one place:

- it leaves the private key in a file below /tmp until the process ends, and
  for ever when that is killed. Here the key is in a TLS context when a client
  is made, and the file is gone; what a process left that was killed in
  between, the next one removes;
- keys that it does not know, in its oldest version that is allowed here, it
  leaves out, and speaks as, or to, somebody else. They are refused by name;
- a proxy from the environment would be asked for this machine, too;
- Python 3.13 asks for extensions that Magnum's CA does not write into
  certificates.
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

#: The library remembers its files by what is in them, for the process: of two
#: clients that are made at a time, one would remove the other's.
_LOCK = threading.Lock()

#: What the library, and :func:`files`, honour of a cluster and a user.
_CLUSTER = (*kubeconfig_file.AUTHORITY, 'proxy-url', 'tls-server-name')
_USER = (*kubeconfig_file.CERTIFICATE, 'token', 'tokenFile', 'exec')
_PROVIDERS = ('gcp', 'oidc')

#: Arguments of urllib3 that a TLS context has the meaning of.
_FILES = ('ca_certs', 'ca_cert_data', 'cert_file', 'key_file')


def load(kubeconfig):
    """Return a ``kubernetes.client.ApiClient`` that needs no files.

    It does not try again; whoever waits asks again.

    :param kubeconfig: path.
    :raises EnvironmentProblem: the library is not installed.
    :raises UsageError: the file is missing, not a kubeconfig, or one with
        keys that are not supported; what is in it is never quoted.
    """
    with files(kubeconfig, None) as api:
        if api.configuration.host.startswith('https:'):
            arguments = api.rest_client.pool_manager.connection_pool_kw
            with _usable(kubeconfig):
                context = _context(arguments)
            for name in _FILES:
                arguments.pop(name, None)
            arguments['ssl_context'] = context
        return api


@contextlib.contextmanager
def files(kubeconfig, folder):
    """Yield an ``ApiClient`` whose key and certificate are in files.

    For WebSockets, for which the library knows no other way. The files are
    for their owner only, and there while the block lasts; one block at a
    time.

    :param folder: where; None: where temporary files go.
    :raises: as :func:`load`.
    """
    client, config = _library()
    current = _current(kubeconfig)
    configuration = client.Configuration()
    with _LOCK, scratch.folder('magnum-capi-key-', folder) as private:
        with _usable(kubeconfig):
            config.load_kube_config(
                str(kubeconfig), client_configuration=configuration,
                persist_config=False, temp_file_path=str(private.path))
            _trim_token(configuration, current.user)
            _check_token(configuration)
        # Three tries with growing pauses in here would hold up every failure
        # by ten seconds.
        configuration.retries = 0
        if current.cluster.get('proxy-url'):
            # 33.1 leaves it out.
            configuration.proxy = current.cluster['proxy-url']
        elif is_here(configuration.host):
            configuration.proxy = None
        yield client.ApiClient(configuration)


def to(server, ca, certificate):
    """Return an ``ApiClient`` of a server, whose key is not copied.

    It does not try again, and no proxy is asked.

    :param server: URL.
    :param ca: path of the server's authority, or its certificate as PEM
        text; None for a server without TLS.
    :param certificate: paths of the client's certificate and key, or None.
    :raises OSError: a file cannot be read, or has no certificate in it.
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
    """Refuse what the library would leave out, or not name.

    Not the file's name: it may be a key that got into the wrong place.
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
    """More keys that the library honours, for what is in them."""
    if user.get('username') and user.get('password'):
        yield from ('username', 'password')
    provider = user.get('auth-provider')
    if isinstance(provider, dict) and provider.get('name') in _PROVIDERS:
        yield 'auth-provider'


def _trim_token(configuration, user):
    """Leave out white space around a token in a file, as client-go does."""
    if user.get('tokenFile'):
        # It would put the text as it was back, and reads no file again.
        configuration.refresh_api_key_hook = None
        for name, header in configuration.api_key.items():
            configuration.api_key[name] = ' '.join(
                part.strip() for part in header.split(' ', 1))


def _check_token(configuration):
    # Its name in there depends on the release.
    for header in configuration.api_key.values():
        if not kubeconfig_file.is_token(header.partition(' ')[2]):
            raise ValueError('token')


@contextlib.contextmanager
def _usable(kubeconfig):
    try:
        yield
    except Exception as e:
        # The library raises whatever its parts do, PyYAML's errors too. Not
        # the text of the error: it may quote the file.
        raise errors.UsageError(
            f'Not a usable kubeconfig ({type(e).__name__})',
            where=kubeconfig) from None


def _context(arguments):
    """Make the TLS context that urllib3 would make of its arguments."""
    from urllib3.util import ssl_
    context = ssl_.create_urllib3_context(cert_reqs=arguments['cert_reqs'])
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
