# SPDX-License-Identifier: Apache-2.0

"""Reads the current context of a kubeconfig, and refuses unsupported keys.

Every reader in this project follows the same rules. Text that does not parse
is never quoted, because any line may contain a key. And no setting is silently
ignored, because that could mean another user or server: a reader names the
settings that it supports, and a kubeconfig with others is refused.
"""

import collections.abc
import dataclasses
import pathlib
import re
import types
import typing

import yaml

from magnum_capi import errors

#: How a server is verified, by data or file.
AUTHORITY = ('certificate-authority', 'certificate-authority-data',
             'insecure-skip-tls-verify')

#: A client's certificate, by data or file.
CERTIFICATE = ('client-certificate', 'client-certificate-data',
               'client-key', 'client-key-data')

#: Keys that affect neither the user nor the server (client-go,
#: tools/clientcmd/api/v1/types.go). All readers support ``server``.
_WITHOUT_EFFECT = frozenset(('server', 'disable-compression', 'extensions'))

#: Form of a key. Anything else may be a secret put there by mistake.
_NAME = re.compile('[A-Za-z][A-Za-z-]{0,40}')

#: A part of a kubeconfig, with any keys and values until they are checked.
Section: typing.TypeAlias = collections.abc.Mapping[str, typing.Any]

#: Values that client-go treats like an absent key.
_ABSENT: tuple[object, ...] = (None, '', False, [], {})


@dataclasses.dataclass(frozen=True)
class Current:
    """The current context of a kubeconfig.

    :param where: the file.
    :param cluster: its ``cluster`` as it is in the file, with a ``server``.
    :param user: its ``user`` as it is in the file; empty: anonymous.
    """

    where: pathlib.Path
    cluster: Section = dataclasses.field(repr=False)
    user: Section = dataclasses.field(repr=False)

    def require(self, cluster: collections.abc.Collection[str] = (),
                user: collections.abc.Collection[str] = ()) -> None:
        """Refuse a kubeconfig that has other keys than these.

        :param cluster: keys of a cluster that the reader supports.
        :param user: keys of a user that the reader supports.
        :raises UsageError: with the names of the others.
        """
        others = [
            f'{_shown(key)} of its {kind}'
            for kind, section, honoured in (
                ('cluster', self.cluster, cluster), ('user', self.user, user))
            for key in _present(section) if key not in honoured]
        if others:
            raise errors.UsageError(
                'This kubeconfig has unsupported settings: '
                + ', '.join(others), where=self.where,
                hint='Use one with a client certificate or a token, and '
                     'without these settings')


def read(path: pathlib.Path) -> Current:
    """The current context of a file.

    :raises UsageError: it cannot be read or used. Never quotes the file.
    """
    return parse(text_of(path), path)


def text_of(path: pathlib.Path) -> str:
    """The text of a file.

    :raises UsageError: it cannot be read.
    """
    try:
        return path.read_text(encoding='utf-8')
    except OSError as e:
        raise errors.UsageError(
            f'Cannot read the kubeconfig: {e.strerror}', where=path) from None
    except UnicodeError:
        raise _unusable(path, 'it is not UTF-8') from None


def parse(text: str, where: pathlib.Path) -> Current:
    """The current context of a kubeconfig; pure.

    :param where: the file, for messages.
    :raises UsageError: it is unusable. Never quotes the text.
    """
    document = document_of(text, where)
    context = _named(document, 'context', document.get('current-context'),
                     where)
    cluster = _named(document, 'cluster', context.get('cluster'), where)
    user: Section = {}
    if context.get('user') not in _ABSENT:
        user = _named(document, 'user', context['user'], where)
    if not isinstance(cluster.get('server'), str) or not cluster['server']:
        raise _unusable(where, 'its cluster has no server')
    if user.get('token') and not is_token(user['token']):
        raise _unusable(where, 'its token cannot be sent as one')
    if _given(user, 'client-certificate') and not _given(user, 'client-key'):
        # As in client-go, this must not become an anonymous request.
        raise _unusable(where, 'its client certificate has no key')
    return Current(where, types.MappingProxyType(cluster),
                   types.MappingProxyType(user))


def document_of(text: str, where: pathlib.Path) -> dict[str, typing.Any]:
    """A kubeconfig as a mapping; pure.

    :raises UsageError: it is not one. Never quotes the text.
    """
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as e:
        # Not the text of the error: it quotes the line.
        mark = getattr(e, 'problem_mark', None)
        raise _unusable(where, 'it is not YAML' + (
            f', see line {mark.line + 1}' if mark else '')) from None
    except (ValueError, RecursionError):
        # "2026-99-99" is an invalid date, "[[[[..." too deep.
        raise _unusable(where, 'it is not YAML') from None
    if not isinstance(document, dict):
        raise _unusable(where, 'it is not a mapping')
    return document


def is_token(text: object) -> bool:
    """Whether a text can be sent as a bearer token.

    Errors of HTTP libraries quote a header that they refuse.
    """
    return (isinstance(text, str) and text.isascii() and text.isprintable()
            and ' ' not in text)


def _given(section: Section, name: str) -> object:
    return section.get(name) or section.get(f'{name}-data')


def _shown(key: object) -> str:
    if isinstance(key, str) and _NAME.fullmatch(key):
        return f'"{key}"'
    return 'an unknown key'


def _named(document: Section, kind: str, name: object,
           where: pathlib.Path) -> dict[str, typing.Any]:
    if not isinstance(name, str) or not name:
        raise _unusable(where, f'no current {kind} is named')
    items = document.get(f'{kind}s')
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict) and item.get('name') == name:
            found = item.get(kind) or {}
            if isinstance(found, dict):
                return found
    raise _unusable(where, f'it lacks the current {kind}')


def _present(section: Section) -> list[str]:
    return [key for key, value in section.items()
            if value not in _ABSENT and key not in _WITHOUT_EFFECT]


def _unusable(where: pathlib.Path, why: str) -> errors.UsageError:
    return errors.UsageError('This kubeconfig is unusable', where=where,
                             last_seen=why)
