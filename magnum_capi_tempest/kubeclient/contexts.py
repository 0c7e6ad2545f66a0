# SPDX-License-Identifier: Apache-2.0

"""Uses one context of kubeconfigs, as kubectl selects it.

If ``KUBECONFIG`` lists several files, the first file with a name defines it,
and missing files are ignored (client-go, tools/clientcmd/loader.go). The
result has one context and no relative paths, so it can be written anywhere.
"""

import collections.abc
import contextlib
import os
import pathlib
import typing

from magnum_capi import errors
from magnum_capi.kube import kubeconfig_file
from magnum_capi import scratch
from magnum_capi_tempest import json_types
from magnum_capi_tempest import kubeconfig

#: Prefix of private temporary folders with a kubeconfig.
PRIVATE = 'magnum-capi-kubeconfig-'

#: Keys of a cluster or a user that are paths, relative to their file.
_PATHS = ('certificate-authority', 'client-certificate', 'client-key',
          'tokenFile')


def split(text: str) -> tuple[pathlib.Path, ...]:
    """The files in a ``KUBECONFIG``; a single file may contain a colon.

    :raises UsageError: none of them exists.
    """
    whole = pathlib.Path(text)
    files = (whole,) if whole.is_file() else tuple(
        file for part in text.split(os.pathsep)
        if part and (file := pathlib.Path(part)).is_file())
    if not files:
        raise errors.UsageError('There is no such kubeconfig', where=text)
    return files


@contextlib.contextmanager
def chosen(text: str, context: str = '') -> collections.abc.Iterator[
        tuple[pathlib.Path, str]]:
    """Yield a kubeconfig with a single context, and the name of that.

    The name is empty if there is only one, which need not be recorded; a
    single file is then used where it is. Otherwise it is written to a folder
    that only its owner can enter, and removed after the ``with`` block. If
    the process is killed, the next one removes it.

    :param text: a ``KUBECONFIG``.
    :param context: the current one of the files if empty.
    :raises UsageError: see :func:`split` and :func:`narrow`.
    """
    files = split(text)
    context = context or _default(files)
    if len(files) == 1 and not context:
        yield files[0], ''
        return
    with scratch.folder(PRIVATE) as folder:
        path = folder.path / 'kubeconfig'
        kubeconfig.write(path, narrow(files, context))
        yield path, context


def _default(files: collections.abc.Sequence[pathlib.Path]) -> str:
    """Name of the current context; empty if there is only one."""
    documents = [_document(file) for file in files]
    names = {entry.get('name') for document in documents
             for entry in _entries(document, 'context')}
    return _current(documents) if len(names) > 1 else ''


def narrow(files: typing.Sequence[pathlib.Path],
           context: str = '') -> dict[str, typing.Any]:
    """A kubeconfig with a single context, as a dict.

    :param context: its name; if empty, the current one of the files.
    :raises UsageError: they lack it, or one is not a kubeconfig.
    """
    documents = [_document(file) for file in files]
    name = context or _current(documents)
    where = os.pathsep.join(map(str, files))
    found = _named(documents, files, 'context', name)
    if found is None:
        raise errors.UsageError(
            'The kubeconfig has no such context' if name
            else 'The kubeconfig has no current context', where=where,
            last_seen=name or None,
            hint='"kubectl config get-contexts" shows them; --context names '
                 'one')
    document = {'apiVersion': 'v1', 'kind': 'Config', 'current-context': name,
                'contexts': [{'name': name, 'context': found}]}
    for kind in 'cluster', 'user':
        item = _named(documents, files, kind, found.get(kind))
        if item is not None:
            document[f'{kind}s'] = [{'name': found[kind], kind: item}]
    return document


def _document(file: pathlib.Path) -> json_types.Object:
    return kubeconfig_file.document_of(kubeconfig_file.text_of(file), file)


def _entries(
        document: json_types.Object, kind: str) -> list[json_types.Object]:
    found = document.get(f'{kind}s')
    return [entry for entry in found if isinstance(entry, dict)
            ] if isinstance(found, list) else []


def _current(documents: collections.abc.Sequence[json_types.Object]) -> str:
    return next((name for document in documents if isinstance(
        name := document.get('current-context'), str) and name), '')


def _named(documents: collections.abc.Sequence[json_types.Object],
           files: collections.abc.Sequence[pathlib.Path], kind: str,
           name: str | None) -> json_types.Object | None:
    for document, file in zip(documents, files):
        for entry in _entries(document, kind):
            section = entry.get(kind)
            if entry.get('name') == name and name and isinstance(
                    section, dict):
                return _absolute(section, file.absolute().parent)
    return None


def _absolute(
        section: json_types.Object, folder: pathlib.Path) -> json_types.Object:
    """The section with paths that do not depend on the file's location."""
    found = {key: str(folder / value) if key in _PATHS and value
             and isinstance(value, str) else value
             for key, value in section.items()}
    program = section.get('exec')
    if isinstance(program, dict) and '/' in str(program.get('command')):
        # A bare name is searched for in PATH.
        found['exec'] = {**program,
                         'command': str(folder / program['command'])}
    return found
