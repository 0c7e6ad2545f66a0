# SPDX-License-Identifier: Apache-2.0

"""Finds problems of a run before anything is created.

:func:`read` reads the cluster, :func:`check` judges it (pure). A *blocker*
stops the run, a *warning* does not.
"""

import collections.abc
import dataclasses
import re

from magnum_capi import errors
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import namespaces
from magnum_capi_tempest.conformance.run import objects
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest import json_types
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest import texts

BLOCKER = 'blocker'
WARNING = 'warning'
FACT = 'fact'

#: The only taint that e2e.test does not wait for by default
#: (test/e2e/framework/test_context.go), and its older name, for which it does
#: not wait before 1.28 either; and the taint of a cordoned node.
_CONTROL_PLANE = 'node-role.kubernetes.io/control-plane'
_MASTER, _MASTER_WAITED_FOR = 'node-role.kubernetes.io/master', (1, 28)
_CORDON = 'node.kubernetes.io/unschedulable'
_NON_BLOCKING = re.compile(r'--?non-blocking-taints[= ]([^\s]+)')
#: How many nodes e2e.test does without; -1 is all (framework/node/helper.go).
_ALLOWED = re.compile(r'--?allowed-not-ready-nodes[= ](-?\d+)')

#: The taint that Sonobuoy's pod tolerates, according to "sonobuoy gen" of
#: v0.57.5. The pod of its plugin e2e tolerates more, but comes after it.
_TOLERATED = 'kubernetes.io/e2e-evict-taint-key'

#: Free resources below which specs are likely to fail: enough for aggregator,
#: tests, and what a few specs start at once. Pods, CPUs, bytes, summed over
#: all schedulable nodes.
_PODS, _CPU, _MEMORY = 20, 0.5, 512 << 20


@dataclasses.dataclass(frozen=True)
class Node:
    """A node, and what is already requested from it.

    :param free: pods that it further accepts, and CPUs and bytes of memory
        that no pod has requested.
    :param cordoned: no pods are scheduled on it.
    :param taints: keys of those that keep pods away.
    :param why: it is not ready, or not schedulable.
    :param runtime: its container runtime, "containerd://2.1.4".
    """

    name: str
    ready: bool
    schedulable: bool
    version: str = ''
    free: tuple[float, float, float] = (0, 0.0, 0)
    labels: frozenset[tuple[str, str]] = frozenset()
    why: str = ''
    cordoned: bool = False
    taints: frozenset[str] = frozenset()
    runtime: str = ''

    def __str__(self) -> str:
        return self.name + (f' ({self.why})' if self.why else '')


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """The cluster before a run.

    :param version: of the API server, ``v1.34.9``.
    :param namespace: phase of the run's namespace if it exists; else empty.
    :param program: whose run is in it, in model; empty without the sign of
        one.
    :param tests: namespaces of tests that are running, or were left behind.
    :param warnings: other problems, a line each.
    :param unstarted: number of pods that are Running, if a container runtime
        has started none of the containers of the cluster; else 0.
    :param stand_in: see :func:`.objects.stand_in`.
    """

    version: str
    nodes: tuple[Node, ...]
    namespace: str = ''
    program: str = ''
    tests: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    unstarted: int = 0
    stand_in: bool = False


@dataclasses.dataclass(frozen=True)
class Finding:
    """Something that a user should know.

    :param level: BLOCKER, WARNING or FACT.
    """

    level: str
    text: str
    hint: str = ''

    def __str__(self) -> str:
        return f'{self.level}: {self.text}' + (
            f'. {self.hint}' if self.hint else '')


def read(reader: kube.Client, namespace: str) -> Snapshot:
    """Read a cluster.

    :param namespace: of the run.
    :raises EnvironmentProblem: the API cannot be used; says why.
    """
    try:
        version = (reader.get('/version') or {}).get('gitVersion') or ''
        pods = reader.items('/api/v1/pods')
        nodes = reader.items('/api/v1/nodes')
        space = reader.get(namespaces.path(namespace))
        tests = objects.test_namespaces(reader.items(
            namespaces.ALL, labelSelector='e2e-run'))
        program = space and namespaces.program_of(reader, space, pods)
    except kube.KubeError as e:
        raise errors.EnvironmentProblem(
            'The Kubernetes API of the cluster cannot be used: '
            f'{e.what}', where=e.where, last_seen=e.last_seen,
            hint='Nothing was created') from e
    return Snapshot(
        version, tuple(_node(n, pods) for n in nodes),
        ((space.get('status') or {}).get('phase') or 'Active') if space
        else '', program or '', tests,
        objects.warnings(nodes, pods),
        _unstarted([p for p in pods
                    if p['metadata'].get('namespace') != namespace]),
        objects.stand_in(nodes))


