# SPDX-License-Identifier: Apache-2.0


"""Finds problems of a run before anything is created.

Pure: :mod:`.snapshot` reads the data. A *blocker* stops the run, a *warning*
does not.
"""

import dataclasses
import re

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest import texts

BLOCKER = 'blocker'
WARNING = 'warning'
FACT = 'fact'

#: Oldest Kubernetes that Sonobuoy 0.57.5 supports, pkg/buildinfo/version.go.
OLDEST = (1, 17)

#: The only taint that e2e.test does not wait for by default
#: (test/e2e/framework/test_context.go), and its older name, for which it does
#: not wait before 1.28 either; and the taint of a cordoned node.
_CONTROL_PLANE = 'node-role.kubernetes.io/control-plane'
_MASTER, _MASTER_WAITED_FOR = 'node-role.kubernetes.io/master', (1, 28)
_CORDON = 'node.kubernetes.io/unschedulable'
_NON_BLOCKING = re.compile(r'--?non-blocking-taints[= ]([^\s]+)')
#: How many nodes e2e.test does without; -1 is all (framework/node/helper.go).
_ALLOWED = re.compile(r'--?allowed-not-ready-nodes[= ](-?\d+)')

#: Free resources below which specs are likely to fail: enough for aggregator,
#: tests, and what a few specs start at once. Pods, CPUs, bytes, summed over
#: all schedulable nodes.
_PODS, _CPU, _MEMORY = 20, 0.5, 512 << 20


@dataclasses.dataclass(frozen=True)
class Finding:
    """Something that a user should know.

    :param level: BLOCKER, WARNING or FACT.
    """

    level: str
    text: str
    hint: str = ''

    def __str__(self):
        return f'{self.level}: {self.text}' + (
            f'. {self.hint}' if self.hint else '')


def check(seen, plan, namespace, images) -> tuple[Finding, ...]:
    """The problems of a plan in a cluster, the most important first.

    :param seen: :class:`.snapshot.Snapshot`.
    :param namespace: name of the run's namespace.
    :param images: names of the images that are needed to start anything.
    """
    found = [*_versions(seen, plan), *_nodes(seen, plan),
             *_families(seen), *_room(seen), *occupied(seen, namespace),
             *_images(seen, plan, images)]
    if not seen.dns:
        found.append(Finding(WARNING, 'no pod of the cluster DNS is ready',
                             'Most specs need cluster DNS'))
    if seen.stand_in or plan.stand_in:
        found.append(Finding(
            FACT, 'the images are stand-ins: the run does not prove '
            'conformance'))
    found += [Finding(WARNING, sign) for sign in seen.signs
              # Nodes that are not ready, and the DNS, were already reported.
              if not re.match(r'Node \S+ Ready=|cluster DNS:', sign)]
    return by_weight(found)


def by_weight(findings) -> tuple[Finding, ...]:
    """The most important first."""
    order = (BLOCKER, WARNING, FACT)
    return tuple(sorted(findings, key=lambda f: order.index(f.level)))


def _versions(seen, plan):
    yield Finding(FACT, f'Kubernetes {seen.version}, '
                  + texts.number(len(seen.nodes), 'node'))
    minor = _minor(seen.version)
    if minor is None:
        yield Finding(BLOCKER, 'the Kubernetes API does not report its '
                               'version',
                      'Name the version with --kubernetes-version')
        return
    if minor < OLDEST:
        yield Finding(BLOCKER, f'Kubernetes {seen.version} is older than '
                      f'{OLDEST[0]}.{OLDEST[1]}, which Sonobuoy needs')
    if plan.kubernetes and release(plan.kubernetes) != release(seen.version):
        yield Finding(
            BLOCKER if plan.mode == model.CERTIFIED else WARNING,
            f'the version of the tests is {plan.kubernetes}, that of the '
            f'cluster {seen.version}')
    other = {n.version for n in seen.nodes} - {seen.version}
    if other:
        yield Finding(WARNING, 'kubelets of other versions: '
                      f'{", ".join(sorted(other))}')


