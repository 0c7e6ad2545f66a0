# SPDX-License-Identifier: Apache-2.0

"""Reads and changes objects of a Kubernetes API, as plain dicts.

Requests go through the connection pool of the package ``kubernetes``: TLS,
proxy and credentials, also those of an exec plugin, are the kubeconfig's, so
that REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE and .netrc do not matter. Its calls
and models are not used: since version 37 they refuse what in-memory and older
servers send (a Pod without containers is a ValidationError), and the way it
chooses the type of a patch changes between its versions.
"""

import contextlib
import functools
import json
from urllib import parse

from magnum_capi import errors
from magnum_capi_tempest.kubeclient import connection

#: Seconds to connect at most, with the TLS handshake, which took more than
#: five on a machine with fifteen processes at work. A server that is gone
#: should not hold up a failure.
CONNECT = 10

#: Seconds between two bytes. A server under load answers lists in well under
#: a second.
READ = 30

#: Objects of one answer to a list request.
PAGE = 500

JSON = 'application/json'
#: https://www.rfc-editor.org/rfc/rfc6902, which custom resources take, too.
JSON_PATCH = 'application/json-patch+json'

#: Times that a change is tried again which another one overtook.
_TRIES = 5


class KubeError(errors.MagnumCapiError):
    """A Kubernetes API did not answer, or refused.

    :param status: HTTP status code, None when there was no answer.
    :param untrusted: the server's certificate is not of the CA that it
        should be of, so it may be another server.
    """

    exit_code = 3

    def __init__(self, what, *, status=None, untrusted=False, **kwargs):
        super().__init__(what, **kwargs)
        self.status = status
        self.untrusted = untrusted

    @property
    def is_final(self) -> bool:
        """Whether asking again is of no use: refused, or not trusted."""
        return self.untrusted or self.status in (401, 403)


class Quiet(KubeError):
    """Nothing has come for a while; the connection may be well."""


def no_answer(error, where) -> KubeError:
    """The KubeError for an error of urllib3 or the system."""
    reason = getattr(error, 'reason', None) or error
    return KubeError(
        'The Kubernetes API did not answer', where=where, last_seen=reason,
        untrusted='CERTIFICATE_VERIFY_FAILED' in str(reason))


