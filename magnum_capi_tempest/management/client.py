# SPDX-License-Identifier: Apache-2.0

"""A thin client of a Kubernetes API server.

``kubectl apply`` of the objects of a new management cluster takes 12 s;
plain requests on four connections take 2 s. That, readiness and discovery
is all this room needs, so there is no client library here.
"""

import base64
import concurrent.futures
import pathlib
import shutil
import tempfile
import weakref

import requests
import requests.adapters

from magnum_capi import errors
from magnum_capi.kube import kubeconfig_file
from magnum_capi import waiting

#: Requests at a time.
CONNECTIONS = 4

CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'


class ApiError(errors.MagnumCapiError):
    """The API server refused a request, or did not answer it.

    :param status: HTTP status, None when there was no answer.
    """

    def __init__(self, what, *, status=None, **kwargs):
        super().__init__(what, **kwargs)
        self.status = status


class Client:
    """Speaks to one API server.

    :param server: URL without path.
    :param ca: path of the authority that signed its certificate, or a
        truth value: whether to verify with the machine's authorities.
    :param certificate: paths of the client's certificate and key, or None.
    :param token: bearer token, or None.
    :param timeout: seconds for a connection, and between two bytes.
    """

    def __init__(self, server, ca, certificate=None, token=None, timeout=30):
        self.server = server.rstrip('/')
        self._timeout = timeout
        self._session = requests.Session()
        # Proxies, ~/.netrc and REQUESTS_CA_BUNDLE are not meant for this
        # server; the last one even wins over ``verify``.
        self._session.trust_env = False
        self._session.verify = ca if isinstance(ca, bool) else str(ca)
        if certificate:
            self._session.cert = tuple(map(str, certificate))
        if token:
            self._session.headers['Authorization'] = f'Bearer {token}'
        adapter = requests.adapters.HTTPAdapter(pool_maxsize=CONNECTIONS)
        for scheme in ('http://', 'https://'):
            self._session.mount(scheme, adapter)

    def request(self, method, path, body=None):
        """Send a request and return the decoded answer.

        :param path: from the root of the server.
        :param body: JSON-compatible, or None.
        :returns: dict, or str when the answer is no JSON.
        :raises ApiError: HTTP status of 400 or above, or no answer.
        """
        where = f'{method} {self.server}{path}'
        try:
            answer = self._session.request(
                method, self.server + path, json=body, timeout=self._timeout)
        except requests.RequestException as e:
            raise ApiError('The API server does not answer', where=where,
                           last_seen=e) from e
        if answer.status_code >= 400:
            raise ApiError(
                f'The API server answered {answer.status_code}', where=where,
                status=answer.status_code, last_seen=_message(answer))
        if 'json' in answer.headers.get('Content-Type', ''):
            return answer.json()
        return answer.text

    def get(self, path):
        """The object at ``path``, None when there is none."""
        try:
            return self.request('GET', path)
        except ApiError as e:
            if e.status == 404:
                return None
            raise

    def answers(self, path) -> bool:
        """Whether a probe such as ``/readyz`` answers that all is well."""
        try:
            self.request('GET', path)
        except ApiError:
            return False
        return True

    def put_all(self, objects):
        """Create the objects, replace those that exist.

        :param objects: cluster-wide objects, dicts with apiVersion, kind
            and metadata.name, whose plural is the kind with an "s".
        """
        with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
            list(pool.map(self.put, objects))

    def put(self, wanted):
        """Create an object, or replace the one of its name."""
        path = collection(wanted)
        try:
            return self.request('POST', path, wanted)
        except ApiError as e:
            if e.status != 409:
                raise
        path = f'{path}/{wanted["metadata"]["name"]}'
        version = self.request('GET', path)['metadata']['resourceVersion']
        return self.request('PUT', path, {
            **wanted,
            'metadata': {**wanted['metadata'], 'resourceVersion': version}})

    def wait_established(self, names, timeout):
        """Wait until the API server serves these CRDs.

        :param names: metadata.name of each.
        :param timeout: seconds.
        """
        names = set(names)
        waiting.wait_for(
            lambda: names - established(self.request('GET', CRDS)['items']),
            done=lambda missing: not missing, timeout=timeout,
            what='custom resource definitions to be established',
            describe=lambda missing: 'missing ' + ', '.join(sorted(missing)),
            pace=waiting.Pace(0.1, 1.2, 0.5))


def collection(wanted) -> str:
    """Path of the collection of a cluster-wide object's kind."""
    version = wanted['apiVersion']
    root = f'/apis/{version}' if '/' in version else f'/api/{version}'
    return f'{root}/{wanted["kind"].lower()}s'


def established(crds) -> set[str]:
    """Names of the CRDs whose condition Established is true.

    ``status.conditions`` of a new CRD is null.
    """
    return {
        crd['metadata']['name'] for crd in crds
        if any(c['type'] == 'Established' and c['status'] == 'True'
               for c in crd.get('status', {}).get('conditions') or ())}


def from_kubeconfig(path, timeout=30) -> Client:
    """A client for the current context of a kubeconfig.

    Certificates embedded in it are written to a private folder that goes
    with the client: OpenSSL reads keys from files only.

    :raises UsageError: it cannot be used, or asks for something that this
        client does not know. Never quotes the file.
    """
    path = pathlib.Path(path)
    current = kubeconfig_file.read(path)
    current.require(cluster=kubeconfig_file.AUTHORITY,
                    user=(*kubeconfig_file.CERTIFICATE, 'token'))
    cluster, user = current.cluster, current.user
    folder = pathlib.Path(tempfile.mkdtemp(prefix='magnum-capi-'))
    try:
        def pem(section, name):
            if section.get(f'{name}-data'):
                file = folder / name
                file.touch(mode=0o600)
                file.write_bytes(_decoded(section, f'{name}-data', path))
                return file
            if section.get(name):
                file = path.parent / str(section[name])
                file.open('rb').close()
                return file
            return None

        certificate = pem(user, 'client-certificate')
        client = Client(
            cluster['server'],
            not cluster.get('insecure-skip-tls-verify')
            and (pem(cluster, 'certificate-authority') or True),
            certificate and (certificate, pem(user, 'client-key')),
            user.get('token'), timeout)
    except OSError as e:
        shutil.rmtree(folder)
        raise errors.UsageError(
            f'Cannot read what this kubeconfig refers to: {e.strerror}',
            where=path, last_seen=e.filename) from None
    except BaseException:
        shutil.rmtree(folder)
        raise
    weakref.finalize(client, shutil.rmtree, folder, ignore_errors=True)
    return client


def _decoded(section, name, where):
    try:
        return base64.b64decode(section[name])
    except (ValueError, TypeError):
        # Not the text of the error: it may quote a key.
        raise errors.UsageError(
            f'"{name}" of this kubeconfig is no base64', where=where
        ) from None


def _message(answer):
    try:
        return answer.json()['message']
    except (ValueError, KeyError, TypeError):
        return answer.text[:500]
