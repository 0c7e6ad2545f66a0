# SPDX-License-Identifier: Apache-2.0

"""Changes objects of a Kubernetes API, as an administrator does by hand.

Tests do so to a cluster behind the back of Magnum and of its driver; nothing
else in this project does.
"""

import json

from magnum_capi_tempest.evidence import kube

JSON = 'application/json'
#: https://www.rfc-editor.org/rfc/rfc6902, which custom resources take, too.
JSON_PATCH = 'application/json-patch+json'

#: Times that a change is tried again which another one overtook.
_TRIES = 5


class Writer(kube.Reader):
    """Reads and changes the cluster of a kubeconfig.

    Every method raises KubeReadFailed when the API did not answer, or
    refused.

    :param kubeconfig: path.
    """

    def ask(self, method, path, body=None, kind=JSON):
        """Send a request and return the answer, a dict.

        :param path: "/api/v1/nodes/x".
        :param body: what JSON can write.
        :param kind: Content-Type of the body.
        """
        import urllib3
        # The pool rather than the calls of the client library: the way it
        # chooses the type of a patch changes between its versions.
        token = self._api.configuration.auth_settings().get('BearerToken')
        headers = {'Accept': JSON}
        if token:
            headers[token['key']] = token['value']
        if body is not None:
            headers['Content-Type'] = kind
            body = json.dumps(body).encode()
        connect, read = kube.TIMEOUT
        try:
            answer = self._api.rest_client.pool_manager.request(
                method, f'{self.server}{path}', body=body, headers=headers,
                retries=False, timeout=urllib3.Timeout(connect, read))
        except (urllib3.exceptions.HTTPError, OSError) as e:
            raise kube.no_answer(e, self.server) from e
        if not 200 <= answer.status < 300:
            raise kube.KubeReadFailed(
                f'The Kubernetes API answered {answer.status} to {method} '
                f'{path}', where=self.server, status=answer.status,
                last_seen=_message(answer.data))
        # A deletion may be answered with nothing at all.
        return json.loads(answer.data) if answer.data.strip() else {}

    def get(self, path):
        """Return an object, None when there is none."""
        try:
            return self.ask('GET', path)
        except kube.KubeReadFailed as e:
            if e.status == 404:
                return None
            raise

    def patch(self, path, *operations):
        """Change an object by the operations of a JSON patch."""
        return self.ask('PATCH', path, list(operations), JSON_PATCH)

    def delete(self, path):
        """Delete an object; that it is gone already is well."""
        try:
            self.ask('DELETE', path)
        except kube.KubeReadFailed as e:
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
            except kube.KubeReadFailed as e:
                if subresource and e.status == 404:
                    subresource = ''
                elif e.status != 409 or not left:
                    raise
        raise AssertionError('not reached')


def _message(data):
    """Return the message of a Status, or the beginning of a text."""
    try:
        return str(json.loads(data)['message'])
    except (ValueError, TypeError, KeyError):
        return data[:200].decode(errors='replace')
