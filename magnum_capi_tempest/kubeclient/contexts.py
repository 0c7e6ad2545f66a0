# SPDX-License-Identifier: Apache-2.0

"""One context out of kubeconfigs, as kubectl chooses it.

Of several files, which ``KUBECONFIG`` may list, the first that has a name has
it, and files that are not there count for nothing (client-go,
tools/clientcmd/loader.go). What comes out has one context and no relative
path, so that it can be written anywhere.
"""

import os
import pathlib
import typing

from magnum_capi import errors
from magnum_capi.kube import kubeconfig_file
from magnum_capi_tempest import kubeconfig

#: Keys of a cluster or a user that are paths, relative to their file.
_PATHS = ('certificate-authority', 'client-certificate', 'client-key',
          'tokenFile')


def split(text: str) -> tuple[pathlib.Path, ...]:
    """The files of a ``KUBECONFIG``; one file may have a colon in its name.

    :raises UsageError: none of them is there.
    """
    whole = pathlib.Path(text)
    files = (whole,) if whole.is_file() else tuple(
        file for part in text.split(os.pathsep)
        if part and (file := pathlib.Path(part)).is_file())
    if not files:
        raise errors.UsageError('There is no such kubeconfig', where=text)
    return files


def current(files: typing.Sequence[pathlib.Path]) -> str:
    """Name of the context that is meant where nobody names one.

    Empty where there is no choice: it need not be noted then.

    :raises UsageError: a file is no kubeconfig.
    """
    documents = [_document(file) for file in files]
    names = {entry.get('name') for document in documents
             for entry in _entries(document, 'context')}
    return _current(documents) if len(names) > 1 else ''


def narrow(files: typing.Sequence[pathlib.Path],
           context: str = '') -> dict[str, typing.Any]:
    """A kubeconfig that has one context, as a dict.

    :param context: its name; that of the files when empty.
    :raises UsageError: they do not have it, or one is no kubeconfig.
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


def write(path: pathlib.Path, files, context=''):
    """Write the kubeconfig of a context, for its owner only."""
    kubeconfig.write(path, narrow(files, context))


def _document(file):
    return kubeconfig_file.document_of(kubeconfig_file.text_of(file), file)


def _entries(document, kind):
    found = document.get(f'{kind}s')
    return [entry for entry in found if isinstance(entry, dict)
            ] if isinstance(found, list) else []


def _current(documents):
    return next((name for document in documents if isinstance(
        name := document.get('current-context'), str) and name), '')


def _named(documents, files, kind, name):
    for document, file in zip(documents, files):
        for entry in _entries(document, kind):
            section = entry.get(kind)
            if entry.get('name') == name and name and isinstance(
                    section, dict):
                return _absolute(section, file.absolute().parent)
    return None


def _absolute(section, folder):
    """With paths that do not depend on where the file is."""
    found = {key: str(folder / value) if key in _PATHS and value
             and isinstance(value, str) else value
             for key, value in section.items()}
    program = section.get('exec')
    if isinstance(program, dict) and '/' in str(program.get('command')):
        # A bare name is looked for in PATH.
        found['exec'] = {**program,
                         'command': str(folder / program['command'])}
    return found
