# SPDX-License-Identifier: Apache-2.0

"""How to reach the cluster of a kubeconfig whose user a program may log in.

Everything else is read, and checked, as the library does for Magnum's driver:
see :mod:`magnum_capi.kube.access`. There programs are refused; here they are
those of whoever runs a test. The package ``kubernetes`` calls them
(https://kubernetes.io/docs/reference/access-authn-authz/authentication/
#client-go-credential-plugins).
"""

import base64
import dataclasses
import datetime
import os
import pathlib

from magnum_capi import errors
from magnum_capi.kube import access
from magnum_capi.kube import kubeconfig_file
from magnum_capi_tempest import json_types

_UTC = datetime.timezone.utc
#: What a program returns, and the same in a kubeconfig.
_DATA = {'clientCertificateData': 'client-certificate-data',
         'clientKeyData': 'client-key-data'}


def load(kubeconfig: str | os.PathLike[str]
         ) -> tuple[access.Access, datetime.datetime | None]:
    """Read a kubeconfig, and log its user in if that needs a program.

    :returns: how to connect, and until when; None: for ever.
    :raises EnvironmentProblem: the library that calls programs is missing.
    :raises UsageError: the file is missing, not a kubeconfig, or one with
        unsupported keys, or its program did not log in; neither the file nor
        the program is quoted.
    """
    current = kubeconfig_file.read(pathlib.Path(kubeconfig).absolute())
    user = dict(current.user)
    program = user.pop('exec', None)
    until = None
    if program:
        status = _exec_status(program, current)
        until = _moment(status.get('expirationTimestamp'))
        token = status.get('token', '')
        if not token and not _DATA.keys() <= status.keys():
            # It must not become an anonymous request.
            raise _failed(current, 'it printed no credential')
        if not kubeconfig_file.is_token(token):
            raise _failed(current, 'its token cannot be sent as one')
        user |= {key: base64.b64encode(status[name].encode()).decode()
                 for name, key in _DATA.items() if name in status}
        user['token'] = token or user.get('token')
    return access.of(dataclasses.replace(current, user=user)), until


def expired(until: datetime.datetime | None) -> bool:
    """Whether a user has to be logged in again."""
    return until is not None and datetime.datetime.now(_UTC) >= until


def _exec_status(program: json_types.Object, current: kubeconfig_file.Current
                 ) -> json_types.Object:
    """The status of the ExecCredential that a program prints."""
    try:
        from kubernetes.config import exec_provider
        from kubernetes.config import kube_config
    except ImportError as e:
        raise errors.EnvironmentProblem(
            'The Python package kubernetes is not installed',
            hint='pip install kubernetes') from e
    node = kube_config.ConfigNode
    try:
        status = exec_provider.ExecProvider(
            node('exec', program), str(current.where.parent),
            node('cluster', dict(current.cluster))).run()
    except Exception as e:
        # Any error of its parts; its text may quote a secret.
        raise _failed(current, type(e).__name__) from None
    return {} if not isinstance(status, dict) else {
        name: value for name, value in status.items()
        if value and isinstance(value, str)}


def _failed(current: kubeconfig_file.Current, why: str) -> errors.UsageError:
    return errors.UsageError(
        'The program of the kubeconfig has not logged its user in',
        where=current.where, last_seen=why,
        hint='Try the same with kubectl')


def _moment(stamp: str | None) -> datetime.datetime | None:
    try:
        moment = datetime.datetime.fromisoformat(stamp or '')
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=_UTC)
