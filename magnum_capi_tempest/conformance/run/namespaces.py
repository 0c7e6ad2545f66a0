# SPDX-License-Identifier: Apache-2.0


"""The namespace of a run, which is removed only while it belongs to the run.

Sonobuoy and Hydrophone identify a namespace by its name, and remove whatever
has that name. Someone else may create it first, or reuse it later: an
annotation records which run it belongs to.
"""

from urllib import parse

from magnum_capi_tempest.kubeclient import kube

#: Annotation: :attr:`.runs.Run.mark` of the run that created it.
MARK = 'magnum.openstack.org/conformance-run'

_ALL = '/api/v1/namespaces'

#: Names in a namespace with a run.
_AGGREGATOR = ('sonobuoy-component', 'aggregator')
_CONFIGURATION = 'sonobuoy-config-cm'
_HYDROPHONE = 'e2e-conformance-test'


def create(reader: kube.Client, name: str, mark: str, labels: dict[str, str]):
    """Create the namespace of a run.

    :raises KubeError: it was not created, or that is unknown (``status`` is
        None).
    """
    try:
        reader.create(_ALL, {
            'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {
                'name': name, 'annotations': {MARK: mark},
                'labels': labels}})
    except kube.KubeError as e:
        if e.status == 409:
            raise kube.KubeError(
                f'The namespace {name} has just been created by someone else',
                status=e.status, where=e.where,
                hint='Try again later, or use another --namespace') from None
        raise


def is_of(reader: kube.Client, name: str, mark: str, uid: str = '') -> bool:
    """Whether a namespace belongs to the run, or is gone.

    :param mark: of the run; or the ``uid`` of the namespace in which it was
        found.

    :raises KubeError: that cannot be found out.
    """
    found = reader.get(f'{_ALL}/{parse.quote(name, safe="")}')
    if found is None:
        return True
    metadata = found['metadata']
    if uid:
        return metadata.get('uid') == uid
    return bool(mark) and (metadata.get('annotations') or {}).get(MARK) == mark


def has_run(reader: kube.Client, space: dict, pods: list[dict]) -> bool:
    """Whether a namespace has the sign of a run, whoever started it.

    That is the annotation; Sonobuoy's aggregator, or its configuration, which
    outlives that pod (pkg/client/gen.go of v0.57.5); or Hydrophone's pod
    (pkg/conformance/const.go of v0.8.0).

    :param pods: of all namespaces.
    :raises KubeError: that cannot be found out.
    """
    name = space['metadata']['name']
    return (
        MARK in (space['metadata'].get('annotations') or {})
        or any(pod['metadata'].get('namespace') == name
               and (pod['metadata']['name'] == _HYDROPHONE
                    or _AGGREGATOR in (pod['metadata'].get('labels')
                                       or {}).items()) for pod in pods)
        or reader.get(f'{_ALL}/{parse.quote(name, safe="")}/configmaps/'
                      f'{_CONFIGURATION}') is not None)


def of_tests(spaces) -> tuple[str, ...]:
    """Names of the namespaces that e2e tests of any run left behind.

    :param spaces: namespaces, as dicts.
    """
    return tuple(sorted(
        s['metadata']['name'] for s in spaces
        if 'e2e-run' in (s['metadata'].get('labels') or {})
        and (s.get('status') or {}).get('phase') != 'Terminating'))
