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


def of_tests(spaces) -> tuple[str, ...]:
    """Names of the namespaces that e2e tests of any run left behind.

    :param spaces: namespaces, as dicts.
    """
    return tuple(sorted(
        s['metadata']['name'] for s in spaces
        if 'e2e-run' in (s['metadata'].get('labels') or {})
        and (s.get('status') or {}).get('phase') != 'Terminating'))
