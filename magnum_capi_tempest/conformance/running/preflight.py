# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.


"""What would go wrong, said before anything is created.

:func:`look` reads, :func:`check` judges and is pure. A *blocker* stops the
run, a *warning* does not.
"""

import dataclasses
import re

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.running import kube
from magnum_capi_tempest.conformance.running import observe
from magnum_capi_tempest import errors

BLOCKER = 'blocker'
WARNING = 'warning'
FACT = 'fact'

#: Oldest Kubernetes that Sonobuoy 0.57.5 takes, pkg/buildinfo/version.go.
OLDEST = (1, 17)

#: Room below which specs are likely to fail for want of it: aggregator and
#: tests, and what a few specs start at once. Pods, CPUs, bytes of all
#: schedulable nodes together.
_PODS, _CPU, _MEMORY = 20, 0.5, 512 << 20

#: Taints with which the pod of the tests is scheduled all the same: what
#: "sonobuoy gen" of v0.57.5 tolerates.
_TOLERATED = ('node-role.kubernetes.io/master', 'CriticalAddonsOnly',
              'kubernetes.io/e2e-evict-taint-key')


@dataclasses.dataclass(frozen=True)
class Node:
    """A node, and what is asked of it already.

    :param free_pods: more pods that it takes.
    :param free_cpu: CPUs that no pod has requested.
    :param free_memory: bytes that no pod has requested.
    :param images: names of the images that its kubelet lists (no more than
        50 by default).
    """

    name: str
    ready: bool
    schedulable: bool
    version: str = ''
    free_pods: int = 0
    free_cpu: float = 0.0
    free_memory: int = 0
    images: frozenset[str] = frozenset()
    labels: frozenset[tuple[str, str]] = frozenset()


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """The cluster before a run.

    :param version: of the API server, ``v1.34.9``.
    :param namespace: the run's namespace exists: its phase; else empty.
    :param e2e: namespaces that earlier tests have left.
    :param dns: pods of the cluster's DNS that are ready.
    """

    version: str
    nodes: tuple[Node, ...]
    namespace: str = ''
    e2e: tuple[str, ...] = ()
    dns: int = 1


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing that a person should know.

    :param level: BLOCKER, WARNING or FACT.
    """

    level: str
    text: str
    hint: str = ''

    def __str__(self):
        return f'{self.level}: {self.text}' + (
            f'. {self.hint}' if self.hint else '')


def check(seen: Snapshot, plan, namespace, images) -> tuple[Finding, ...]:
    """What a plan meets in a cluster, the weightiest first.

    :param namespace: name of the run's namespace.
    :param images: names of the images without which nothing starts.
    """
    found = [*_versions(seen, plan), *_nodes(seen, plan),
             *_room(seen), *_namespace(seen, namespace),
             *_images(seen, plan, images)]
    if not seen.dns:
        found.append(Finding(WARNING, 'no pod of the cluster DNS is ready',
                             'Most specs need names'))
    order = (BLOCKER, WARNING, FACT)
    return tuple(sorted(found, key=lambda f: order.index(f.level)))


def _versions(seen, plan):
    yield Finding(FACT, f'Kubernetes {seen.version}, {len(seen.nodes)} nodes')
    minor = _minor(seen.version)
    if minor is None:
        yield Finding(BLOCKER, 'the API does not say its version',
                      'Name the version with --kubernetes-version')
        return
    if minor < OLDEST:
        yield Finding(BLOCKER, f'Kubernetes {seen.version} is older than '
                      f'{OLDEST[0]}.{OLDEST[1]}, which Sonobuoy needs')
    if plan.kubernetes and plan.kubernetes != seen.version:
        yield Finding(
            BLOCKER if plan.mode == model.CERTIFIED else WARNING,
            f'the tests are of {plan.kubernetes}, the cluster is of '
            f'{seen.version}')
    other = {n.version for n in seen.nodes} - {seen.version}
    if other:
        yield Finding(WARNING, 'kubelets of other versions: '
                      f'{", ".join(sorted(other))}')


def _nodes(seen, plan):
    bad = [n.name for n in seen.nodes if not n.ready]
    if bad:
        # e2e.test waits for all nodes (--allowed-not-ready-nodes is 0,
        # test/e2e/framework/test_context.go) and then fails.
        yield Finding(BLOCKER, f'nodes not ready: {", ".join(bad)}',
                      'The tests wait for all nodes, and then fail')
    if not any(n.ready and n.schedulable for n in seen.nodes):
        yield Finding(BLOCKER, 'no node takes the pods of the tests',
                      'Uncordon one, or remove its taints')
    wanted = set(plan.node_selector)
    if wanted and not any(wanted <= n.labels and n.ready
                          for n in seen.nodes):
        yield Finding(BLOCKER, 'no ready node has the labels that the '
                      'aggregator asks for', 'See --aggregator-node')


def _room(seen):
    nodes = [n for n in seen.nodes if n.ready and n.schedulable]
    if not nodes:
        return
    pods = sum(max(n.free_pods, 0) for n in nodes)
    cpu = sum(max(n.free_cpu, 0) for n in nodes)
    memory = sum(max(n.free_memory, 0) for n in nodes)
    text = (f'{pods} pods, {cpu:.1f} CPUs and {memory / 2**30:.1f} GiB are '
            'free')
    if pods < 2:
        yield Finding(BLOCKER, f'no room for two more pods: {text}')
    elif pods < _PODS or cpu < _CPU or memory < _MEMORY:
        yield Finding(WARNING, f'little room: {text}',
                      'Specs may fail for want of it')


def _namespace(seen, namespace):
    if seen.namespace == 'Terminating':
        yield Finding(BLOCKER, f'the namespace {namespace} is still being '
                      'removed', 'Try again in a minute')
    elif seen.namespace:
        yield Finding(
            BLOCKER, f'the namespace {namespace} exists: another run, or '
            'what one has left', 'End it with "magnum-capi conformance '
            'abort", or give --replace or another --namespace')
    if seen.e2e:
        yield Finding(WARNING, f'{len(seen.e2e)} namespaces of earlier tests '
                      f'are left: {", ".join(seen.e2e[:3])}',
                      'They are removed with the run')


def _images(seen, plan, images):
    nodes = [n for n in seen.nodes if n.ready and n.schedulable]
    for image in images:
        have = [n.name for n in nodes
                if _image(image) in {_image(i) for i in n.images}]
        if nodes and len(have) == len(nodes):
            yield Finding(FACT, f'image {image} is on every node')
        elif plan.images.pull_policy == 'Never':
            yield Finding(
                WARNING if have else BLOCKER,
                f'image {image} is on {len(have)} of {len(nodes)} nodes, and '
                'must not be pulled',
                'Import it on every node (a kubelet lists no more than 50 '
                'images: give another --image-pull-policy if this is wrong)')
        else:
            yield Finding(FACT, f'image {image} will be pulled on '
                          f'{len(nodes) - len(have)} of {len(nodes)} nodes')
    if plan.images.mirror or plan.images.mirrors:
        yield Finding(FACT, 'images of the tests come from '
                      f'{plan.images.mirror or plan.images.mirrors}')


def _image(name):
    """An image's name as containerd writes it."""
    first, slash, _ = name.partition('/')
    if not slash:
        return f'docker.io/library/{name}'
    if not re.search(r'[.:]|^localhost$', first):
        return f'docker.io/{name}'
    return name


