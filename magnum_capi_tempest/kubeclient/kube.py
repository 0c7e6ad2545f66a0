# SPDX-License-Identifier: Apache-2.0

"""Reads and changes objects of a Kubernetes API, as plain dicts.

TLS, proxy and credentials come from the kubeconfig, see :mod:`.connection`, so
that REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE and .netrc have no effect. The calls
and models of the package ``kubernetes`` are not used: since version 37 they
reject answers of in-memory and older servers (a Pod without containers is a
ValidationError), and how it selects the type of a patch differs between its
versions. Unlike the client of the driver, this one does not try again, unless
it is told to: a test sees each answer.
"""

import base64
import collections.abc
import datetime
import json
import pathlib
import typing
from urllib import parse

import urllib3

from magnum_capi import errors
from magnum_capi.kube import access
from magnum_capi_tempest import json_types
from magnum_capi_tempest.kubeclient import connection

#: Most seconds to connect, including the TLS handshake, which took more than
#: five on a machine with fifteen busy processes. A server that is gone should
#: not delay a failure.
CONNECT = 10

#: Most seconds between two bytes. A server under load answers lists in well
#: under a second.
READ = 30

#: Objects per answer to a list request.
PAGE = 500

JSON = 'application/json'
#: https://www.rfc-editor.org/rfc/rfc6902, which custom resources support too.
JSON_PATCH = 'application/json-patch+json'

#: Connections that are kept.
_CONNECTIONS = 4

#: What a patient client does about a connection that was dropped, and a server
#: that is busy: it asks again after 0, 1 and 2 seconds.
_PATIENT = urllib3.Retry(
    connect=3, read=3, status=3, status_forcelist=(429, 503),
    allowed_methods={'GET'}, backoff_factor=0.5, raise_on_status=False)

#: Attempts to apply a change that conflicts with another one.
_TRIES = 5


class KubeError(errors.MagnumCapiError):
    """A Kubernetes API did not answer, or refused.

    :param status: HTTP status code, None if there was no answer.
    :param untrusted: the server's certificate is not signed by the expected
        CA, so it may be another server.
    """

    exit_code = 3

    def __init__(self, what: str, *, status: int | None = None,
                 untrusted: bool = False, **kwargs: typing.Any) -> None:
        super().__init__(what, **kwargs)
        self.status = status
        self.untrusted = untrusted

    @property
    def is_final(self) -> bool:
        """Whether a retry is pointless: refused, or not trusted."""
        return self.untrusted or self.status in (401, 403)


def no_answer(error: BaseException, where: str) -> KubeError:
    """The KubeError for an error of urllib3 or the system."""
    reason = getattr(error, 'reason', None) or error
    return KubeError(
        'The Kubernetes API did not answer', where=where, last_seen=reason,
        untrusted='CERTIFICATE_VERIFY_FAILED' in str(reason))


