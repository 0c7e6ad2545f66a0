# SPDX-License-Identifier: Apache-2.0

"""Finds a run that something else started, by its namespace.

That is another machine, or Sonobuoy or Hydrophone alone. What they leave in
the cluster is enough to watch the run, to fetch its results and to end it.
"""

import dataclasses
import datetime
import pathlib

from magnum_capi import errors
from magnum_capi_tempest.conformance.run import hydrophone
from magnum_capi_tempest.conformance.run import kubeconfigs
from magnum_capi_tempest.conformance.run import namespaces
from magnum_capi_tempest.conformance.run import objects
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest.conformance.run import sonobuoy
from magnum_capi_tempest.kubeclient import kube


@dataclasses.dataclass(frozen=True)
class Elsewhere:
    """A run that something else started, named by its namespace.

    :param namespace: empty for the default ones of both programs.
    :param folder: for its results; one for the cluster and the time of its
        start by default.
    :param remove: remove it from the cluster when its results are fetched.
    """

    target: runs.Target
    namespace: str = ''
    folder: pathlib.Path | None = None
    remove: bool = False


def find(where: Elsewhere, access: kubeconfigs.Access,
         reader: kube.Client) -> runs.Run:
    """A run that something else started, from its namespace.

    :raises UsageError: there is no run, or more than one; or the folder is
        that of another one.
    :raises EnvironmentProblem: the cluster cannot be searched.
    """
    names = ([where.namespace] if where.namespace
             else [sonobuoy.NAMESPACE, hydrophone.NAMESPACE])
    try:
        found = [(space, program) for name in names
                 if (space := reader.get(namespaces.path(name)))
                 and (program := namespaces.program_of(
                     reader, space, [
                         {**pod, 'metadata': {
                             **pod['metadata'], 'namespace': name}}
                         for pod in reader.items(kube.pod_path(name))]))]
        version = (reader.get('/version') or {}).get('gitVersion') or ''
    except kube.KubeError as e:
        raise errors.EnvironmentProblem(
            f'The cluster cannot be searched for a run: {e.what}',
            where=e.where, last_seen=e.last_seen) from e
    if len(found) != 1:
        raise errors.UsageError(
            'There are several runs' if found else 'There is no run in the '
            f'namespace {" or ".join(names)}', where=where.target,
            hint='Name the namespace of the run with --namespace')
    (space, program), = found
    metadata = space['metadata']
    began = datetime.datetime.fromisoformat(metadata['creationTimestamp'])
    target = dataclasses.replace(where.target, context=access.context)
    folder = where.folder or runs.default_folder(target, began)
    if (folder / runs.FILE).exists():
        known = runs.load(folder)
        if not namespaces.belongs(space, known.mark, known.uid):
            raise errors.UsageError(
                'There is another run in this folder', where=folder,
                hint='Use another --output')
        return dataclasses.replace(known, target=target,
                                   keep=known.keep and not where.remove)
    return runs.Run(
        folder, target, runner.Plan(
            namespace=metadata['name'], stand_in=_stand_in(reader)), program,
        elsewhere=True, started=began.isoformat(), keep=not where.remove,
        about=dataclasses.replace(access.about, kubernetes=version),
        uid=metadata.get('uid') or '')


def _stand_in(reader: kube.Client) -> bool:
    """See :func:`.objects.stand_in`; a user may not see nodes."""
    try:
        nodes = reader.items('/api/v1/nodes')
    except kube.KubeError:
        return False
    return objects.stand_in(nodes)