def _unstarted(pods: list[json_types.Object]) -> int:
    """The number of pods that only their status says to be running.

    A kubelet reports the container runtime's id of each container that was
    started (convertToAPIContainerStatuses in pkg/kubelet/kubelet_pods.go of
    Kubernetes); simulated nodes have no container runtime. Without any pods
    nothing is known.
    """
    started = any(status.get('containerID') for pod in pods for status in (
        pod.get('status') or {}).get('containerStatuses') or ())
    return 0 if started else sum(_phase(pod) == 'Running' for pod in pods)


def _phase(obj: json_types.Object) -> str:
    return (obj.get('status') or {}).get('phase') or ''


def _node(obj: json_types.Object, pods: list[json_types.Object]) -> Node:
    name, spec = obj['metadata']['name'], obj.get('spec') or {}
    status = obj.get('status') or {}
    there = status.get('allocatable') or {}
    mine = [p for p in pods if (p.get('spec') or {}).get('nodeName') == name
            and _phase(p) not in ('Succeeded', 'Failed')]
    requests = [c.get('resources', {}).get('requests') or {}
                for p in mine for c in p['spec'].get('containers') or ()]

    def free(kind: str) -> float:
        return quantity(there.get(kind, 0)) - sum(
            quantity(r.get(kind, 0)) for r in requests)

    info = status.get('nodeInfo') or {}
    why = objects.not_ready(obj)
    taints = [t.get('key') or '' for t in spec.get('taints') or ()
              if t.get('effect') in ('NoSchedule', 'NoExecute')]
    bad = [key for key in taints if key != _TOLERATED]
    return Node(
        name, not why, not spec.get('unschedulable') and not bad,
        info.get('kubeletVersion') or '',
        (quantity(there.get('pods', 0)) - len(mine), free('cpu'),
         free('memory')),
        frozenset((obj['metadata'].get('labels') or {}).items()),
        why or ', '.join(bad),
        bool(spec.get('unschedulable')), frozenset(taints),
        texts.line(info.get('containerRuntimeVersion') or ''))


def quantity(text: str | int) -> float:
    """A Kubernetes quantity as a number: "500m" is 0.5, "2Gi" 2147483648.

    0 if malformed: free resources only matter for warnings.
    """
    from kubernetes import utils
    try:
        return float(utils.parse_quantity(text))
    except ValueError:
        return 0.0


def check(seen: Snapshot, plan: runner.Plan,
          namespace: str) -> tuple[Finding, ...]:
    """The problems of a plan in a cluster, the most important first.

    :param namespace: name of the run's namespace.
    """
    found = [*_versions(seen, plan), *_nodes(seen, plan), *_room(seen),
             *occupied(seen, namespace)]
    if seen.tests:
        found.append(Finding(
            WARNING, f'{len(seen.tests)} namespaces of other tests exist, or '
            f'were left behind: {", ".join(seen.tests[:3])}',
            'They will not be removed'))
    if seen.stand_in or plan.stand_in:
        found.append(Finding(
            FACT, 'the images are stand-ins: the run does not prove '
            'conformance'))
    found += [Finding(WARNING, one) for one in seen.warnings
              # Nodes that are not ready were already reported.
              if not re.match(r'Node \S+ Ready=', one)]
    return by_weight(found)


def by_weight(findings: collections.abc.Iterable[Finding]
              ) -> tuple[Finding, ...]:
    """The most important first."""
    order = (BLOCKER, WARNING, FACT)
    return tuple(sorted(findings, key=lambda f: order.index(f.level)))


def _versions(seen: Snapshot, plan: runner.Plan
              ) -> collections.abc.Iterator[Finding]:
    yield Finding(FACT, f'Kubernetes {seen.version}, '
                  + texts.number(len(seen.nodes), 'node'))
    if _minor(seen.version) is None:
        yield Finding(BLOCKER, 'the Kubernetes API does not report its '
                               'version',
                      'Name the version with --kubernetes-version')
        return
    if plan.kubernetes and release(plan.kubernetes) != release(seen.version):
        yield Finding(
            BLOCKER if plan.mode == model.CERTIFIED else WARNING,
            f'the version of the tests is {plan.kubernetes}, that of the '
            f'cluster {seen.version}')
    other = {n.version for n in seen.nodes} - {seen.version}
    if other:
        yield Finding(WARNING, 'kubelets of other versions: '
                      f'{", ".join(sorted(other))}')


