# SPDX-License-Identifier: Apache-2.0


"""The Secrets of a cluster in the management cluster, as objects.

All have the cluster's uuid as a label, by which they are found and finally
removed. Cluster API uses the certificate authorities that it finds under its
own names, so the cluster trusts what Magnum's API signs.
"""

import base64
import dataclasses
import typing

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives import serialization
import yaml

from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import node_files
from magnum_capi.driver.desired import state as state_module
from magnum_capi.kube import client
from magnum_capi.kube import kinds
from magnum_capi.kube import lease
from magnum_capi.kube import rest

#: Type of the Secrets of Cluster API (api/core/v1beta1/common_types.go,
#: ClusterSecretType).
CAPI = 'cluster.x-k8s.io/secret'
#: Label for "clusterctl move" to include what no Cluster owns.
CLUSTERCTL_MOVE = 'clusterctl.cluster.x-k8s.io/move'

CLOUDS = 'clouds.yaml'
CACERT = 'cacert'

#: ``data`` of a Secret, values in base64.
Data: typing.TypeAlias = typing.Mapping[str, str]

_KEY_BITS = 2048


class ClusterSecrets:
    """The Secrets of one cluster.

    :param namespace: of the cluster.
    :param cluster: Magnum's row.
    :param release: name of the release, if another driver chose it.
    """

    def __init__(self, kube: client.Kube, namespace: str,
                 cluster: typing.Any, release: str | None = None) -> None:
        self._kube = kube
        self._namespace = namespace
        self._release = release or names.cluster(cluster.uuid)
        self._marks = names.cluster_marks(
            uuid=cluster.uuid, name=cluster.name,
            project_id=cluster.project_id, user_id=cluster.user_id)
        self._uuid = cluster.uuid

    def state(self) -> state_module.State:
        """The driver's state; a new one when there is none.

        :raises state.Unreadable: it is damaged, or of a later release.
        """
        found = self._state_secret()
        if found is None:
            return state_module.State()
        try:
            state = state_module.load(base64.b64decode(
                found['data'][state_module.KEY]).decode(), self._release)
        except (ValueError, KeyError, TypeError, AttributeError) as e:
            raise state_module.Damaged(
                self._release, self._namespace, e) from None
        return dataclasses.replace(
            state, version=found['metadata']['resourceVersion'])

    def write_state(self, state: state_module.State) -> state_module.State:
        """Write the state over what it was read from.

        :returns: the same, of the version that is there now.
        :raises lease.LockLost: another process has written it since.
        """
        secret = self._secret(state_module.name(self._release),
                              {state_module.KEY: state_module.dump(state)})
        try:
            if state.version is None:
                made = self._kube.create(secret)
            else:
                secret['metadata']['resourceVersion'] = state.version
                made = self._kube.replace(secret)
        except (rest.Conflict, rest.NotFound):
            # Also after a lost answer to a request that was repeated.
            found = self._state_secret()
            if found is None or found.get('data') != secret['data']:
                raise lease.LockLost(
                    'Another process has changed the state of the cluster',
                    where=secret['metadata']['name'],
                    hint='The next status check resumes the operation'
                ) from None
            made = found
        return dataclasses.replace(
            state, version=made['metadata']['resourceVersion'])

    def _state_secret(self) -> kinds.Object | None:
        return self._kube.get('Secret', self._namespace,
                              state_module.name(self._release))

    @property
    def credentials_name(self) -> str:
        """Name of the Secret that the cluster reads."""
        return names.credentials(self._release)

    def write_credentials(self, clouds: kinds.Object,
                          cacert: str | None) -> None:
        """Write the Secret that the cluster reads.

        :param clouds: content of clouds.yaml.
        :param cacert: PEM text; None: certificates are not verified.
        """
        texts = {CLOUDS: yaml.safe_dump(clouds)}
        if cacert is not None:
            texts[CACERT] = cacert
        self._kube.apply(self._secret(
            self.credentials_name, texts))

    def write_cacert(self, data: Data, cacert: str) -> None:
        """Write that Secret with other CA certificates, and the same rest.

        :param data: of the Secret.
        :param cacert: PEM text.
        """
        self.write_credentials(
            yaml.safe_load(base64.b64decode(data[CLOUDS])), cacert)

    def credentials(self) -> Data | None:
        """``data`` of that Secret, None when there is none."""
        found = self._kube.get('Secret', self._namespace,
                               self.credentials_name)
        return found and dict(found.get('data') or {})

    def write_proxies(self, file: node_files.ProxyFile) -> None:
        """Write a file of nodes, if it contains passwords.

        The previous one stays until the cluster is deleted: machines of an
        earlier revision can still be created.
        """
        if file.secret is not None:
            self._kube.apply(self._secret(
                file.secret, {node_files.KEY: file.content}))

    def write_authorities(
            self, pairs: typing.Mapping[str, tuple[str, str]]) -> None:
        """Write certificate authorities.

        :param pairs: certificate and key, PEM texts, by ca, etcd, proxy.
        """
        for kind, (certificate, key) in pairs.items():
            self._kube.apply(self._pair(kind, certificate, key))

    def ensure_service_account_key(self) -> None:
        """Create the key pair that signs tokens of service accounts, once.

        It is the cluster's own, because its holder can act as any account. A
        second one would invalidate all tokens.
        """
        name = names.certificate(self._release, 'sa')
        if self._kube.get('Secret', self._namespace, name) is None:
            self._kube.apply(self._pair('sa', *key_pair()))

    def remove_state(self) -> None:
        """Remove the driver's state, and nothing else."""
        self._kube.delete('Secret', self._namespace,
                          state_module.name(self._release))

    def remove(self) -> None:
        """Remove all Secrets, including the state."""
        self._kube.delete_all('Secret', self._namespace,
                              {names.CLUSTER_UUID: str(self._uuid)})

    def _pair(self, kind: str, certificate: str, key: str) -> kinds.Object:
        return self._secret(names.certificate(self._release, kind),
                            {'tls.crt': certificate, 'tls.key': key}, CAPI)

    def _secret(self, name: str, texts: typing.Mapping[str, str],
                type_: str = 'Opaque') -> kinds.Object:
        return {
            'kind': 'Secret',
            'metadata': {
                'name': name, 'namespace': self._namespace,
                'labels': {**self._marks.labels,
                           names.CAPI_CLUSTER_NAME: self._release,
                           CLUSTERCTL_MOVE: ''},
                'annotations': dict(self._marks.annotations)},
            'type': type_,
            'data': {key: base64.b64encode(text.encode()).decode()
                     for key, text in texts.items()}}