def _nodes(seen, plan):
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
    bad = [_named(n) for n in seen.nodes if not n.ready]
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
        full = ', '.join(_named(n) for n in seen.nodes if n.ready and n.why)
        yield Finding(BLOCKER, 'no node takes the pods of the tests'
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
        yield Finding(WARNING, 'only one node takes the pods of the tests: '
                      + usable[0].name,
                      'Tests that need two, such as "should have at least two '
                      'untainted nodes", will fail')
    wanted = set(plan.node_selector)
    if wanted and not any(wanted <= n.labels and n.ready
                          for n in seen.nodes):
        yield Finding(BLOCKER, 'no ready node has the labels of '
                      '--aggregator-node', 'See --aggregator-node')


def _does_without(plan, count):
    """Whether e2e.test starts although this many nodes are not ready."""
    told = _ALLOWED.findall(plan.variables.get('E2E_EXTRA_ARGS', ''))
    return bool(told) and (int(told[-1]) == -1 or count <= int(told[-1]))


def _waited_for(seen, plan):
    """Other nodes that e2e.test considers not ready: names, and their taints.

    See framework/node/wait.go.
    """
    told = _NON_BLOCKING.findall(plan.variables.get('E2E_EXTRA_ARGS', ''))
    may_be = set(told[-1].split(',')) if told else {_CONTROL_PLANE}
    minor = _minor(plan.kubernetes or seen.version)
    if not told and minor and minor < _MASTER_WAITED_FOR:
        may_be.add(_MASTER)
    return {n.name: sorted(n.taints - may_be - {_CORDON}) for n in seen.nodes
            if n.ready and (n.taints - may_be or n.cordoned
                            and not n.taints & may_be)}


def _families(seen):
    """Check IPv4 and IPv6: of nodes and of services."""
    ready = [n for n in seen.nodes if n.ready and n.families]
    found = sorted({n.families for n in ready}, key=lambda f: (len(f), f))
    if not found:
        return
    if len(found) > 1:
        yield Finding(
            WARNING, 'the nodes have different IP families: '
            + '; '.join(
                f'{" and ".join(families)} '
                f'{", ".join(n.name for n in ready if n.families == families)}'
                for families in found),
            'Tests fail on nodes that lack a family, or have them in another '
            'order; use the same on all nodes (--node-ip of the kubelets)')
    elif found != [('IPv4',)]:
        yield Finding(FACT, f'the nodes have {" and ".join(found[0])}')
    if seen.services and seen.services[0] not in {f[0] for f in found}:
        yield Finding(
            WARNING, f'services are {seen.services[0]} first, nodes are '
            f'{found[0][0]} first',
            'Tests assume that pods have the IP family of the service '
            '"kubernetes"; use the order of --node-ip in '
            '--service-cluster-ip-range of the API server')
    if len(seen.services) > 1 and any(len(f) == 1 for f in found):
        yield Finding(
            WARNING, 'services have two IP families, but nodes have one',
            'Tests of dual-stack services will fail; give the nodes both '
            'families, or the API server a single --service-cluster-ip-range')


def _named(node):
    return node.name + (f' ({node.why})' if node.why else '')


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
        yield Finding(BLOCKER, f'not enough room for two more pods: {text}')
    elif pods < _PODS or cpu < _CPU or memory < _MEMORY:
        yield Finding(WARNING, f'little room: {text}',
                      'Specs may fail because of that')


def occupied(seen, namespace):
    """Yield why a run cannot have its namespace, and what tests left."""
    if seen.namespace == 'Terminating':
        yield Finding(BLOCKER, f'the namespace {namespace} is still being '
                      'removed', 'Try again in a minute')
    elif seen.namespace and seen.has_run:
        yield Finding(
            BLOCKER, f'the namespace {namespace} exists; it belongs to '
            'another run, or was left behind by one',
            'End that run with "magnum-capi conformance abort", or '
            'use --replace or another --namespace')
    elif seen.namespace:
        yield Finding(
            BLOCKER, f'the namespace {namespace} exists, and shows no sign '
            'of a conformance run',
            'Use another --namespace; if nobody needs this one, delete it '
            'yourself')
    if seen.e2e:
        yield Finding(WARNING, f'{len(seen.e2e)} namespaces of other tests '
                      f'exist, or were left behind: {", ".join(seen.e2e[:3])}',
                      'They will not be removed')


def _images(seen, plan, images):
    nodes = [n for n in seen.nodes if n.ready and n.schedulable]
    for image in images:
        have = [n.name for n in nodes
                if full_name(image) in {full_name(i) for i in n.images}]
        if nodes and len(have) == len(nodes):
            yield Finding(FACT, f'image {image} is on every node')
        elif plan.images.pull_policy == 'Never':
            cut = [n.name for n in nodes if n.images_cut]
            yield Finding(
                WARNING if have or cut else BLOCKER,
                f'image {image} is listed on {len(have)} of {len(nodes)} '
                'nodes, and must not be pulled',
                'Import it on every node' + (
                    f'; it may be there, as the lists of {", ".join(cut)} '
                    'may be cut' if cut else ''))
        else:
            yield Finding(FACT, f'image {image} will be pulled on '
                          f'{len(nodes) - len(have)} of {len(nodes)} nodes')
    if plan.images.mirror or plan.images.mirrors:
        yield Finding(FACT, 'images of the tests come from '
                      f'{plan.images.mirror or plan.images.mirrors}')


def release(version: str) -> str:
    """Upstream's release: ``v1.34.9`` of ``v1.34.9+rke2r1``.

    It has the tests for a version (pkg/image/imageversion.go of Sonobuoy).
    """
    match = re.match(r'v\d+\.\d+\.\d+(-(alpha|beta|rc)[\w.]*)?', version)
    return match[0] if match else version


def full_name(name):
    """An image's name in the form that containerd uses."""
    first, slash, _ = name.partition('/')
    if not slash:
        return f'docker.io/library/{name}'
    if not re.search(r'[.:]|^localhost$', first):
        return f'docker.io/{name}'
    return name


def _minor(version):
    match = re.match(r'v(\d+)\.(\d+)', version)
    return match and (int(match.group(1)), int(match.group(2)))
