# SPDX-License-Identifier: Apache-2.0

"""The objects of a management cluster: read, apply, delete, as plain dicts.

Thin: other modules decide what to read or write. :mod:`shared` returns a
client.
"""

import collections.abc
import dataclasses
import datetime
import pathlib
import typing

from magnum_capi.kube import kinds
from magnum_capi.kube import rest
from magnum_capi.kube import served

Answer = typing.TypeVar('Answer')
_Item = typing.TypeVar('_Item')

#: Labels that an object must have, or a label selector.
Labels: typing.TypeAlias = dict[str, str] | str

#: Owner of the fields that this driver applies
#: (https://kubernetes.io/docs/reference/using-api/server-side-apply/).
FIELD_MANAGER = 'magnum'

#: Marks Machines for Cluster API to remove first (Cluster API,
#: api/core/v1beta1/machine_types.go: DeleteMachineAnnotation).
DELETE_MACHINE = 'cluster.x-k8s.io/delete-machine'

#: Objects of one page of a list.
_PAGE = 500
#: Pages of Events to read. A namespace keeps them for an hour.
_EVENT_PAGES = 4

_METADATA = ('application/json;g=meta.k8s.io;v=v1;'
             'as=PartialObjectMetadataList')


class Kube:
    """The API of a management cluster.

    Kinds are named as in :mod:`kinds`. All methods raise rest.Unreachable,
    rest.Forbidden and rest.KubeError. None, an empty list or False mean that
    an object does not exist: the server said so about this very object, or
    serves the kind and listed none, or has no such provider. For a kind that
    it should have but does not serve now, the transient rest.NotServed is
    raised.

    :param known: the kinds of the server, shared with another client.
    """

    def __init__(self, connection: rest.Rest,
                 known: served.Served | None = None) -> None:
        self.rest = connection
        self.served = known or served.Served(connection)

    @property
    def requests(self) -> int:
        """Number of requests sent so far, tries included."""
        return self.rest.requests

    @property
    def kubeconfig(self) -> pathlib.Path | None:
        """Path for other programs, None in a pod."""
        return self.rest.access.kubeconfig

    def now(self) -> datetime.datetime:
        """The server's clock; see rest.Rest.now."""
        return self.rest.now()

    def kind(self, name: str) -> kinds.Kind | None:
        """Return the kind of that name; see served.Served.kind."""
        return self.served.kind(name)

    def get(self, kind: str, namespace: str | None,
            name: str) -> kinds.Object | None:
        """Return an object, None when there is none."""
        return self._at(kind, namespace, name,
                        lambda path: self.rest.find('GET', path))

    def list(self, kind: str, namespace: str | None,
             labels: Labels | None = None) -> kinds.Objects:
        """Return the objects with these labels.

        :param namespace: None: all of them.
        """
        return self._listed(kind, namespace, labels)

    def list_metadata(self, kind: str, namespace: str | None,
                      labels: Labels | None = None) -> kinds.Objects:
        """Like :meth:`list`, but only ``metadata`` of each: no secrets."""
        return self._listed(kind, namespace, labels, accept=_METADATA)

    def apply(self, obj: kinds.Object) -> kinds.Object:
        """Server-side apply an object; takes over fields of other managers.

        :param obj: with ``kind`` and ``metadata``. ``apiVersion`` defaults
            to the one that the server prefers; charts name others.
        :returns: the object as the server has it now.
        """
        return self._write(
            'PATCH', obj, obj['metadata']['name'],
            query={'fieldManager': FIELD_MANAGER, 'force': 'true'},
            content_type='application/apply-patch+yaml', again=(409,))

    def create(self, obj: kinds.Object,
               total: float | None = None) -> kinds.Object:
        """Create an object.

        :raises rest.Conflict: there is one of this name. It may be this one,
            if the answer was lost and the request repeated.
        """
        return self._write('POST', obj, total=total)

    def replace(self, obj: kinds.Object,
                total: float | None = None) -> kinds.Object:
        """Replace an object; its resourceVersion must be the server's.

        :raises rest.Conflict: it is not.
        """
        return self._write('PUT', obj, obj['metadata']['name'], total=total)

    def annotate(self, kind: str, namespace: str | None, name: str,
                 annotations: collections.abc.Mapping[str, str | None]
                 ) -> kinds.Object | None:
        """Set annotations of an object; None removes one.

        :returns: the object, None when there is none.
        """
        return self._merge(kind, namespace, name,
                           {'metadata': {'annotations': annotations}})

    def label(self, kind: str, namespace: str | None, name: str,
              labels: collections.abc.Mapping[str, str | None]
              ) -> kinds.Object | None:
        """Set labels of an object; None removes one.

        :returns: the object, None when there is none.
        """
        return self._merge(kind, namespace, name,
                           {'metadata': {'labels': labels}})

    def scale(self, namespace: str, deployment: str,
              replicas: int) -> kinds.Object | None:
        """Set the number of machines of a MachineDeployment.

        :returns: the object, None when there is none.
        """
        return self._merge('MachineDeployment', namespace, deployment,
                           {'spec': {'replicas': replicas}})

    def mark_for_deletion(self, namespace: str,
                          machine: str) -> kinds.Object | None:
        """Mark a Machine to be removed first when its group shrinks."""
        return self.annotate(
            'Machine', namespace, machine, {DELETE_MACHINE: 'true'})

    def unmark_for_deletion(self, namespace: str,
                            machine: str) -> kinds.Object | None:
        """Remove that mark, if the Machine still exists."""
        return self.annotate(
            'Machine', namespace, machine, {DELETE_MACHINE: None})

    def delete(self, kind: str, namespace: str | None, name: str,
               uid: str | None = None, version: str | None = None,
               total: float | None = None) -> bool:
        """Request an object's deletion.

        :param uid: delete only the object with this uid.
        :param version: delete only this resourceVersion.
        :returns: whether there was one.
        :raises rest.Conflict: ``uid`` or ``version`` is not the server's.
        """
        only = {k: v for k, v in (
            ('uid', uid), ('resourceVersion', version)) if v}
        body: kinds.Object = {'kind': 'DeleteOptions', 'apiVersion': 'v1',
                              'propagationPolicy': 'Background'}
        if only:
            body['preconditions'] = only
        return self._at(kind, namespace, name, lambda path: self.rest.find(
            'DELETE', path, body=body, total=total)) is not None

    def delete_all(self, kind: str, namespace: str, labels: Labels) -> None:
        """Request the deletion of all objects with these labels.

        :param labels: not empty, because that would delete all objects.
        """
        if not labels:
            raise ValueError('labels are missing')
        self._at(kind, namespace, None, lambda path: self.rest.request(
            'DELETE', path, query={'labelSelector': _selector(labels)}))

    def ensure_namespace(self, name: str, labels: dict[str, str]) -> None:
        """Create a namespace unless it exists.

        Reads it first, so that rights for this namespace are sufficient.

        :raises rest.Conflict: it is being deleted.
        :raises rest.Forbidden: it does not exist, or may not be read, and may
            not be created.
        """
        try:
            found = self.get('Namespace', None, name)
        except rest.Forbidden:
            found = None
        if found is None:
            try:
                found = self.create({
                    'kind': 'Namespace',
                    'metadata': {'name': name, 'labels': labels}})
            except rest.Conflict:
                return
            except rest.Forbidden as e:
                raise rest.Forbidden(
                    f'The namespace {name} has to be created first, and '
                    'the driver may not', status=e.status, reason=e.reason,
                    where=e.where, last_seen=e.last_seen,
                    hint=f'Create {name} and let the user of the kubeconfig '
                    'get it, or let the user create namespaces') from None
        if found['metadata'].get('deletionTimestamp'):
            raise rest.Conflict(
                f'The namespace {name} is being deleted', status=409,
                hint='Try again when it is gone')

    def events(self, namespace: str, name: str) -> kinds.Objects:
        """Return the Warnings about a cluster's objects, in any order.

        :param name: of the Cluster: objects with this name, or with names
            that begin with it and a dash.
        """
        return [
            event for event in self._listed(
                'Event', namespace, pages=_EVENT_PAGES, fields='type=Warning')
            if f'{event["involvedObject"].get("name", "")}-'.startswith(
                f'{name}-')]

    def _merge(self, kind: str, namespace: str | None, name: str,
               patch: kinds.Object) -> kinds.Object | None:
        return self._at(kind, namespace, name, lambda path: self.rest.find(
            'PATCH', path, body=patch, query={'fieldManager': FIELD_MANAGER},
            content_type='application/merge-patch+json', again=(409,)))

    def _at(self, kind: str, namespace: str | None, name: str | None,
            send: collections.abc.Callable[[str], Answer]) -> Answer | None:
        """Send a request to the path of a kind as it is served now.

        An unknown path may be that of a version that was served before, so
        the server is asked which one it serves now; the request to the unknown
        path had no effect.

        :param send: takes the path.
        :returns: the result of ``send``, None when the server does not have
            the kind and need not.
        :raises rest.NotServed: the kind or its path is not served now.
        """
        known = self.kind(kind)
        if known is None:
            return None
        try:
            return send(known.path(namespace, name))
        except rest.NotServed:
            newer = self.served.kind(kind, unknown=True)
            if newer == known:
                raise
        return send(newer.path(namespace, name)) if newer else None

    def _write(self, method: str, obj: kinds.Object, name: str | None = None,
               **options: typing.Any) -> kinds.Object:
        kind = self.kind(obj['kind'])
        if kind is None:
            raise self.served.missing(obj['kind'])
        body = {'apiVersion': kind.api_version, **obj}
        # A server refuses a body of another version than that of the path.
        kind = dataclasses.replace(kind, api_version=body['apiVersion'])
        return self.rest.request(
            method, kind.path(obj['metadata'].get('namespace'), name),
            body=body, **options)

    def _listed(self, kind: str, namespace: str | None,
                labels: Labels | None = None,
                **options: typing.Any) -> kinds.Objects:
        def read(path: str) -> kinds.Objects:
            return read_pages(self.rest, path, lambda obj: obj, labels,
                              **options)[0]
        return self._at(kind, namespace, None, read) or []


