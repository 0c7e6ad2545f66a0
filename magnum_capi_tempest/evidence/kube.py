# SPDX-License-Identifier: Apache-2.0

"""Reads from a Kubernetes API, with a timeout, as plain dicts.

Answers are parsed here and not by the ``kubernetes`` client: since version 37
its models refuse what in-memory and older servers send (a Pod without
containers is a ValidationError).

The client talks through urllib3 with the CA of the kubeconfig, so that
REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE and .netrc do not matter. A proxy from the
environment is used for other machines only, never for this one.
"""

import json

from magnum_capi import errors
from magnum_capi_tempest import kubeclient

#: (connect, read) in seconds. A management cluster under load answers lists
#: in well under a second; one that is gone should not hold up a failure.
TIMEOUT = (5, 30)

#: Objects of one list request.
PAGE = 500


class KubeReadFailed(errors.MagnumCapiError):
    """A Kubernetes API did not answer, or refused.

    :param status: HTTP status code, None when there was no answer.
    :param untrusted: the server's certificate is not of the CA of the
        kubeconfig, so it may be another server.
    """

    def __init__(self, what, *, status=None, untrusted=False, **kwargs):
        super().__init__(what, **kwargs)
        self.status = status
        self.untrusted = untrusted

    @property
    def is_final(self):
        """Whether asking again is of no use: refused, or not trusted."""
        return self.untrusted or self.status in (401, 403)


def no_answer(error, server):
    """Return the KubeReadFailed for an error of urllib3 or the system."""
    reason = getattr(error, 'reason', None) or error
    return KubeReadFailed(
        'The Kubernetes API did not answer', where=server, last_seen=reason,
        untrusted='CERTIFICATE_VERIFY_FAILED' in str(reason))


class Reader:
    """Lists objects of the cluster of a kubeconfig. Changes nothing.

    :param kubeconfig: path.
    :raises EnvironmentProblem: the client library is not installed, or the
        file is missing or not a kubeconfig.
    """

    def __init__(self, kubeconfig):
        self._api = kubeclient.load(kubeconfig, 'evidence')
        from kubernetes import client
        self.server = self._api.configuration.host
        self._core = client.CoreV1Api(self._api)
        self._custom = client.CustomObjectsApi(self._api)
        self._groups = client.ApisApi(self._api)

    def nodes(self):
        """Return the Nodes, a list of dicts."""
        return self._all(self._core.list_node)

    def core(self, plural, labels=None):
        """Return all objects of a core kind, of all namespaces.

        :param plural: events, pods, secrets or serviceaccounts.
        :param labels: selector of those that are meant, for example
            "owner=helm".
        """
        calls = {
            'events': self._core.list_event_for_all_namespaces,
            'pods': self._core.list_pod_for_all_namespaces,
            'secrets': self._core.list_secret_for_all_namespaces,
            'serviceaccounts':
                self._core.list_service_account_for_all_namespaces,
        }
        options = {'label_selector': labels} if labels else {}
        return self._all(calls[plural], **options)

    def custom(self, group, version, plural):
        """Return all objects of a kind of any API group, all namespaces."""
        return self._all(self._custom.list_cluster_custom_object, group,
                         version, plural)

    def kinds(self, wanted):
        """Find the listable kinds of some API groups.

        :param wanted: function of a group's name.
        :returns: list of (group, preferred version, plural, kind), sorted.
        """
        found = []
        for group in self._get(self._groups.get_api_versions)['groups']:
            if not wanted(group['name']):
                continue
            version = group['preferredVersion']['version']
            resources = self._get(self._custom.get_api_resources,
                                  group['name'], version)['resources']
            found += [(group['name'], version, r['name'], r['kind'])
                      for r in resources
                      if '/' not in r['name'] and 'list' in r['verbs']]
        return sorted(found)

    def _all(self, call, *args, **options):
        items, more = [], None
        while True:
            if more:
                options['_continue'] = more
            page = self._get(call, *args, limit=PAGE, **options)
            items += page['items']
            more = page.get('metadata', {}).get('continue')
            if not more:
                return items

    def _get(self, call, *args, **kwargs):
        from kubernetes.client import exceptions
        import urllib3.exceptions
        try:
            answer = call(*args, _preload_content=False,
                          _request_timeout=TIMEOUT, **kwargs)
            return json.loads(answer.data)
        except exceptions.ApiException as e:
            raise KubeReadFailed(
                f'The Kubernetes API refused to list: {e.status} {e.reason}',
                status=e.status, where=self.server) from None
        except (urllib3.exceptions.HTTPError, OSError) as e:
            raise no_answer(e, self.server) from e
        except ValueError as e:
            raise KubeReadFailed(
                'The answer of the Kubernetes API is not JSON',
                where=self.server) from e