class Client:
    """Talks to a kubeconfig's cluster.

    Every method raises KubeError if the API did not answer, or refused.

    :param kubeconfig: path.
    :param timeout: most seconds between two bytes, and to connect.
    :param patient: try reading again; for who waits longer than a server may
        be away, and does not judge that server.
    :raises EnvironmentProblem, UsageError: like :func:`.connection.load`.
    """

    def __init__(self, kubeconfig: str | pathlib.Path, timeout: float = READ,
                 patient: bool = False) -> None:
        self._kubeconfig = kubeconfig
        self._timeout = timeout
        self._patient = patient
        self._connect(*connection.load(kubeconfig))
        self.server = self._access.server

    def _connect(self, found: access.Access, until: datetime.datetime | None
                 ) -> None:
        self._access, self._until = found, until
        self._pool = found.pool(_CONNECTIONS)

    def _current(self) -> tuple[access.Access, urllib3.PoolManager]:
        """How to connect now: the login of a program expires."""
        if connection.expired(self._until):
            self._connect(*connection.load(self._kubeconfig))
        return self._access, self._pool

    def ask(self, method: str, path: str, body: object = None,
            kind: str = JSON, **query: str | int | bool) -> json_types.Object:
        """Send a request and return the answer, empty if there is none.

        :param path: "/api/v1/nodes/x".
        :param body: anything that can be JSON.
        :param kind: Content-Type of the body.
        :param query: spelled like in the API: ``labelSelector``.
        """
        answer = self._send(method, path, query, body, kind)
        try:
            # The answer to a deletion may be empty.
            return json.loads(answer) if answer.strip() else {}
        except ValueError:
            raise KubeError('The answer of the Kubernetes API is not JSON',
                            where=f'{self.server}{path}') from None

    def get(self, path: str) -> json_types.Object | None:
        """An object, None if it does not exist."""
        try:
            return self.ask('GET', path)
        except KubeError as e:
            if e.status == 404:
                return None
            raise

    def items(self, path: str, **query: str) -> list[json_types.Object]:
        """All objects of a list, read in pages."""
        found: list[json_types.Object] = []
        more: dict[str, str] = {}
        while True:
            page = self.ask('GET', path, limit=PAGE, **more, **query)
            found += page.get('items') or []
            token = (page.get('metadata') or {}).get('continue')
            if not token:
                return found
            more = {'continue': token}

    def nodes(self) -> list[json_types.Object]:
        """The Nodes."""
        return self.core('nodes')

    def core(self, plural: str, labels: str | None = None
             ) -> list[json_types.Object]:
        """All objects of a core kind, in all namespaces.

        :param labels: label selector, for example "owner=helm".
        """
        query = {'labelSelector': labels} if labels else {}
        return self.items(f'/api/v1/{plural}', **query)

    def custom(self, group: str, version: str, plural: str
               ) -> list[json_types.Object]:
        """All objects of a kind of any API group, in all namespaces."""
        return self.items(f'/apis/{group}/{version}/{plural}')

    def kinds(self, wanted: collections.abc.Callable[[str], bool]
              ) -> list[tuple[str, str, str, str]]:
        """Find the listable kinds of some API groups.

        A group may serve a kind in another version than the preferred one:
        OpenStackServer is still v1alpha1.

        :param wanted: predicate for the name of a group.
        :returns: (group, preferred version, plural, kind), sorted; a kind that
            the preferred version lacks with the first version that has it.
        """
        found: dict[tuple[str, str], tuple[str, str, str, str]] = {}
        for group in self.ask('GET', '/apis/')['groups']:
            if not wanted(group['name']):
                continue
            name = group['name']
            # The preferred one first, which is among the others, too.
            for version in dict.fromkeys(served['version'] for served in (
                    group['preferredVersion'], *group['versions'])):
                resources = self.ask('GET', f'/apis/{name}/{version}')
                for r in resources['resources']:
                    if '/' not in r['name'] and 'list' in r['verbs']:
                        found.setdefault((name, r['name']), (
                            name, version, r['name'], r['kind']))
        return sorted(found.values())

    def version(self, path: str) -> str:
        """The present resourceVersion of a list, for :meth:`changes`."""
        return str(self.ask('GET', path, limit=1)['metadata'][
            'resourceVersion'])

    def changes(self, path: str, version: str, seconds: float
                ) -> tuple[list[tuple[str, json_types.Object]], str]:
        """All changes of a list's objects since a resourceVersion.

        :param seconds: how long to wait for further ones, 1 or more.
        :returns: pairs of ADDED, MODIFIED or DELETED and the object, in order;
            and the resourceVersion from which to go on.
        :raises KubeError: also when the server no longer has the changes since
            then (status 410).
        """
        events = self._send('GET', path, {
            'watch': 'true', 'resourceVersion': version,
            'timeoutSeconds': seconds, 'allowWatchBookmarks': 'true'})
        found = []
        for line in events.splitlines():
            try:
                event = json.loads(line)
                kind, obj = event['type'], event['object']
                if kind != 'ERROR':
                    version = obj['metadata']['resourceVersion']
            except (ValueError, KeyError, TypeError):
                raise KubeError('The answer of the Kubernetes API is no watch',
                                where=f'{self.server}{path}') from None
            if kind == 'ERROR':
                raise KubeError(
                    'The Kubernetes API ended a watch',
                    where=f'{self.server}{path}', status=obj.get('code'),
                    last_seen=obj.get('message'))
            if kind != 'BOOKMARK':
                found.append((kind, obj))
        return found, version

    def text(self, path: str, **query: str | int | bool) -> str:
        """A text answer: the log of a container."""
        return self._send('GET', path, query).decode(errors='replace')

    def answers(self, path: str) -> bool:
        """Whether a probe such as ``/readyz`` reports success."""
        try:
            self._send('GET', path)
        except KubeError:
            return False
        return True

    def create(self, path: str, obj: json_types.Object) -> typing.Any:
        """Create an object.

        After an error without a ``status``, it may have been created or not.

        :param path: of the list that it belongs to.
        """
        return self.ask('POST', path, obj)

    def patch(self, path: str, *operations: json_types.Object) -> typing.Any:
        """Change an object with the operations of a JSON patch."""
        return self.ask('PATCH', path, list(operations), JSON_PATCH)

    def delete(self, path: str) -> None:
        """Delete an object; it is no error if it is already gone."""
        try:
            self.ask('DELETE', path)
        except KubeError as e:
            if e.status != 404:
                raise

    def replace(self, path: str,
                change: collections.abc.Callable[[json_types.Object], object],
                subresource: str = '') -> typing.Any:
        """Get an object, change it, and put it back.

        :param change: function that changes the object.
        :param subresource: "/status". It is omitted for servers without it,
            such as Cluster API's in-memory one.
        """
        for left in reversed(range(_TRIES)):
            found = self.ask('GET', path)
            change(found)
            try:
                return self.ask('PUT', path + subresource, found)
            except KubeError as e:
                if subresource and e.status == 404:
                    subresource = ''
                elif e.status != 409 or not left:
                    raise
        raise AssertionError('not reached')

    def _send(self, method: str, path: str,
              query: json_types.Object | None = None, body: object = None,
              kind: str = JSON) -> bytes:
        headers = {'Accept': f'{JSON}, */*'}
        if body is not None:
            headers['Content-Type'] = kind
            body = json.dumps(body).encode()
        try:
            found, pool = self._current()
            answer = pool.request(
                method, self.server + path
                + (query and f'?{parse.urlencode(query)}' or ''),
                body=body, headers=headers | found.headers(),
                # Where a change got no answer, it may have been made.
                retries=self._patient and method == 'GET' and _PATIENT,
                timeout=urllib3.Timeout(connect=min(CONNECT, self._timeout),
                                        read=self._timeout))
        except (urllib3.exceptions.HTTPError, OSError,
                errors.MagnumCapiError) as e:
            # A token or a login may just be renewed.
            raise no_answer(e, self.server) from e
        if not 200 <= answer.status < 300:
            raise KubeError(
                f'The Kubernetes API answered {answer.status} to {method} '
                f'{path}', where=self.server, status=answer.status,
                last_seen=_message(answer))
        return answer.data


