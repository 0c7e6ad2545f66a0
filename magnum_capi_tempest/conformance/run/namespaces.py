# SPDX-License-Identifier: Apache-2.0


"""The namespace of a run: made by the run, and removed only while it is its.

Sonobuoy and Hydrophone know a namespace by its name, and remove what has that
name. Somebody else may be quicker than a run, or may run something in its
place later: an annotation says whose a namespace is.
"""

from urllib import parse

from magnum_capi_tempest.kubeclient import kube

#: Annotation: :attr:`.runs.Run.mark` of the run that made it.
MARK = 'magnum.openstack.org/conformance-run'

_ALL = '/api/v1/namespaces'


def create(reader: kube.Client, name: str, mark: str, labels: dict[str, str]):
    """Make the namespace of a run.

    :raises KubeError: it is not known whether it was made (``status`` is
        None), or it was not.
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
    """Whether a namespace is the run's, or is gone.

    :param mark: of the run; or the ``uid`` of the namespace in which it was
        found.

    :raises KubeError: that is not known.
    """
    found = reader.get(f'{_ALL}/{parse.quote(name, safe="")}')
    if found is None:
        return True
    metadata = found['metadata']
    if uid:
        return metadata.get('uid') == uid
    return bool(mark) and (metadata.get('annotations') or {}).get(MARK) == mark


def of_tests(spaces) -> tuple[str, ...]:
    """Names of the namespaces that e2e tests have made and left, of any run.

    :param spaces: namespaces, as dicts.
    """
    return tuple(sorted(
        s['metadata']['name'] for s in spaces
        if 'e2e-run' in (s['metadata'].get('labels') or {})
        and (s.get('status') or {}).get('phase') != 'Terminating'))
