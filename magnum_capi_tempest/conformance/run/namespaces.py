# SPDX-License-Identifier: Apache-2.0

"""The namespace of a run, which is removed only while it belongs to the run.

Sonobuoy and Hydrophone identify a namespace by its name, and remove whatever
has that name. Someone else may create it first, or reuse it later: an
annotation records which run it belongs to.
"""

import collections.abc
from urllib import parse

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import hydrophone
from magnum_capi_tempest import json_types
from magnum_capi_tempest.kubeclient import kube

#: Annotation: :attr:`.runs.Run.mark` of the run that created it.
MARK = 'magnum.openstack.org/conformance-run'

ALL = '/api/v1/namespaces'


def path(name: str) -> str:
    """Path of a namespace."""
    return f'{ALL}/{parse.quote(name, safe="")}'


def create(reader: kube.Client, name: str, mark: str,
           labels: collections.abc.Mapping[str, str]) -> None:
    """Create the namespace of a run.

    :raises KubeError: it was not created, or that is unknown (``status`` is
        None).
    """
    try:
        reader.create(ALL, {
            'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {
                'name': name, 'annotations': {MARK: mark},
                'labels': dict(labels)}})
    except kube.KubeError as e:
        if e.status == 409:
            raise kube.KubeError(
                f'The namespace {name} has just been created by someone else',
                status=e.status, where=e.where,
                hint='Try again later, or use another --namespace') from None
        raise


def belongs(found: json_types.Object, mark: str, uid: str) -> bool:
    """Whether a namespace is that of a run.

    :param found: its object.
    :param mark: of the run; or ``uid``, if the run has no mark.
    """
    metadata = found['metadata']
    if mark:
        return (metadata.get('annotations') or {}).get(MARK) == mark
    return bool(uid) and metadata.get('uid') == uid


def program_of(reader: kube.Client, space: json_types.Object,
               pods: list[json_types.Object]) -> str:
    """The program whose run is in a namespace, whoever started it.

    The signs are Sonobuoy's aggregator, or its configuration, which outlives
    that pod (pkg/client/gen.go of v0.57.5); Hydrophone's pod; and the
    annotation of a run that was not started completely.

    :param pods: of all namespaces, or of this one.
    :returns: its name in model; empty without any sign.
    :raises KubeError: that cannot be found out.
    """
    name = space['metadata']['name']
    mine = [pod['metadata'] for pod in pods
            if pod['metadata'].get('namespace') == name]
    if any(metadata['name'] == hydrophone.POD for metadata in mine):
        return model.HYDROPHONE
    if any((metadata.get('labels') or {}).get('sonobuoy-component')
           == 'aggregator' for metadata in mine) \
            or MARK in (space['metadata'].get('annotations') or {}) \
            or reader.get(f'{path(name)}/configmaps/sonobuoy-config-cm'):
        return model.SONOBUOY
    return ''