class Endpoint(Client):
    """Talks to a server with a known authority, without a kubeconfig.

    :param server: URL without path.
    :param ca: path of the authority that signed its certificate, or that
        certificate as PEM text; None: no TLS (``http:``).
    :param certificate: paths of the client's certificate and key; None:
        anonymous.
    :param timeout: see :class:`Client`.

    Files are read with the first request. No proxy is used.
    """

    def __init__(
            self,
            server: str,
            ca: str | pathlib.Path | None = None,
            certificate: tuple[
                str | pathlib.Path, str | pathlib.Path] | None = None,
            timeout: float = READ) -> None:
        self.server = server.rstrip('/')
        self._timeout = timeout
        self._patient = False
        self._files = ca, certificate
        self._connected = False

    def _current(self) -> tuple[access.Access, urllib3.PoolManager]:
        if not self._connected:
            ca, certificate = self._files
            tls = None
            if ca:
                pem = str(ca).startswith('-----BEGIN')
                tls = access.trusting(
                    str(ca).encode() if pem
                    else pathlib.Path(ca).read_bytes())
                if certificate:
                    tls.load_cert_chain(*certificate)
            self._connect(access.Access(self.server, None, tls), None)
            self._connected = True
        return self._access, self._pool


def secret_text(value: str) -> str | None:
    """A value in the data of a Secret as text; None: it is none."""
    try:
        return base64.b64decode(value, validate=True).decode()
    except (ValueError, TypeError):
        return None


def log_path(namespace: str, pod: str) -> str:
    """Path of a pod's log."""
    return f'{pod_path(namespace, pod)}/log'


def pod_path(namespace: str, pod: str = '') -> str:
    """Path of a pod, or of all pods in a namespace."""
    parts = ['api', 'v1', 'namespaces', namespace, 'pods', pod]
    return ''.join(f'/{parse.quote(p, safe="")}' for p in parts if p)


def _message(answer: urllib3.BaseHTTPResponse) -> str:
    """The message of a Status, or the beginning of a text."""
    try:
        return str(json.loads(answer.data)['message'])
    except (ValueError, TypeError, KeyError):
        return (answer.data[:200].decode(errors='replace')
                or answer.reason or '')