def auth(data: Data) -> dict[str, typing.Any]:
    """The credentials in clouds.yaml; empty if there are none."""
    found = _cloud(data).get('auth')
    return found if isinstance(found, dict) else {}


def cacert(data: Data) -> str | None:
    """The CA certificates of the cloud, PEM text; None if there are none."""
    found = data.get(CACERT)
    return base64.b64decode(found).decode() if found else None


def with_cacert(data: Data, cacert: str) -> Data:
    """``data`` of the Secret with other CA certificates."""
    return {**data, CACERT: base64.b64encode(cacert.encode()).decode()}


def verify(data: Data) -> bool:
    """Whether the cluster checks the certificates of the cloud."""
    return _cloud(data).get('verify') is not False


def _cloud(data: Data) -> kinds.Object:
    try:
        found = yaml.safe_load(base64.b64decode(data[CLOUDS]))
        return dict(found['clouds']['openstack'])
    except (KeyError, TypeError, ValueError, yaml.YAMLError):
        return {}


def applied_id(data: Data) -> str | None:
    """Id of the application credential in ``data`` of a Secret."""
    return auth(data).get('application_credential_id')


def clouds(credential_id: str | None, secret: str, *, auth_url: str | None,
           region: str | None, interface: str,
           verify: bool) -> kinds.Object:
    """Content of clouds.yaml of a cluster."""
    cloud: kinds.Object = {
        'auth_type': 'v3applicationcredential',
        'auth': {'auth_url': auth_url,
                 'application_credential_id': credential_id,
                 'application_credential_secret': secret},
        'identity_api_version': 3, 'interface': interface, 'verify': verify}
    if region:
        cloud['region_name'] = region
    return {'clouds': {'openstack': cloud}}


def key_pair() -> tuple[str, str]:
    """A new key pair in the format of Cluster API: public and private PEM.

    (util/secret/certificates.go, generateServiceAccountKeys)
    """
    key = rsa.generate_private_key(public_exponent=65537, key_size=_KEY_BITS)
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM,
        serialization.PublicFormat.SubjectPublicKeyInfo)
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption())
    return public.decode(), private.decode()
