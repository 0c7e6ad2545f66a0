# SPDX-License-Identifier: Apache-2.0
"""The programs of a management cluster of pods: its Deployments.

Reads their observed state in one request and compares it with the desired
state; everything but the request is pure.
"""

import collections.abc
import dataclasses
import re
import time

from magnum_capi import waiting
from magnum_capi_tempest import json_types
from magnum_capi_tempest.kubeclient import kube

#: Label of the Deployments of Cluster API's providers, see
#: docs/book/src/developer/providers/contracts of kubernetes-sigs/cluster-api.
PROVIDER = 'cluster.x-k8s.io/provider'

_PATH = '/apis/apps/v1/deployments'


@dataclasses.dataclass(frozen=True)
class Deployment:
    """The parts of a Deployment that matter here.

    :param provider: value of the label :data:`PROVIDER`, or None.
    :param images: references, in the order of its containers.
    :param available: whether its rollout is complete and it is available.
    :param reason: why it is not available, in Kubernetes' words.
    :param stand_in: whether it is labelled as not upstream's.
    """

    namespace: str
    name: str
    provider: str | None
    images: tuple[str, ...]
    available: bool
    reason: str = ''
    stand_in: bool = False

    def __str__(self) -> str:
        return f'{self.namespace}/{self.name}'

    @property
    def version(self) -> tuple[int, int, int] | None:
        """Version of its first image that has one, None if none has."""
        for image in self.images:
            found = version(image)
            if found:
                return found
        return None


def version(image: str) -> tuple[int, int, int] | None:
    """The version in the tag of an image, None if there is none."""
    tag = image.partition('@')[0].rpartition('/')[2].partition(':')[2]
    match = re.match(r'v?(\d+)\.(\d+)\.(\d+)', tag)
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def parse(items: collections.abc.Sequence[json_types.Object]
          ) -> list[Deployment]:
    """Read the ``items`` of a DeploymentList."""
    found = []
    for o in items:
        metadata, status = o['metadata'], o.get('status', {})
        labels = metadata.get('labels') or {}
        wanted = o['spec'].get('replicas', 1)
        rolled_out = (
            status.get('observedGeneration', 0)
            >= metadata.get('generation', 0)
            and status.get('updatedReplicas', 0) >= wanted
            and status.get('availableReplicas', 0) >= wanted)
        found.append(Deployment(
            metadata['namespace'], metadata['name'], labels.get(PROVIDER),
            tuple(c['image']
                  for c in o['spec']['template']['spec']['containers']),
            rolled_out, '' if rolled_out else _reason(status),
            labels.get('io.magnum-capi.stand-in') == 'true'))
    return found


def read(api: kube.Client) -> list[Deployment]:
    """All Deployments of a cluster.

    :param api: :class:`..kubeclient.kube.Client`.
    :raises KubeError: the cluster does not answer or denies access.
    """
    return parse((api.get(_PATH) or {}).get('items', ()))


def wait(api: kube.Client, wanted: collections.abc.Iterable[tuple[str, str]],
         timeout: float, note: collections.abc.Callable[[str], None],
         clock: waiting.Clock = time) -> None:
    """Wait until Deployments are available.

    :param wanted: (namespace, name) pairs.
    :param note: called with the names of those not yet available, or why
        they are unknown.
    :raises WaitTimeout: names those that are not available, and why.
    :raises KubeError: the cluster denies access.
    """
    def poll() -> dict[str, str]:
        try:
            found = read(api)
        except kube.KubeError as e:
            # The only API server of a machine under load.
            if e.is_final:
                raise
            note(str(e))
            return dict.fromkeys(map('/'.join, wanted), str(e))
        missing = unavailable(
            wanted, {(d.namespace, d.name): d for d in found})
        if missing:
            note(', '.join(sorted(missing)))
        return missing

    def describe(missing: dict[str, str]) -> str:
        spaces = sorted({name.split('/')[0] for name in missing})
        return '; '.join([f'{name}: {why}' for name, why
                          in sorted(missing.items())]
                         + [f'pods of {space}: {_pods(api, space)}'
                            for space in spaces])

    waiting.wait_for(
        poll, done=lambda missing: not missing, timeout=timeout,
        what='the providers to run', describe=describe,
        pace=waiting.Pace(0.2, 1.3, 2), clock=clock)


def unavailable(wanted: collections.abc.Iterable[tuple[str, str]],
                there: collections.abc.Mapping[tuple[str, str], Deployment]
                ) -> dict[str, str]:
    """The wanted Deployments that are not available, with reasons; pure.

    :param there: (namespace, name) -> Deployment.
    """
    found = {}
    for key in wanted:
        mine = there.get(key)
        if mine is None:
            found['/'.join(key)] = 'it does not exist'
        elif not mine.available:
            found['/'.join(key)] = mine.reason
    return found


def waiting_pods(items: collections.abc.Sequence[json_types.Object]) -> str:
    """Why pods do not run, in Kubernetes' words; pure."""
    found = []
    for pod in items:
        status = pod.get('status', {})
        for container in status.get('containerStatuses') or ():
            state = container.get('state', {}).get('waiting')
            if state:
                found.append(' '.join(filter(None, (
                    pod['metadata']['name'], state.get('reason'),
                    (state.get('message') or '')[:200]))))
        if not status.get('containerStatuses'):
            found += [f'{pod["metadata"]["name"]} {c.get("reason")} '
                      f'{c.get("message", "")[:200]}'
                      for c in status.get('conditions') or ()
                      if c['status'] != 'True'][:1]
    return ', '.join(found) or 'none waits'


def _pods(api: kube.Client, namespace: str) -> str:
    try:
        listed = api.get(f'/api/v1/namespaces/{namespace}/pods') or {}
    except kube.KubeError as e:
        return str(e)
    return waiting_pods(listed.get('items', ()))


def _reason(status: json_types.Object) -> str:
    for condition in status.get('conditions') or ():
        if condition['type'] == 'Available' \
                and condition['status'] != 'True':
            return str(condition.get('message', 'not available'))
    return 'being rolled out'
