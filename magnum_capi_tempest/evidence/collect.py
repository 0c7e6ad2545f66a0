# SPDX-License-Identifier: Apache-2.0

"""Saves the state of a management cluster and the logs of a job.

This is for a whole run, while :mod:`.gather` is for one failed test. Secrets
are not requested, so no kubeconfig of a cluster is ever read, and
:mod:`magnum_capi_tempest.redact` redacts what is written. What cannot be read
is reported, and does not prevent the rest from being written.
"""

import collections.abc
import functools
import glob
import json
import pathlib

from magnum_capi import outfile
from magnum_capi_tempest.evidence import capi
from magnum_capi_tempest.evidence import logs
from magnum_capi_tempest import json_types
from magnum_capi_tempest.kubeclient import contexts
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest import redact
from magnum_capi_tempest import texts

#: Names of lists of core kinds, without Secrets.
_CORE = ('events', 'pods')


def from_management(kubeconfig: str, folder: pathlib.Path,
                    mode: int = outfile.PRIVATE) -> list[str]:
    """Write a JSON file for each kind of a management cluster.

    :param kubeconfig: path, or several as in a ``KUBECONFIG``.
    :param folder: created if missing.
    :returns: what could not be read, a line each.
    :raises UsageError: no usable kubeconfig.
    :raises EnvironmentProblem: a file cannot be written.
    """
    with contexts.chosen(str(kubeconfig)) as (path, _):
        return _from(kube.Client(path), pathlib.Path(folder), mode)


def from_logs(patterns: collections.abc.Iterable[str], folder: pathlib.Path,
              mode: int = outfile.PRIVATE) -> list[str]:
    """Write copies of the ends of logs.

    :param patterns: of paths, as in a shell.
    :param folder: created if missing.
    :returns: what could not be read, a line each.
    :raises EnvironmentProblem: it cannot be written.
    """
    missed, paths = [], set()
    for pattern in patterns:
        found = {path for path in map(pathlib.Path, glob.glob(str(pattern)))
                 if path.is_file()}
        if not found:
            missed.append(f'{pattern}: there is no such file')
        paths |= found
    for path in sorted(paths):
        try:
            # Read before the copy is begun: the errors of both are OSErrors.
            blocks = list(redact.blocks(logs.tail(path)))
        except OSError as e:
            missed.append(f'{path}: {e.strerror}')
            continue
        # Logs of the same name in different folders stay separate.
        name = texts.file_name(str(path).lstrip('/'))
        _write(pathlib.Path(folder) / name, blocks, mode)
    return missed


def _from(reader: kube.Client, folder: pathlib.Path, mode: int) -> list[str]:
    missed = []
    lists = {plural: functools.partial(reader.core, plural)
             for plural in _CORE}
    try:
        lists |= {f'{plural}.{group}': functools.partial(
            reader.custom, group, version, plural)
            for group, version, plural, _ in reader.kinds(capi.is_served)}
    except kube.KubeError as e:
        missed.append(f'kinds: {e}')
    for name, read in lists.items():
        try:
            text = json.dumps([_short(item) for item in read()], indent=1)
        except kube.KubeError as e:
            missed.append(f'{name}: {e}')
            continue
        _write(folder / f'{name}.json', [text], mode)
    return missed


def _short(item: json_types.Object) -> json_types.Object:
    """An object without the bookkeeping of server-side apply."""
    metadata = {name: value for name, value in item['metadata'].items()
                if name != 'managedFields'}
    return {**item, 'metadata': metadata}


def _write(path: pathlib.Path, texts: collections.abc.Iterable[str], mode: int
           ) -> None:
    with outfile.whole(path, mode) as stream:
        for text in texts:
            stream.write(redact.redact(text).encode())
