# SPDX-License-Identifier: Apache-2.0

"""Reads a long list page by page; starts again if it expires half-way."""

import collections.abc
import typing

from magnum_capi.kube import kinds
from magnum_capi.kube import rest

#: Labels that an object must have, or a label selector.
Labels: typing.TypeAlias = dict[str, str] | str

#: Objects of one page of a list.
_PAGE = 500

_Kept = typing.TypeVar('_Kept')


def read(connection: rest.Rest, path: str, labels: Labels | None = None,
         fields: str | None = None, accept: str | None = None,
         most: int | None = None) -> kinds.Objects:
    """Return the objects of a collection.

    :param path: of a collection.
    :param fields: field selector.
    :param accept: media type, JSON by default.
    :param most: pages to read at most.
    :raises rest.NotServed: there is no such collection.
    :raises rest.Unreachable: the response is not a list.
    """
    return listed(connection, path, lambda obj: obj, labels, fields, accept,
                  most)[0]


def listed(connection: rest.Rest, path: str,
           keep: collections.abc.Callable[[kinds.Object], _Kept],
           labels: Labels | None = None, fields: str | None = None,
           accept: str | None = None, most: int | None = None
           ) -> tuple[list[_Kept], str]:
    """Like :func:`read`, and from where to watch the collection.

    :param keep: what to keep of each object. A page is forgotten before the
        next one is read.
    :returns: what was kept, and the resourceVersion of the list.
    """
    headers = {'Accept': accept} if accept else {}
    query: rest.Query = {'labelSelector': selector(labels),
                         'fieldSelector': fields, 'limit': _PAGE}
    items: list[_Kept] = []
    metadata: kinds.Object = {}
    number = 0
    while most is None or number < most:
        number += 1
        try:
            page = connection.request(
                'GET', path, query=query, headers=headers)
        except rest.KubeError as e:
            if e.status == 410 and query.get('continue'):
                # The list has expired: start again, in one piece
                # (Kubernetes API concepts, "limit").
                items = []
                query = {**query, 'continue': None, 'limit': None}
                continue
            raise
        if 'items' not in page:
            raise rest.Unreachable(
                'The response of the management cluster is not a list',
                status=200, where=path, last_seen=page.get('kind'))
        items += map(keep, page['items'] or ())
        metadata = page.get('metadata') or {}
        if not metadata.get('continue'):
            break
        query = {**query, 'continue': metadata['continue']}
    return items, metadata.get('resourceVersion') or ''


def selector(labels: Labels | None) -> str | None:
    """Return the label selector for labels; a selector as it is."""
    if isinstance(labels, dict):
        return ','.join(f'{k}={v}' for k, v in sorted(labels.items()))
    return labels