def _nodes(seen: Snapshot, plan: runner.Plan
           ) -> collections.abc.Iterator[Finding]:
    if seen.unstarted:
        runtimes = sorted({n.runtime for n in seen.nodes} - {''})
        yield Finding(
            BLOCKER, 'the nodes run no pods'
            + (f' (container runtime: {", ".join(runtimes)})'
               if runtimes else '')
            + f': {texts.number(seen.unstarted, "pod")} should be running, '
            'but no container of any pod has been started',
            'The tests need real nodes; a sandbox has them if it is started '
            'with "magnum-capi sandbox up --nodes docker"')
    bad = [str(n) for n in seen.nodes if not n.ready]
    tainted = _waited_for(seen, plan)
    level = (WARNING if _does_without(plan, len(bad) + len(tainted))
             else BLOCKER)
    if bad:
        yield Finding(
            level, f'nodes not ready: {", ".join(bad)}',
            'The tests wait for all nodes, and then fail; to do without N '
            'nodes, use --env E2E_EXTRA_ARGS=--allowed-not-ready-nodes=N'
            if level == BLOCKER else 'The tests do without them')
    usable = [n for n in seen.nodes if n.ready and n.schedulable]
    if not usable:
        full = ', '.join(str(n) for n in seen.nodes if n.ready and n.why)
        yield Finding(BLOCKER, 'no schedulable node'
                      + (f': {full}' if full else ''),
                      'Uncordon one, or remove its taints')
    elif tainted:
        named = ', '.join(f'{name} ({", ".join(keys) or "cordoned"})'
                          for name, keys in tainted.items())
        yield Finding(
            level, f'nodes that are not schedulable: {named}',
            'The tests wait for them for 30 minutes, and then fail; uncordon '
            'the nodes, remove the taints, list all expected taints with '
            f'--env E2E_EXTRA_ARGS=--non-blocking-taints={_CONTROL_PLANE},KEY'
            ', or do without N nodes with --allowed-not-ready-nodes=N there'
            if level == BLOCKER else 'The tests do without them')
    # Some of all conformance tests need two (test/e2e/architecture/
    # conformance.go, test/e2e/apps/daemon_set.go).
    if (len(usable) == 1
            and plan.focus_expression == runner.FOCUS[model.CERTIFIED]):
        yield Finding(WARNING, f'only one schedulable node: {usable[0].name}',
                      'Tests that need two, such as "should have at least two '
                      'untainted nodes", will fail')
    wanted = set(plan.node_selector)
    if wanted and not any(wanted <= n.labels and n.ready
                          for n in seen.nodes):
        yield Finding(BLOCKER, 'no ready node has the labels of '
                      '--aggregator-node', 'See --aggregator-node')


def _does_without(plan: runner.Plan, count: int) -> bool:
    """Whether e2e.test starts although this many nodes are not ready."""
    stated = _ALLOWED.findall(plan.variables.get('E2E_EXTRA_ARGS', ''))
    return bool(stated) and (int(stated[-1]) == -1 or count <= int(stated[-1]))


def _waited_for(seen: Snapshot, plan: runner.Plan) -> dict[str, list[str]]:
    """Other nodes that e2e.test considers not ready: names, and their taints.

    See framework/node/wait.go.
    """
    stated = _NON_BLOCKING.findall(plan.variables.get('E2E_EXTRA_ARGS', ''))
    may_be = set(stated[-1].split(',')) if stated else {_CONTROL_PLANE}
    minor = _minor(plan.kubernetes or seen.version)
    if not stated and minor and minor < _MASTER_WAITED_FOR:
        may_be.add(_MASTER)
    return {n.name: sorted(n.taints - may_be - {_CORDON}) for n in seen.nodes
            if n.ready and (n.taints - may_be or n.cordoned
                            and not n.taints & may_be)}


def _room(seen: Snapshot) -> collections.abc.Iterator[Finding]:
    nodes = [n for n in seen.nodes if n.ready and n.schedulable]
    if not nodes:
        return
    pods, cpu, memory = (sum(max(n.free[kind], 0) for n in nodes)
                         for kind in range(3))
    text = (f'{pods:.0f} pods, {cpu:.1f} CPUs and {memory / 2**30:.1f} GiB '
            'are free')
    if pods < 2:
        yield Finding(BLOCKER, f'not enough room for two more pods: {text}')
    elif pods < _PODS or cpu < _CPU or memory < _MEMORY:
        yield Finding(WARNING, f'little room: {text}',
                      'Specs may fail because of that')


def occupied(seen: Snapshot, namespace: str
             ) -> collections.abc.Iterator[Finding]:
    """Yield why a run cannot have its namespace."""
    if seen.namespace == 'Terminating':
        yield Finding(BLOCKER, f'the namespace {namespace} is still being '
                      'removed', 'Try again in a minute')
    elif seen.namespace and seen.program:
        yield Finding(
            BLOCKER, f'the namespace {namespace} exists; it belongs to '
            'another run, or was left behind by one',
            'End that run with "magnum-capi conformance abort --namespace '
            f'{namespace}", or use another --namespace')
    elif seen.namespace:
        yield Finding(
            BLOCKER, f'the namespace {namespace} exists, and shows no sign '
            'of a conformance run',
            'Use another --namespace; if nobody needs this one, delete it '
            'yourself')


def release(version: str) -> str:
    """Upstream's release: ``v1.34.9`` of ``v1.34.9+rke2r1``.

    It has the tests for a version (pkg/image/imageversion.go of Sonobuoy).
    """
    match = re.match(r'v\d+\.\d+\.\d+(-(alpha|beta|rc)[\w.]*)?', version)
    return match[0] if match else version


def _minor(version: str) -> tuple[int, int] | None:
    match = re.match(r'v(\d+)\.(\d+)', version)
    return (int(match[1]), int(match[2])) if match else None