def read_pages(connection: rest.Rest, path: str,
               keep: collections.abc.Callable[[kinds.Object], _Item],
               labels: Labels | None = None, fields: str | None = None,
               accept: str | None = None, pages: int | None = None
               ) -> tuple[list[_Item], str]:
    """Read a collection page by page, again if it expires half-way.

    :param path: of the collection.
    :param keep: what to keep of each object. A page is forgotten before the
        next one is read.
    :param fields: field selector.
    :param accept: media type, JSON by default.
    :param pages: to read at most.
    :returns: what was kept, and the resourceVersion from which to watch.
    :raises rest.NotServed: there is no such collection.
    :raises rest.Unreachable: the response is not a list.
    """
    headers = {'Accept': accept} if accept else {}
    query: rest.Query = {'labelSelector': _selector(labels),
                         'fieldSelector': fields, 'limit': _PAGE}
    items: list[_Item] = []
    read = 0
    while True:
        try:
            page = connection.request(
                'GET', path, query=query, headers=headers)
        except rest.KubeError as e:
            if e.status != 410 or not query.get('continue'):
                raise
            # The list has expired: start again, in one piece
            # (Kubernetes API concepts, "limit").
            items = []
            query = {**query, 'continue': None, 'limit': None}
            continue
        if 'items' not in page:
            raise rest.Unreachable(
                'The response of the management cluster is not a list',
                status=200, where=path, last_seen=page.get('kind'))
        items += map(keep, page['items'] or ())
        read += 1
        metadata = page.get('metadata') or {}
        query = {**query, 'continue': metadata.get('continue')}
        if not query['continue'] or read == pages:
            return items, metadata.get('resourceVersion') or ''


def _selector(labels: Labels | None) -> str | None:
    """Return the label selector for labels; a selector as it is."""
    if isinstance(labels, dict):
        return ','.join(f'{k}={v}' for k, v in sorted(labels.items()))
    return labels