def _minor(version):
    match = re.match(r'v(\d+)\.(\d+)', version)
    return match and (int(match.group(1)), int(match.group(2)))


def look(reader: kube.Reader, namespace) -> Snapshot:
    """Read what :func:`check` judges.

    :raises EnvironmentProblem: the API cannot be used, and why.
    """
    try:
        version = reader.get('/version').get('gitVersion') or ''
        pods = reader.items('/api/v1/pods')
        nodes = tuple(_node(n, pods) for n in reader.items('/api/v1/nodes'))
        spaces = reader.items('/api/v1/namespaces')
    except kube.KubeError as e:
        raise errors.EnvironmentProblem(
            'The Kubernetes API of the cluster cannot be used: '
            f'{e.what}', where=e.where, last_seen=e.last_seen,
            hint='Nothing was created') from e
    return Snapshot(
        version, nodes,
        next((_phase(s) for s in spaces
              if s['metadata']['name'] == namespace), ''),
        tuple(sorted(s['metadata']['name'] for s in spaces
                     if 'e2e-run' in (s['metadata'].get('labels') or {}))),
        sum(_serves_dns(p) for p in pods))


def _phase(space):
    return (space.get('status') or {}).get('phase') or 'Active'


def _serves_dns(pod):
    # The label of kubeadm, and of every DNS add-on since kube-dns.
    labels = pod['metadata'].get('labels') or {}
    return labels.get('k8s-app') in ('kube-dns', 'coredns') and any(
        c.get('type') == 'Ready' and c.get('status') == 'True'
        for c in (pod.get('status') or {}).get('conditions') or ())


def _node(obj, pods):
    name, spec = obj['metadata']['name'], obj.get('spec') or {}
    status = obj.get('status') or {}
    there = status.get('allocatable') or {}
    mine = [p for p in pods if (p.get('spec') or {}).get('nodeName') == name
            and observe.pod(p).phase not in ('Succeeded', 'Failed')]
    requests = [c.get('resources', {}).get('requests') or {}
                for p in mine for c in p['spec'].get('containers') or ()]
    return Node(
        name,
        any(c.get('type') == 'Ready' and c.get('status') == 'True'
            for c in status.get('conditions') or ()),
        not spec.get('unschedulable') and not any(
            t.get('effect') in ('NoSchedule', 'NoExecute')
            and t.get('key') not in _TOLERATED
            for t in spec.get('taints') or ()),
        (status.get('nodeInfo') or {}).get('kubeletVersion') or '',
        int(quantity(there.get('pods', 0))) - len(mine),
        quantity(there.get('cpu', 0)) - sum(
            quantity(r.get('cpu', 0)) for r in requests),
        int(quantity(there.get('memory', 0)) - sum(
            quantity(r.get('memory', 0)) for r in requests)),
        frozenset(n for i in status.get('images') or ()
                  for n in i.get('names') or ()),
        frozenset((obj['metadata'].get('labels') or {}).items()))


_SUFFIXES = {'': 1, 'm': 1e-3, 'u': 1e-6, 'n': 1e-9,
             'k': 1e3, 'M': 1e6, 'G': 1e9, 'T': 1e12, 'P': 1e15, 'E': 1e18,
             **{f'{p}i': 1 << (10 * (n + 1))
                for n, p in enumerate('KMGTPE')}}


def quantity(text) -> float:
    """A number of Kubernetes: "500m" is 0.5, "2Gi" 2147483648.

    0 for what is none: room is a matter of warnings.
    """
    match = re.fullmatch(r'([0-9.]+(?:e[+-]?\d+)?)([A-Za-z]*)', str(text))
    if not match or match.group(2) not in _SUFFIXES:
        return 0.0
    return float(match.group(1)) * _SUFFIXES[match.group(2)]
