# SPDX-License-Identifier: Apache-2.0

"""Saves the state of a management cluster and the logs of a job.

This is for a whole run, while :mod:`.gather` is for one failed test. Secrets
are not requested, so no kubeconfig of a cluster is ever read, and
:mod:`magnum_capi_tempest.redact` redacts what is written. What cannot be read
is reported, and does not prevent the rest from being written.
"""

import contextlib
import glob
import json
import os
import pathlib

from magnum_capi import errors
from magnum_capi import outfile
from magnum_capi_tempest.evidence import logs
from magnum_capi_tempest.kubeclient import contexts
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest import redact
from magnum_capi_tempest import texts

#: Names of lists of core kinds, without Secrets.
_CORE = ('events', 'pods')


def objects(reader):
    """Read the objects of Cluster API and its providers, and the nodes' pods.

    :param reader: :class:`.kube.Client`.
    :returns: generator of (name of the list, items or KubeError).
    """
    for plural in _CORE:
        yield plural, _tried(reader.core, plural)
    try:
        kinds = reader.kinds(_is_cluster_api)
    except kube.KubeError as e:
        yield 'kinds', e
        return
    for group, version, plural, _ in kinds:
        yield f'{plural}.{group}', _tried(
            reader.custom, group, version, plural)


@contextlib.contextmanager
def of_environment():
    """Yield the path of a kubeconfig with the current context of $KUBECONFIG.

    :raises UsageError: none of its files exists, or one is no kubeconfig.
    """
    with contexts.chosen(os.environ['KUBECONFIG']) as (path, _):
        yield path


def from_management(kubeconfig, folder, mode=outfile.PRIVATE,
                    reader=kube.Client) -> list[str]:
    """Write a JSON file for each kind of a management cluster.

    :param kubeconfig: path.
    :param folder: created if missing.
    :param reader: function of the path, for tests.
    :returns: what could not be read, a line each.
    :raises EnvironmentProblem: no usable kubeconfig, or it cannot be
        written.
    """
    missed = []
    for name, found in objects(reader(kubeconfig)):
        if isinstance(found, errors.MagnumCapiError):
            missed.append(f'{name}: {found}')
            continue
        text = json.dumps([_short(item) for item in found], indent=1)
        _write(pathlib.Path(folder) / f'{name}.json', [text], mode)
    return missed


def from_logs(patterns, folder, mode=outfile.PRIVATE) -> list[str]:
    """Write copies of the ends of logs.

    :param patterns: of paths, as in a shell.
    :param folder: created if missing.
    :returns: what could not be read, a line each.
    :raises EnvironmentProblem: it cannot be written.
    """
    missed, taken = [], set()
    for pattern in patterns:
        paths = sorted(p for p in glob.glob(str(pattern))
                       if pathlib.Path(p).is_file())
        if not paths:
            missed.append(f'{pattern}: there is no such file')
        for path in map(pathlib.Path, paths):
            if path in taken:
                continue
            taken.add(path)
            # Logs of the same name in different folders stay separate.
            name = texts.file_name(str(path).lstrip('/'))
            try:
                _write(pathlib.Path(folder) / name,
                       redact.blocks(logs.tail(path)), mode)
            except OSError as e:
                missed.append(f'{path}: {e.strerror}')
    return missed


def _is_cluster_api(group):
    return (group == 'addons.stackhpc.com'
            or group.endswith('cluster.x-k8s.io'))


def _tried(read, *args):
    try:
        return read(*args)
    except kube.KubeError as e:
        return e


def _short(item):
    """An object without the bookkeeping of server-side apply."""
    metadata = {name: value for name, value in item['metadata'].items()
                if name != 'managedFields'}
    return {**item, 'metadata': metadata}


def _write(path, texts, mode):
    with outfile.whole(path, mode) as stream:
        for text in texts:
            stream.write(redact.redact(text).encode())
