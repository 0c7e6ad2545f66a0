# SPDX-License-Identifier: Apache-2.0


"""Reads from the API of the cluster under test, with a timeout.

Sonobuoy's own words say nothing of a pod that cannot start, of a node that
has gone, or of tests that run while its counts stay at 0. Those come from the
API, read here as plain dicts. Nothing is changed through this module, but a
namespace may be created.
"""

import json
from urllib import parse

from magnum_capi import errors
from magnum_capi_tempest import kubeclient

#: Part of this package that has the client library.
_EXTRA = 'conformance'

#: Seconds to connect and to read.
TIMEOUT = (5, 30)

#: Objects in one answer.
PAGE = 500


class KubeError(errors.MagnumCapiError):
    """The API did not answer, or refused.

    :param status: HTTP status code, None when there was no answer.
    """

    exit_code = 3

    def __init__(self, what, *, status=None, **kwargs):
        super().__init__(what, **kwargs)
        self.status = status

    @property
    def final(self) -> bool:
        """Whether asking again is of no use: who asks is not let in."""
        return self.status in (401, 403)


class Reader:
    """Gets paths of an API.

    :param kubeconfig: path.
    :param scratch: folder of the caller's, for certificate and key while
        a command runs in a container.
    :raises EnvironmentProblem: the client library is not installed, or the
        file is missing or not a kubeconfig.
    """

    def __init__(self, kubeconfig, scratch):
        self._kubeconfig, self._scratch = kubeconfig, scratch
        self._api = kubeclient.load(kubeconfig, _EXTRA)
        self.server = self._api.configuration.host

    def get(self, path, **query) -> dict:
        """An object, or a list of them.

        :param path: "/api/v1/namespaces/x".
        :raises KubeError: no answer, or refused; ``status`` says how.
        """
        answer = self._get(path, query)
        try:
            return json.loads(answer)
        except ValueError:
            raise KubeError('The answer of the Kubernetes API is not JSON',
                            where=self.server) from None

    def items(self, path, **query) -> list[dict]:
        """All objects of a list, read in pages."""
        found, more = [], None
        while True:
            if more:
                query['continue'] = more
            page = self.get(path, limit=PAGE, **query)
            found += page.get('items') or []
            more = (page.get('metadata') or {}).get('continue')
            if not more:
                return found

    def text(self, path, **query) -> str:
        """What is no JSON: the log of a container."""
        return self._get(path, query).decode(errors='replace')

    def exists(self, path) -> bool:
        """Whether there is such an object.

        :raises KubeError: that is not known.
        """
        try:
            self.get(path)
        except KubeError as e:
            if e.status == 404:
                return False
            raise
        return True

    def create(self, path, obj):
        """Create an object.

        :param path: of the list that it belongs to.
        :raises KubeError: it was not created; without a ``status`` it may
            have been.
        """
        self._ask('POST', path, 201, body=json.dumps(obj).encode(),
                  headers={'Content-Type': 'application/json'})

    def execute(self, namespace, pod, container, command) -> bytes:
        """Run a command in a container and return what it printed.

        :raises KubeError: it cannot be run.
        """
        from kubernetes import client
        from kubernetes import stream
        try:
            with kubeclient.files(
                    self._kubeconfig, self._scratch, _EXTRA) as api:
                return stream.stream(
                    client.CoreV1Api(api).connect_get_namespaced_pod_exec,
                    pod, namespace, container=container, command=command,
                    stdin=False, stdout=True, stderr=False, tty=False,
                    binary=True, _request_timeout=TIMEOUT[1])
        except Exception as e:
            # ApiException, and whatever the WebSocket library raises.
            raise KubeError(
                f'Cannot run a command in {pod}: {type(e).__name__}',
                where=self.server,
                status=getattr(e, 'status', None) or None) from None

    def _get(self, path, query):
        return self._ask('GET', path, 200, fields=query)

    def _ask(self, method, path, expected, headers=None, **content):
        import urllib3
        # The pool of the client library rather than its calls, whose names
        # and arguments change between its versions: TLS, proxy and
        # credentials (also those of an exec plugin) are the kubeconfig's.
        token = self._api.configuration.auth_settings().get('BearerToken')
        headers = {'Accept': 'application/json, */*', **(headers or {})}
        if token:
            headers[token['key']] = token['value']
        connect, read = TIMEOUT
        try:
            answer = self._api.rest_client.pool_manager.request(
                method, f'{self.server}{path}', headers=headers,
                retries=False, timeout=urllib3.Timeout(connect, read),
                **content)
        except (urllib3.exceptions.HTTPError, OSError) as e:
            raise KubeError(
                'The Kubernetes API did not answer', where=self.server,
                last_seen=getattr(e, 'reason', None) or e) from e
        if answer.status != expected:
            raise KubeError(
                'The Kubernetes API answered '
                f'{answer.status} {answer.reason}',
                status=answer.status, where=self.server)
        return answer.data


def log_path(namespace, pod) -> str:
    """Path of a pod's log."""
    return f'{pod_path(namespace, pod)}/log'


def pod_path(namespace, pod='') -> str:
    """Path of a pod, or of all of a namespace."""
    parts = ['api', 'v1', 'namespaces', namespace, 'pods', pod]
    return ''.join(f'/{parse.quote(p, safe="")}' for p in parts if p)