class Client:
    """Speaks to the cluster of a kubeconfig.

    Every method raises KubeError when the API did not answer, or refused.

    :param kubeconfig: path.
    :param scratch: folder for certificate and key while a command runs in a
        container; None: where temporary files go.
    :param timeout: seconds between two bytes, and at most to connect.
    :raises EnvironmentProblem, UsageError: as :func:`.connection.load`.
    """

    def __init__(self, kubeconfig, scratch=None, timeout=READ):
        self._api = connection.load(kubeconfig)
        self._files = functools.partial(connection.files, kubeconfig, scratch)
        self._timeout = timeout
        self.server = self._api.configuration.host.rstrip('/')

    def ask(self, method, path, body=None, kind=JSON, **query) -> dict:
        """Send a request and return the answer, empty for none.

        :param path: "/api/v1/nodes/x".
        :param body: what JSON can write.
        :param kind: Content-Type of the body.
        :param query: as the API spells it: ``labelSelector``.
        """
        answer = self._send(method, path, query, body, kind)
        try:
            # A deletion may be answered with nothing at all.
            return json.loads(answer) if answer.strip() else {}
        except ValueError:
            raise KubeError('The answer of the Kubernetes API is not JSON',
                            where=f'{self.server}{path}') from None

    def get(self, path) -> dict | None:
        """An object, None when there is none."""
        try:
            return self.ask('GET', path)
        except KubeError as e:
            if e.status == 404:
                return None
            raise

    def items(self, path, **query) -> list[dict]:
        """All objects of a list, read in pages."""
        found, more = [], {}
        while True:
            page = self.ask('GET', path, limit=PAGE, **more, **query)
            found += page.get('items') or []
            token = (page.get('metadata') or {}).get('continue')
            if not token:
                return found
            more = {'continue': token}

    def nodes(self) -> list[dict]:
        """The Nodes."""
        return self.core('nodes')

    def core(self, plural, labels=None) -> list[dict]:
        """All objects of a core kind, of all namespaces.

        :param labels: selector of those that are meant, for example
            "owner=helm".
        """
        query = {'labelSelector': labels} if labels else {}
        return self.items(f'/api/v1/{plural}', **query)

    def custom(self, group, version, plural) -> list[dict]:
        """All objects of a kind of any API group, of all namespaces."""
        return self.items(f'/apis/{group}/{version}/{plural}')

    def kinds(self, wanted) -> list[tuple[str, str, str, str]]:
        """Find the listable kinds of some API groups.

        :param wanted: function of a group's name.
        :returns: (group, preferred version, plural, kind), sorted.
        """
        found = []
        for group in self.ask('GET', '/apis/')['groups']:
            if not wanted(group['name']):
                continue
            name = group['name']
            version = group['preferredVersion']['version']
            resources = self.ask('GET', f'/apis/{name}/{version}')
            found += [(name, version, r['name'], r['kind'])
                      for r in resources['resources']
                      if '/' not in r['name'] and 'list' in r['verbs']]
        return sorted(found)

    def text(self, path, **query) -> str:
        """What is no JSON: the log of a container."""
        return self._send('GET', path, query).decode(errors='replace')

    def follow(self, path, quiet, **query):
        """Yield what comes, as bytes, until the server ends the answer.

        :param quiet: seconds without anything after which to stop.
        :raises Quiet: nothing came for so long.
        """
        import urllib3
        try:
            answer = self._request('GET', path, query, timeout=quiet,
                                   preload_content=False)
            with contextlib.closing(answer):
                yield from answer.stream()
        except urllib3.exceptions.ReadTimeoutError as e:
            raise Quiet('The Kubernetes API sent nothing',
                        where=self.server) from e
        except (urllib3.exceptions.HTTPError, OSError) as e:
            raise no_answer(e, self.server) from e

    def answers(self, path) -> bool:
        """Whether a probe such as ``/readyz`` answers that all is well."""
        try:
            self._send('GET', path)
        except KubeError:
            return False
        return True

    def create(self, path, obj):
        """Create an object.

        An error without a ``status`` leaves open whether it was created.

        :param path: of the list that it belongs to.
        """
        return self.ask('POST', path, obj)

    def patch(self, path, *operations):
        """Change an object by the operations of a JSON patch."""
        return self.ask('PATCH', path, list(operations), JSON_PATCH)

    def delete(self, path):
        """Delete an object; that it is gone already is well."""
        try:
            self.ask('DELETE', path)
        except KubeError as e:
            if e.status != 404:
                raise

    def replace(self, path, change, subresource=''):
        """Get an object, change it, and put it back.

        :param change: function of the object, which changes it.
        :param subresource: "/status". It is left out for servers without
            any, such as Cluster API's in-memory one.
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

    def execute(self, namespace, pod, container, command) -> bytes:
        """Run a command in a container and return what it printed."""
        from kubernetes import client
        from kubernetes import stream
        try:
            with self._files() as api:
                return stream.stream(
                    client.CoreV1Api(api).connect_get_namespaced_pod_exec,
                    pod, namespace, container=container, command=command,
                    stdin=False, stdout=True, stderr=False, tty=False,
                    binary=True, _request_timeout=self._timeout)
        except Exception as e:
            # ApiException, and whatever the WebSocket library raises.
            raise KubeError(
                f'Cannot run a command in {pod}: {type(e).__name__}',
                where=self.server,
                status=getattr(e, 'status', None) or None) from None

    def _send(self, *request):
        import urllib3
        try:
            return self._request(*request).data
        except (urllib3.exceptions.HTTPError, OSError) as e:
            raise no_answer(e, self.server) from e

    def _request(self, method, path, query=(), body=None, kind=JSON,
                 timeout=None, **how):
        """The answer of urllib3, whose errors are the caller's business."""
        import urllib3
        headers = {'Accept': f'{JSON}, */*'}
        if body is not None:
            headers['Content-Type'] = kind
            body = json.dumps(body).encode()
        url = self.server + path
        # Read anew for each request: an exec plugin's token expires.
        token = self._api.configuration.auth_settings().get('BearerToken')
        if token:
            headers[token['key']] = token['value']
        answer = self._api.rest_client.pool_manager.request(
            method, url + (query and f'?{parse.urlencode(query)}' or ''),
            body=body, headers=headers, retries=False,
            timeout=urllib3.Timeout(connect=min(CONNECT, self._timeout),
                                    read=timeout or self._timeout), **how)
        if not 200 <= answer.status < 300:
            raise KubeError(
                f'The Kubernetes API answered {answer.status} to {method} '
                f'{path}', where=self.server, status=answer.status,
                last_seen=_message(answer))
        return answer


class Endpoint(Client):
    """Speaks to a server whose authority is known, without a kubeconfig.

    :param server: URL without path.
    :param ca: path of the authority that signed its certificate, or that
        certificate as PEM text; None: the server has none (``http:``).
    :param certificate: paths of the client's certificate and key; None:
        asks as nobody.
    :param timeout: as of :class:`Client`.

    Files, and the library, are read with the first request.
    """

    def __init__(self, server, ca=None, certificate=None, timeout=READ):
        self.server = server.rstrip('/')
        self._timeout = timeout
        self._connect = functools.partial(
            connection.to, self.server, ca, certificate)

    @functools.cached_property
    def _api(self):
        return self._connect()


def log_path(namespace, pod) -> str:
    """Path of a pod's log."""
    return f'{pod_path(namespace, pod)}/log'


def pod_path(namespace, pod='') -> str:
    """Path of a pod, or of all of a namespace."""
    parts = ['api', 'v1', 'namespaces', namespace, 'pods', pod]
    return ''.join(f'/{parse.quote(p, safe="")}' for p in parts if p)


def _message(answer):
    """The message of a Status, or the beginning of a text."""
    try:
        return str(json.loads(answer.data)['message'])
    except (ValueError, TypeError, KeyError):
        return answer.data[:200].decode(errors='replace') or answer.reason
