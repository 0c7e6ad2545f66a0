# SPDX-License-Identifier: Apache-2.0


"""The kubeconfig of the cluster under test: a file, or created by Magnum.

Magnum's contains an administrator's key. It is written to a folder that only
its owner can enter, and removed when the command that needs it ends. If that
command is killed, the next one removes it.
"""

import collections.abc
import contextlib
import dataclasses
import pathlib
import typing

from magnum_capi import errors
from magnum_capi import scratch
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest import json_types
from magnum_capi_tempest.kubeclient import contexts
from magnum_capi_tempest import kubeconfig

if typing.TYPE_CHECKING:
    from keystoneauth1 import exceptions
    from openstack import connection

#: Connects to a cloud, by its name in clouds.yaml.
Connect: typing.TypeAlias = collections.abc.Callable[
    [str], 'connection.Connection']
#: Sends a request to Magnum, and returns the answer.
_Call: typing.TypeAlias = collections.abc.Callable[..., json_types.Object]

#: Timeout of a request to Magnum or Keystone, in seconds.
_TIMEOUT = 60


@dataclasses.dataclass(frozen=True)
class Access:
    """How to reach a cluster.

    :param kubeconfig: path; if the file was created here, it is removed
        after the ``with`` block.
    :param about: what Magnum says about the cluster.
    :param context: its name, if the user's kubeconfig has several: the
        current one may change later.
    """

    kubeconfig: pathlib.Path
    about: model.Cluster = model.Cluster()
    context: str = ''


@contextlib.contextmanager
def access(target: runs.Target, connect: Connect | None = None
           ) -> collections.abc.Iterator[Access]:
    """Yield an :class:`Access` to a cluster.

    :param connect: for tests.
    :raises UsageError: no such file, cluster or cloud.
    :raises EnvironmentProblem: the cloud cannot be used, or a library is
        missing.
    """
    if not target.cluster:
        with contexts.chosen(target.kubeconfig, target.context) as (
                file, context):
            yield Access(file, context=context)
        return
    with scratch.folder(contexts.PRIVATE) as folder:
        file = folder.path / 'kubeconfig'
        about = _write(target, file, connect or _connect)
        yield Access(file, about)


def check(target: runs.Target, connect: Connect | None = None) -> None:
    """Check that the cluster of a target exists; nothing is written.

    The cluster of a kubeconfig is not asked.

    :raises UsageError, EnvironmentProblem: as :func:`access`.
    """
    if target.cluster:
        _cluster(target, _caller(target, connect or _connect))
    else:
        contexts.narrow(contexts.split(target.kubeconfig), target.context)


def _connect(cloud: str) -> 'connection.Connection':
    try:
        import openstack  # noqa: F401
    except ImportError as e:
        raise errors.EnvironmentProblem(
            'The Python package openstacksdk is not installed',
            hint='pip install openstacksdk') from e
    from magnum_capi.discovery import cloud as clouds
    return clouds.open_cloud(cloud or None)


def _caller(target: runs.Target, connect: Connect) -> _Call:
    """A function of method and path that returns Magnum's answer."""
    from keystoneauth1 import exceptions

    from magnum_capi.discovery import cloud as clouds
    name = target.cloud or None
    with clouds.explained(name):
        magnum = connect(target.cloud).container_infrastructure_management

    def call(method: str, path: str, json: object = None) -> json_types.Object:
        with clouds.explained(name):
            try:
                answer: json_types.Object = magnum.request(
                    path, method, timeout=_TIMEOUT, raise_exc=True, json=json
                ).json()
                return answer
            except exceptions.HttpError as e:
                raise _refusal(e, target) from None

    return call


def _cluster(target: runs.Target, call: _Call) -> json_types.Object:
    """Magnum's view of the cluster, which has an address."""
    cluster = call('GET', f'/clusters/{target.cluster}')
    if not cluster.get('api_address'):
        raise errors.UsageError(
            'The cluster has no API address yet', where=cluster['uuid'],
            last_seen=cluster.get('status'))
    return cluster


def _write(target: runs.Target, file: pathlib.Path, connect: Connect
           ) -> model.Cluster:
    """Have a certificate signed, write the kubeconfig, return its subject."""
    call = _caller(target, connect)
    cluster = _cluster(target, call)
    kubeconfig.write(file, kubeconfig.signed(
        cluster, lambda body: call('POST', '/certificates', json=body),
        lambda uuid: call('GET', f'/certificates/{uuid}'),
        cluster['name'] or 'cluster'))
    template = call('GET', f'/clustertemplates/'
                    f'{cluster["cluster_template_id"]}')
    return model.Cluster(
        name=cluster['name'] or cluster['uuid'],
        driver=template.get('driver') or '',
        cni=template.get('network_driver') or '',
        image=template.get('image_id') or '')


def _refusal(error: 'exceptions.HttpError', target: runs.Target
             ) -> errors.MagnumCapiError:
    if error.http_status == 404:
        return errors.UsageError('There is no such cluster',
                                 where=target.cluster)
    if error.http_status == 409:
        return errors.UsageError(
            'Several clusters have this name', where=target.cluster,
            hint='Use the UUID')
    return errors.EnvironmentProblem(
        f'Magnum answered {error.http_status}',
        where=error.url or target.cluster, last_seen=str(error))
