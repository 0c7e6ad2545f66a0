# SPDX-License-Identifier: Apache-2.0
"""Looks at a management cluster, and says what drivers will miss in it.

Kinds that are not served, providers that do not run or are too old, and
what the kubeconfig's user may not do. Whoever made the cluster, and wherever
its providers run: those that are plain processes have no Deployment.
"""

import concurrent.futures
import dataclasses

from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.management import client
from magnum_capi_tempest.management import deployments
from magnum_capi_tempest.management import requirements

_REVIEW = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'


@dataclasses.dataclass(frozen=True)
class Report:
    """What was found.

    :param problems: lines that begin with "missing", "too old", "not
        running" or "not allowed".
    :param providers: lines on providers that were found.
    :param stand_ins: Deployments that say that they are not upstream's.
    :param seen: number of kinds that are served.
    """

    problems: tuple[str, ...]
    providers: tuple[str, ...] = ()
    stand_ins: tuple[str, ...] = ()
    seen: int = 0


def inspect(api, infrastructure='openstack', addon_provider=True) -> Report:
    """Look at a cluster.

    :param api: :class:`..kubeclient.kube.Client`.
    :param infrastructure: "openstack" or "docker".
    :param addon_provider: whether charts want the addon provider.
    :raises KubeError: the cluster does not answer.
    """
    kinds = requirements.of(infrastructure, addon_provider)
    asked = kinds + requirements.RESOURCES
    served = requirements.served(api, asked)
    problems = [f'missing: {r} ({r.provider})'
                for r in requirements.missing(served, kinds)]
    try:
        running = [d for d in deployments.read(api)]
    except kube.KubeError as e:
        if e.status not in (401, 403):
            raise
        running = []
    found = [d for d in running if d.provider]
    problems += releases(found, served)
    problems += [f'not allowed: {p}' for p in denied(
        api, requirements.permissions(infrastructure, addon_provider))]
    return Report(
        tuple(problems), tuple(sorted(line(d) for d in found)),
        tuple(sorted(str(d) for d in running if d.stand_in)), len(kinds))


def releases(found, served) -> list[str]:
    """What is wrong with the providers' Deployments; pure.

    :param found: :class:`..deployments.Deployment`, all with a provider.
    :param served: set of (group, version, resource).
    """
    problems = []
    oldest = {r.label: r for r in requirements.RELEASES}
    for d in found:
        if not d.available:
            problems.append(f'not running: {d.provider} ({d}): {d.reason}')
        rule = oldest.get(d.provider)
        if rule and d.version and d.version < rule.oldest:
            problems.append(
                f'too old: {d.provider} {_text(d.version)}, '
                f'{_text(rule.oldest)} has {rule.reason}')
        if d.provider == 'infrastructure-openstack' and d.version \
                and d.version >= requirements.WANTS_RESOURCES:
            problems += [f'missing: {r} ({r.provider})'
                         for r in requirements.missing(
                             served, requirements.RESOURCES)]
    problems += _uneven({d.provider: d.version for d in found})
    return problems


def denied(api, permissions) -> list[requirements.Permission]:
    """What the API server does not allow, see SelfSubjectAccessReview."""
    def allowed(permission):
        answer = api.ask('POST', _REVIEW, review(permission))
        return answer['status'].get('allowed', False)

    with concurrent.futures.ThreadPoolExecutor(client.CONNECTIONS) as pool:
        answers = list(pool.map(allowed, permissions))
    return [p for p, yes in zip(permissions, answers) if not yes]


def review(permission) -> dict:
    """The question whether something is allowed in every namespace."""
    return {'apiVersion': 'authorization.k8s.io/v1',
            'kind': 'SelfSubjectAccessReview',
            'spec': {'resourceAttributes': {
                'group': permission.group, 'verb': permission.verb,
                'resource': permission.resource}}}


def line(deployment) -> str:
    """One provider for a person."""
    version = deployment.version
    return (f'{deployment.provider} '
            f'{_text(version) if version else "of unknown version"} '
            f'({deployment})')


def _uneven(versions):
    """The kubeadm providers are of the release of Cluster API.

    Upstream tests them together only (docs/book/src/reference/versions.md,
    "Kubeadm Bootstrap Provider", of kubernetes-sigs/cluster-api).
    """
    core = versions.get('cluster-api')
    if not core:
        return []
    return [f'other release: {label} {_text(version)} with cluster-api '
            f'{_text(core)}'
            for label, version in sorted(versions.items())
            if label in ('bootstrap-kubeadm', 'control-plane-kubeadm')
            and version and version[:2] != core[:2]]


def _text(version):
    return 'v' + '.'.join(map(str, version))
